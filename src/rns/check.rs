//! What every backend checks before it computes.

use alloc::vec::Vec;

use super::{Limbs, RnsRing};
use crate::arith::Word;
use crate::backend::expect_len;
use crate::{Error, Result};

/// Checks that polynomials of `limbs` limbs lie inside a buffer of `len` words, and that ones to write do not overlap.
pub(crate) fn view(
    what: &'static str,
    len: usize,
    n: usize,
    (first, stride): (usize, Option<usize>),
    limbs: usize,
    polys: usize,
    write: bool,
) -> Result<()> {
    if polys == 0 {
        return Ok(());
    }
    let stride = stride.unwrap_or(limbs);
    if write && polys > 1 && stride < limbs {
        return Err(Error::InvalidLimbs(alloc::format!(
            "{what}: polynomials of {limbs} limbs overlap with a stride of {stride}"
        )));
    }
    let end = (polys - 1)
        .checked_mul(stride)
        .and_then(|last| last.checked_add(first)?.checked_add(limbs)?.checked_mul(n))
        .unwrap_or(usize::MAX);
    expect_len(what, len, end)
}

/// Checks how many polynomials an addend has.
pub(crate) fn addend(polys: usize) -> Result<()> {
    match polys {
        1 | 2 => Ok(()),
        _ => Err(Error::InvalidLimbs(alloc::format!("an addend of {polys} polynomials: a key switch has two parts"))),
    }
}

/// Checks one scalar a limb.
pub(crate) fn scalars<W: Word>(ring: &RnsRing<W>, limbs: Limbs, scalars: &[W]) -> Result<()> {
    expect_len("the scalars", scalars.len(), limbs.count())?;
    for (index, (prime, scalar)) in ring.indices(limbs).zip(scalars).enumerate() {
        let q = ring.prime(prime);
        if scalar.to_u64() >= q {
            return Err(Error::Unreduced { index, q });
        }
    }
    Ok(())
}

/// Checks the index of a prime.
pub(crate) fn prime<W: Word>(ring: &RnsRing<W>, index: usize) -> Result<()> {
    if index >= ring.primes().len() {
        return Err(Error::InvalidLimbs(alloc::format!(
            "prime {index} is asked for where the ring has {}",
            ring.primes().len()
        )));
    }
    Ok(())
}

/// Checks a list of primes: some, in range, distinct.
pub(crate) fn list<W: Word>(ring: &RnsRing<W>, what: &str, list: &[usize]) -> Result<()> {
    let mut seen: Vec<usize> = list.to_vec();
    seen.sort_unstable();
    seen.dedup();
    if list.is_empty() || seen.len() != list.len() {
        return Err(Error::InvalidLimbs(alloc::format!("{what}: {list:?} must name primes, each once")));
    }
    list.iter().try_for_each(|index| prime(ring, *index))
}

/// Checks a level: 1 to all primes of `Q`.
pub(crate) fn level<W: Word>(ring: &RnsRing<W>, level: usize) -> Result<()> {
    if level == 0 || level > ring.q().len() {
        return Err(Error::InvalidLimbs(alloc::format!(
            "a level of {level} primes: Q has {}, and one at least is needed",
            ring.q().len()
        )));
    }
    Ok(())
}

/// Checks the element of an automorphism; returns it modulo `2N`.
pub(crate) fn galois(n: usize, g: u32) -> Result<u32> {
    if g.is_multiple_of(2) {
        return Err(Error::InvalidGalois(g));
    }
    Ok(g & (2 * n as u32 - 1))
}
