//! Sets of NTT primes.

use alloc::vec::Vec;

use super::MAX_PRIMES;
use crate::arith::{Modulus, is_prime_vartime};
use crate::ring::MAX_N;
use crate::{Error, Result};

/// Distinct primes `p` with `2N | p - 1`.
///
/// ```
/// use karat::rns::{RnsBasis, Search};
/// let q = RnsBasis::generate(1 << 13, 40, 4, Search::Alternating, &[])?;
/// let p = RnsBasis::generate(1 << 13, 60, 2, Search::Descending, q.primes())?;
/// assert!(q.primes().iter().all(|prime| prime % (1 << 14) == 1));
/// assert!(p.primes().iter().all(|prime| *prime < 1 << 60));
/// # Ok::<(), karat::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RnsBasis {
    n: usize,
    primes: Vec<u64>,
}

/// Which way from `2^bits` primes are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Above it, the nearest first.
    Ascending,
    /// Below it, the nearest first.
    Descending,
    /// The nearest above, the nearest below, and so on: products of a few stay near powers of `2^bits`.
    Alternating,
}

/// The least degree.
const MIN_N: usize = 1 << 3;

impl RnsBasis {
    /// Checks primes for degree `n`.
    ///
    /// # Errors
    /// `InvalidRing` unless `n` is a power of two in `[2^3, 2^17]`; `InvalidBasis` unless there are 1 to
    /// [`MAX_PRIMES`] numbers, distinct primes below `2^62` that are 1 modulo `2n`.
    pub fn new(n: usize, primes: &[u64]) -> Result<Self> {
        check_degree(n)?;
        check_count(primes.len())?;
        for (i, prime) in primes.iter().enumerate() {
            let fault = if *prime >= Modulus::<u64>::MAX {
                "is not below 2^62"
            } else if prime % (2 * n as u64) != 1 {
                "is not 1 modulo 2N, so that it has no transform of this length"
            } else if !is_prime_vartime(*prime) {
                "is not prime"
            } else if primes[..i].contains(prime) {
                "stands there twice"
            } else {
                continue;
            };
            return Err(Error::InvalidBasis(alloc::format!("{prime} {fault} (N = {n})")));
        }
        Ok(Self { n, primes: primes.to_vec() })
    }

    /// `count` primes for degree `n` nearest to `2^bits`, none of them in `avoid`.
    ///
    /// # Bounds
    /// Every prime has `|log2 p - bits| < 1/2`.
    ///
    /// # Errors
    /// `InvalidRing` as for [`RnsBasis::new`], `InvalidBasis` where there are fewer such primes: nothing narrower is
    /// returned instead.
    pub fn generate(n: usize, bits: u32, count: usize, search: Search, avoid: &[u64]) -> Result<Self> {
        check_degree(n)?;
        check_count(count)?;
        if !(4..=62).contains(&bits) {
            return Err(Error::InvalidBasis(alloc::format!("primes of {bits} bits: the size must lie in [4, 62]")));
        }
        // The first numbers that are 1 modulo 2N on either side.
        let (bound, order) = (1i64 << bits, 2 * n as i64);
        let base = bound / order * order + 1;
        let first = if base > bound { base } else { base + order };
        let mut above = Side { next: Some(first), step: order, bits, avoid };
        let mut below = Side { next: Some(first - order), step: -order, bits, avoid };
        let mut primes = Vec::with_capacity(count);
        while primes.len() < count {
            let prime = match search {
                Search::Ascending => above.next(),
                Search::Descending => below.next(),
                Search::Alternating if primes.len() % 2 == 0 => above.next().or_else(|| below.next()),
                Search::Alternating => below.next().or_else(|| above.next()),
            };
            let Some(prime) = prime else {
                return Err(Error::InvalidBasis(alloc::format!(
                    "only {} of {count} primes exist within half a bit of 2^{bits} that are 1 modulo {} ({search:?}, {} \
                     avoided)",
                    primes.len(),
                    2 * n,
                    avoid.len()
                )));
            };
            primes.push(prime);
        }
        Ok(Self { n, primes })
    }

    /// The degree.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The primes, in the order given or found.
    pub fn primes(&self) -> &[u64] {
        &self.primes
    }
}

