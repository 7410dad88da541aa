//! Lines of bounded length.

use std::io::{BufRead, Read};
use std::vec::Vec;

use super::KatError;

/// Reads lines into one buffer that is used again; a line may be looked at twice.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
    limit: usize,
    again: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self { reader, line: Vec::new(), number: 0, limit, again: false }
    }

    /// The number of the current line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Lines may have this many bytes from now on.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// The next [`Lines::advance`] stays on this line.
    pub(super) fn again(&mut self) {
        self.again = true;
    }

    /// The current line without its end and without blanks around it.
    pub(super) fn line(&self) -> &[u8] {
        self.line.trim_ascii()
    }

    /// Goes to the next line; false at the end of the input.
    pub(super) fn advance(&mut self) -> Result<bool, KatError> {
        if std::mem::take(&mut self.again) {
            return Ok(true);
        }
        self.line.clear();
        // Two more bytes for the line's end, so that a line of `limit` bytes passes whatever end it has.
        let most = self.limit + 2;
        let read = (&mut self.reader).take(most as u64).read_until(b'\n', &mut self.line);
        self.number += 1;
        read?;
        if self.line.len() == most && self.line.last() != Some(&b'\n') {
            return Err(KatError::LineTooLong { limit: self.limit });
        }
        Ok(!self.line.is_empty())
    }
}
