//! Primality, factorisation and NTT primes. All operands are public.

use alloc::vec::Vec;

use super::Modulus;
use crate::{Error, Result};

/// Whether `n` is prime, for every `n < 2^62` (larger numbers give `false`).
///
/// Deterministic Miller–Rabin: the first twelve primes as bases decide every `n < 2^64`
/// (Sorenson and Webster, *Strong pseudoprimes to twelve prime bases*, 2015).
///
/// ```
/// assert!(karat::arith::is_prime_vartime(8380417));
/// assert!(!karat::arith::is_prime_vartime(3329 * 12289));
/// ```
pub const fn is_prime_vartime(n: u64) -> bool {
    const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    if n < 2 || n >= Modulus::<u64>::MAX {
        return false;
    }
    let mut i = 0;
    while i < BASES.len() {
        if n.is_multiple_of(BASES[i]) {
            return n == BASES[i];
        }
        i += 1;
    }
    let Some(m) = Modulus::<u64>::checked(n) else {
        return false;
    };
    let twos = (n - 1).trailing_zeros();
    let odd = (n - 1) >> twos;
    i = 0;
    'bases: while i < BASES.len() {
        let mut x = m.pow(BASES[i], odd);
        i += 1;
        if x == 1 || x == n - 1 {
            continue;
        }
        let mut step = 1;
        while step < twos {
            x = m.mul(x, x);
            if x == n - 1 {
                continue 'bases;
            }
            step += 1;
        }
        return false;
    }
    true
}

/// The prime factors of `n` with their exponents, ascending.
///
/// Trial division by small primes, then Pollard's rho in Brent's form.
///
/// # Bounds
/// `n` in `[1, 2^62)`.
///
/// ```
/// assert_eq!(karat::arith::factor_vartime(1000), [(2, 3), (5, 3)]);
/// assert_eq!(karat::arith::factor_vartime(3329 * 12289), [(3329, 1), (12289, 1)]);
/// ```
pub fn factor_vartime(mut n: u64) -> Vec<(u64, u32)> {
    debug_assert!(n < Modulus::<u64>::MAX);
    let mut primes = Vec::new();
    for p in 2..1u64 << 10 {
        while n > 1 && n.is_multiple_of(p) {
            primes.push(p);
            n /= p;
        }
    }
    let mut rest = Vec::new();
    if n > 1 {
        rest.push(n);
    }
    while let Some(n) = rest.pop() {
        if is_prime_vartime(n) {
            primes.push(n);
        } else {
            let d = divisor_vartime(n);
            rest.extend([d, n / d]);
        }
    }
    primes.sort_unstable();
    let mut out: Vec<(u64, u32)> = Vec::new();
    for p in primes {
        match out.last_mut() {
            Some((last, exponent)) if *last == p => *exponent += 1,
            _ => out.push((p, 1)),
        }
    }
    out
}

/// A proper divisor of a composite odd number without small factors.
fn divisor_vartime(n: u64) -> u64 {
    let Ok(m) = Modulus::<u64>::new(n) else {
        return n;
    };
    for c in 1.. {
        let step = |x| m.add(m.mul(x, x), c);
        let (mut slow, mut fast) = (2u64, step(2));
        let d = loop {
            let d = gcd(slow.abs_diff(fast), n);
            if d != 1 {
                break d;
            }
            slow = step(slow);
            fast = step(step(fast));
        };
        if d != n {
            return d;
        }
    }
    n
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Which way a search for primes goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the bound down.
    Descending,
    /// From the bound up.
    Ascending,
}

/// `count` distinct primes `p = 1 mod order`, nearest to `2^bits` on one side, in the order found.
///
/// Every prime has exactly `bits` bits (descending) or `bits + 1` bits (ascending).
///
/// # Bounds
/// `bits` in `[2, 62]` descending, `[2, 61]` ascending; `order >= 1`.
///
/// # Errors
/// `NoRoot` if there are fewer such primes: nothing narrower is returned instead.
///
/// ```
/// use karat::arith::{Direction, ntt_primes};
/// let primes = ntt_primes(30, 1 << 15, 3, Direction::Descending).unwrap();
/// assert!(primes.iter().all(|p| p % (1 << 15) == 1 && *p < 1 << 30 && *p > 1 << 29));
/// assert!(ntt_primes(15, 1 << 14, 2, Direction::Descending).is_err());
/// ```
pub fn ntt_primes(bits: u32, order: u64, count: usize, direction: Direction) -> Result<Vec<u64>> {
    let shortage = |reason: &str| Error::NoRoot {
        what: "set of NTT primes",
        q: 1u64.checked_shl(bits).unwrap_or(0),
        reason: reason.into(),
    };
    let limit = match direction {
        Direction::Descending => 62,
        Direction::Ascending => 61,
    };
    if !(2..=limit).contains(&bits) || order == 0 {
        return Err(shortage("the size must lie in [2, 62] bits and the order must be positive"));
    }
    let bound = 1u64 << bits;
    let range = match direction {
        Direction::Descending => bound / 2..bound,
        Direction::Ascending => bound..bound * 2,
    };
    // The candidate next to the bound on the wanted side.
    let below = (bound - 1) / order * order + 1;
    let mut candidate = match direction {
        Direction::Descending if below < bound => Some(below),
        Direction::Descending => below.checked_sub(order),
        Direction::Ascending if below >= bound => Some(below),
        Direction::Ascending => below.checked_add(order),
    };
    let mut out = Vec::with_capacity(count.min(64));
    while out.len() < count {
        let p = candidate
            .filter(|p| range.contains(p))
            .ok_or_else(|| shortage("too few primes of this size have the wanted root of unity"))?;
        if is_prime_vartime(p) {
            out.push(p);
        }
        candidate = match direction {
            Direction::Descending => p.checked_sub(order),
            Direction::Ascending => p.checked_add(order),
        };
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primality_against_a_sieve() {
        const N: usize = 1 << 17;
        let mut prime = vec![true; N];
        prime[..2].fill(false);
        for i in 2..N {
            if prime[i] {
                for j in (i * i..N).step_by(i) {
                    prime[j] = false;
                }
            }
        }
        for (n, expected) in prime.iter().enumerate() {
            assert_eq!(is_prime_vartime(n as u64), *expected, "{n}");
        }
    }

    #[test]
    fn strong_pseudoprimes_are_composite() {
        // Strong pseudoprimes to the first 4, 7 and 9 prime bases (Jaeschke 1993; Zhang 2001).
        for n in [3215031751, 341550071728321, 3825123056546413051] {
            assert!(!is_prime_vartime(n));
        }
    }

    #[test]
    fn factors_multiply_back() {
        for n in [1, 2, 4, 97, 1 << 40, 3329 * 3329, 549824583172097, 4611686018427322369, 1000003 * 1000033] {
            let factors = factor_vartime(n);
            assert!(factors.iter().all(|(p, _)| is_prime_vartime(*p)));
            assert_eq!(factors.iter().map(|(p, e)| p.pow(*e)).product::<u64>(), n);
        }
    }

    #[test]
    fn prime_searches_stay_in_their_range() {
        for bits in 5..=61 {
            for direction in [Direction::Descending, Direction::Ascending] {
                for order in [1, 2, 8] {
                    let Ok(primes) = ntt_primes(bits, order, 2, direction) else {
                        continue;
                    };
                    assert_ne!(primes[0], primes[1]);
                    for p in primes {
                        let size = (p as f64).log2() - bits as f64;
                        assert!(size.abs() < 0.7 && p % order == 1 % order, "{p} for 2^{bits}");
                    }
                }
            }
        }
    }
}
