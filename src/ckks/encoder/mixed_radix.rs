//! Residues as real numbers, without big integers and exact until the last rounding.
//!
//! A message is much smaller than its modulus. Its first digits in the mixed radix `q_0, q_0·q_1, ...` (Garner 1959)
//! give a candidate, and all other residues must agree with it; where one does not, more digits are taken. With all
//! digits the candidate is the number itself. One digit alone, which most messages have, is a word, compared with one
//! prime after the other.

use super::quantise::residue;
use crate::arith::{Modulus, Word};
use crate::ckks::scale::Scale;
use zeroize::Zeroizing;

/// Digits that are tried after one alone: messages to 60 to 120 bits.
const FIRST: usize = 2;

/// What turns residues into digits.
struct Radix {
    moduli: Vec<Modulus<u64>>,
    /// `inverses[i]`: inverse of `q_0···q_(i-1)` modulo `q_i`.
    inverses: Vec<u64>,
    /// `products[i][j]`: `q_0···q_(j-1)` modulo `q_i`.
    products: Vec<Vec<u64>>,
    /// `q_0···q_(i-1) / scale`.
    weights: Vec<f64>,
}

impl Radix {
    fn new(primes: &[u64], scale: &Scale) -> Self {
        let moduli: Vec<_> = primes.iter().filter_map(|prime| Modulus::<u64>::checked(*prime)).collect();
        let products: Vec<Vec<u64>> = moduli
            .iter()
            .map(|m| {
                let step = |product: &u64, prime: &u64| m.mul(*product, m.reduce(*prime));
                let mut row = vec![m.csub(1)];
                for prime in primes {
                    row.push(step(&row[row.len() - 1], prime));
                }
                row
            })
            .collect();
        // Distinct primes have inverses.
        let inverses = moduli.iter().enumerate().map(|(i, m)| m.inv_vartime(products[i][i]).unwrap_or(0)).collect();
        let (mantissa, exponent) = scale.value();
        let mut bits = -(exponent as f64);
        let mut weights = Vec::new();
        let mut factor = 1.0 / mantissa;
        for prime in primes {
            let whole = bits.trunc();
            weights.push(factor * 2f64.powi(whole as i32));
            // The prime as a mantissa and a power of two, so that long products do not overflow.
            let size = (*prime as f64).log2().floor();
            factor *= *prime as f64 / size.exp2();
            bits += size;
        }
        Self { moduli, inverses, products, weights }
    }

    /// The digits of a number, given by its residues.
    fn digits(&self, residues: impl Fn(usize) -> u64, digits: &mut [u64]) {
        for i in 0..digits.len() {
            let (m, products) = (&self.moduli[i], &self.products[i]);
            let known = self.horner(m, products, &digits[..i]);
            digits[i] = m.mul(m.sub(residues(i), known), self.inverses[i]);
        }
    }

    /// The residue of digits.
    fn horner(&self, m: &Modulus<u64>, products: &[u64], digits: &[u64]) -> u64 {
        digits.iter().zip(products).fold(0, |sum, (digit, product)| m.add(sum, m.mul(m.reduce(*digit), *product)))
    }

    /// Replaces a number above half of the radix by its distance to the radix; says whether it did.
    fn centre(&self, digits: &mut [u64]) -> bool {
        // 2v > Q - 1, looked at from the highest digit: (q-1)/2 in each place is (Q-1)/2.
        let above = digits.iter().zip(&self.moduli).rev().find_map(|(digit, m)| {
            let half = (m.value() - 1) / 2;
            (*digit != half).then_some(*digit > half)
        });
        if above != Some(true) {
            return false;
        }
        let mut borrow = 0;
        for (digit, m) in digits.iter_mut().zip(&self.moduli) {
            // 0 - digit - borrow, in this place.
            let taken = *digit + borrow;
            (*digit, borrow) = if taken == 0 { (0, 0) } else { (m.value() - taken, 1) };
        }
        true
    }

