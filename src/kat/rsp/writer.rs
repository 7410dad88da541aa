//! Writes ring vectors.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::string::String;

use super::super::KatError;
use crate::context::check_reduced;
use crate::{Error, RingSpec};

/// A streaming writer of ring vectors.
///
/// ```
/// use karat::kat::rsp::Writer;
/// let mut text = Vec::new();
/// let mut writer = Writer::new(&mut text);
/// writer.comment("tiny")?;
/// writer.ring(&"n=2,q=17,f=x^2+1".parse()?)?;
/// writer.record(&[2, 6], &[5, 1], &[4, 15])?;
/// assert_eq!(
///     String::from_utf8(text)?,
///     "# tiny\n\n[n = 2]\n[q = 17]\n[f = x^2 + 1]\n\ncount = 0\na = 2 6\nb = 5 1\nc = 4 15\n",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    writer: W,
    /// The ring's `n` and `q`.
    ring: Option<(usize, u64)>,
    count: u64,
    begun: bool,
    line: String,
}

impl<W: Write> Writer<W> {
    /// A writer that begins a file. Hand in something buffered: every line is one write.
    pub fn new(writer: W) -> Self {
        Self { writer, ring: None, count: 0, begun: false, line: String::new() }
    }

    /// Writes a comment; every line of it becomes a line.
    ///
    /// # Errors
    /// `Io`.
    pub fn comment(&mut self, text: &str) -> Result<(), KatError> {
        self.begun = true;
        Ok(text.lines().try_for_each(|line| writeln!(self.writer, "# {line}"))?)
    }

    /// Begins a ring; its records count from 0.
    ///
    /// # Errors
    /// `Io`.
    pub fn ring(&mut self, ring: &RingSpec) -> Result<(), KatError> {
        self.blank()?;
        (self.ring, self.count) = (Some((ring.n(), ring.q())), 0);
        let (n, q, f) = (ring.n(), ring.q(), ring.f().display(ring.n()));
        Ok(writeln!(self.writer, "[n = {n}]\n[q = {q}]\n[f = {f}]")?)
    }

    /// Writes a record: `a`, `b` and `c` of `n` coefficients in `[0, q)`, lowest degree first.
    ///
    /// # Errors
    /// `MissingHeader` where no ring was begun, `Engine` for a wrong length or an unreduced coefficient, `Io`.
    pub fn record(&mut self, a: &[u64], b: &[u64], c: &[u64]) -> Result<(), KatError> {
        let (n, q) = self.ring.ok_or(KatError::MissingHeader("n"))?;
        for (what, values) in [("the first factor", a), ("the second factor", b), ("the product", c)] {
            if values.len() != n {
                return Err(Error::WrongLength { what, expected: n, got: values.len() }.into());
            }
            check_reduced(values, q)?;
        }
        self.blank()?;
        writeln!(self.writer, "count = {}", self.count)?;
        self.count += 1;
        for (name, values) in [("a", a), ("b", b), ("c", c)] {
            self.line.clear();
            self.line.push_str(name);
            self.line.push_str(" =");
            for value in values {
                // Text in memory: this cannot fail.
                let _ = write!(self.line, " {value}");
            }
            self.line.push('\n');
            self.writer.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }

    /// Writes out what is buffered and gives the inner writer back.
    ///
    /// # Errors
    /// `Io`.
    pub fn finish(mut self) -> Result<W, KatError> {
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn blank(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) { writeln!(self.writer) } else { Ok(()) }
    }
}
