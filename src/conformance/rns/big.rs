//! Where a big integer lies between multiples of a product of primes.

use alloc::vec::Vec;

use crate::Result;
use crate::rns::crt;

/// A number modulo a product of primes, from its residues.
pub(super) struct Big {
    value: Vec<u64>,
    product: Vec<u64>,
    /// Whether the product is one prime, so that nothing may be off.
    single: bool,
}

/// Estimates of `value / product` may be off by this: twice the margin that conversions have.
const MARGIN: f64 = 1.0 / (1u64 << 40) as f64;

impl Big {
    pub(super) fn new(residues: &[u64], primes: &[u64]) -> Result<Self> {
        let value = crt::from_residues_vartime(residues, primes)?;
        Ok(Self { value, product: crt::product(primes), single: primes.len() == 1 })
    }

    /// The number modulo a prime, and the product modulo it.
    pub(super) fn modulo(&self, q: u64) -> Result<(u64, u64)> {
        Ok((crt::to_residues_vartime(&self.value, &[q])?[0], crt::to_residues_vartime(&self.product, &[q])?[0]))
    }

    /// The multiples of the product that a centred representative may lie below the number: 0, 1, or both near one
    /// half.
    pub(super) fn centred(&self) -> core::ops::RangeInclusive<u64> {
        if self.single {
            let above = u64::from(self.value[0] > self.product[0] / 2);
            return above..=above;
        }
        let ratio = top(&self.value, self.product.len()) / top(&self.product, self.product.len());
        u64::from(ratio > 0.5 + MARGIN)..=u64::from(ratio >= 0.5 - MARGIN)
    }
}

/// The highest three limbs of a number of `len` limbs.
fn top(value: &[u64], len: usize) -> f64 {
    let limb = |i: usize| value.get(i).copied().unwrap_or(0) as f64;
    let two_64 = (1u128 << 64) as f64;
    (0..len).rev().take(3).fold(0.0, |sum, i| sum * two_64 + limb(i))
}

/// `floor(product / 2) + offset` as residues: numbers next to one half.
pub(super) fn near_half(primes: &[u64], offset: i64) -> Result<Vec<u64>> {
    let mut half = crt::product(primes);
    let mut carry = 0;
    for limb in half.iter_mut().rev() {
        (*limb, carry) = (*limb >> 1 | carry << 63, *limb & 1);
    }
    let residues = crt::to_residues_vartime(&half, primes)?;
    Ok(residues.iter().zip(primes).map(|(r, q)| (*r as i128 + offset as i128).rem_euclid(*q as i128) as u64).collect())
}
