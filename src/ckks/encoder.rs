//! The canonical embedding: vectors of complex numbers as polynomials with real coefficients, and back.
//!
//! Slot `j` of a polynomial `m` is its value at `zeta^(5^j)`, `zeta = exp(i·pi/N)`, so that `x -> x^(5^k)` rotates the
//! slots by `k` to the left. The powers of 5 modulo 2N are the numbers `4t + 1`, and there `x^(N/2) = i`; with
//! `c_k = (m_k + i·m_(k+N/2))·zeta^k` the values are one cyclic transform of length N/2:
//! `m(zeta^(4t+1)) = sum over k of c_k · exp(2·pi·i·t·k / (N/2))`.
//!
//! `n < N/2` slots live in the ring of `x^(N/2n)`: the same with degree 2n, coefficients spread out.

mod mixed_radix;
mod quantise;

pub(super) use mixed_radix::to_values;
pub(super) use quantise::{Integers, for_each_limb, quantise};

use std::sync::{Arc, OnceLock};

use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftDirection, FftPlanner};
use zeroize::Zeroize;

use super::{Error, Result};

/// Transforms between slots and coefficients of one ring.
///
/// ```
/// use karat::ckks::{Complex64, Encoder};
/// let encoder = Encoder::new(4); // N = 16
/// let slots: Vec<_> = (0..8).map(|i| Complex64::new(i as f64, 1.0)).collect();
/// let coefficients = encoder.to_coefficients(&slots)?;
/// let back = encoder.to_slots(&coefficients, 8)?;
/// assert!(slots.iter().zip(&back).all(|(a, b)| (a - b).norm() < 1e-12));
/// # Ok::<(), karat::ckks::Error>(())
/// ```
pub struct Encoder {
    log_n: u32,
    /// `exp(i·pi·k/N)` for `k < N/2`.
    roots: Vec<Complex64>,
    /// Transforms of length `2^i`, forward and inverse, made when first used.
    plans: Vec<OnceLock<[Arc<dyn Fft<f64>>; 2]>>,
}

impl core::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Encoder(N = {})", 1u64 << self.log_n)
    }
}

impl Encoder {
    /// Prepares a ring of degree `2^log_n`.
    ///
    /// # Bounds
    /// `log_n` in `[1, 17]`.
    pub fn new(log_n: u32) -> Self {
        let n = 1usize << log_n;
        let angle = |k: usize| core::f64::consts::PI * k as f64 / n as f64;
        let roots = (0..n / 2).map(|k| Complex64::from_polar(1.0, angle(k))).collect();
        Self { log_n, roots, plans: (0..log_n).map(|_| OnceLock::new()).collect() }
    }

    /// Checks a number of slots: a power of two from 1 to N/2.
    ///
    /// # Errors
    /// `Slots`.
    ///
    /// ```
    /// assert!(karat::ckks::Encoder::new(4).check_slots(3).is_err());
    /// ```
    pub fn check_slots(&self, slots: usize) -> Result<()> {
        let most = 1usize << (self.log_n - 1);
        if slots.is_power_of_two() && slots <= most { Ok(()) } else { Err(Error::Slots { got: slots, most }) }
    }

    fn plan(&self, slots: usize) -> &[Arc<dyn Fft<f64>>; 2] {
        self.plans[slots.trailing_zeros() as usize].get_or_init(|| {
            let mut planner = FftPlanner::new();
            [FftDirection::Forward, FftDirection::Inverse].map(|direction| planner.plan_fft(slots, direction))
        })
    }

    /// Where slot `j` lies in the cyclic transform: `t` with `4t + 1 = 5^j mod 4·slots`.
    fn places(slots: usize) -> impl Iterator<Item = usize> {
        core::iter::successors(Some(1usize), move |power| Some((power * 5) & (4 * slots - 1))).map(|power| power / 4)
    }

    /// Coefficients `[N]` of the polynomial whose slots are `values`.
    ///
    /// # Errors
    /// `Slots` unless their number is a power of two to N/2, `NotFinite`, `TooLarge` where sums overflow.
    pub fn to_coefficients(&self, values: &[Complex64]) -> Result<Vec<f64>> {
        self.embed(values, values.len())
    }

