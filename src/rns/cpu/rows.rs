//! The limbs of a view as slices, and work spread over them.

use alloc::vec::Vec;
use core::ops::Range;

use super::plan::RnsPlan;
use crate::Result;
use crate::arith::Word;
use crate::backend::{Cpu, HostBuffer};
use crate::rns::{Limbs, View, ViewMut, check};

/// The limbs of polynomials to read, inside their buffer.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, W> {
    words: &'a [W],
    n: usize,
    first: usize,
    stride: usize,
}

impl<'a, W: Word> Rows<'a, W> {
    /// Checks a view. In test builds its words are checked too: `primes` gives the modulus of each limb.
    pub(super) fn new(
        what: &'static str,
        view: View<'a, HostBuffer<W>>,
        n: usize,
        polys: usize,
        primes: impl ExactSizeIterator<Item = u64> + Clone,
    ) -> Result<Self> {
        let limbs = primes.len();
        check::view(what, view.words.len(), n, (view.first, view.stride), limbs, polys, false)?;
        let rows = Self { words: view.words, n, first: view.first, stride: view.stride.unwrap_or(limbs) };
        if cfg!(debug_assertions) {
            for poly in 0..polys {
                for (limb, q) in primes.clone().enumerate() {
                    debug_bounds!(rows.get(poly, limb).iter().map(|w| w.to_u64()), Below(q), what);
                }
            }
        }
        Ok(rows)
    }

    /// Rows of a workspace.
    pub(super) fn packed(words: &'a [W], n: usize, stride: usize) -> Self {
        Self { words, n, first: 0, stride }
    }

    /// One limb.
    #[inline]
    pub(super) fn get(&self, poly: usize, limb: usize) -> &'a [W] {
        &self.words[(self.first + poly * self.stride + limb) * self.n..][..self.n]
    }

    /// The same polynomials from a later limb on.
    pub(super) fn skip(self, limbs: usize) -> Self {
        Self { first: self.first + limbs, ..self }
    }
}

/// A half-open range of words for [`debug_bounds!`].
#[derive(Debug)]
struct Below(u64);

impl Below {
    fn contains(&self, value: u64) -> bool {
        value < self.0
    }
}

/// Polynomials to write.
pub(super) struct RowsMut<'a, W> {
    words: &'a mut [W],
    n: usize,
    limbs: usize,
    stride: usize,
    polys: usize,
}

/// A limb to write.
pub(super) struct Row<'a, W> {
    pub(super) poly: usize,
    pub(super) limb: usize,
    pub(super) words: &'a mut [W],
}

/// The same range of coefficients of several limbs of a polynomial, to write.
pub(super) struct Block<'a, W> {
    pub(super) poly: usize,
    pub(super) start: usize,
    pub(super) rows: Vec<&'a mut [W]>,
}

impl<'a, W: Word> RowsMut<'a, W> {
    /// Checks a view.
    pub(super) fn new(view: ViewMut<'a, HostBuffer<W>>, n: usize, limbs: usize, polys: usize) -> Result<Self> {
        check::view("the result", view.words.len(), n, (view.first, view.stride), limbs, polys, true)?;
        let stride = view.stride.unwrap_or(limbs).max(limbs);
        // Where there is nothing to write the view may start anywhere.
        let words = view.words.get_mut(view.first.saturating_mul(n)..).unwrap_or_default();
        Ok(Self { words, n, limbs, stride, polys })
    }

    /// Rows of a workspace.
    pub(super) fn packed(words: &'a mut [W], n: usize, limbs: usize) -> Self {
        let polys = words.len() / (n * limbs);
        Self { words, n, limbs, stride: limbs, polys }
    }

    /// The same polynomials for a shorter time.
    pub(super) fn reborrow(&mut self) -> RowsMut<'_, W> {
        RowsMut { words: self.words, n: self.n, limbs: self.limbs, stride: self.stride, polys: self.polys }
    }

    /// Words of all rows.
    pub(super) fn len(&self) -> usize {
        self.n * self.limbs * self.polys
    }

    /// Each limb.
    pub(super) fn each(self) -> impl Iterator<Item = Row<'a, W>> {
        let (n, limbs) = (self.n, self.limbs);
        self.words.chunks_mut(self.stride * n).take(self.polys).enumerate().flat_map(move |(poly, words)| {
            let rows = words.chunks_exact_mut(n).take(limbs).enumerate();
            rows.map(move |(limb, words)| Row { poly, limb, words })
        })
    }

    /// Each limb, those of all polynomials modulo one prime behind each other.
    pub(super) fn by_limb(self) -> Vec<Row<'a, W>> {
        let mut rows: Vec<_> = self.each().collect();
        // A stable sort.
        rows.sort_by_key(|row| row.limb);
        rows
    }

    /// One polynomial alone.
    pub(super) fn poly(self, poly: usize) -> Self {
        Self { words: &mut self.words[poly * self.stride * self.n..], polys: 1, ..self }
    }

    /// Blocks of `len` coefficients of all limbs but those in `skip`.
    pub(super) fn blocks(self, len: usize, skip: Range<usize>) -> Vec<Block<'a, W>> {
        let (limbs, per_poly) = (self.limbs - skip.len(), self.n.div_ceil(len));
        let mut blocks: Vec<Block<'a, W>> = (0..self.polys * per_poly)
            .map(|i| Block { poly: i / per_poly, start: i % per_poly * len, rows: Vec::with_capacity(limbs) })
            .collect();
        for row in self.each() {
            if !skip.contains(&row.limb) {
                let blocks = &mut blocks[row.poly * per_poly..][..per_poly];
                for (block, words) in blocks.iter_mut().zip(row.words.chunks_mut(len)) {
                    block.rows.push(words);
                }
            }
        }
        blocks
    }
}

impl Cpu {
    /// Calls `work` for each limb of `out`, over threads where that is worth it; limbs of one prime come one behind the
    /// other, while its tables are in the cache.
    pub(super) fn each_row<W: Word>(&self, out: RowsMut<'_, W>, work: impl Fn(Row<'_, W>) + Send + Sync) {
        self.over(out.len(), out.by_limb().into_iter(), work);
    }

    /// Calls `work` with each limb of all `P` polynomials of `out` together.
    pub(super) fn each_limb_of<W: Word, const P: usize>(
        &self,
        out: RowsMut<'_, W>,
        work: impl Fn(usize, [&mut [W]; P]) + Send + Sync,
    ) {
        let (coefficients, mut rows) = (out.len(), out.by_limb().into_iter());
        let limbs = core::iter::from_fn(|| {
            let first = rows.next()?;
            let mut words = [first.words].into_iter().chain(rows.by_ref().take(P - 1).map(|row| row.words));
            Some((first.limb, core::array::from_fn::<_, P, _>(|_| words.next().unwrap_or_default())))
        });
        self.over(coefficients, limbs, |(limb, words)| work(limb, words));
    }
}

impl<W: Word> RnsPlan<W> {
    /// The primes of limbs.
    pub(super) fn moduli(&self, limbs: Limbs) -> impl ExactSizeIterator<Item = u64> + Clone + '_ {
        let special = self.ring.q().len();
        // One range, because a chain has no exact size.
        (0..limbs.count()).map(move |l| self.ring.prime(if l < limbs.q { l } else { special + l - limbs.q }))
    }

    /// The index of a limb's prime.
    pub(super) fn index(&self, limbs: Limbs, limb: usize) -> usize {
        if limb < limbs.q { limb } else { self.ring.q().len() + limb - limbs.q }
    }
}
