//! Known-answer vectors: reading, checking, generating.
//!
//! - [`rsp`]: the ring format, a streaming reader and writer.
//! - [`Runner`]: validates files of any known [`Format`] on any backend.
//! - [`vectors`]: deterministic vectors for any ring, from a seed.
//! - `scheme` (feature `cli`): vectors of ML-KEM and ML-DSA, and whatever is checked against them: karat itself, or a
//!   program in any language. `nist` and `acvp` write such vectors.
//!
//! Ring files stream: memory does not grow with the number of records.
//!
//! ```
//! use karat::{AnyBackend, kat::{Runner, vectors}};
//! let ring = "n=4,q=17,f=x^4+1".parse()?;
//! let mut text = Vec::new();
//! vectors::write(&AnyBackend::from_name("reference")?, &ring, 3, b"seed", &mut text)?;
//!
//! let mut runner = Runner::new(AnyBackend::from_name("scalar")?);
//! let report = runner.check_reader("memory", &text[..], &mut |_| ());
//! assert_eq!((report.passed, report.failed, report.skipped()), (7, 0, 0)); // 3 random records and 4 extremes
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "cli")]
pub mod acvp;
#[cfg(feature = "cli")]
mod cctv;
#[cfg(feature = "cli")]
mod drbg;
mod error;
mod format;
#[cfg(feature = "cli")]
mod json;
mod lines;
mod multiply;
#[cfg(feature = "cli")]
pub mod nist;
mod report;
pub mod rsp;
mod run;
#[cfg(feature = "cli")]
pub mod scheme;
mod source;
pub mod vectors;
#[cfg(feature = "cli")]
mod wycheproof;

pub use error::{FileError, KatError};
pub use format::Format;
pub use multiply::Multiplier;
pub use report::{FileReport, Mismatch, Progress, Skip};
pub use run::Runner;
pub use source::files;