    /// As [`Encoder::to_coefficients`], with zeros up to a number of slots.
    pub(super) fn embed(&self, values: &[Complex64], slots: usize) -> Result<Vec<f64>> {
        self.check_slots(slots)?;
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { index });
        }
        let mut work = Work(vec![Complex64::default(); slots]);
        for (value, place) in values.iter().zip(Self::places(slots)) {
            work.0[place] = *value;
        }
        work.transform(&*self.plan(slots)[0]);
        let n = 1usize << self.log_n;
        let gap = n / (2 * slots);
        let mut out = vec![0.0; n];
        let factor = 1.0 / slots as f64;
        for (k, value) in work.0.iter().enumerate() {
            let value = *value * self.roots[k * gap].conj() * factor;
            if !value.is_finite() {
                return Err(Error::TooLarge { what: "a sum of values", bits: f64::INFINITY, room: f64::MAX.log2() });
            }
            (out[k * gap], out[(k + slots) * gap]) = (value.re, value.im);
        }
        Ok(out)
    }

    /// The first `slots` slots of a polynomial given by its coefficients `[N]`; for a sparse packing the other
    /// coefficients, where only noise lies, are left out.
    ///
    /// # Errors
    /// `Slots`.
    ///
    /// # Panics
    /// Where there are not N coefficients.
    pub fn to_slots(&self, coefficients: &[f64], slots: usize) -> Result<Vec<Complex64>> {
        self.check_slots(slots)?;
        assert_eq!(coefficients.len(), 1 << self.log_n, "one coefficient for each power of x");
        let gap = coefficients.len() / (2 * slots);
        let value = |k: usize| Complex64::new(coefficients[k * gap], coefficients[(k + slots) * gap]);
        let mut work = Work((0..slots).map(|k| value(k) * self.roots[k * gap]).collect());
        work.transform(&*self.plan(slots)[1]);
        // The number of places is not known to an iterator that ends nowhere: growing would leave copies behind.
        let mut out = Vec::with_capacity(slots);
        out.extend(Self::places(slots).take(slots).map(|place| work.0[place]));
        Ok(out)
    }
}

/// Values on their way, erased when dropped.
pub(super) struct Work(pub(super) Vec<Complex64>);

impl Work {
    fn transform(&mut self, plan: &dyn Fft<f64>) {
        let mut scratch = Self(vec![Complex64::default(); plan.get_inplace_scratch_len()]);
        plan.process_with_scratch(&mut self.0, &mut scratch.0);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|value| {
            value.re.zeroize();
            value.im.zeroize();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots by definition.
    fn evaluate(coefficients: &[f64], slots: usize) -> Vec<Complex64> {
        let n = coefficients.len();
        let mut power = 1usize;
        (0..slots)
            .map(|_| {
                let angle = |k: usize| core::f64::consts::PI * (k * power % (2 * n)) as f64 / n as f64;
                let terms = coefficients.iter().enumerate().map(|(k, c)| Complex64::from_polar(*c, angle(k)));
                let sum = terms.sum();
                power = power * 5 % (2 * n);
                sum
            })
            .collect()
    }

    #[test]
    fn every_packing_by_definition() {
        for log_n in 1..=9 {
            let encoder = Encoder::new(log_n);
            for log_slots in 0..log_n {
                let slots = 1usize << log_slots;
                let values: Vec<_> =
                    (0..slots).map(|j| Complex64::new(j as f64 + 0.25, 3.0 - 0.5 * j as f64)).collect();
                let coefficients = encoder.to_coefficients(&values).unwrap();
                let full = evaluate(&coefficients, 1 << (log_n - 1));
                for (j, value) in full.iter().enumerate() {
                    assert!((value - values[j % slots]).norm() < 1e-9, "N = 2^{log_n}, {slots} slots, slot {j}");
                }
                let back = encoder.to_slots(&coefficients, slots).unwrap();
                assert!(values.iter().zip(&back).all(|(a, b)| (a - b).norm() < 1e-11));
            }
        }
    }

    #[test]
    fn what_cannot_be_encoded() {
        let encoder = Encoder::new(4);
        let with = |value: f64| vec![Complex64::new(0.0, 0.0), Complex64::new(0.0, value)];
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(matches!(encoder.to_coefficients(&with(value)), Err(Error::NotFinite { index: 1 })));
        }
        let sum = vec![Complex64::new(1.7e308, 1.7e308); 8];
        assert!(matches!(encoder.to_coefficients(&sum), Err(Error::TooLarge { .. })));
        for slots in [0, 3, 16] {
            assert!(matches!(encoder.to_coefficients(&vec![Complex64::default(); slots]), Err(Error::Slots { .. })));
        }
    }

    #[test]
    fn first_use_from_many_threads() {
        let encoder = Encoder::new(10);
        let values: Vec<_> = (0..512).map(|j| Complex64::new(j as f64, 0.0)).collect();
        let expected = Encoder::new(10).to_coefficients(&values).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| assert_eq!(encoder.to_coefficients(&values).unwrap(), expected));
            }
        });
    }
}
