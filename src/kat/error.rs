//! What can be wrong with a vector file, and where.

use std::io;
use std::path::{Path, PathBuf};
use std::string::{String, ToString};

/// What is wrong with vectors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KatError {
    /// The operating system refused to read or write.
    #[error(transparent)]
    Io(io::Error),
    /// A gzip stream ends before its trailer.
    #[error("the gzip data is cut off: the file is not complete, fetch it again")]
    TruncatedGzip,
    /// A gzip stream is damaged.
    #[error("the gzip data is damaged: {0}")]
    CorruptGzip(String),
    /// A line is longer than any line of this ring can be.
    #[error("the line is longer than {limit} bytes, more than this ring needs")]
    LineTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// A line or a value is not what the format allows.
    #[error("cannot read `{text}`: expected {expected}")]
    Malformed {
        /// The offending text, shortened.
        text: String,
        /// What the format allows there.
        expected: &'static str,
    },
    /// A header is given twice for one ring.
    #[error("the header [{0} = ...] is given twice before a record")]
    DuplicateHeader(&'static str),
    /// Records begin although a header is missing.
    #[error("the header [{0} = ...] is missing: a ring needs n, q and f before its first record")]
    MissingHeader(&'static str),
    /// The headers describe no ring that karat knows.
    #[error(transparent)]
    Ring(crate::Error),
    /// `n` is not the degree of `f`.
    #[error("n = {n}, but f has degree {degree}")]
    DegreeMismatch {
        /// The header `n`.
        n: u64,
        /// The degree of the header `f`.
        degree: usize,
    },
    /// A polynomial stands before the first `count` line of its ring.
    #[error("`{0}` stands outside a record: a record begins with `count = ...`")]
    OutsideRecord(&'static str),
    /// A record gives a polynomial twice.
    #[error("record {count} gives `{field}` twice")]
    DuplicateField {
        /// The record.
        count: u64,
        /// The polynomial.
        field: &'static str,
    },
    /// A record lacks a polynomial.
    #[error("record {count} has no `{field}`: the file may be cut off")]
    MissingField {
        /// The record.
        count: u64,
        /// The polynomial.
        field: &'static str,
    },
    /// A record's number is not the next one.
    #[error("record {got} is out of order: {expected} comes next")]
    OutOfOrder {
        /// The next number.
        expected: u64,
        /// The number given.
        got: u64,
    },
    /// A polynomial has too few or too many coefficients.
    #[error("`{field}` has {got} coefficients where the ring needs {expected}")]
    WrongCount {
        /// The polynomial.
        field: &'static str,
        /// The ring's `n`.
        expected: usize,
        /// Coefficients given.
        got: usize,
    },
    /// A coefficient is not reduced.
    #[error("coefficient {index} of `{field}` is not reduced: it must lie in [0, {q})")]
    Unreduced {
        /// The polynomial.
        field: &'static str,
        /// The first such coefficient.
        index: usize,
        /// The modulus.
        q: u64,
    },
    /// A file's last line has no end.
    #[error("the last line has no line break: the file is cut off")]
    UnendedLine,
    /// A key's length is not that of its parameter set.
    #[error("a key of {len} bytes is none of {scheme}: the file may be cut off")]
    KeyLength {
        /// Its length in bytes.
        len: usize,
        /// The parameter set.
        scheme: &'static str,
    },
    /// A test has no answer among the expected results.
    #[error("the expected results have no answer to this test")]
    NoExpectedResult,
    /// A test's number is given twice.
    #[error("tcId {0} is given twice in its group")]
    DuplicateTest(u64),
    /// A prompt and expected results do not belong together.
    #[error("`{field}` is {prompt} in the prompt and {results} in the expected results beside it")]
    OtherResults {
        /// The field that differs.
        field: &'static str,
        /// What the prompt has there.
        prompt: String,
        /// What the expected results have there.
        results: String,
    },
    /// A ring's headers are followed by no record.
    #[error("there are no records: the file may be cut off")]
    NoRecords,
    /// The seed for vectors is too long.
    #[error("the seed has {len} bytes; at most {max} are supported")]
    Seed {
        /// Its length in bytes.
        len: usize,
        /// The largest length.
        max: usize,
    },
    /// A file that must be read as a whole is too large.
    #[error("the file holds more than {limit} bytes: split it")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// A text is no JSON.
    #[cfg(feature = "cli")]
    #[error("this is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A text is not UTF-8.
    #[error("the text is not UTF-8")]
    NotText,
    /// An implementation under test gave no outputs.
    #[error("the implementation gave no outputs: {0}")]
    Refused(String),
    /// A program under test cannot be started.
    #[error("{0}")]
    #[cfg(feature = "cli")]
    Program(String),
    /// Ring products are karat's own: a program under test is never asked for them.
    #[error("ring products are not asked of a program: check this file without one")]
    RingForProgram,
    /// The engine refused the ring or the product.
    #[error(transparent)]
    Engine(#[from] crate::Error),
}

impl From<io::Error> for KatError {
    /// Takes a typed error out again where one travelled through [`std::io::Read`].
    fn from(error: io::Error) -> Self {
        error.downcast::<Self>().unwrap_or_else(Self::Io)
    }
}

/// A [`KatError`] with the file and the line where it occurred.
///
/// ```
/// use karat::kat::{KatError, rsp::Reader};
/// let mut reader = Reader::new("short.rsp", &b"[n = 2]\n[q = 17]\n[f = x^2 + 1]\ncount = 0\na = 1\n"[..]);
/// let error = reader.read().unwrap_err();
/// assert!(matches!(error.error, KatError::WrongCount { field: "a", expected: 2, got: 1 }));
/// assert_eq!(error.to_string(), "short.rsp:5: `a` has 1 coefficients where the ring needs 2");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {error}", .file.display(), at(*.line))]
pub struct FileError {
    /// The file, as it was named.
    pub file: PathBuf,
    /// The line, from 1; 0 where the error belongs to no line.
    pub line: u64,
    /// What is wrong.
    pub error: KatError,
}

impl FileError {
    pub(super) fn new(file: &Path, line: u64, error: impl Into<KatError>) -> Self {
        Self { file: file.into(), line, error: error.into() }
    }
}

fn at(line: u64) -> String {
    if line == 0 { String::new() } else { [":", &line.to_string()].concat() }
}

/// Shortens raw bytes for an error message.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    // 60 characters have at most 240 bytes.
    crate::error::excerpt(&String::from_utf8_lossy(&bytes[..bytes.len().min(244)]))
}
