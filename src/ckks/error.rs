//! What can go wrong in CKKS, in words that say what to do.

/// The result of every fallible operation of CKKS.
pub type Result<T> = core::result::Result<T, Error>;

/// Every error of the CKKS layer.
///
/// ```
/// use karat::ckks::{Error, Literal, Prime, Security};
/// let mut literal = Literal::preset(Prime::Bits60, 3)?;
/// literal.log_n -= 1;
/// assert!(matches!(literal.validate(), Err(Error::Insecure { .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine below refuses.
    #[error(transparent)]
    Engine(#[from] crate::Error),
    /// Parameters that do not fit together.
    #[error("impossible parameters: {0}")]
    Parameters(String),
    /// Parameters below the asked level of security.
    #[error(
        "log2 QP = {log_qp:.1} bits at N = 2^{log_n} is not {target}: {limit}; take a larger N, fewer or smaller primes, or ask for Security::Insecure by name"
    )]
    Insecure {
        /// Logarithm of the ring's degree.
        log_n: u32,
        /// Bits of the whole modulus.
        log_qp: f64,
        /// What was asked for.
        target: &'static str,
        /// The bound, in words.
        limit: String,
    },
    /// A value that is no number.
    #[error("value {index} is not finite: only finite numbers can be encoded")]
    NotFinite {
        /// Its place in the input.
        index: usize,
    },
    /// A value that has no room at its scale in its modulus.
    #[error(
        "{what} needs {bits:.1} bits at this scale and level, and there is room for {room:.1}: use smaller values, a smaller scale or a higher level"
    )]
    TooLarge {
        /// What was too large.
        what: &'static str,
        /// Bits that it needs.
        bits: f64,
        /// Bits that there are.
        room: f64,
    },
    /// More values than slots, or a number of slots that the ring lacks.
    #[error("{got} slots are not possible: a power of two up to {most} is")]
    Slots {
        /// What was asked for.
        got: usize,
        /// Slots that there are at most.
        most: usize,
    },
    /// An operation needs levels that the operand does not have.
    #[error(
        "{operation} needs {needed} more level(s) and the operand is at level {level}: start with a deeper chain of primes, or evaluate less"
    )]
    LevelExhausted {
        /// What was asked for.
        operation: &'static str,
        /// Levels that it uses up.
        needed: usize,
        /// Levels that are left.
        level: usize,
    },
    /// Operands at different levels in manual mode, or a level that does not exist.
    #[error("{operation}: level {got} where level {expected} is needed; drop the higher operand with drop_to_level")]
    LevelMismatch {
        /// What was asked for.
        operation: &'static str,
        /// The level needed.
        expected: usize,
        /// The level found.
        got: usize,
    },
    /// Operands of different scales cannot be added.
    #[error(
        "{operation}: scales of 2^{left:.6} and 2^{right:.6} differ; multiply or rescale one of them first, or use automatic mode"
    )]
    ScaleMismatch {
        /// What was asked for.
        operation: &'static str,
        /// Bits of the first operand's scale.
        left: f64,
        /// Bits of the second operand's scale.
        right: f64,
    },
    /// The scale would not fit in the modulus.
    #[error(
        "{operation}: a scale of 2^{scale:.1} has no room in the {modulus:.1} bits of the modulus at level {level}; rescale before, or start with a deeper chain"
    )]
    ScaleExhausted {
        /// What was asked for.
        operation: &'static str,
        /// Bits of the scale.
        scale: f64,
        /// Bits of the modulus.
        modulus: f64,
        /// The level.
        level: usize,
    },
    /// A product that was not relinearised, where two parts are needed, or the other way round.
    #[error("{operation} takes a ciphertext of {expected} parts and got {got}: relinearise products first")]
    Parts {
        /// What was asked for.
        operation: &'static str,
        /// Parts needed.
        expected: usize,
        /// Parts found.
        got: usize,
    },
    /// Operands of different packing.
    #[error("{operation}: {left} and {right} slots do not go together; encode both with the same number of slots")]
    Packing {
        /// What was asked for.
        operation: &'static str,
        /// Slots of the first operand.
        left: usize,
        /// Slots of the second operand.
        right: usize,
    },
    /// Things that were made by different contexts.
    #[error("the {0} belongs to another context: make everything with one context (its clones count as the same)")]
    Foreign(&'static str),
    /// The key set lacks a key.
    #[error("no {what} in the key set: generate it with KeyPlan::{hint}")]
    MissingKey {
        /// The key, with its Galois element and step.
        what: String,
        /// How to ask for it.
        hint: String,
    },
    /// Automatic mode needs primes next to the scale.
    #[error(
        "automatic mode needs every rescale near the scale, and at level {level} the scale would drift to 2^{bits:.2} from 2^{log_scale}: use a generated chain, or manual mode"
    )]
    Drift {
        /// The level.
        level: usize,
        /// Bits of the scale there.
        bits: f64,
        /// Bits of the scale that was asked for.
        log_scale: u32,
    },
    /// A shape or argument of a linear transform, an inner sum or a polynomial.
    #[error("{0}")]
    Argument(String),
    /// Bytes that are no object of this version and context.
    #[error("cannot read this {what}: {reason}")]
    Format {
        /// What was expected.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The source of randomness failed.
    #[error("the source of randomness failed: {0}")]
    Random(String),
}
