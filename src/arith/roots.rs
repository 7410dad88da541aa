//! Roots of unity modulo primes, prime powers and composites. All operands are public.

use super::{Modulus, factor_vartime};
use crate::{Error, Result};

/// Reverses the lowest `bits` bits of `index`.
///
/// ```
/// assert_eq!(karat::arith::bit_reverse(0b0011, 4), 0b1100);
/// ```
pub const fn bit_reverse(index: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { index.reverse_bits() >> (usize::BITS - bits) }
}

/// The least element of multiplicative order exactly `order`, a power of two, modulo a prime.
///
/// # Errors
/// `NoRoot` unless `order` divides `p - 1`.
///
/// ```
/// // FIPS 203 and 204 use these roots.
/// assert_eq!(karat::arith::primitive_root_of_unity(3329, 256).unwrap(), 17);
/// assert_eq!(karat::arith::primitive_root_of_unity(8380417, 512).unwrap(), 1753);
/// ```
pub fn primitive_root_of_unity(p: u64, order: u64) -> Result<u64> {
    let m = Modulus::<u64>::new(p)?;
    let missing = |reason: &str| Error::NoRoot {
        what: "primitive root of unity",
        q: p,
        reason: alloc::format!("order {order}: {reason}"),
    };
    if !order.is_power_of_two() || !(p - 1).is_multiple_of(order) {
        return Err(missing("it must be a power of two that divides q - 1"));
    }
    if order == 1 {
        return Ok(1);
    }
    // A non-residue's power has the full order; half of all candidates are non-residues.
    let root = (2..p)
        .take(1 << 10)
        .map(|x| m.pow(x, (p - 1) / order))
        .find(|r| m.pow(*r, order / 2) == p - 1)
        .or(if p == 3 { Some(2) } else { None })
        .ok_or_else(|| missing("none found: is the modulus prime?"))?;
    let square = m.mul(root, root);
    let mut least = root;
    let mut power = root;
    for _ in 1..order / 2 {
        power = m.mul(power, square);
        least = least.min(power);
    }
    Ok(least)
}

/// A root `gamma` with `gamma^n = -1 mod q`, `n` a power of two, for any odd `q` whose prime factors `p` all
/// have `2n | p - 1`; the least one for a prime.
///
/// For a prime power the root modulo `p` is lifted by Newton's iteration (Hensel); for several primes the roots
/// are joined by the Chinese remainder theorem.
///
/// # Errors
/// `NoRoot` if a prime factor is 2 or lacks the root.
///
/// ```
/// use karat::arith::{Modulus, negacyclic_root};
/// let q = 97 * 97 * 193;
/// let gamma = negacyclic_root(q, 16).unwrap();
/// assert_eq!(Modulus::<u64>::new(q).unwrap().pow(gamma, 16), q - 1);
/// ```
pub fn negacyclic_root(q: u64, n: u64) -> Result<u64> {
    let whole = Modulus::<u64>::new(q)?;
    let mut joined = (0u64, 1u64);
    for (p, exponent) in factor_vartime(q) {
        if p == 2 {
            return Err(Error::NoRoot {
                what: "root of -1",
                q,
                reason: "an even modulus has no negacyclic transform; the lift multiplies there".into(),
            });
        }
        let power = p.pow(exponent);
        let mut gamma = primitive_root_of_unity(p, 2 * n)?;
        if exponent > 1 {
            let m = Modulus::<u64>::new(power)?;
            // Each step doubles the p-adic precision: gamma -= (gamma^n + 1) / (n·gamma^(n-1)).
            for _ in 0..exponent.ilog2() + 1 {
                let value = m.add(m.pow(gamma, n), 1);
                let slope = m.mul(m.reduce(n), m.pow(gamma, n - 1));
                if let Some(inverse) = m.inv_vartime(slope) {
                    gamma = m.sub(gamma, m.mul(value, inverse));
                }
            }
        }
        joined = crt(joined, (gamma, power));
    }
    let gamma = joined.0;
    if whole.pow(gamma, n) != q - 1 {
        return Err(Error::NoRoot { what: "root of -1", q, reason: alloc::format!("no gamma has gamma^{n} = -1") });
    }
    Ok(gamma)
}

/// The greatest transform length that a modulus allows: the greatest `n <= limit`, a power of two,
/// such that `2n` divides `p - 1` for every prime factor `p` of `q`; 0 if `q` is even.
///
/// ```
/// assert_eq!(karat::arith::max_negacyclic_length(3329, 256), 128);
/// assert_eq!(karat::arith::max_negacyclic_length(1024, 256), 0);
/// ```
pub fn max_negacyclic_length(q: u64, limit: u64) -> u64 {
    factor_vartime(q).iter().map(|(p, _)| 1u64 << (p - 1).trailing_zeros() >> 1).fold(limit, u64::min)
}

/// The number below `m1·m2` with the given residues; the moduli are coprime and their product is below 2^62.
fn crt((r1, m1): (u64, u64), (r2, m2): (u64, u64)) -> (u64, u64) {
    let Ok(second) = Modulus::<u64>::new(m2) else {
        return (r1, m1);
    };
    let inverse = second.inv_vartime(second.reduce(m1)).unwrap_or(0);
    let digit = second.mul(second.sub(r2, second.reduce(r1)), inverse);
    (r1 + m1 * digit, m1 * m2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_published_schemes() {
        assert_eq!(primitive_root_of_unity(12289, 4096).unwrap(), 41);
        for (p, order) in [(3, 2), (5, 4), (17, 16), (257, 256), (12289, 4096), (4611686018427322369, 2048)] {
            let m = Modulus::<u64>::new(p).unwrap();
            let root = primitive_root_of_unity(p, order).unwrap();
            assert_eq!(m.pow(root, order / 2), p - 1);
        }
        assert!(primitive_root_of_unity(3329, 512).is_err());
    }

    #[test]
    fn composite_moduli() {
        for (q, n) in [(17 * 17 * 17, 8), (17 * 97, 8), (97u64.pow(4) * 193, 16), (3 * 5 * 7, 1), (9, 1)] {
            let gamma = negacyclic_root(q, n).unwrap();
            assert_eq!(Modulus::<u64>::new(q).unwrap().pow(gamma, n), q - 1, "q = {q}");
        }
        assert!(negacyclic_root(3 * 17, 8).is_err());
        assert!(negacyclic_root(16, 1).is_err());
        assert_eq!(max_negacyclic_length(3 * 17, 8), 1);
    }
}
