//! Scales as exact numbers.
//!
//! Every scale is a product of powers of two and of the chain's primes: encoding brings in a power of two, products
//! add exponents, a rescale takes primes off. Exponents are kept, never a rounded value, so that two scales are equal
//! exactly when their exponents are.

use std::sync::Arc;

/// A scale: `2^e · q_0^e_0 · q_1^e_1 ···`, exact.
///
/// ```
/// use karat::ckks::{Literal, Prime};
/// let parameters = Literal::preset(Prime::Bits60, 3)?.validate()?;
/// let scale = parameters.scale(40);
/// assert_eq!(scale.log2(), 40.0);
/// assert_eq!(scale.times(&scale).unwrap().log2(), 80.0);
/// # Ok::<(), karat::ckks::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Scale {
    primes: Arc<[u64]>,
    two: i64,
    exponents: Vec<i64>,
}

impl core::fmt::Debug for Scale {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "2^{:.9}", self.log2())
    }
}

impl Scale {
    /// `2^bits` over a chain of primes.
    pub(super) fn power_of_two(primes: &Arc<[u64]>, bits: i64) -> Self {
        Self { primes: Arc::clone(primes), two: bits, exponents: vec![0; primes.len()] }
    }

    /// From exponents: of two, then of each prime.
    pub(super) fn from_exponents(primes: &Arc<[u64]>, two: i64, exponents: Vec<i64>) -> Option<Self> {
        (exponents.len() == primes.len()).then(|| Self { primes: Arc::clone(primes), two, exponents })
    }

    /// The exponents: of two, and of each prime of the chain.
    pub(super) fn exponents(&self) -> (i64, &[i64]) {
        (self.two, &self.exponents)
    }

    /// The product, or `None` where an exponent leaves 63 bits or the chains differ.
    pub fn times(&self, other: &Self) -> Option<Self> {
        self.combine(other, i64::checked_add)
    }

    /// The quotient, or `None` as for [`Scale::times`].
    ///
    /// ```
    /// use karat::ckks::{Literal, Prime};
    /// let parameters = Literal::preset(Prime::Bits60, 3)?.validate()?;
    /// let (a, b) = (parameters.scale(40), parameters.scale(30));
    /// assert_eq!(a.over(&b), Some(parameters.scale(10)));
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn over(&self, other: &Self) -> Option<Self> {
        self.combine(other, i64::checked_sub)
    }

    fn combine(&self, other: &Self, op: impl Fn(i64, i64) -> Option<i64>) -> Option<Self> {
        if self.primes != other.primes {
            return None;
        }
        let exponents: Option<Vec<i64>> =
            self.exponents.iter().zip(&other.exponents).map(|(a, b)| op(*a, *b)).collect();
        Some(Self { primes: Arc::clone(&self.primes), two: op(self.two, other.two)?, exponents: exponents? })
    }

    /// Times (`power` 1) or divided by (`power` -1) the primes of a range of the chain.
    pub(super) fn shifted(&self, primes: core::ops::Range<usize>, power: i64) -> Option<Self> {
        let mut out = self.clone();
        for exponent in out.exponents.get_mut(primes)? {
            *exponent = exponent.checked_add(power)?;
        }
        Some(out)
    }

    /// Bits of the scale.
    pub fn log2(&self) -> f64 {
        let (mantissa, exponent) = self.value();
        mantissa.log2() + exponent as f64
    }

    /// The scale as `mantissa · 2^exponent`, mantissa in `[1, 2)`, with a relative error of about `2^-52`.
    ///
    /// Powers are taken in twofold precision: exponents double at every level, and their errors with them.
    pub fn value(&self) -> (f64, i64) {
        let one = Twofold { high: 1.0, low: 0.0, exponent: 0 };
        let (mut above, mut below) = (one, one);
        for (prime, exponent) in self.primes.iter().zip(&self.exponents) {
            let power = Twofold::from_u64(*prime).power(exponent.unsigned_abs());
            let side = if *exponent > 0 { &mut above } else { &mut below };
            *side = side.times(power);
        }
        let quotient = above.over(below);
        (quotient.high, quotient.exponent.saturating_add(self.two))
    }
}

