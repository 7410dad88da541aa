//! Tables of base conversion, key switching and division by dropped primes: the same numbers for every backend.
//!
//! With `D` the product of the primes `q_i` of `from`, the digits `y_i = a · (D/q_i)^-1 mod q_i` give
//!
//! ```text
//! a + u·D = sum of y_i · (D/q_i),      0 <= u < count,      u + a/D = sum of y_i / q_i
//! ```
//!
//! (Bajard, Eynard, Hasan and Zucca, *A full RNS variant of FV like somewhat homomorphic encryption schemes*, 2016).
//! The corrected form estimates `u` from the sum of `y_i / q_i` in double precision (Halevi, Polyakov and Shoup, *An
//! improved RNS variant of the BFV homomorphic encryption scheme*, 2018): rounded to the nearest integer it leaves the
//! centred representative.
//!
//! # The margin of the corrected form
//! All backends compute `s = 0.0; s = s + (y_i as f64) · (1.0 / q_i)` for `i` ascending, each operation rounded once
//! to nearest, then `u = floor(s + 0.5)`, so that all take the same `u`. A term is below 1 and has three roundings: an
//! absolute error below `3.01·2^-53`. At most 64 terms keep every sum below `2^6`, whose roundings are at most
//! `2^-48`; with the last addition there are 65 of them. The error is below `64 · 3.01 · 2^-53 + 65 · 2^-48 < 2^-41`.
//! So `u` is the right one unless `a/D` lies within `2^-41` of one half, where it may be the neighbour. From one prime
//! no estimate is needed: `u = 1` where `y > q/2`.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Drop, Limbs, RnsRing, Rounding, check};
use crate::arith::{Modulus, Word};
use crate::{Error, Result};

/// The ring that tables belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    n: usize,
    q: Vec<u64>,
    p: Vec<u64>,
}

impl Owner {
    fn new<W: Word>(ring: &RnsRing<W>) -> Self {
        Self { n: ring.n(), q: ring.q().to_vec(), p: ring.p().to_vec() }
    }

    /// Refuses tables of another ring.
    pub(crate) fn check<W: Word>(&self, ring: &RnsRing<W>) -> Result<()> {
        match self.n == ring.n() && self.q == ring.q() && self.p == ring.p() {
            true => Ok(()),
            false => Err(Error::Foreign("RNS rings")),
        }
    }
}

/// The numbers of one base conversion, canonical residues.
#[derive(Debug, Clone)]
pub(crate) struct ConversionTables {
    pub(crate) ring: Owner,
    /// Indices of primes.
    pub(crate) from: Vec<usize>,
    pub(crate) to: Vec<usize>,
    pub(crate) rounding: Rounding,
    /// `(D/q_i)^-1 mod q_i`.
    pub(crate) inverses: Vec<u64>,
    /// `D/q_i mod p_j`, as `[to][from]`.
    pub(crate) factors: Vec<u64>,
    /// `-D mod p_j`.
    pub(crate) minus_product: Vec<u64>,
    /// `1.0 / q_i`, rounded to nearest.
    pub(crate) reciprocals: Vec<f64>,
}

impl ConversionTables {
    pub(crate) fn new<W: Word>(ring: &RnsRing<W>, from: &[usize], to: &[usize], rounding: Rounding) -> Result<Self> {
        check::list(ring, "the primes to convert from", from)?;
        check::list(ring, "the primes to convert to", to)?;
        let sources: Vec<u64> = from.iter().map(|i| ring.prime(*i)).collect();
        // D/q_i modulo m, for each i.
        let cofactors = |m: &Modulus<u64>| -> Vec<u64> {
            let product = |skip: usize| {
                let others = sources.iter().enumerate().filter(|(i, _)| *i != skip);
                others.fold(1, |product, (_, q)| m.mul(product, m.reduce(*q)))
            };
            (0..sources.len()).map(product).collect()
        };
        let mut inverses = Vec::with_capacity(from.len());
        for (i, q) in sources.iter().enumerate() {
            let m = Modulus::<u64>::new(*q)?;
            // Distinct primes: always invertible.
            inverses.push(m.inv_vartime(cofactors(&m)[i]).unwrap_or(0));
        }
        let mut factors = Vec::with_capacity(from.len() * to.len());
        let mut minus_product = Vec::with_capacity(to.len());
        for p in to {
            let m = Modulus::<u64>::new(ring.prime(*p))?;
            let cofactors = cofactors(&m);
            minus_product.push(m.neg(m.mul(cofactors[0], m.reduce(sources[0]))));
            factors.extend(cofactors);
        }
        let reciprocals = sources.iter().map(|q| 1.0 / *q as f64).collect();
        let (ring, from, to) = (Owner::new(ring), from.to_vec(), to.to_vec());
        Ok(Self { ring, from, to, rounding, inverses, factors, minus_product, reciprocals })
    }
}