    /// The number of each coefficient over the scale, from its residue modulo the first prime alone; false where another
    /// residue disagrees.
    fn short_values<W: Word>(&self, words: &[W], out: &mut [f64]) -> bool {
        let n = out.len();
        let Some((first, others)) = self.moduli.split_first() else { return false };
        let half = (first.value() / 2) as i64;
        let centred = |word: &W| {
            let value = word.to_u64() as i64;
            // q where it is above one half.
            value - (first.value() as i64 & ((half - value) >> 63))
        };
        let numbers: Zeroizing<Vec<i64>> = Zeroizing::new(words[..n].iter().map(centred).collect());
        let agrees = |(m, words): (&Modulus<u64>, &[W])| {
            let differences = numbers.iter().zip(words).map(|(number, word)| residue(m, *number) ^ word.to_u64());
            differences.fold(0, |all, difference| all | difference) == 0
        };
        if !others.iter().zip(words[n..].chunks_exact(n)).all(agrees) {
            return false;
        }
        for (out, number) in out.iter_mut().zip(numbers.iter()) {
            *out = *number as f64 * self.weights[0];
        }
        true
    }

    /// The number of each coefficient over the scale, from `count` digits; false where a residue disagrees.
    fn values<W: Word>(&self, words: &[W], count: usize, out: &mut [f64]) -> bool {
        let n = out.len();
        let mut digits = Zeroizing::new([0u64; 64]);
        let digits = &mut digits[..count];
        out.iter_mut().enumerate().all(|(k, out)| {
            let residue = |i: usize| words[i * n + k].to_u64();
            self.digits(residue, digits);
            let negative = self.centre(digits);
            let agrees = (count..self.moduli.len()).all(|i| {
                let (m, products) = (&self.moduli[i], &self.products[i]);
                let magnitude = self.horner(m, products, digits);
                residue(i) == if negative { m.neg(magnitude) } else { magnitude }
            });
            let value = digits.iter().zip(&self.weights).rev().fold(0.0, |sum, (digit, weight)| {
                // One rounding a digit, the largest first.
                sum + *digit as f64 * weight
            });
            *out = if negative { -value } else { value };
            agrees
        })
    }
}

/// The centred integers with these residues `[limb][n]` over a scale, each within `count · 2^-52` of itself.
pub(in crate::ckks) fn to_values<W: Word>(words: &[W], primes: &[u64], scale: &Scale) -> Vec<f64> {
    let radix = Radix::new(primes, scale);
    let mut count = FIRST.min(primes.len());
    // In one place from the first try to the last: nothing is left anywhere else.
    let mut out = vec![0.0; words.len() / primes.len()];
    if radix.short_values(words, &mut out) {
        return out;
    }
    // All digits disagree with nothing.
    while !radix.values(words, count, &mut out) {
        count = (2 * count).min(primes.len());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::{BigInt, BigUint, Sign};
    use std::sync::Arc;

    const PRIMES: [u64; 5] =
        [1152921504606584833, 1125899906826241, 1125899908661249, 1099511480321, 4611686018326724609];

    /// Residues of big integers, `[limb][n]`.
    fn residues(values: &[BigInt]) -> Vec<u64> {
        let residue = |value: &BigInt, prime: u64| {
            let prime = BigInt::from(prime);
            let (_, digits) = (((value % &prime) + &prime) % &prime).to_u64_digits();
            digits.first().copied().unwrap_or(0)
        };
        PRIMES.iter().flat_map(|prime| values.iter().map(|value| residue(value, *prime))).collect()
    }

    #[test]
    fn every_size_and_sign_against_big_integers() {
        let all: BigUint = PRIMES.iter().map(|prime| BigUint::from(*prime)).product();
        let half = BigInt::from_biguint(Sign::Plus, (all - 1u8) / 2u8);
        let chain: Arc<[u64]> = PRIMES.into();
        let scale = Scale::power_of_two(&chain, 40).shifted(1..2, 1).unwrap().shifted(2..3, -1).unwrap();
        let (mantissa, exponent) = scale.value();
        let mut values = vec![BigInt::from(0), half.clone(), -half.clone(), &half - 1, 1 - &half];
        for bits in 0..half.bits() {
            for delta in [-1i32, 0, 1] {
                let value = (BigInt::from(1) << bits) + delta;
                values.extend([-value.clone(), value]);
            }
        }
        let values: Vec<_> = values.into_iter().filter(|value| value.magnitude() <= half.magnitude()).collect();
        // Alone, so that small ones take the short way, and all together.
        let together = to_values(&residues(&values), &PRIMES, &scale);
        for (value, together) in values.iter().zip(together) {
            let alone = to_values(&residues(std::slice::from_ref(value)), &PRIMES, &scale)[0];
            let text = value.to_string();
            let expected = text.parse::<f64>().unwrap() / mantissa / 2f64.powi(exponent as i32);
            for got in [alone, together] {
                assert!((got - expected).abs() <= expected.abs() * 6.0 * f64::EPSILON, "{value}: {got} {expected}");
            }
        }
    }
}
