//! The description of a ring, and rings as types.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use super::method::{self, Method};
use super::{Quotient, presets};
use crate::arith::Word;
use crate::error::excerpt;
use crate::{Error, Result};

/// The largest degree of a ring's polynomial.
pub const MAX_N: usize = 1 << 17;
/// Moduli lie below this bound.
pub const MAX_Q: u64 = 1 << 62;

/// What defines a ring `Z_q[x]/(f)` and the transform in it.
///
/// Made from a preset's name or from a description, and valid once made.
///
/// ```
/// use karat::RingSpec;
/// let kem: RingSpec = "ml-kem".parse()?;
/// let same: RingSpec = "n=256, q=3329, f=x^256+1".parse()?;
/// assert_eq!((kem.n(), kem.q(), kem.f()), (same.n(), same.q(), same.f()));
/// # Ok::<(), karat::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingSpec {
    name: Cow<'static, str>,
    n: usize,
    q: u64,
    f: Quotient,
    choice: Choice,
    gamma: Option<u64>,
    source: &'static str,
}

/// Who chooses the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Automatic,
    Alpha(u32),
    Lift,
}

impl RingSpec {
    /// The ring `Z_q[x]/(f)`, `f` of degree `n`.
    ///
    /// # Errors
    /// `InvalidRing` or `InvalidModulus` unless `1 <= n <=` [`MAX_N`], `2 <= q <` [`MAX_Q`] and every lower term of
    /// `f` has an exponent below `n`.
    ///
    /// ```
    /// use karat::{RingSpec, ring::Quotient};
    /// let (n, f) = Quotient::parse("x^100 + 3x^7 + 5")?;
    /// assert_eq!(RingSpec::new(n, 97, f)?.to_string(), "n=100,q=97,f=x^100 + 3x^7 + 5");
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn new(n: usize, q: u64, f: Quotient) -> Result<Self> {
        if n == 0 || n > MAX_N {
            return Err(Error::InvalidRing(alloc::format!("N = {n}: the degree must lie in [1, {MAX_N}]")));
        }
        if !(2..MAX_Q).contains(&q) {
            return Err(Error::InvalidModulus { q, reason: "q must lie in [2, 2^62)" });
        }
        if let Some(term) = f.lower_terms().first().filter(|term| term.exponent >= n) {
            return Err(Error::InvalidRing(alloc::format!("f has a term of exponent {} beside x^{n}", term.exponent)));
        }
        Ok(Self { name: Cow::Borrowed(""), n, q, f, choice: Choice::Automatic, gamma: None, source: "" })
    }

    /// The ring `Z_q[x]/(x^n + 1)`.
    ///
    /// # Errors
    /// As [`RingSpec::new`].
    ///
    /// ```
    /// assert_eq!(karat::RingSpec::negacyclic(1024, 12289)?.n(), 1024);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn negacyclic(n: usize, q: u64) -> Result<Self> {
        Self::new(n, q, Quotient::Negacyclic)
    }

    pub(super) const fn preset(
        name: &'static str,
        n: usize,
        q: u64,
        f: Quotient,
        gamma: Option<u64>,
        source: &'static str,
    ) -> Self {
        Self { name: Cow::Borrowed(name), n, q, f, choice: Choice::Automatic, gamma, source }
    }

    /// The same ring with k-NTT of this alpha forced.
    ///
    /// # Errors
    /// `InvalidAlpha` where the ring is not `Z_q[x]/(x^N + 1)` or the modulus does not allow this alpha; the error
    /// names the usable ones.
    ///
    /// ```
    /// let ring = karat::RingSpec::negacyclic(1024, 12289)?.with_alpha(2)?;
    /// assert_eq!(ring.method().to_string(), "k-NTT, alpha = 2: 4 transforms of 256 points");
    /// assert!(karat::RingSpec::negacyclic(256, 3329)?.with_alpha(0).is_err());
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn with_alpha(self, alpha: u32) -> Result<Self> {
        method::check_alpha(&self, alpha)?;
        Ok(Self { choice: Choice::Alpha(alpha), ..self })
    }

    /// The same ring with the lift forced: products over the integers, whatever transform the modulus allows. Every
    /// ring has one, so that a method can be checked against another.
    ///
    /// ```
    /// let ring = karat::RingSpec::negacyclic(256, 3329)?.with_lift();
    /// assert_eq!(ring.method().to_string(), "lift, reduced inside the transform");
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn with_lift(self) -> Self {
        Self { choice: Choice::Lift, ..self }
    }

    /// The same ring with the automatic choice of its method.
    pub(super) fn automatic(self) -> Self {
        Self { choice: Choice::Automatic, ..self }
    }

    pub(super) fn choice(&self) -> Choice {
        self.choice
    }

    /// A preset's name, or "" for a ring that has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Degree of `f`: number of coefficients.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The modulus.
    pub fn q(&self) -> u64 {
        self.q
    }

    /// The polynomial `f`.
    pub fn f(&self) -> &Quotient {
        &self.f
    }

    /// The alpha that was asked for.
    pub fn alpha(&self) -> Option<u32> {
        match self.choice {
            Choice::Alpha(alpha) => Some(alpha),
            Choice::Automatic | Choice::Lift => None,
        }
    }

    /// The root of unity that a standard fixes.
    pub fn gamma(&self) -> Option<u64> {
        self.gamma
    }

    /// Where a preset comes from.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// The method that multiplies in this ring.
    ///
    /// ```
    /// let saber: karat::RingSpec = "saber".parse()?;
    /// assert!(matches!(saber.method(), karat::ring::Method::Lift { .. }));
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn method(&self) -> Method {
        method::choose(self)
    }

    /// Bits of the smallest word that stores coefficients: 16, 32 or 64.
    ///
    /// ```
    /// assert_eq!(karat::RingSpec::negacyclic(256, 8380417)?.word_bits(), 32);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn word_bits(&self) -> u32 {
        match self.q {
            q if q <= 1 << 16 => 16,
            q if q <= 1 << 32 => 32,
            _ => 64,
        }
    }
}