/// One digit of a key switch.
#[derive(Debug, Clone)]
pub(crate) struct Digit {
    /// Its own primes, limbs of the operand.
    pub(crate) own: Range<usize>,
    /// To all other primes of `Q_level · P`; `None` where there is none.
    pub(crate) conversion: Option<ConversionTables>,
}

/// The numbers of a key switch at one level.
#[derive(Debug, Clone)]
pub(crate) struct KeySwitchTables {
    pub(crate) ring: Owner,
    /// All primes of the extended operand.
    pub(crate) limbs: Limbs,
    pub(crate) digits: Vec<Digit>,
    /// `P mod q_i` for the primes of `Q_level`.
    pub(crate) special: Vec<u64>,
}

impl KeySwitchTables {
    pub(crate) fn new<W: Word>(ring: &RnsRing<W>, level: usize, alpha: usize, rounding: Rounding) -> Result<Self> {
        check::level(ring, level)?;
        if alpha == 0 {
            return Err(Error::InvalidLimbs("digits of no primes: alpha must be 1 or more".into()));
        }
        let limbs = ring.at_level(level);
        let digit = |first: usize| {
            let own = first..level.min(first.saturating_add(alpha));
            let from: Vec<usize> = own.clone().collect();
            let to: Vec<usize> = ring.indices(limbs).filter(|i| !own.contains(i)).collect();
            let conversion = match to.is_empty() {
                true => None,
                false => Some(ConversionTables::new(ring, &from, &to, rounding)?),
            };
            Ok(Digit { own, conversion })
        };
        let digits = (0..level).step_by(alpha).map(digit).collect::<Result<_>>()?;
        let special = ring.q()[..level].iter().map(|q| {
            let m = Modulus::<u64>::new(*q)?;
            Ok(ring.p().iter().fold(1, |product, p| m.mul(product, m.reduce(*p))))
        });
        let special = special.collect::<Result<_>>()?;
        Ok(Self { ring: Owner::new(ring), limbs, digits, special })
    }
}

/// The numbers of a division by dropped primes.
#[derive(Debug, Clone)]
pub(crate) struct ModDownTables {
    pub(crate) ring: Owner,
    /// Primes of the operand and of the result.
    pub(crate) limbs: Limbs,
    pub(crate) kept: Limbs,
    /// From the dropped primes to the kept ones.
    pub(crate) conversion: ConversionTables,
    /// `D^-1 mod q_i` for the kept primes.
    pub(crate) inverses: Vec<u64>,
}

impl ModDownTables {
    pub(crate) fn new<W: Word>(ring: &RnsRing<W>, level: usize, drop: Drop) -> Result<Self> {
        check::level(ring, level)?;
        let (limbs, kept) = match drop {
            Drop::Special => (ring.at_level(level), level),
            Drop::Last(count) => (Limbs { q: level, p: 0 }, level.saturating_sub(count)),
            Drop::SpecialAndLast(count) => (ring.at_level(level), level.saturating_sub(count)),
        };
        let kept = Limbs { q: kept, p: 0 };
        if kept.count() == 0 || kept == limbs {
            return Err(Error::InvalidLimbs(alloc::format!(
                "{drop:?} of {} primes of Q and {} of P: one prime at least must go and one must stay",
                limbs.q,
                limbs.p
            )));
        }
        let from: Vec<usize> = ring.indices(limbs).skip(kept.count()).collect();
        let to: Vec<usize> = ring.indices(kept).collect();
        let conversion = ConversionTables::new(ring, &from, &to, Rounding::Exact)?;
        let mut inverses = Vec::with_capacity(to.len());
        for (i, minus_product) in to.iter().zip(&conversion.minus_product) {
            let m = Modulus::<u64>::new(ring.prime(*i))?;
            inverses.push(m.inv_vartime(m.neg(*minus_product)).unwrap_or(0));
        }
        Ok(Self { ring: Owner::new(ring), limbs, kept, conversion, inverses })
    }
}
