//! Products of ML-KEM's ring: two coefficients a point, which stay neighbours in 16-bit lanes.

use super::tables::{Factors, Transform};
use super::whole::Whole;
use super::{Arith, Mont16};
use crate::Result;
use crate::backend::cpu::lanes::Lanes16;
use crate::ring::ntt::Ntt;

/// A transform of pairs, and the slots in turn with ones.
pub(in crate::backend::cpu) struct PairTransform<O: Lanes16<L>, const L: usize> {
    pub(super) transform: Transform<Mont16<O, L>, L>,
    slots: alloc::vec::Vec<Factors<i16, L>>,
}

impl<O: Lanes16<L>, const L: usize> PairTransform<O, L> {
    /// Whether vectors fit a shape.
    pub(in crate::backend::cpu) fn fits(ntt: &Ntt) -> bool {
        ntt.shape().width == 2 && Transform::<Mont16<O, L>, L>::fits(ntt, 2)
    }

    pub(in crate::backend::cpu) fn new(level: O, ntt: &Ntt) -> Result<Self> {
        let mut transform = Transform::<Mont16<O, L>, L>::new(level, ntt, 2)?;
        let inverse = transform.arith.after_lazy_pairs(&transform.forward, ntt.shape().layers());
        transform.whole = inverse.and_then(|inverse| Whole::new((transform.forward.clone(), inverse)));
        let one = transform.arith.factor(1);
        let lane = |i: usize, x: i16, one: i16| if i.is_multiple_of(2) { one } else { x };
        let mix = |Factors([x, y]): &Factors<i16, L>| {
            let lanes = |x: &[i16; L], one| core::array::from_fn(|i| lane(i, x[i], one));
            Factors([lanes(x, one[0]), lanes(y, one[1])])
        };
        let slots = transform.slots.iter().map(mix).collect();
        Ok(Self { transform, slots })
    }

    pub(super) fn transform(&self) -> &Transform<Mont16<O, L>, L> {
        &self.transform
    }

    pub(super) fn lanes(&self) -> usize {
        self.transform.lanes()
    }

    pub(super) fn prepared_lanes(&self) -> usize {
        2 * self.lanes()
    }

    pub(super) fn scratch_lanes(&self) -> usize {
        0
    }

    #[inline(always)]
    pub(super) fn product_all(&self, a: &mut [i16], b: &[i16], _: &mut [i16]) {
        let arith = self.transform.arith;
        let a = a[..self.lanes()].as_chunks_mut::<L>().0;
        let b = b[..self.lanes()].as_chunks::<L>().0;
        for ((x, y), slots) in a.iter_mut().zip(b).zip(&self.slots) {
            let y = arith.prepare_pairs(arith.load(y), slots);
            arith.store(arith.redc_pairs(arith.mul_pairs(arith.load(x), y)), x);
        }
    }

    /// The product of one vector of pairs; of a whole product, too.
    #[inline(always)]
    pub(super) fn lazy_product_vector(&self, v: usize, x: O::V, y: O::V) -> O::V {
        self.product_vector(v, x, y)
    }

    /// The product of one vector of pairs, lanes as the forward layers leave them.
    #[inline(always)]
    pub(super) fn product_vector(&self, v: usize, x: O::V, y: O::V) -> O::V {
        let arith = self.transform.arith;
        arith.redc_pairs(arith.mul_pairs(x, arith.prepare_pairs(y, &self.slots[v])))
    }

    /// Both factors of a vector side by side; [`Self::dot_all`] removes the factor of the products.
    #[inline(always)]
    pub(super) fn prepare_all(&self, b: &[i16], prepared: &mut [i16]) {
        let arith = self.transform.arith;
        let prepared = prepared[..2 * self.lanes()].as_chunks_mut::<L>().0.as_chunks_mut::<2>().0;
        let b = b[..self.lanes()].as_chunks::<L>().0;
        for ((x, p), slots) in b.iter().zip(prepared).zip(&self.slots) {
            let [first, second] = arith.prepare_pairs(arith.load(x), slots);
            arith.store(first, &mut p[0]);
            arith.store(second, &mut p[1]);
        }
    }

    #[inline(always)]
    pub(super) fn dot_all(&self, columns: usize, a: &[i16], prepared: &[i16], out: &mut [i16]) {
        let arith = self.transform.arith;
        let vectors = self.transform.vectors;
        let (a, prepared) = (a.as_chunks::<L>().0, prepared.as_chunks::<L>().0.as_chunks::<2>().0);
        let (a, prepared) = (&a[..columns * vectors], &prepared[..columns * vectors]);
        for (v, c) in out[..self.lanes()].as_chunks_mut::<L>().0.iter_mut().enumerate() {
            let sum = self.sum_of_pairs(columns, |column| {
                let i = column * vectors + v;
                (arith.load(&a[i]), [arith.load(&prepared[i][0]), arith.load(&prepared[i][1])])
            });
            arith.store(sum, c);
        }
    }

