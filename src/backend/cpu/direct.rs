//! Rings with a transform over their own modulus: one set of kernels.

use alloc::boxed::Box;

use super::checked::Checked;
use super::kernels::{Kernels, Lane, Words, WordsMut};
use super::scratch::with_scratch;
use crate::arith::Word;

/// Complete NTT or k-NTT over `Z_q`.
pub(super) struct Direct<T> {
    kernels: Checked<T>,
}

/// Lanes that are converted at a time where words and lanes share memory.
const IN_PLACE: usize = 128;

/// 64-bit words that hold `lanes` lanes.
pub(super) fn words<T>(lanes: usize) -> usize {
    (lanes * size_of::<T>()).div_ceil(8)
}

/// The first `len` lanes of 64-bit words.
pub(super) fn lanes<T: Lane>(words: &[u64], len: usize) -> &[T] {
    &bytemuck::cast_slice(words)[..len]
}

/// The first `len` lanes of 64-bit words.
pub(super) fn lanes_mut<T: Lane>(words: &mut [u64], len: usize) -> &mut [T] {
    &mut bytemuck::cast_slice_mut(words)[..len]
}

impl<T: Lane> Direct<T> {
    pub(super) fn new(kernels: Box<dyn Kernels<T>>, q: u64) -> Self {
        Self { kernels: Checked::new(kernels, q) }
    }

    pub(super) fn kernels(&self) -> &Checked<T> {
        &self.kernels
    }

    pub(super) fn ntt_words(&self) -> usize {
        words::<T>(self.kernels.len())
    }

    pub(super) fn prepared_words(&self) -> usize {
        words::<T>(self.kernels.prepared_len())
    }

    /// Exported residues to lanes.
    pub(super) fn import<W: Word>(&self, residues: &[W], out: &mut [u64]) {
        let out = lanes_mut::<T>(out, self.kernels.len());
        self.kernels.load(Words::new(residues), out);
        self.kernels.arrange(out);
    }

    /// Lanes to canonical residues.
    pub(super) fn export<W: Word>(&self, ntt: &[u64], out: &mut [W]) {
        let len = self.kernels.len();
        with_scratch(len, |scratch: &mut [T]| {
            scratch.copy_from_slice(lanes(ntt, len));
            self.kernels.arrange_canonically(scratch);
            self.kernels.store(scratch, WordsMut::new(out));
        });
    }

    pub(super) fn forward<W: Word>(&self, coefficients: &[W], out: &mut [u64]) {
        let out = lanes_mut::<T>(out, self.kernels.len());
        self.kernels.forward_from(Words::new(coefficients), out);
    }

    pub(super) fn inverse<W: Word>(&self, ntt: &[u64], out: &mut [W]) {
        let len = self.kernels.len();
        with_scratch(len, |scratch: &mut [T]| self.kernels.inverse_to(lanes(ntt, len), scratch, out));
    }

    /// Forward transform of canonical residues to canonical residues, in the kernels' order.
    pub(super) fn forward_words<W: Word>(&self, words: &mut [W]) {
        self.in_lanes(words, |kernels, lanes| kernels.forward(lanes));
    }

    /// The inverse of [`Direct::forward_words`].
    pub(super) fn inverse_words<W: Word>(&self, words: &mut [W]) {
        self.in_lanes(words, |kernels, lanes| kernels.inverse(lanes, false));
    }

    /// [`Direct::forward_words`] of other words.
    pub(super) fn forward_words_from<W: Word>(&self, from: &[W], words: &mut [W]) {
        if self.shares_words::<W>() {
            return self.kernels.forward_from(Words::new(from), bytemuck::cast_slice_mut(words));
        }
        words.copy_from_slice(from);
        self.forward_words(words);
    }

