//! Real coefficients as integers, and integers as residues.

use crate::arith::{Modulus, Word};
use crate::ckks::scale::Scale;
use crate::ckks::{Error, Result};
use zeroize::Zeroize;

/// Integers below this many bits are rounded exactly.
const MOST_BITS: f64 = 126.0;
/// Integers below this many bits take one word, with room for their bound.
const SHORT_BITS: f64 = 61.0;

/// Integer coefficients of a polynomial. Erased on drop: they may be a message.
pub(in crate::ckks) enum Integers {
    /// Of size at most `most`, a public number below `2^63`.
    Short {
        /// The coefficients.
        values: Vec<i64>,
        /// What none exceeds.
        most: u64,
    },
    /// Of size below `2^127`.
    Wide(Vec<i128>),
}

impl Drop for Integers {
    fn drop(&mut self) {
        match self {
            Self::Short { values, .. } => values.zeroize(),
            Self::Wide(values) => values.zeroize(),
        }
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
    let scaled = |c: &f64| c * mantissa * factors.0 * factors.1;
    Ok(match bits < SHORT_BITS {
        true => {
            let values = coefficients.iter().map(|c| round(scaled(c))).collect();
            // A bit more than the logarithm says, for its rounding and that of the values.
            Integers::Short { values, most: 2 << bits.max(0.0) as u32 }
        }
        false => Integers::Wide(coefficients.iter().map(|c| scaled(c).round_ties_even() as i128).collect()),
    })
}

/// The integer next to `x`, the even one of two. Bounds: below `2^63`.
fn round(x: f64) -> i64 {
    // From here on there are no fractions.
    const WHOLE: f64 = (1u64 << 52) as f64;
    let magnitude = x.abs();
    let rounded = (magnitude + WHOLE) - WHOLE;
    let rounded = if magnitude < WHOLE { rounded } else { magnitude };
    rounded.copysign(x) as i64
}

impl Integers {
    /// From integers of size at most `most`, a public number below `2^63`.
    pub(in crate::ckks) fn from_values(values: impl ExactSizeIterator<Item = i64>, most: u64) -> Self {
        Self::Short { values: values.collect(), most }
    }

    /// Residues `[limb][N]`, canonical.
    pub(in crate::ckks) fn residues<W: Word>(&self, primes: &[u64]) -> Vec<W> {
        let mut out = vec![W::ZERO; self.len() * primes.len()];
        self.residues_to(primes, &mut out);
        out
    }

    /// As [`Integers::residues`], to memory that is given.
    pub(in crate::ckks) fn residues_to<W: Word>(&self, primes: &[u64], out: &mut [W]) {
        for_each_limb(primes, out, self.len(), |(prime, out)| self.residues_modulo(*prime, out));
    }

    fn len(&self) -> usize {
        match self {
            Self::Short { values, .. } => values.len(),
            Self::Wide(values) => values.len(),
        }
    }

    fn residues_modulo<W: Word>(&self, prime: u64, out: &mut [W]) {
        let Some(m) = Modulus::<u64>::checked(prime) else { return };
        match self {
            Self::Short { values, most } if *most < prime => {
                for (value, out) in values.iter().zip(out) {
                    *out = W::from_u64((value + (prime as i64 & (value >> 63))) as u64);
                }
            }
            Self::Short { values, .. } => {
                for (value, out) in values.iter().zip(out) {
                    *out = W::from_u64(residue(&m, *value));
                }
            }
            Self::Wide(values) => {
                // 2^64 mod q.
                let high = m.add(m.reduce(u64::MAX), 1);
                for (value, out) in values.iter().zip(out) {
                    let sign = (*value >> 127) as u64;
                    let magnitude = value.unsigned_abs();
                    let residue = m.add(m.mul(m.reduce((magnitude >> 64) as u64), high), m.reduce(magnitude as u64));
                    *out = W::from_u64(crate::arith::select(sign, m.neg(residue), residue));
                }
            }
        }
    }
}

/// The residue of a number above `-2^63`.
#[inline]
pub(super) fn residue(m: &Modulus<u64>, value: i64) -> u64 {
    let sign = value >> 63;
    let residue = m.reduce(((value ^ sign) - sign) as u64);
    crate::arith::select(sign as u64, m.neg(residue), residue)
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
        let primes = [97u64, 1125899906826241, 4611686018326724609];
        let check = |integers: Integers, values: &[i128]| {
            let out = integers.residues::<u64>(&primes);
            for (i, prime) in primes.into_iter().enumerate() {
                for (k, value) in values.iter().enumerate() {
                    assert_eq!(
                        out[i * values.len() + k],
                        value.rem_euclid(i128::from(prime)) as u64,
                        "{value} {prime}"
                    );
                }
            }
        };
        check(Integers::Wide(values.to_vec()), &values);
        for most in [1, 29, 96, 97, 98, 1125899906826240, 1125899906826241, (1 << 62) + 1, i64::MAX] {
            let values = [0, 1, -1, most, -most, most - 1, 1 - most, most / 2, -most / 2];
            check(Integers::from_values(values.into_iter(), most as u64), &values.map(i128::from));
        }
    }

    #[test]
    fn rounding_and_room() {
        let rounded = |values: &[f64], bits: i64, modulus: f64| match quantise(values, &two_to(bits), modulus).as_ref()
        {
            Ok(Integers::Short { values, most }) => {
                assert!(values.iter().all(|value| value.unsigned_abs() <= *most));
                values.iter().map(|value| i128::from(*value)).collect()
            }
            Ok(Integers::Wide(values)) => values.clone(),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(rounded(&[1.5, 2.5, -2.5, 1e-300], 0, 60.0), [2, 2, -2, 0]);
        assert_eq!(rounded(&[-0.75], 100, 120.0), [-3 << 98]);
        assert_eq!(rounded(&[0.0], 100_000, 120.0), [0]);
        for bits in [0, 1, 50, 51, 52, 53, 59, 60, 61, 62, 100] {
            let size = 2f64.powi(bits);
            for c in [0.5, 0.75, 0.999_999_9, 1.0, 1.25, 1.5 + f64::EPSILON] {
                for value in [c * size, c * size + 0.5, c * size + 1.5] {
                    let expected = value.round_ties_even() as i128;
                    assert_eq!(rounded(&[value, -value], 0, 130.0), [expected, -expected], "{value}");
                }
            }
        }
        assert!(quantise(&[1e-300], &two_to(1100), 4000.0).is_ok());
        for (value, bits, modulus) in [(1.0, 59, 60.0), (1e308, 40, 2000.0), (1.0, 126, 2000.0), (1.0, 100_000, 900.0)]
        {
            assert!(matches!(quantise(&[value], &two_to(bits), modulus), Err(Error::TooLarge { .. })));
        }
    }
}
