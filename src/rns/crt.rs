//! Between big integers and their residues. All operands are public.
//!
//! A big integer is a slice of 64-bit limbs, the least first.

use alloc::vec::Vec;

use crate::arith::Modulus;
use crate::{Error, Result};

/// The residue of a big integer modulo each prime.
///
/// # Errors
/// `InvalidModulus` for a modulus outside `[2, 2^62)`.
///
/// ```
/// use karat::rns::crt::to_residues_vartime;
/// assert_eq!(to_residues_vartime(&[5, 1], &[97, 193])?, [(5 + (1u128 << 64)) as u128 % 97, (5 + (1u128 << 64)) % 193].map(|r| r as u64));
/// # Ok::<(), karat::Error>(())
/// ```
pub fn to_residues_vartime(value: &[u64], primes: &[u64]) -> Result<Vec<u64>> {
    let residue = |q: &u64| {
        let m = Modulus::<u64>::new(*q)?;
        // 2^128 fits no double word: the remainder so far is the high half of the next one.
        Ok(value.iter().rev().fold(0, |rest, limb| m.reduce_wide((rest as u128) << 64 | *limb as u128)))
    };
    primes.iter().map(residue).collect()
}

/// The number in `[0, product of the primes)` with these residues, by Garner's mixed radix; the least limbs that hold
/// the product.
///
/// # Errors
/// `WrongLength` unless there is one residue a prime, `Unreduced` for a residue that is not canonical, `InvalidBasis`
/// for moduli with a common factor, `InvalidModulus` for one outside `[2, 2^62)`.
///
/// ```
/// use karat::rns::crt::{from_residues_vartime, to_residues_vartime};
/// let primes = [1152921504606830593, 1152921504606748673];
/// let value = [0x0123_4567_89ab_cdef, 0x00fe_dcba_9876_5432];
/// assert_eq!(from_residues_vartime(&to_residues_vartime(&value, &primes)?, &primes)?, value);
/// # Ok::<(), karat::Error>(())
/// ```
pub fn from_residues_vartime(residues: &[u64], primes: &[u64]) -> Result<Vec<u64>> {
    if residues.len() != primes.len() {
        return Err(Error::WrongLength { what: "the residues", expected: primes.len(), got: residues.len() });
    }
    if let Some(index) = (0..primes.len()).find(|i| residues[*i] >= primes[*i]) {
        return Err(Error::Unreduced { index, q: primes[index] });
    }
    let mut value: Vec<u64> = Vec::new();
    let mut product = alloc::vec![1u64];
    for (residue, q) in residues.iter().zip(primes) {
        let m = Modulus::<u64>::new(*q)?;
        let [so_far, radix] = [&value, &product].map(|x| to_residues_vartime(x, &[*q]).map(|r| r[0]));
        let inverse = m.inv_vartime(radix?).ok_or_else(|| {
            Error::InvalidBasis(alloc::format!("{q} has a factor in common with a modulus before it"))
        })?;
        let digit = m.mul(m.sub(*residue, so_far?), inverse);
        add_product(&mut value, &product, digit);
        product = scaled(&product, *q);
        value.resize(product.len(), 0);
    }
    Ok(value)
}

/// The product of the primes as a big integer.
///
/// ```
/// assert_eq!(karat::rns::crt::product(&[1 << 40, 1 << 40]), [0, 1 << 16]);
/// ```
pub fn product(primes: &[u64]) -> Vec<u64> {
    primes.iter().fold(alloc::vec![1], |product, q| scaled(&product, *q))
}

/// `x · factor`, without zeros on top.
fn scaled(x: &[u64], factor: u64) -> Vec<u64> {
    let mut out = Vec::with_capacity(x.len() + 1);
    let mut carry = 0u128;
    for limb in x {
        carry += *limb as u128 * factor as u128;
        out.push(carry as u64);
        carry >>= 64;
    }
    if carry > 0 {
        out.push(carry as u64);
    }
    out
}

/// `value += x · factor`; the sum may have a limb more than both.
fn add_product(value: &mut Vec<u64>, x: &[u64], factor: u64) {
    let product = scaled(x, factor);
    value.resize(value.len().max(product.len()), 0);
    let mut carry = 0u128;
    for (i, limb) in value.iter_mut().enumerate() {
        carry += *limb as u128 + product.get(i).copied().unwrap_or(0) as u128;
        *limb = carry as u64;
        carry >>= 64;
    }
    if carry > 0 {
        value.push(carry as u64);
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;
    use crate::rns::{RnsBasis, Search};

    fn big(limbs: &[u64]) -> BigUint {
        limbs.iter().rev().fold(BigUint::from(0u32), |x, limb| (x << 64) + limb)
    }

    proptest! {
        #[test]
        fn agrees_with_big_integers(seed: [u64; 24], bits in 20u32..63, count in 1usize..25) {
            let basis = RnsBasis::generate(8, bits, count, Search::Descending, &[]).unwrap();
            let q = product(basis.primes());
            prop_assert_eq!(big(&q), basis.primes().iter().fold(BigUint::from(1u32), |x, p| x * p));
            for value in [big(&seed) % big(&q), big(&q) - 1u32, BigUint::from(0u32), big(&q) / 2u32] {
                let residues: Vec<u64> = basis
                    .primes()
                    .iter()
                    .map(|p| (&value % p).iter_u64_digits().next().unwrap_or(0))
                    .collect();
                let limbs: Vec<u64> = value.iter_u64_digits().collect();
                prop_assert_eq!(&to_residues_vartime(&limbs, basis.primes()).unwrap(), &residues);
                let back = from_residues_vartime(&residues, basis.primes()).unwrap();
                prop_assert_eq!(big(&back), value);
                prop_assert_eq!(back.len(), q.len());
            }
        }
    }

    /// Numbers around every power of 2^64, where a sum takes a limb more than its terms.
    #[test]
    fn numbers_at_the_ends_of_limbs() {
        for bits in [20, 30, 50, 60, 61] {
            let basis = RnsBasis::generate(8, bits, 8, Search::Descending, &[]).unwrap();
            for count in 1..=8 {
                let primes = &basis.primes()[..count];
                let limbs = product(primes).len();
                for (limb, rest) in (1..limbs).flat_map(|limb| [0, 1, 12345, u64::MAX].map(|rest| (limb, rest))) {
                    // 2^(64·limb) + rest·2^(64·(limb - 1)), and one less.
                    let mut value = vec![0; limbs];
                    (value[limb], value[limb - 1]) = (1, rest);
                    let less: BigUint = big(&value) - 1u32;
                    for value in [big(&value), less] {
                        let value = value % big(&product(primes));
                        let residues = to_residues_vartime(&value.to_u64_digits(), primes).unwrap();
                        assert_eq!(big(&from_residues_vartime(&residues, primes).unwrap()), value, "{primes:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn wrong_operands_are_errors() {
        assert!(from_residues_vartime(&[1], &[3, 5]).is_err());
        assert!(from_residues_vartime(&[3, 1], &[3, 5]).is_err());
        assert!(from_residues_vartime(&[3, 1], &[15, 5]).is_err());
        assert!(from_residues_vartime(&[0], &[1 << 62]).is_err());
        assert_eq!(from_residues_vartime(&[], &[]).unwrap(), [0u64; 0]);
    }
}