    /// [`Direct::inverse_words`] of other words.
    pub(super) fn inverse_words_from<W: Word>(&self, from: &[W], words: &mut [W]) {
        if self.shares_words::<W>() {
            return self.kernels.inverse_from(bytemuck::cast_slice(from), bytemuck::cast_slice_mut(words));
        }
        words.copy_from_slice(from);
        self.inverse_words(words);
    }

    /// Whether words in memory are lanes as they stand.
    fn shares_words<W: Word>(&self) -> bool {
        T::IS_RESIDUE && size_of::<W>() == size_of::<T>() && self.kernels.planes() == 1
    }

    pub(super) fn order(&self) -> Option<&[u32]> {
        self.kernels.order()
    }

    /// Runs `work` on the words as lanes: on their own memory where it has the lanes' size.
    fn in_lanes<W: Word>(&self, words: &mut [W], work: impl FnOnce(&Checked<T>, &mut [T])) {
        if size_of::<W>() != size_of::<T>() || self.kernels.planes() != 1 {
            return with_scratch(self.kernels.len(), |lanes: &mut [T]| {
                self.kernels.load(Words::new(words), lanes);
                work(&self.kernels, lanes);
                self.kernels.store(lanes, WordsMut::new(words));
            });
        }
        if T::IS_RESIDUE {
            return work(&self.kernels, bytemuck::cast_slice_mut(words));
        }
        with_scratch(IN_PLACE, |block: &mut [T]| {
            for words in words.chunks_mut(IN_PLACE) {
                let block = &mut block[..words.len()];
                self.kernels.load(Words::new(words), block);
                bytemuck::cast_slice_mut::<W, T>(words).copy_from_slice(block);
            }
            work(&self.kernels, bytemuck::cast_slice_mut(words));
            for words in words.chunks_mut(IN_PLACE) {
                let block = &mut block[..words.len()];
                block.copy_from_slice(bytemuck::cast_slice(words));
                self.kernels.store(block, WordsMut::new(words));
            }
        });
    }

    pub(super) fn multiply<W: Word>(&self, a: &[W], b: &[W], out: &mut [W]) {
        if !self.kernels.multiply(a, b, out) {
            self.multiply_in_steps(a, b, out);
        }
    }

    /// Apart, for its scratch memory makes a large stack frame. The first factor's lanes are the result's memory where
    /// its words are lanes and lie as vectors like them.
    #[inline(never)]
    fn multiply_in_steps<W: Word>(&self, a: &[W], b: &[W], out: &mut [W]) {
        let (len, more) = (self.kernels.len(), self.kernels.product_scratch());
        if self.shares_words::<W>() && out.as_ptr().addr().is_multiple_of(64) {
            return with_scratch(len + more, |scratch: &mut [T]| {
                let (b_lanes, rest) = scratch.split_at_mut(len);
                self.kernels.product_in([a, b], bytemuck::cast_slice_mut(out), b_lanes, rest);
            });
        }
        with_scratch(2 * len + more, |scratch: &mut [T]| {
            let (a_lanes, rest) = scratch.split_at_mut(len);
            let (b_lanes, rest) = rest.split_at_mut(len);
            self.kernels.product_of([a, b], [a_lanes, b_lanes], rest, out);
        });
    }

    /// Products of polynomials of `n` coefficients in the lanes of vectors, as many as these have lanes.
    pub(super) fn multiply_across<W: Word>(&self, n: usize, a: &[W], b: &[W], out: &mut [W]) {
        let (len, q) = (self.kernels.len(), self.kernels.q());
        let count = len / n;
        with_scratch(2 * len, |scratch: &mut [T]| {
            let (a_lanes, b_lanes) = scratch.split_at_mut(len);
            for (lanes, words) in [(&mut *a_lanes, a), (&mut *b_lanes, b)] {
                for (i, polynomial) in words.chunks_exact(n).enumerate() {
                    for (lane, c) in lanes[i..].iter_mut().step_by(count).zip(polynomial) {
                        *lane = T::load(c.to_u64());
                    }
                }
                self.kernels.forward(lanes);
            }
            self.kernels.product(a_lanes, b_lanes, &mut []);
            self.kernels.inverse(a_lanes, true);
            for (i, polynomial) in out.chunks_exact_mut(n).enumerate() {
                for (c, lane) in polynomial.iter_mut().zip(a_lanes[i..].iter().step_by(count)) {
                    *c = W::from_u64(lane.store(q));
                }
            }
        });
    }

