//! Your own product function against karat, in any ring.
//!
//! [`differential`] is a test: it multiplies with your function and with karat, and gives the smallest counterexample
//! that it can find. [`Differential::fuzz`] is the body of a fuzz target.

mod counterexample;
mod quiet;
mod shrink;

pub use counterexample::{Counterexample, Outcome};

use alloc::vec::Vec;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Report;
use super::inputs::{self, Pattern, SplitMix64};
use crate::arith::Word;
use crate::backend::{Cpu, ReferencePlan};
use crate::ring::{RingSpec, UserRing};
use crate::{Result, RingContext};

/// Tests a product function in a ring: every pattern of coefficients at their bounds, lanes alone, and pseudorandom
/// polynomials, the same in every run.
///
/// The function takes and gives `N` coefficients in `[0, q)`, lowest degree first. A panic counts as a wrong result.
///
/// # Errors
/// The smallest [`Counterexample`] found; its text says what is wrong.
///
/// # Panics
/// Where coefficients of the ring do not fit the word.
///
/// ```
/// use karat::conformance::differential;
/// let ring = "n=4,q=17,f=x^4+1".parse()?;
/// let product = |a: &[u32], b: &[u32]| -> Vec<u32> {
///     let mut c = vec![0u32; 8];
///     for (i, x) in a.iter().enumerate() {
///         for (j, y) in b.iter().enumerate() {
///             c[i + j] = (c[i + j] + x * y) % 17;
///         }
///     }
///     (0..4).map(|i| (c[i] + 17 - c[i + 4]) % 17).collect()
/// };
/// assert!(differential(&ring, product).is_ok());
///
/// // Without the last reduction:
/// let wrong = |a: &[u32], b: &[u32]| product(a, b).iter().map(|c| if *c == 0 { 17 } else { *c }).collect();
/// let found = differential(&ring, wrong).unwrap_err();
/// assert!(found.to_string().contains("coefficient 0 is 17, should be 0"));
/// # Ok::<(), karat::Error>(())
/// ```
pub fn differential<W: Word>(
    ring: &RingSpec,
    product: impl FnMut(&[W], &[W]) -> Vec<W>,
) -> core::result::Result<Report, Counterexample<W>> {
    match Differential::new(ring) {
        Ok(test) => test.run(product),
        Err(error) => panic!("{ring}: {error}"),
    }
}

/// One ring, ready to test product functions in it.
///
/// As a target of libFuzzer, in its own crate with `libfuzzer-sys`:
///
/// ```text
/// static TEST: LazyLock<Differential<u32>> = LazyLock::new(|| Differential::new(&MlDsa.spec().clone()).unwrap());
/// fuzz_target!(|data: &[u8]| TEST.fuzz(data, my_product));
/// ```
pub struct Differential<W: Word> {
    spec: RingSpec,
    karat: RingContext<Cpu, UserRing<W>>,
    oracle: ReferencePlan,
}

impl<W: Word> Differential<W> {
    /// Prepares a ring.
    ///
    /// # Errors
    /// `InvalidRing` where coefficients do not fit the word.
    ///
    /// ```
    /// use karat::conformance::Differential;
    /// assert!(Differential::<u32>::new(&"ml-dsa".parse()?).is_ok());
    /// assert!(Differential::<u16>::new(&"ml-dsa".parse()?).is_err());
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn new(ring: &RingSpec) -> Result<Self> {
        let karat = RingContext::new(Cpu::new(), UserRing::new(ring.clone())?)?;
        Ok(Self { spec: ring.clone(), karat, oracle: ReferencePlan::new(ring)? })
    }

    /// Tests a function as [`differential`] does.
    ///
    /// # Errors
    /// The smallest [`Counterexample`] found.
    pub fn run(
        &self,
        mut product: impl FnMut(&[W], &[W]) -> Vec<W>,
    ) -> core::result::Result<Report, Counterexample<W>> {
        let (n, q) = (self.spec.n(), self.spec.q());
        let mut random = SplitMix64::new(q ^ (n as u64).rotate_left(32));
        let mut report = Report::default();
        let mut try_pair = |a: Vec<W>, b: Vec<W>| {
            report.compared += 1;
            self.check(&a, &b, &mut product)
        };
        for (a, b) in inputs::pairs(n) {
            let (a, b) = (a.coefficients(n, q, &mut random), b.coefficients(n, q, &mut random));
            try_pair(a, b)?;
        }
        for lane in inputs::lanes(n, 1 << 8) {
            let lane = inputs::lane(n, q, lane);
            for pattern in [Pattern::Top, Pattern::Random] {
                let other = pattern.coefficients(n, q, &mut random);
                try_pair(lane.clone(), other.clone())?;
                try_pair(other, lane.clone())?;
            }
        }
        // Rare carries need many products: as many as a second or so allows.
        for _ in 0..((1 << 20) / n).clamp(16, 1 << 14) {
            let mut polynomial = || Pattern::Random.coefficients(n, q, &mut random);
            try_pair(polynomial(), polynomial())?;
        }
        Ok(report)
    }

