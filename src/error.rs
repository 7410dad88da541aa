//! What can go wrong, in words that say what to do.

use alloc::string::String;

/// The result of every fallible operation of the crate.
pub type Result<T> = core::result::Result<T, Error>;

/// Every error of the engine.
///
/// ```
/// use karat::{Error, RingSpec};
/// let error = RingSpec::negacyclic(0, 17).unwrap_err();
/// assert!(matches!(error, Error::InvalidRing(_)));
/// assert!(error.to_string().contains("N = 0"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The modulus is out of the range that the arithmetic supports.
    #[error("modulus {q} is not supported here: {reason}")]
    InvalidModulus {
        /// The modulus.
        q: u64,
        /// What was required.
        reason: &'static str,
    },
    /// No prime, root of unity or set of auxiliary primes with the wanted properties exists.
    #[error("no {what} exists for modulus {q}: {reason}")]
    NoRoot {
        /// What was looked for.
        what: &'static str,
        /// The modulus.
        q: u64,
        /// Why there is none.
        reason: String,
    },
    /// The description of a ring is impossible.
    #[error("impossible ring: {0}")]
    InvalidRing(String),
    /// A ring's name is unknown.
    #[error(
        "unknown ring `{0}`: use a name that `karat rings` lists, or a description such as `n=256,q=3329,f=x^256+1`"
    )]
    UnknownRing(String),
    /// The text of a ring, a polynomial or a number cannot be read.
    #[error("cannot read `{text}`: {reason}")]
    Parse {
        /// The offending text, shortened.
        text: String,
        /// What was expected.
        reason: String,
    },
    /// Alpha is larger than the ring allows, or smaller than its modulus allows.
    #[error("alpha = {alpha} is not usable in this ring: {reason}")]
    InvalidAlpha {
        /// The rejected value.
        alpha: u32,
        /// Why, and which values are usable.
        reason: String,
    },
    /// A set of primes cannot be the basis of an RNS ring.
    #[error("impossible RNS basis: {0}")]
    InvalidBasis(String),
    /// Limbs, levels or strides of RNS operands that do not exist or do not fit.
    #[error("wrong limbs: {0}")]
    InvalidLimbs(String),
    /// `x -> x^g` is no automorphism.
    #[error("x -> x^{0} is no automorphism of x^N + 1: the exponent must be odd")]
    InvalidGalois(u32),
    /// An operand has the wrong number of words.
    #[error("{what} holds {got} values where {expected} are needed")]
    WrongLength {
        /// Which operand.
        what: &'static str,
        /// Needed number of values.
        expected: usize,
        /// Number of values given.
        got: usize,
    },
    /// A coefficient is not reduced. Its value is not told: it may be secret.
    #[error(
        "coefficient {index} is not reduced: all must lie in [0, {q}); reduce modulo q first (on the command line: --centred for signed input)"
    )]
    Unreduced {
        /// Index of the first such coefficient in the operand.
        index: usize,
        /// The modulus.
        q: u64,
    },
    /// A lifted ring's transform domain holds integers that grew as far as its auxiliary primes allow.
    #[error(
        "the transform-domain value would hold {terms} products where this lifted ring has room for {max}: go back to coefficients first"
    )]
    LiftOverflow {
        /// Products that the result would hold.
        terms: u64,
        /// Products that it can hold.
        max: u64,
    },
    /// The ring has no such order or transform.
    #[error("this ring has no {what}: {reason}")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
        /// Why there is none, and what to use.
        reason: String,
    },
    /// Two operands belong to different contexts, or to a different backend.
    #[error(
        "the operands belong to different {0}: make both with the same RingContext (clones of one context count as the same)"
    )]
    Foreign(&'static str),
    /// A backend was asked for by name and is not there.
    #[error("backend `{name}` is not available: {reason}")]
    BackendUnavailable {
        /// The name as given.
        name: String,
        /// Why, and what can be done.
        reason: String,
    },
    /// A device, its driver or its compiler reported a failure.
    #[error("the device failed while {operation}: {reason}")]
    Device {
        /// What was being done.
        operation: &'static str,
        /// What was reported.
        reason: String,
    },
    /// Memory for a buffer could not be had.
    #[error("out of memory: {bytes} bytes for a buffer were refused; use a smaller batch")]
    OutOfMemory {
        /// The size of the request.
        bytes: u128,
    },
}

/// Shortens text for an error message: hostile input may be of any length.
pub(crate) fn excerpt(text: &str) -> String {
    let mut out: String = text.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().count() > 60 {
        out.push('…');
    }
    out
}
