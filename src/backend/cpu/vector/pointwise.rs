//! Products at the points, plane by plane: each lane is a point.

use super::Arith;
use super::tables::{Factors, Transform};

impl<A: Arith<L>, const L: usize> Transform<A, L> {
    /// Lanes of a prepared factor.
    pub(super) fn prepared_lanes(&self) -> usize {
        if self.planes == 1 { self.lanes() } else { 2 * self.lanes() }
    }

    /// Lanes of scratch memory for a product: the second factor prepared, and one vector for each coefficient.
    pub(super) fn scratch_lanes(&self) -> usize {
        if self.planes == 1 { 0 } else { 2 * self.lanes() + self.planes * L }
    }

    #[inline(always)]
    pub(super) fn product_all(&self, a: &mut [A::T], b: &[A::T], scratch: &mut [A::T]) {
        let arith = self.arith;
        let a = a[..self.lanes()].as_chunks_mut::<L>().0;
        let b = b[..self.lanes()].as_chunks::<L>().0;
        if self.planes == 1 {
            for (x, y) in a.iter_mut().zip(b) {
                let product = arith.redc(arith.mac(arith.zero(), arith.load(x), arith.load(y)));
                arith.store(product, x);
            }
            return;
        }
        let (prepared, point) = scratch.as_chunks_mut::<L>().0.split_at_mut(2 * b.len());
        self.prepare_planes(&arith, b, prepared, false);
        for v in 0..self.vectors {
            for (k, c) in point[..self.planes].iter_mut().enumerate() {
                arith.store(self.dot_vector(&arith, 1, k, v, a, prepared), c);
            }
            for (plane, c) in a.chunks_exact_mut(self.vectors).zip(&*point) {
                plane[v] = *c;
            }
        }
    }

    /// The product of one vector, in a transform of one plane.
    #[inline(always)]
    pub(super) fn product_vector(&self, _: usize, x: A::V, y: A::V) -> A::V {
        self.arith.redc(self.arith.mac(self.arith.zero(), x, y))
    }

    /// The same for lanes of a whole product.
    #[inline(always)]
    pub(super) fn lazy_product_vector(&self, _: usize, x: A::V, y: A::V) -> A::V {
        self.arith.mul_lazy(x, y)
    }

    #[inline(always)]
    pub(super) fn prepare_all(&self, b: &[A::T], prepared: &mut [A::T]) {
        let b = b[..self.lanes()].as_chunks::<L>().0;
        self.prepare_planes(&self.arith, b, prepared.as_chunks_mut::<L>().0, true);
    }

    /// Planes of `b`, then planes of `b·slots`; with the factor `2^WIDTH` where `mont`.
    #[inline(always)]
    fn prepare_planes(&self, arith: &A, b: &[[A::T; L]], prepared: &mut [[A::T; L]], mont: bool) {
        let (plain, wrapped) = prepared.split_at_mut(b.len());
        if mont {
            let one = arith.broadcast(&self.mont_one);
            for (x, p) in b.iter().zip(plain) {
                arith.store(arith.mul_reduced(arith.load(x), one), p);
            }
        } else {
            plain.copy_from_slice(b);
        }
        if self.planes == 1 {
            return;
        }
        let slots: &[Factors<A::T, L>] = if mont { &self.mont_slots } else { &self.slots };
        for (b, wrapped) in b.chunks_exact(self.vectors).zip(wrapped.chunks_exact_mut(self.vectors)) {
            for ((x, p), slot) in b.iter().zip(wrapped).zip(slots) {
                arith.store(arith.mul_reduced(arith.load(x), arith.factors(slot)), p);
            }
        }
    }

    #[inline(always)]
    pub(super) fn dot_all(&self, columns: usize, a: &[A::T], prepared: &[A::T], out: &mut [A::T]) {
        let arith = self.arith;
        let (a, prepared) = (a.as_chunks::<L>().0, prepared.as_chunks::<L>().0);
        let out = out[..self.lanes()].as_chunks_mut::<L>().0;
        if self.planes == 1 && columns <= arith.mac_limit() {
            return self.dot_plane::<false>(columns, a, prepared, out);
        }
        for (k, out) in out.chunks_exact_mut(self.vectors).enumerate() {
            for (v, c) in out.iter_mut().enumerate() {
                arith.store(self.dot_vector(&arith, columns, k, v, a, prepared), c);
            }
        }
    }

