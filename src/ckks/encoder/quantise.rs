//! Real coefficients as integers, and integers as residues.

use crate::arith::{Modulus, Word};
use crate::ckks::scale::Scale;
use crate::ckks::{Error, Result};
use zeroize::Zeroize;

/// Integers below this many bits are rounded exactly.
const MOST_BITS: f64 = 126.0;

/// Integer coefficients of a polynomial. Erased on drop: they may be a message.
pub(in crate::ckks) struct Integers(Vec<i128>);

impl Drop for Integers {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// `round(x · scale)` of each coefficient.
///
/// # Errors
/// `TooLarge` where one has no room in `modulus_bits` with its sign.
pub(in crate::ckks) fn quantise(coefficients: &[f64], scale: &Scale, modulus_bits: f64) -> Result<Integers> {
    let largest = coefficients.iter().fold(0.0f64, |most, c| most.max(c.abs()));
    let (mantissa, exponent) = scale.value();
    let bits = if largest > 0.0 { largest.log2() + mantissa.log2() + exponent as f64 } else { f64::NEG_INFINITY };
    let room = MOST_BITS.min(modulus_bits - 1.0);
    if bits.is_nan() || bits >= room {
        return Err(Error::TooLarge { what: "a coefficient", bits, room });
    }
    // All products stay below 2^126, so that a larger exponent belongs to zeros alone.
    let exponent = exponent.clamp(-2200, 2200) as i32;
    let (first, second) = (exponent / 2, exponent - exponent / 2);
    let factors = (2f64.powi(first), 2f64.powi(second));
    let rounded = |c: &f64| (c * mantissa * factors.0 * factors.1).round_ties_even() as i128;
    Ok(Integers(coefficients.iter().map(rounded).collect()))
}

impl Integers {
    /// From integers that are given.
    pub(in crate::ckks) fn from_values(values: impl IntoIterator<Item = i64>) -> Self {
        Self(values.into_iter().map(i128::from).collect())
    }

    /// Residues `[limb][N]`, canonical.
    pub(in crate::ckks) fn residues<W: Word>(&self, primes: &[u64]) -> Vec<W> {
        let n = self.0.len();
        let mut out = vec![W::ZERO; n * primes.len()];
        let limb = |(prime, out): (&u64, &mut [W])| {
            let Some(m) = Modulus::<u64>::checked(*prime) else { return };
            // 2^64 mod q.
            let high = m.add(m.reduce(u64::MAX), 1);
            for (value, out) in self.0.iter().zip(out) {
                let sign = (*value >> 127) as u64;
                let magnitude = value.unsigned_abs();
                let residue = m.add(m.mul(m.reduce((magnitude >> 64) as u64), high), m.reduce(magnitude as u64));
                *out = W::from_u64(crate::arith::select(sign, m.neg(residue), residue));
            }
        };
        for_each_limb(primes, &mut out, n, limb);
        out
    }
}

/// Runs a function for each limb, over threads where there are some.
pub(in crate::ckks) fn for_each_limb<W: Word>(
    primes: &[u64],
    words: &mut [W],
    n: usize,
    limb: impl Fn((&u64, &mut [W])) + Send + Sync,
) {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        primes.par_iter().zip(words.par_chunks_mut(n)).for_each(limb);
    }
    #[cfg(not(feature = "parallel"))]
    primes.iter().zip(words.chunks_mut(n)).for_each(limb);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn two_to(bits: i64) -> Scale {
        let primes: Arc<[u64]> = [97u64].into();
        Scale::power_of_two(&primes, bits)
    }

    #[test]
    fn residues_of_both_signs_and_sizes() {
        let values = [0i128, 1, -1, (1 << 63) + 5, -(1 << 63) - 5, (1 << 125) + 12345, -(1 << 125) - 777];
        let integers = Integers(values.to_vec());
        let primes = [97u64, 1125899906826241, 4611686018326724609];
        let out = integers.residues::<u64>(&primes);
        for (i, prime) in primes.into_iter().enumerate() {
            for (k, value) in values.into_iter().enumerate() {
                assert_eq!(out[i * values.len() + k], value.rem_euclid(i128::from(prime)) as u64);
            }
        }
    }

    #[test]
    fn rounding_and_room() {
        assert_eq!(quantise(&[1.5, 2.5, -2.5, 1e-300], &two_to(0), 60.0).unwrap().0, [2, 2, -2, 0]);
        assert_eq!(quantise(&[-0.75], &two_to(100), 120.0).unwrap().0, [-3 << 98]);
        assert_eq!(quantise(&[0.0], &two_to(100_000), 120.0).unwrap().0, [0]);
        assert!(quantise(&[1e-300], &two_to(1100), 4000.0).is_ok());
        for (value, bits, modulus) in [(1.0, 59, 60.0), (1e308, 40, 2000.0), (1.0, 126, 2000.0), (1.0, 100_000, 900.0)]
        {
            assert!(matches!(quantise(&[value], &two_to(bits), modulus), Err(Error::TooLarge { .. })));
        }
    }
}
