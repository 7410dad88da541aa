//! Kernels with their range contract checked at every entrance and exit, in builds with debug assertions.

use alloc::boxed::Box;

use super::kernels::{Kernels, Lane, Words, WordsMut};
use crate::arith::Word;

/// The kernels of any level for one modulus; in release builds nothing but the kernels.
///
/// The methods are those of [`Kernels`], whose documentation states the ranges.
pub(super) struct Checked<T> {
    kernels: Box<dyn Kernels<T>>,
    q: u64,
}

impl<T: Lane> Checked<T> {
    pub(super) fn new(kernels: Box<dyn Kernels<T>>, q: u64) -> Self {
        Self { kernels, q }
    }

    pub(super) fn q(&self) -> u64 {
        self.q
    }

    pub(super) fn len(&self) -> usize {
        self.kernels.len()
    }

    pub(super) fn prepared_len(&self) -> usize {
        self.kernels.prepared_len()
    }

    pub(super) fn order(&self) -> Option<&[u32]> {
        self.kernels.order()
    }

    pub(super) fn arrange(&self, a: &mut [T]) {
        self.kernels.arrange(a);
    }

    pub(super) fn arrange_canonically(&self, a: &mut [T]) {
        self.kernels.arrange_canonically(a);
    }

    pub(super) fn planes(&self) -> usize {
        self.kernels.planes()
    }

    #[inline]
    pub(super) fn load(&self, coefficients: Words<'_>, lanes: &mut [T]) {
        self.kernels.load(coefficients, lanes);
    }

    #[inline]
    pub(super) fn store(&self, lanes: &[T], coefficients: WordsMut<'_>) {
        debug_bounds!(lanes, T::reduced(self.q), "lanes to store");
        self.kernels.store(lanes, coefficients);
    }

    #[inline]
    pub(super) fn multiply<W: Word>(&self, a: &[W], b: &[W], out: &mut [W]) -> bool {
        self.start([a, b]);
        let done = self.kernels.multiply(Words::new(a), Words::new(b), WordsMut::new(out));
        if done {
            debug_bounds!(&*out, W::from_u64(0)..W::from_u64(self.q), "product");
        }
        done
    }

    pub(super) fn product_scratch(&self) -> usize {
        self.kernels.product_scratch()
    }

    #[inline]
    pub(super) fn forward(&self, a: &mut [T]) {
        debug_bounds!(&*a, T::reduced(self.q), "operand of the forward transform");
        self.kernels.forward(a);
        debug_bounds!(&*a, T::reduced(self.q), "result of the forward transform");
    }

    #[inline]
    pub(super) fn forward_from(&self, coefficients: Words<'_>, a: &mut [T]) {
        self.kernels.forward_from(coefficients, a);
        debug_bounds!(&*a, T::reduced(self.q), "result of the forward transform");
    }

    #[inline]
    pub(super) fn inverse(&self, a: &mut [T], mont: bool) {
        debug_bounds!(&*a, T::reduced(self.q), "operand of the inverse transform");
        self.kernels.inverse(a, mont);
        debug_bounds!(&*a, T::canonical(self.q), "result of the inverse transform");
    }

    #[inline]
    pub(super) fn inverse_from(&self, ntt: &[T], a: &mut [T]) {
        debug_bounds!(ntt, T::reduced(self.q), "operand of the inverse transform");
        self.kernels.inverse_from(ntt, a);
        debug_bounds!(&*a, T::canonical(self.q), "result of the inverse transform");
    }

    #[inline]
    pub(super) fn inverse_to<W: Word>(&self, ntt: &[T], scratch: &mut [T], out: &mut [W]) {
        debug_bounds!(ntt, T::reduced(self.q), "operand of the inverse transform");
        self.kernels.inverse_to(ntt, scratch, WordsMut::new(out));
        debug_bounds!(&*out, W::from_u64(0)..W::from_u64(self.q), "result of the inverse transform");
    }

    /// As [`Kernels::product_of`], to coefficients.
    #[inline]
    pub(super) fn product_of<W: Word>(
        &self,
        factors: [&[W]; 2],
        lanes: [&mut [T]; 2],
        scratch: &mut [T],
        out: &mut [W],
    ) {
        let [a, b] = lanes;
        self.start(factors);
        let words = (Words::new(factors[0]), Words::new(factors[1]));
        self.kernels.product_of(words, a, b, scratch, Some(WordsMut::new(out)));
        debug_bounds!(&*out, W::from_u64(0)..W::from_u64(self.q), "product");
    }

    /// As [`Kernels::product_of`], in place of `out`, whose words are lanes.
    #[inline]
    pub(super) fn product_in<W: Word>(&self, factors: [&[W]; 2], out: &mut [T], b: &mut [T], scratch: &mut [T]) {
        self.start(factors);
        let words = (Words::new(factors[0]), Words::new(factors[1]));
        self.kernels.product_of(words, out, b, scratch, None);
        debug_bounds!(&*out, T::canonical(self.q), "product");
    }

    /// Factors are canonical.
    #[inline]
    fn start<W: Word>(&self, [a, b]: [&[W]; 2]) {
        debug_bounds!(a, W::from_u64(0)..W::from_u64(self.q), "first factor");
        debug_bounds!(b, W::from_u64(0)..W::from_u64(self.q), "second factor");
    }

    #[inline]
    pub(super) fn product(&self, a: &mut [T], b: &[T], scratch: &mut [T]) {
        debug_bounds!(&*a, T::reduced(self.q), "first factor");
        debug_bounds!(b, T::reduced(self.q), "second factor");
        self.kernels.product(a, b, scratch);
        debug_bounds!(&*a, T::reduced(self.q), "product");
    }

    #[inline]
    pub(super) fn sum(&self, columns: usize, a: &[T], b: &[T], out: &mut [T]) -> bool {
        debug_bounds!(a, T::reduced(self.q), "row");
        debug_bounds!(b, T::reduced(self.q), "column");
        let done = self.kernels.sum(columns, a, b, out);
        if done {
            debug_bounds!(&*out, T::reduced(self.q), "sum of products");
        }
        done
    }

    #[inline]
    pub(super) fn prepare(&self, b: &[T], prepared: &mut [T]) {
        debug_bounds!(b, T::reduced(self.q), "factor to prepare");
        self.kernels.prepare(b, prepared);
        debug_bounds!(&*prepared, T::reduced(self.q), "prepared factor");
    }

    #[inline]
    pub(super) fn dot(&self, columns: usize, a: &[T], prepared: &[T], out: &mut [T]) {
        debug_bounds!(a, T::reduced(self.q), "row");
        debug_bounds!(prepared, T::reduced(self.q), "prepared column");
        self.kernels.dot(columns, a, prepared, out);
        debug_bounds!(&*out, T::reduced(self.q), "sum of products");
    }
}

#[cfg(test)]
mod tests {
    use super::super::scalar::{Mont16, Transform};
    use super::*;
    use crate::ring::ntt::Ntt;

    fn kem() -> Checked<i16> {
        let ntt = Ntt::of_ring(&"ml-kem".parse().unwrap()).unwrap();
        Checked::new(Box::new(Transform::<Mont16>::new(&ntt).unwrap()), ntt.modulus().value())
    }

    #[test]
    fn reduced_lanes_pass() {
        kem().forward(&mut [3328; 256]);
        kem().inverse(&mut [-3328; 256], true);
    }

    #[test]
    #[should_panic(expected = "operand of the forward transform: value 7 lies outside")]
    fn a_lane_out_of_range_is_told_by_its_index() {
        let mut a = [0; 256];
        a[7] = 3329;
        kem().forward(&mut a);
    }
}