    /// Whether [`Transform::sum_all`] serves this transform: more planes need their factors prepared.
    pub(super) fn sums(&self) -> bool {
        self.planes == 1
    }

    /// A sum of products without preparation: the factor that the products leave is removed at the end.
    #[inline(always)]
    pub(super) fn sum_all(&self, columns: usize, a: &[A::T], b: &[A::T], out: &mut [A::T]) {
        let arith = self.arith;
        let one = arith.broadcast(&self.mont_one);
        let (a, b, out) = (a.as_chunks::<L>().0, b.as_chunks::<L>().0, out.as_chunks_mut::<L>().0);
        if columns <= arith.mac_limit() {
            return self.dot_plane::<true>(columns, a, b, out);
        }
        for (v, c) in out.iter_mut().enumerate() {
            let sum = self.dot_vector(&arith, columns, 0, v, a, b);
            arith.store(if A::WIDTH == 0 { sum } else { arith.mul_reduced(sum, one) }, c);
        }
    }

    /// Sums of products in one plane that never need a reduction on the way, two vectors at a time; `PLAIN` removes the
    /// factor that products leave.
    #[inline(always)]
    fn dot_plane<const PLAIN: bool>(&self, columns: usize, a: &[[A::T; L]], b: &[[A::T; L]], out: &mut [[A::T; L]]) {
        let arith = &{ self.arith };
        let one = arith.broadcast(&self.mont_one);
        let vectors = self.vectors;
        let (a, b) = (&a[..columns * vectors], &b[..columns * vectors]);
        for (v, out) in out[..vectors].as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let mut acc = [arith.zero(); 2];
            for column in 0..columns {
                for (i, acc) in acc.iter_mut().enumerate() {
                    let place = column * vectors + 2 * v + i;
                    // SAFETY: `column < columns` and `2·v + i < vectors`; both lengths were checked.
                    let (x, y) = unsafe { (a.get_unchecked(place), b.get_unchecked(place)) };
                    *acc = arith.mac(*acc, arith.load(x), arith.load(y));
                }
            }
            for (acc, out) in acc.into_iter().zip(out) {
                let sum = arith.redc(acc);
                arith.store(if PLAIN && A::WIDTH != 0 { arith.mul_reduced(sum, one) } else { sum }, out);
            }
        }
    }

    /// Coefficient `k` of a sum of products at the points of vector `v`.
    #[inline(always)]
    fn dot_vector(
        &self,
        arith: &A,
        columns: usize,
        k: usize,
        v: usize,
        a: &[[A::T; L]],
        prepared: &[[A::T; L]],
    ) -> A::V {
        let (planes, vectors) = (self.planes, self.vectors);
        let len = planes * vectors;
        let prepared_len = self.prepared_lanes() / L;
        let mut acc = arith.zero();
        let mut room = arith.mac_limit();
        let mut total = None;
        for column in 0..columns {
            let (a, p) = (&a[column * len..][..len], &prepared[column * prepared_len..][..prepared_len]);
            for i in 0..planes {
                if room == 0 {
                    let part = arith.redc(acc);
                    total = Some(match total {
                        None => part,
                        Some(total) => arith.add_reduced(total, part),
                    });
                    acc = arith.zero();
                    room = arith.mac_limit();
                }
                room -= 1;
                // b[k - i], or slot·b[k + width - i] behind it.
                let j = if i <= k { k - i } else { 2 * planes + k - i };
                acc = arith.mac(acc, arith.load(&a[i * vectors + v]), arith.load(&p[j * vectors + v]));
            }
        }
        let part = arith.redc(acc);
        match total {
            None => part,
            Some(total) => arith.add_reduced(total, part),
        }
    }
}
