//! What a run found.

use std::path::PathBuf;
use std::string::String;
use std::vec::Vec;

use super::{FileError, Format};
use crate::RingSpec;

/// How far the check of a file is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file that were read (compressed, where it is).
    pub bytes: u64,
    /// Records that passed.
    pub passed: u64,
    /// Records that failed.
    pub failed: u64,
}

/// What the check of one file found.
///
/// ```
/// use karat::{AnyBackend, kat::Runner};
/// let wrong = "[n = 2]\n[q = 17]\n[f = x^2 + 1]\ncount = 0\na = 2 6\nb = 5 1\nc = 4 16\nnote = 7\n";
/// let mut runner = Runner::new(AnyBackend::from_name("scalar")?);
/// let report = runner.check_reader("wrong.rsp", wrong.as_bytes(), &mut |_| ());
/// assert_eq!((report.passed, report.failed, report.skipped()), (0, 1, 1)); // nobody checks `note`
/// let mismatch = report.mismatch.unwrap();
/// assert_eq!((mismatch.count, mismatch.index, mismatch.expected, mismatch.got), (0, 1, 16, 15));
/// # Ok::<(), karat::Error>(())
/// ```
#[derive(Debug)]
pub struct FileReport {
    /// The file, as it was named.
    pub path: PathBuf,
    /// Its format; `None` where it was skipped.
    pub format: Option<Format>,
    /// Its rings in the order of first appearance, at most [`FileReport::MAX_RINGS`].
    pub rings: Vec<RingSpec>,
    /// Records whose every known field is right.
    pub passed: u64,
    /// Records with a wrong product.
    pub failed: u64,
    /// What was not checked and why; [`FileReport::skipped`] is the sum.
    pub skips: Vec<Skip>,
    /// The first wrong product.
    pub mismatch: Option<Mismatch>,
    /// The first wrong answer of a scheme: the record, the operation and what is wrong.
    pub wrong: Option<String>,
    /// Where the file holds the expected results of a prompt beside it: that prompt. They are read and counted with it.
    pub prompt: Option<PathBuf>,
    /// Why the file could not be read to its end. Records before it are counted.
    pub error: Option<FileError>,
}

impl FileReport {
    /// Rings that a report names.
    pub const MAX_RINGS: usize = 64;
    /// Reasons that a report tells apart.
    const MAX_REASONS: usize = 16;

    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            format: None,
            rings: Vec::new(),
            passed: 0,
            failed: 0,
            skips: Vec::new(),
            mismatch: None,
            wrong: None,
            prompt: None,
            error: None,
        }
    }

    /// Files, records or fields that were not checked.
    pub fn skipped(&self) -> u64 {
        self.skips.iter().map(|skip| skip.count).sum()
    }

    /// Whether nothing was wrong: no failed record and no error. A skipped file is not wrong.
    pub fn is_ok(&self) -> bool {
        self.failed == 0 && self.error.is_none()
    }

    /// Counts a record that is wrong by itself, whoever is asked.
    #[cfg(feature = "cli")]
    pub(super) fn fail(&mut self, why: String) {
        self.failed += 1;
        self.wrong.get_or_insert(why);
    }

    pub(super) fn skip(&mut self, reason: &str, count: u64) {
        if count == 0 {
            return;
        }
        // A hostile file may invent reasons without end.
        let full = self.skips.len() + 1 >= Self::MAX_REASONS;
        let known = self.skips.iter().any(|skip| skip.reason == reason);
        let reason = if full && !known { "further reasons" } else { reason };
        match self.skips.iter_mut().find(|skip| skip.reason == reason) {
            Some(skip) => skip.count += count,
            None => self.skips.push(Skip { reason: reason.into(), count }),
        }
    }

    pub(super) fn add_ring(&mut self, ring: &RingSpec) {
        if self.rings.len() < Self::MAX_RINGS && !self.rings.contains(ring) {
            self.rings.push(ring.clone());
        }
    }
}

/// Something that was not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// Why.
    pub reason: String,
    /// How many.
    pub count: u64,
}

/// A wrong product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The record's number in the file.
    pub count: u64,
    /// The line where the record begins.
    pub line: u64,
    /// The first coefficient that differs.
    pub index: usize,
    /// Its value in the file.
    pub expected: u64,
    /// Its value as computed.
    pub got: u64,
}
