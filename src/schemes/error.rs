//! What can go wrong in the schemes.

/// The result of every fallible operation of the schemes.
pub type Result<T> = core::result::Result<T, Error>;

/// Every error of the schemes.
///
/// ```
/// use karat::schemes::{Error, mlkem::MlKem768};
/// let kem = MlKem768::new(karat::Cpu::new())?;
/// let error = kem.encaps(&[0; 1183], &[0; 32]).unwrap_err();
/// assert_eq!(error.to_string(), "the encapsulation key has 1183 bytes where 1184 are needed");
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] crate::Error),
    /// An argument has the wrong number of bytes.
    #[error("the {what} has {got} bytes where {expected} are needed")]
    WrongLength {
        /// Which argument.
        what: &'static str,
        /// Needed number of bytes.
        expected: usize,
        /// Number of bytes given.
        got: usize,
    },
    /// Slices of a batched call do not have one length.
    #[error("the batch has {got} {what} where {expected} are needed")]
    WrongBatch {
        /// Which argument.
        what: &'static str,
        /// Needed number of elements.
        expected: usize,
        /// Number of elements given.
        got: usize,
    },
    /// A coefficient of an encapsulation key is `q` or more (the modulus check of FIPS 203, section 7.2).
    #[error("the encapsulation key is invalid: a coefficient is not reduced modulo 3329")]
    KeyNotReduced,
    /// A decapsulation key does not contain the hash of its encapsulation key (FIPS 203, section 7.3).
    #[error("the decapsulation key is invalid: its hash does not belong to the encapsulation key inside it")]
    KeyHashMismatch,
    /// A coefficient of a private signing key lies outside `[-eta, eta]`.
    #[error("the private key is invalid: a secret coefficient lies outside [-eta, eta]")]
    InvalidPrivateKey,
    /// A signing context has more than 255 bytes.
    #[error("the context has {got} bytes where at most 255 are allowed")]
    ContextTooLong {
        /// Number of bytes given.
        got: usize,
    },
    /// The input form does not exist in this parameter set: Dilithium of round 3 signs messages only.
    #[error("{set} has no {what}")]
    NotDefined {
        /// The parameter set.
        set: &'static str,
        /// What was asked for.
        what: &'static str,
    },
    /// The signature does not belong to the message and the key, or is malformed.
    #[error("the signature is not valid")]
    InvalidSignature,
    /// A random-number generator gave nothing.
    #[cfg(feature = "rand_core")]
    #[error("the random-number generator failed")]
    NoRandomness,
    /// No attempt gave a signature: the private key was not made by key generation.
    #[error("signing gave up after {attempts} attempts: the private key is not one that key generation makes")]
    SigningFailed {
        /// Number of attempts.
        attempts: u32,
    },
}