impl fmt::Display for RingSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() {
            return f.write_str(&self.name);
        }
        write!(f, "n={},q={},f={}", self.n, self.q, self.f.display(self.n))
    }
}

impl FromStr for RingSpec {
    type Err = Error;

    /// Reads a preset's name or `n=..,q=..,f=..` in any order; `n` may be left out, `alpha=..` may be added.
    fn from_str(text: &str) -> Result<Self> {
        if !text.contains('=') {
            return presets::find(text).ok_or_else(|| Error::UnknownRing(excerpt(text)));
        }
        let bad = |reason: String| Error::Parse { text: excerpt(text), reason };
        let (mut n, mut q, mut f, mut alpha) = (None, None, None, None);
        for part in text.split(',') {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| bad(alloc::format!("`{}` is not of the form key=value", excerpt(part))))?;
            let number = || {
                let value = value.trim();
                value.parse::<u64>().map_err(|_| bad(alloc::format!("`{}` is not a number", excerpt(value))))
            };
            let twice = match key.trim() {
                "n" | "N" => n.replace(number()?).is_some(),
                "q" => q.replace(number()?).is_some(),
                "f" => f.replace(Quotient::parse(value)?).is_some(),
                "alpha" => alpha.replace(number()?).is_some(),
                other => {
                    return Err(bad(alloc::format!(
                        "unknown key `{}`; a ring is n=..,q=..,f=..[,alpha=..]",
                        excerpt(other)
                    )));
                }
            };
            if twice {
                return Err(bad(alloc::format!("`{}` is given twice", key.trim())));
            }
        }
        let q = q.ok_or_else(|| bad("q is missing".into()))?;
        let (degree, f) = f.ok_or_else(|| bad("f is missing".into()))?;
        if let Some(n) = n.filter(|n| *n != degree as u64) {
            return Err(Error::InvalidRing(alloc::format!("N = {n}, but f has degree {degree}")));
        }
        let ring = Self::new(degree, q, f)?;
        match alpha {
            Some(alpha) => ring.with_alpha(alpha.try_into().unwrap_or(u32::MAX)),
            None => Ok(ring),
        }
    }
}

/// A ring as a type: what a [`RingContext`](crate::RingContext) computes in, and how coefficients are stored.
pub trait Ring: Clone + Send + Sync + 'static {
    /// The word that stores a coefficient.
    type Word: Word;

    /// The description.
    ///
    /// # Bounds
    /// Every implementation gives one fixed, valid description, whose modulus is at most `2^WIDTH` of the word.
    fn spec(&self) -> &RingSpec;
}

/// A ring chosen at run time, its coefficients in words of type `W`.
///
/// ```
/// use karat::{Ring, UserRing};
/// let ring = UserRing::<u16>::new("n=1000,q=1000,f=x^1000-1".parse()?)?;
/// assert_eq!(ring.spec().n(), 1000);
/// assert!(UserRing::<u16>::new("ml-dsa".parse()?).is_err());
/// # Ok::<(), karat::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRing<W> {
    spec: RingSpec,
    word: PhantomData<W>,
}

impl<W: Word> UserRing<W> {
    /// The ring of this description.
    ///
    /// # Errors
    /// `InvalidRing` where coefficients do not fit `W`.
    pub fn new(spec: RingSpec) -> Result<Self> {
        if spec.word_bits() > W::WIDTH {
            return Err(Error::InvalidRing(alloc::format!(
                "residues modulo {} need words of {} bits, not {}",
                spec.q(),
                spec.word_bits(),
                W::WIDTH
            )));
        }
        Ok(Self { spec, word: PhantomData })
    }
}

impl<W: Word> Ring for UserRing<W> {
    type Word = W;

    fn spec(&self) -> &RingSpec {
        &self.spec
    }
}

impl<W> fmt::Display for UserRing<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spec.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions() {
        for text in ["n=8,q=17,f=x^8+1", "q=17 , f=x^8 + 1", "f=x^8+1,q=17,n=8,alpha=1"] {
            let ring: RingSpec = text.parse().unwrap();
            assert_eq!((ring.n(), ring.q(), ring.f()), (8, 17, &Quotient::Negacyclic));
        }
    }

    #[test]
    fn impossible_rings_are_errors() {
        for text in [
            "",
            "ml-kem2",
            "q=17",
            "f=x^8+1",
            "n=9,q=17,f=x^8+1",
            "n=0,q=17,f=1",
            "q=0,f=x^8+1",
            "q=1,f=x^8+1",
            "q=4611686018427387904,f=x^8+1",
            "q=17,f=x^131073+1",
            "q=17,q=17,f=x+1",
            "q=17,f=x^8+1,alpha=4",
            "q=17,f=x^8-1,alpha=1",
            "q=16,f=x^8+1,alpha=1",
            "q=17,f=x^8+1,alpha=99999999999",
            "k=3,q=17,f=x+1",
            "q=-3,f=x+1",
        ] {
            assert!(text.parse::<RingSpec>().is_err(), "{text}");
        }
    }
}
