//! The ring: a degree and its primes.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::{MAX_PRIMES, RnsBasis};
use crate::arith::Word;
use crate::{Error, Result};

/// `Z_{QP}[x]/(x^N + 1)`, `Q` the product of primes of which prefixes are *levels*, `P` that of special primes for key
/// switching; residues in words of type `W`.
///
/// ```
/// use karat::rns::{Limbs, RnsRing};
/// let ring = RnsRing::<u32>::new(8, &[97, 113], &[193])?;
/// assert_eq!((ring.n(), ring.q(), ring.p()), (8, &[97, 113][..], &[193][..]));
/// assert_eq!(ring.indices(Limbs { q: 1, p: 1 }).collect::<Vec<_>>(), [0, 2]);
/// assert!(RnsRing::<u32>::new(8, &[97, 97], &[]).is_err());
/// # Ok::<(), karat::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RnsRing<W> {
    n: usize,
    primes: Vec<u64>,
    levels: usize,
    word: PhantomData<W>,
}

/// Which primes an operand has: the first `q` of `Q`, then the first `p` of `P`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limbs {
    /// Primes of `Q`.
    pub q: usize,
    /// Primes of `P`.
    pub p: usize,
}

impl Limbs {
    /// Limbs of a polynomial.
    ///
    /// ```
    /// assert_eq!(karat::rns::Limbs { q: 3, p: 2 }.count(), 5);
    /// ```
    pub const fn count(self) -> usize {
        self.q.saturating_add(self.p)
    }
}

impl<W: Word> RnsRing<W> {
    /// The ring of degree `n` with the primes `q` and the special primes `p`, which may be none.
    ///
    /// # Errors
    /// `InvalidRing` unless `n` is a power of two in `[2^3, 2^17]`; `InvalidBasis` unless there are 1 to
    /// [`MAX_PRIMES`] primes, one in `q` at least, all distinct and prime, `2n | prime - 1`, each below `2^62`,
    /// `2^31` or `2^15` for words of 64, 32 or 16 bits.
    pub fn new(n: usize, q: &[u64], p: &[u64]) -> Result<Self> {
        let primes = [q, p].concat();
        if q.is_empty() {
            return Err(Error::InvalidBasis("Q has no prime".into()));
        }
        let basis = RnsBasis::new(n, &primes)?;
        let bits = match W::WIDTH {
            64 => 62,
            width => width - 1,
        };
        if let Some(prime) = basis.primes().iter().find(|prime| **prime >> bits != 0) {
            return Err(Error::InvalidBasis(alloc::format!(
                "{prime} is too large: words of {} bits take primes below 2^{bits}",
                W::WIDTH
            )));
        }
        Ok(Self { n, primes, levels: q.len(), word: PhantomData })
    }

    /// Coefficients of a polynomial.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The primes of `Q`, then those of `P`.
    pub fn primes(&self) -> &[u64] {
        &self.primes
    }

    /// The prime of this index, `Q` before `P`.
    ///
    /// # Bounds
    /// `index` in `[0, |Q| + |P|)`; others panic, as for slices.
    pub fn prime(&self, index: usize) -> u64 {
        self.primes[index]
    }

    /// The primes of `Q`.
    pub fn q(&self) -> &[u64] {
        &self.primes[..self.levels]
    }

    /// The special primes.
    pub fn p(&self) -> &[u64] {
        &self.primes[self.levels..]
    }

    /// All primes of `Q` and `P`.
    pub fn full(&self) -> Limbs {
        self.at_level(self.levels)
    }

    /// The first `level` primes of `Q` and all special ones.
    pub fn at_level(&self, level: usize) -> Limbs {
        Limbs { q: level, p: self.primes.len() - self.levels }
    }

    /// The index of each limb's prime.
    pub fn indices(&self, limbs: Limbs) -> impl Iterator<Item = usize> + Clone + use<W> {
        let levels = self.levels;
        (0..limbs.q).chain((0..limbs.p).map(move |j| levels + j))
    }

    /// Checks that the ring has these limbs, and that there are some.
    ///
    /// # Errors
    /// `InvalidLimbs`.
    pub fn check(&self, limbs: Limbs) -> Result<()> {
        let has = self.full();
        if limbs.count() == 0 || limbs.q > has.q || limbs.p > has.p {
            return Err(Error::InvalidLimbs(alloc::format!(
                "{} primes of Q and {} of P are asked for where the ring has {} and {}; one at least is needed",
                limbs.q,
                limbs.p,
                has.q,
                has.p
            )));
        }
        Ok(())
    }
}

const _: () = assert!(MAX_PRIMES <= u8::MAX as usize);
