//! What a check reports.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use crate::Error;

/// Where a check failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The backend's name.
    pub backend: String,
    /// The ring and its method.
    pub ring: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.backend, self.ring)
    }
}

/// Why a backend does not conform. `Debug` prints the message too, because that is what a test shows.
///
/// ```
/// use karat::conformance::{Failure, Place};
/// let place = Box::new(Place { backend: "abacus".into(), ring: "ml-kem (k-NTT)".into() });
/// let operation = "mul of all q - 1 and random".into();
/// let failure = Failure::Wrong { place, operation, batch: 31, item: 2, coefficient: 255, got: 7, expected: 8 };
/// let message = "abacus, ml-kem (k-NTT): mul of all q - 1 and random: coefficient 255 of item 2 (batch of 31) is 7, should be 8";
/// assert_eq!(format!("{failure:?}"), message);
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A result is not what it should be.
    #[error(
        "{place}: {operation}: coefficient {coefficient} of item {item} (batch of {batch}) is {got}, should be {expected}"
    )]
    Wrong {
        /// Backend and ring.
        place: Box<Place>,
        /// The operation and its input.
        operation: String,
        /// Polynomials in the result.
        batch: usize,
        /// The first wrong polynomial.
        item: usize,
        /// Its first wrong coefficient.
        coefficient: usize,
        /// The wrong value.
        got: u64,
        /// The right value.
        expected: u64,
    },
    /// An operation that should work gave an error.
    #[error("{place}: {operation}: {error}")]
    Refused {
        /// Backend and ring.
        place: Box<Place>,
        /// The operation and its input.
        operation: String,
        /// What it said.
        error: Error,
    },
    /// An operation that should give an error gave none, or another one.
    #[error("{place}: {operation} should give the error {expected} but {got}")]
    Accepted {
        /// Backend and ring.
        place: Box<Place>,
        /// The operation and its input.
        operation: String,
        /// The name of the right error.
        expected: &'static str,
        /// What happened.
        got: String,
    },
    /// A description of a ring cannot be used.
    #[error("ring of the suite: {0}")]
    Ring(Error),
    /// A backend that must be tested is not there.
    #[error("backend `{backend}` is named by KARAT_REQUIRE and is not available: {reason}")]
    Missing {
        /// Its name.
        backend: &'static str,
        /// Why it is not there.
        reason: String,
    },
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