/// Candidates on one side of `2^bits`.
struct Side<'a> {
    next: Option<i64>,
    step: i64,
    bits: u32,
    avoid: &'a [u64],
}

impl Iterator for Side<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            let candidate = self.next.filter(|c| near(*c, self.bits))?;
            self.next = candidate.checked_add(self.step);
            let candidate = candidate as u64;
            if is_prime_vartime(candidate) && !self.avoid.contains(&candidate) {
                return Some(candidate);
            }
        }
    }
}

/// Whether `|log2 p - bits| < 1/2`: `p²` between `2^(2·bits - 1)` and `2^(2·bits + 1)`, neither of which is a square.
fn near(p: i64, bits: u32) -> bool {
    let square = |p: i64| p as u128 * p as u128;
    (2..1 << 62).contains(&p) && square(p) > 1 << (2 * bits - 1) && square(p) < 1 << (2 * bits + 1)
}

fn check_degree(n: usize) -> Result<()> {
    if !n.is_power_of_two() || !(MIN_N..=MAX_N).contains(&n) {
        return Err(Error::InvalidRing(alloc::format!(
            "N = {n}: an RNS ring's degree must be a power of two in [{MIN_N}, {MAX_N}]"
        )));
    }
    Ok(())
}

fn check_count(count: usize) -> Result<()> {
    if !(1..=MAX_PRIMES).contains(&count) {
        return Err(Error::InvalidBasis(alloc::format!("{count} primes: there must be 1 to {MAX_PRIMES}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_counts_and_sides() {
        for (n, bits, count) in [(8, 8, 2), (1 << 10, 20, 1), (1 << 12, 30, 20), (1 << 17, 50, 64), (1 << 17, 61, 8)] {
            for search in [Search::Ascending, Search::Descending, Search::Alternating] {
                let Ok(basis) = RnsBasis::generate(n, bits, count, search, &[]) else {
                    panic!("{n} {bits} {count} {search:?}")
                };
                assert_eq!(basis, RnsBasis::new(n, basis.primes()).unwrap());
                for (i, p) in basis.primes().iter().enumerate() {
                    assert!(((*p as f64).log2() - bits as f64).abs() < 0.5);
                    let above = match search {
                        Search::Ascending => true,
                        Search::Descending => false,
                        Search::Alternating => i % 2 == 0,
                    };
                    assert_eq!(*p > 1 << bits, above || (n == 8 && bits == 8 && *p > 256));
                }
            }
        }
    }

    /// A first prime and scaling primes of one size must not be the same prime.
    #[test]
    fn avoided_primes_are_not_found_again() {
        let first = RnsBasis::generate(1 << 12, 40, 3, Search::Descending, &[]).unwrap();
        let second = RnsBasis::generate(1 << 12, 40, 3, Search::Descending, first.primes()).unwrap();
        assert!(second.primes().iter().all(|p| !first.primes().contains(p)));
        let six = RnsBasis::generate(1 << 12, 40, 6, Search::Descending, &[]).unwrap();
        assert_eq!(six.primes(), [first.primes(), second.primes()].concat());
    }

    #[test]
    fn impossible_sets_are_errors() {
        let generate = |n, bits, count, search| RnsBasis::generate(n, bits, count, search, &[]);
        assert!(generate(12, 40, 1, Search::Ascending).is_err());
        assert!(generate(4, 40, 1, Search::Ascending).is_err());
        assert!(generate(1 << 18, 40, 1, Search::Ascending).is_err());
        assert!(generate(1 << 10, 40, 0, Search::Ascending).is_err());
        assert!(generate(1 << 10, 40, 65, Search::Ascending).is_err());
        assert!(generate(1 << 10, 63, 1, Search::Descending).is_err());
        assert!(generate(1 << 10, 62, 1, Search::Ascending).is_err());
        assert!(generate(1 << 10, 62, 1, Search::Descending).is_ok());
        assert!(generate(1 << 17, 20, 10, Search::Descending).is_err());
        for primes in [&[97u64, 97][..], &[97, 98], &[17 * 97], &[], &[101], &[1 << 62], &[u64::MAX]] {
            assert!(matches!(RnsBasis::new(8, primes), Err(Error::InvalidBasis(_))), "{primes:?}");
        }
    }
}