    /// Multiplies two polynomials that the bytes describe; the body of a fuzz target.
    ///
    /// The first byte chooses a pattern for each factor, the next coefficients overwrite the first ones; any bytes do.
    ///
    /// # Panics
    /// With the counterexample where the function is wrong: that is what a fuzzer waits for.
    ///
    /// ```
    /// use karat::conformance::Differential;
    /// let test = Differential::<u32>::new(&"n=1,q=17,f=x+1".parse()?)?;
    /// test.fuzz(b"any bytes", |a, b| vec![a[0] * b[0] % 17]);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn fuzz(&self, data: &[u8], mut product: impl FnMut(&[W], &[W]) -> Vec<W>) {
        let (n, q) = (self.spec.n(), self.spec.q());
        let (choice, bytes) = data.split_first().unwrap_or((&0, &[]));
        let seed = bytes.iter().fold(0u64, |seed, byte| seed.rotate_left(7) ^ u64::from(*byte));
        let mut random = SplitMix64::new(seed);
        let patterns = Pattern::ALL.len();
        let mut pattern = |index: usize| Pattern::ALL[index % patterns].coefficients::<W>(n, q, &mut random);
        let (mut a, mut b) = (pattern(usize::from(*choice) / patterns), pattern(usize::from(*choice)));
        for (i, word) in bytes.chunks(8).enumerate().take(2 * n) {
            let value = word.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
            let target = if i % 2 == 0 { &mut a } else { &mut b };
            target[i / 2] = W::from_u64(value % q);
        }
        if let Err(found) = self.check(&a, &b, &mut product) {
            panic!("{found}");
        }
    }

    /// Multiplies one pair.
    ///
    /// # Errors
    /// The smallest [`Counterexample`] found from this one.
    ///
    /// # Panics
    /// Where the factors do not hold `N` coefficients in `[0, q)`.
    ///
    /// ```
    /// use karat::conformance::{Differential, Outcome};
    /// let test = Differential::<u16>::new(&"n=2,q=17,f=x^2+1".parse()?)?;
    /// let found = test.check(&[9, 9], &[9, 9], &mut |a, b| vec![0; 2]).unwrap_err();
    /// assert_eq!((&found.a[..], &found.b[..]), (&[1, 0][..], &[1, 0][..])); // 1·1 = 1
    /// assert_eq!(found.outcome, Outcome::Wrong { coefficient: 0, got: 0, expected: 1 });
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn check(
        &self,
        a: &[W],
        b: &[W],
        product: &mut impl FnMut(&[W], &[W]) -> Vec<W>,
    ) -> core::result::Result<(), Counterexample<W>> {
        let Some(first) = self.outcome(a, b, product) else { return Ok(()) };
        let quiet = quiet::panics();
        let found = shrink::shrink(a, b, first, |a, b| self.outcome(a, b, product));
        drop(quiet);
        Err(found.confirmed(&self.spec, &self.oracle))
    }

    /// What is wrong with one product, if anything.
    fn outcome(&self, a: &[W], b: &[W], product: &mut impl FnMut(&[W], &[W]) -> Vec<W>) -> Option<Outcome> {
        let mut expected = alloc::vec![W::ZERO; self.spec.n()];
        if let Err(error) = self.karat.mul_slices(a, b, &mut expected) {
            panic!("{}: {error}", self.spec);
        }
        let got = match catch_unwind(AssertUnwindSafe(|| product(a, b))) {
            Ok(got) => got,
            Err(payload) => return Some(Outcome::Panicked(quiet::message(&*payload))),
        };
        if got.len() != expected.len() {
            return Some(Outcome::Length { got: got.len(), expected: expected.len() });
        }
        let coefficient = got.iter().zip(&expected).position(|(g, e)| g != e)?;
        let (got, expected) = (got[coefficient].to_u64(), expected[coefficient].to_u64());
        Some(Outcome::Wrong { coefficient, got, expected })
    }
}
