//! The RNS rings of the suite, by group.

use alloc::vec::Vec;

use crate::Result;
use crate::arith::Word;
use crate::rns::{RnsBasis, RnsRing, Search};

/// A ring of either word size.
#[derive(Debug, Clone)]
pub enum RnsCase {
    /// Words of 32 bits.
    Words32(RnsRing<u32>),
    /// Words of 64 bits.
    Words64(RnsRing<u64>),
}

/// Bits, count and side of primes that are looked for.
type Want = (u32, usize, Search);

fn ring<W: Word>(n: usize, q: &[Want], p: &[Want]) -> Result<RnsRing<W>> {
    let mut all: Vec<u64> = Vec::new();
    let mut find = |wanted: &[Want]| -> Result<Vec<u64>> {
        let first = all.len();
        for (bits, count, search) in wanted {
            let found = RnsBasis::generate(n, *bits, *count, *search, &all)?;
            all.extend(found.primes());
        }
        Ok(all[first..].to_vec())
    };
    let (q, p) = (find(q)?, find(p)?);
    RnsRing::new(n, &q, &p)
}

fn words32(n: usize, q: &[Want], p: &[Want]) -> Result<RnsCase> {
    ring(n, q, p).map(RnsCase::Words32)
}

fn words64(n: usize, q: &[Want], p: &[Want]) -> Result<RnsCase> {
    ring(n, q, p).map(RnsCase::Words64)
}

use Search::{Alternating, Ascending, Descending};

/// The shortest ring, one prime, one level, no special primes.
///
/// # Errors
/// None; so for all groups.
///
/// ```
/// assert!(!karat::conformance::rns::rings::small()?.is_empty());
/// # Ok::<(), karat::Error>(())
/// ```
pub fn small() -> Result<Vec<RnsCase>> {
    Ok(alloc::vec![
        RnsCase::Words32(RnsRing::new(8, &[97, 113], &[193])?),
        RnsCase::Words64(RnsRing::new(8, &[17, 97, 113], &[193, 241])?),
        words64(8, &[(50, 1, Descending)], &[])?,
        words64(16, &[(60, 1, Descending)], &[(61, 1, Descending)])?,
        words64(16, &[(50, 3, Descending)], &[])?,
        words32(16, &[(30, 3, Alternating)], &[(31, 1, Descending)])?,
    ])
}

/// The smallest and largest primes around every size at which kernels change.
///
/// ```
/// assert!(karat::conformance::rns::rings::widths()?.len() > 20);
/// # Ok::<(), karat::Error>(())
/// ```
pub fn widths() -> Result<Vec<RnsCase>> {
    let mut out = Vec::new();
    for bits in [14, 16, 20, 26, 29, 30] {
        for search in [Ascending, Descending] {
            let q = if bits == 14 { 2 } else { 4 };
            out.push(words32(32, &[(bits, q, search)], &[(bits, 2, search)])?);
        }
    }
    out.push(words32(32, &[(31, 4, Descending)], &[(31, 2, Descending)])?);
    for bits in [20, 30, 31, 32, 40, 49, 50, 51, 52, 58, 59, 60, 61] {
        for search in [Ascending, Descending] {
            out.push(words64(32, &[(bits, 4, search)], &[(bits, 2, search)])?);
        }
    }
    out.push(words64(32, &[(62, 4, Descending)], &[(62, 2, Descending)])?);
    Ok(out)
}

/// Primes of several sizes in one ring, as CKKS has them.
///
/// ```
/// assert!(!karat::conformance::rns::rings::mixed()?.is_empty());
/// # Ok::<(), karat::Error>(())
/// ```
pub fn mixed() -> Result<Vec<RnsCase>> {
    Ok(alloc::vec![
        words64(64, &[(60, 1, Descending), (40, 4, Alternating)], &[(61, 2, Descending)])?,
        words64(64, &[(49, 1, Descending), (30, 3, Alternating)], &[(50, 2, Descending)])?,
        words64(32, &[(25, 2, Descending), (62, 2, Descending), (50, 2, Ascending)], &[(31, 1, Descending)])?,
        words32(64, &[(31, 1, Descending), (25, 3, Alternating)], &[(31, 2, Descending)])?,
        words32(16, &[(12, 1, Descending), (30, 2, Descending)], &[(16, 1, Ascending)])?,
    ])
}

/// 64 primes.
///
/// ```
/// assert_eq!(karat::conformance::rns::rings::many()?.len(), 4);
/// # Ok::<(), karat::Error>(())
/// ```
pub fn many() -> Result<Vec<RnsCase>> {
    Ok(alloc::vec![
        words64(16, &[(62, 60, Descending)], &[(62, 4, Descending)])?,
        words64(16, &[(50, 33, Descending)], &[(50, 31, Descending)])?,
        words64(16, &[(49, 63, Descending)], &[(49, 1, Descending)])?,
        words32(16, &[(31, 60, Descending)], &[(31, 4, Descending)])?,
    ])
}

/// `N = 2^log`: primes of 30 bits in words of 32, of 50 and 60 bits in words of 64.
///
/// ```
/// assert_eq!(karat::conformance::rns::rings::length(13)?.len(), 3);
/// # Ok::<(), karat::Error>(())
/// ```
pub fn length(log: u32) -> Result<Vec<RnsCase>> {
    let n = 1 << log;
    Ok(alloc::vec![
        words32(n, &[(30, 2, Descending)], &[(30, 1, Descending)])?,
        words64(n, &[(50, 2, Descending)], &[(50, 1, Descending)])?,
        words64(n, &[(60, 2, Descending)], &[(60, 1, Descending)])?,
    ])
}