/// An unevaluated sum of two doubles, times a power of two; `high` in `[1, 2)`.
#[derive(Clone, Copy)]
struct Twofold {
    high: f64,
    low: f64,
    exponent: i64,
}

impl Twofold {
    fn from_u64(value: u64) -> Self {
        let high = value as f64;
        let low = (i128::from(value) - high as i128) as f64;
        Self { high, low, exponent: 0 }.normal()
    }

    fn normal(self) -> Self {
        let high = self.high + self.low;
        let low = self.low - (high - self.high);
        let shift = (high.to_bits() >> 52) as i32 - 1023;
        let factor = 2f64.powi(-shift);
        Self { high: high * factor, low: low * factor, exponent: self.exponent.saturating_add(i64::from(shift)) }
    }

    fn times(self, other: Self) -> Self {
        let high = self.high * other.high;
        let error = self.high.mul_add(other.high, -high);
        let low = error + (self.high * other.low + self.low * other.high);
        Self { high, low, exponent: self.exponent.saturating_add(other.exponent) }.normal()
    }

    fn over(self, other: Self) -> Self {
        let high = self.high / other.high;
        let rest = (-high).mul_add(other.high, self.high) + (self.low - high * other.low);
        let exponent = self.exponent.saturating_sub(other.exponent);
        Self { high, low: rest / other.high, exponent }.normal()
    }

    fn power(self, mut exponent: u64) -> Self {
        let (mut out, mut square) = (Self { high: 1.0, low: 0.0, exponent: 0 }, self);
        while exponent > 0 {
            if exponent & 1 == 1 {
                out = out.times(square);
            }
            square = square.times(square);
            exponent >>= 1;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn chain() -> Arc<[u64]> {
        [1152921504606584833, 1125899906826241, 1125899908661249, 1099511480321].into()
    }

    /// `a / b` as a mantissa in [1, 2) and an exponent, exact to 60 bits.
    fn quotient(a: &BigUint, b: &BigUint) -> (f64, i64) {
        let shift = b.bits() as i64 - a.bits() as i64 + 70;
        let scaled = if shift >= 0 { (a << shift as u64) / b } else { (a >> (-shift) as u64) / b };
        let keep = scaled.bits() as i64 - 64;
        let top = (&scaled >> keep as u64).iter_u64_digits().next().unwrap();
        (top as f64 / 2f64.powi(63), 63 + keep - shift)
    }

    #[test]
    fn an_uneven_chain_against_exact_rationals() {
        let primes = chain();
        let mut scale = Scale::power_of_two(&primes, 45);
        let (mut above, mut below) = (BigUint::from(1u64 << 45), BigUint::from(1u8));
        for level in (1..4).rev() {
            scale = scale.times(&scale).unwrap().shifted(level..level + 1, -1).unwrap();
            (above, below) = (&above * &above, &below * &below * primes[level]);
            let (mantissa, exponent) = scale.value();
            let (expected, power) = quotient(&above, &below);
            assert_eq!(exponent, power);
            assert!((mantissa - expected).abs() < 4e-16, "{mantissa} {expected}");
        }
    }

    #[test]
    fn deep_exponents_keep_their_precision() {
        // (q / 2^50)^(2^30): the logarithm of the quotient is known to many digits.
        let primes = chain();
        let mut ratio = Scale::power_of_two(&primes, -50).shifted(1..2, 1).unwrap();
        for _ in 0..30 {
            ratio = ratio.times(&ratio).unwrap();
        }
        let delta = (1125899906826241f64 - 2f64.powi(50)) / 2f64.powi(50);
        let expected = 2f64.powi(30) * delta.ln_1p() / core::f64::consts::LN_2;
        assert!((ratio.log2() - expected).abs() < 1e-9, "{} {expected}", ratio.log2());
    }

    #[test]
    fn exponents_that_overflow_are_refused() {
        let mut scale = Scale::power_of_two(&chain(), 1);
        for _ in 0..62 {
            scale = scale.times(&scale).unwrap();
        }
        assert!(scale.times(&scale).is_none());
        let other = Scale::power_of_two(&[17u64].into(), 3);
        assert!(scale.times(&other).is_none());
    }
}