    pub(super) fn prepare(&self, ntt: &[u64], out: &mut [u64]) {
        let (len, prepared) = (self.kernels.len(), self.kernels.prepared_len());
        self.kernels.prepare(lanes(ntt, len), lanes_mut(out, prepared));
    }

    pub(super) fn pointwise_prepared(&self, a: &[u64], prepared: &[u64], out: &mut [u64]) {
        let (len, prepared_len) = (self.kernels.len(), self.kernels.prepared_len());
        self.kernels.dot(1, lanes(a, len), lanes(prepared, prepared_len), lanes_mut(out, len));
    }

    /// Each row of the matrix times the vector, whose entries are prepared once.
    pub(super) fn mat_vec(&self, columns: usize, matrix: &[u64], vector: &[u64], out: &mut [u64]) {
        mat_vec(&self.kernels, columns, (self.ntt_words(), 0), matrix, vector, out);
    }
}

/// A matrix of `[rows][columns]` polynomials times one vector, modulo one prime: the residues of each polynomial
/// start at word `offset` of its `stride` words.
pub(super) fn mat_vec<T: Lane>(
    kernels: &Checked<T>,
    columns: usize,
    (stride, offset): (usize, usize),
    matrix: &[u64],
    vector: &[u64],
    out: &mut [u64],
) {
    let len = kernels.len();
    let contiguous = stride * 8 == len * size_of::<T>();
    // What is prepared for one row alone would be used once. With one coefficient a point preparing is one product each,
    // and so is what rows need without it.
    let one_row = out.len() == stride;
    let no_more_rows = kernels.prepared_len() == len && out.len() <= vector.len() + stride;
    if contiguous && (one_row || no_more_rows) {
        let b = lanes(vector, columns * len);
        let mut rows = matrix.chunks_exact(columns * stride).zip(out.chunks_exact_mut(stride));
        if rows.all(|(a, c)| kernels.sum(columns, lanes(a, columns * len), b, lanes_mut(c, len))) {
            return;
        }
    }
    mat_vec_prepared(kernels, columns, (stride, offset), matrix, vector, out);
}

/// Apart, for its scratch memory makes a large stack frame.
#[inline(never)]
fn mat_vec_prepared<T: Lane>(
    kernels: &Checked<T>,
    columns: usize,
    (stride, offset): (usize, usize),
    matrix: &[u64],
    vector: &[u64],
    out: &mut [u64],
) {
    let (len, prepared_len) = (kernels.len(), kernels.prepared_len());
    let contiguous = stride * 8 == len * size_of::<T>();
    let row_len = if contiguous { 0 } else { columns * len };
    with_scratch(columns * prepared_len + row_len, |scratch: &mut [T]| {
        let (prepared, row) = scratch.split_at_mut(columns * prepared_len);
        for (b, p) in vector.chunks_exact(stride).zip(prepared.chunks_exact_mut(prepared_len)) {
            kernels.prepare(lanes(&b[offset..], len), p);
        }
        for (a, c) in matrix.chunks_exact(columns * stride).zip(out.chunks_exact_mut(stride)) {
            let c = lanes_mut(&mut c[offset..], len);
            if contiguous {
                kernels.dot(columns, lanes(a, columns * len), prepared, c);
                continue;
            }
            for (packed, a) in row.chunks_exact_mut(len).zip(a.chunks_exact(stride)) {
                packed.copy_from_slice(lanes(&a[offset..], len));
            }
            kernels.dot(columns, row, prepared, c);
        }
    });
}