    pub(super) fn sums(&self) -> bool {
        true
    }

    /// As [`Self::dot_all`], factors prepared on the way; unrolled for ML-KEM's matrices.
    #[inline(always)]
    pub(super) fn sum_all(&self, columns: usize, a: &[i16], b: &[i16], out: &mut [i16]) {
        match columns {
            2 => self.sum_columns::<2>(columns, a, b, out),
            3 => self.sum_columns::<3>(columns, a, b, out),
            4 => self.sum_columns::<4>(columns, a, b, out),
            _ => self.sum_columns::<0>(columns, a, b, out),
        }
    }

    /// `COLUMNS` columns, or `columns` if it is 0.
    #[inline(always)]
    fn sum_columns<const COLUMNS: usize>(&self, columns: usize, a: &[i16], b: &[i16], out: &mut [i16]) {
        let arith = self.transform.arith;
        let columns = if COLUMNS == 0 { columns } else { COLUMNS };
        let vectors = self.transform.vectors;
        let (a, b) = (a.as_chunks::<L>().0, b.as_chunks::<L>().0);
        assert!(a.len() == columns * vectors && b.len() == a.len());
        let out = &mut out.as_chunks_mut::<L>().0[..vectors];
        if COLUMNS != 0 && COLUMNS <= arith.pair_limit() {
            return self.sum_two_vectors::<COLUMNS>(a, b, out);
        }
        for ((v, c), slots) in out.iter_mut().enumerate().zip(&self.slots) {
            let sum = self.sum_of_pairs(columns, |column| {
                let i = column * vectors + v;
                // SAFETY: `column < columns` and `v < vectors`; both lengths were checked.
                let (x, y) = unsafe { (a.get_unchecked(i), b.get_unchecked(i)) };
                (arith.load(x), arith.prepare_pairs(arith.load(y), slots))
            });
            arith.store(sum, c);
        }
    }

    /// `COLUMNS` columns that one sum holds, two vectors beside each other: what one waits for, the other fills.
    #[inline(always)]
    fn sum_two_vectors<const COLUMNS: usize>(&self, a: &[[i16; L]], b: &[[i16; L]], out: &mut [[i16; L]]) {
        const M: usize = 2;
        let arith = self.transform.arith;
        let vectors = out.len();
        assert!(a.len() == COLUMNS * vectors && b.len() == a.len());
        let one = arith.broadcast(&self.transform.mont_one);
        for ((v, out), slots) in out.as_chunks_mut::<M>().0.iter_mut().enumerate().zip(self.slots.as_chunks::<M>().0) {
            let mut acc = [[arith.zero(); 2]; M];
            for column in 0..COLUMNS {
                let i = column * vectors + M * v;
                // SAFETY: `column < COLUMNS` and `M·v + m < vectors`; both lengths were checked.
                let x = each!(M: |m| arith.load(unsafe { a.get_unchecked(i + m) }));
                // SAFETY: as above.
                let y = each!(M: |m| arith.load(unsafe { b.get_unchecked(i + m) }));
                let y = arith.prepare_pairs_each(y, each!(M: |m| &slots[m]));
                acc = each!(M: |m| arith.mac_pairs(acc[m], x[m], y[m]));
            }
            let sums = arith.mul_each(arith.redc_pairs_each(acc), [one; M]);
            for m in 0..M {
                arith.store(sums[m], &mut out[m]);
            }
        }
    }

    /// A sum of products of pairs, reduced, without the factor that products leave. Sums are kept as long as 32 bits
    /// hold them.
    #[inline(always)]
    fn sum_of_pairs(&self, columns: usize, factors: impl Fn(usize) -> (O::V, [O::V; 2])) -> O::V {
        let arith = self.transform.arith;
        let limit = arith.pair_limit();
        let mut total = None;
        let mut start = 0;
        while start < columns {
            let end = columns.min(start + limit);
            let mut acc = [arith.zero(); 2];
            for column in start..end {
                // One call alone: a closure that is not inlined loses the level's features.
                let (x, y) = factors(column);
                acc = arith.mac_pairs(acc, x, y);
            }
            let part = arith.redc_pairs(acc);
            total = Some(match total {
                None => part,
                Some(total) => arith.add_reduced(arith.reduce_by(total, 0), arith.reduce_by(part, 0)),
            });
            start = end;
        }
        let total = total.unwrap_or(arith.zero());
        arith.mul_reduced(total, arith.broadcast(&self.transform.mont_one))
    }
}
