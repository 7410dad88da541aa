//! What ends a command early: bad usage or bad input, in one line each.

use std::io;

/// Every failure means exit status 2, except a closed pipe.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The engine refuses.
    #[error(transparent)]
    Engine(#[from] karat::Error),
    /// The CKKS layer refuses.
    #[error(transparent)]
    Ckks(#[from] karat::ckks::Error),
    /// A file cannot be read or written.
    #[error("{file}: {source}")]
    Io {
        /// Its name.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The contents of an input are wrong.
    #[error("{file}: {place}: {reason}")]
    Input {
        /// Its name.
        file: String,
        /// Line, row or part, and where in it.
        place: String,
        /// What was expected.
        reason: String,
    },
    /// The arguments do not fit together.
    #[error("{0}")]
    Usage(String),
    /// A vector file is not there or not what it should be.
    #[error(transparent)]
    VectorFile(#[from] karat::kat::FileError),
    /// Vectors cannot be made.
    #[error(transparent)]
    Vectors(#[from] karat::kat::KatError),
    /// The errors were told as they came.
    #[error("there were errors")]
    Told,
    /// The reader of standard output has gone.
    #[error("standard output is closed")]
    ClosedPipe,
}

impl Failure {
    /// For `map_err` on operations with a file.
    pub fn io(file: &str) -> impl Fn(io::Error) -> Self + '_ {
        move |source| Self::Io { file: file.into(), source }
    }

    /// For `map_err` on writes to standard output.
    pub fn stdout(source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Io { file: "standard output".into(), source },
        }
    }
}
