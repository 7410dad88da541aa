//! How large errors are: standard deviations to expect, for choosing parameters, for publishing, and for the tests.
//!
//! Coefficients of errors are taken as independent, with variances that add up (Costache, Curtis, Hales, Murphy, Ogilvie
//! and Player, *On the Precision Loss in Approximate Homomorphic Encryption*, 2023).

use super::Parameters;
use super::params::SecretKind;
use super::sample::SIGMA;
use super::scale::Scale;

/// Standard deviations of errors, in units of an integer coefficient.
///
/// ```
/// use karat::ckks::{Literal, Noise, Prime};
/// let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
/// let noise = Noise::new(&parameters);
/// assert!(noise.fresh_secret() < noise.fresh_public());
/// // A fresh value is good to this many bits.
/// let bits = noise.slot_bits(noise.fresh_public(), &parameters.default_scale(), parameters.slots());
/// assert!((30.0..40.0).contains(&bits));
/// # Ok::<(), karat::ckks::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Noise<'a> {
    parameters: &'a Parameters,
}

impl<'a> Noise<'a> {
    /// For some parameters.
    pub fn new(parameters: &'a Parameters) -> Self {
        Self { parameters }
    }

    /// Coefficients of the secret that are not zero, on average.
    fn weight(&self) -> f64 {
        match self.parameters.secret() {
            SecretKind::Ternary => self.parameters.n() as f64 * 2.0 / 3.0,
            SecretKind::Sparse { weight } => f64::from(weight),
        }
    }

    /// Of an encryption with the secret key.
    pub fn fresh_secret(&self) -> f64 {
        SIGMA
    }

    /// Of an encryption with the public key: `e·u + e_0 + e_1·s`.
    pub fn fresh_public(&self) -> f64 {
        SIGMA * (1.0 + self.parameters.n() as f64 * 2.0 / 3.0 + self.weight()).sqrt()
    }

    /// That a division with rounding adds: uniform remainders in two parts.
    pub fn rescale(&self) -> f64 {
        ((1.0 + self.weight()) / 12.0).sqrt()
    }

    /// That relinearisation and rotations add at a level: digits, uniform and centred, times the errors of the key,
    /// over P; and the rounding of that division.
    pub fn key_switch(&self, level: usize) -> f64 {
        let parameters = self.parameters;
        let special: f64 = parameters.p().iter().map(|p| (*p as f64).log2()).sum();
        let limbs = &parameters.q()[..parameters.limbs(level.min(parameters.max_level()))];
        let digit = |primes: &[u64]| {
            let bits: f64 = primes.iter().map(|q| (*q as f64).log2()).sum();
            (2.0 * (bits - special)).exp2() * parameters.n() as f64 / 12.0
        };
        let digits: f64 = limbs.chunks(parameters.alpha()).map(digit).sum();
        (SIGMA * SIGMA * digits + self.rescale().powi(2)).sqrt()
    }

    /// Independent errors together.
    ///
    /// ```
    /// assert_eq!(karat::ckks::Noise::both(3.0, 4.0), 5.0);
    /// ```
    pub fn both(a: f64, b: f64) -> f64 {
        a.hypot(b)
    }

    /// Bits of precision, `-log2` of the standard deviation, of the real or imaginary part of each slot.
    pub fn slot_bits(&self, deviation: f64, scale: &Scale, slots: usize) -> f64 {
        scale.log2() - deviation.log2() - (slots as f64).log2() / 2.0
    }
}
