//! Reads ring vectors record by record.

use std::io::BufRead;
use std::path::PathBuf;
use std::string::{String, ToString};
use std::sync::Arc;
use std::vec::Vec;

use super::super::error::excerpt;
use super::super::lines::Lines;
use super::super::{FileError, KatError};
use crate::RingSpec;
use crate::ring::{Quotient, presets};

/// Longest header or comment in bytes: room for the longest `f`.
const HEADER: usize = 1 << 12;
/// The polynomials of a record.
const FIELDS: [&str; 3] = ["a", "b", "c"];
/// The headers of a ring.
const HEADERS: [&str; 3] = ["n", "q", "f"];

/// One product `c = a·b`.
#[derive(Debug, Clone)]
pub struct Record {
    /// The ring: a preset where its `n`, `q` and `f` are a preset's.
    pub ring: Arc<RingSpec>,
    /// Its number in the file.
    pub count: u64,
    /// The line of its number, from 1.
    pub line: u64,
    /// The first factor: `n` coefficients in `[0, q)`, lowest degree first.
    pub a: Vec<u64>,
    /// The second factor.
    pub b: Vec<u64>,
    /// The product.
    pub c: Vec<u64>,
    /// Fields of the record that are not of this format.
    pub unknown: Vec<String>,
}

/// A streaming reader of ring vectors.
///
/// ```
/// use karat::kat::rsp::Reader;
/// let text = "[n = 2]\n[q = 17]\n[f = x^2 + 1]\n\ncount = 0\na = 2 6\nb = 5 1\nc = 4 15\n";
/// let mut reader = Reader::new("tiny.rsp", text.as_bytes());
/// while let Some(record) = reader.read()? {
///     assert_eq!((record.ring.q(), record.c[1]), (17, 15));
/// }
/// # Ok::<(), karat::kat::FileError>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    file: PathBuf,
    lines: Lines<R>,
    headers: Headers,
    record: Option<Record>,
    /// Whether `record` is being read: its number is known, fields may follow.
    open: bool,
    /// Which of the open record's fields were given.
    given: [bool; 3],
    /// The number that the next record has.
    next: u64,
    /// Whether a record has followed the current headers.
    used: bool,
    ended: bool,
}

/// The headers of the ring that is being described.
#[derive(Debug, Default)]
struct Headers {
    n: Option<u64>,
    q: Option<u64>,
    f: Option<(usize, Quotient)>,
    ring: Option<Arc<RingSpec>>,
    unknown: u64,
}

impl<R: BufRead> Reader<R> {
    /// A reader of this text; `file` names it in errors.
    pub fn new(file: impl Into<PathBuf>, reader: R) -> Self {
        Self {
            file: file.into(),
            lines: Lines::new(reader, HEADER),
            headers: Headers::default(),
            record: None,
            open: false,
            given: [false; 3],
            next: 0,
            used: false,
            ended: false,
        }
    }

    /// The next record, `None` after the last one. It is overwritten by the next call.
    ///
    /// # Errors
    /// What is wrong and where. Nothing can be read after an error: what follows is `None`.
    pub fn read(&mut self) -> Result<Option<&Record>, FileError> {
        if self.ended {
            return Ok(None);
        }
        match self.step() {
            Ok(true) => Ok(self.record.as_ref()),
            Ok(false) => {
                self.ended = true;
                Ok(None)
            }
            Err(error) => {
                self.ended = true;
                // What a record lacks is told where it began: its end may be anywhere.
                let line = match (&error, &self.record) {
                    (KatError::MissingField { .. }, Some(record)) => record.line,
                    (KatError::Io(_), _) => 0,
                    _ => self.lines.number(),
                };
                Err(FileError::new(&self.file, line, error))
            }
        }
    }

    /// Headers so far that are not of this format.
    pub fn unknown_headers(&self) -> u64 {
        self.headers.unknown
    }

    fn step(&mut self) -> Result<bool, KatError> {
        while self.lines.advance()? {
            let line = self.lines.line();
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            let is_header = line[0] == b'[';
            let (key, value) = split(line, is_header)?;
            if self.open && (is_header || key == b"count") {
                self.lines.again();
                return self.close();
            }
            if is_header {
                if self.used && HEADERS.iter().any(|name| name.as_bytes() == key) {
                    // A new set begins, the old ring is gone.
                    self.headers = Headers { unknown: self.headers.unknown, ..Headers::default() };
                    self.used = false;
                }
                self.headers.set(key, value)?;
            } else if key == b"count" {
                let count = number(value)?;
                self.begin(count)?;
            } else if let Some(field) = FIELDS.iter().position(|name| name.as_bytes() == key) {
                self.field(field)?;
            } else if self.open {
                let name = excerpt(key);
                self.record.iter_mut().for_each(|record| record.unknown.push(name.clone()));
                if self.record.as_ref().is_some_and(|record| record.unknown.len() > HEADER) {
                    return Err(malformed(line, "fewer fields in a record"));
                }
            } else {
                return Err(malformed(line, "a header or `count = ...`"));
            }
        }
        if self.open {
            return self.close();
        }
        if self.used { Ok(false) } else { Err(KatError::NoRecords) }
    }

    fn begin(&mut self, count: u64) -> Result<(), KatError> {
        let ring = self.headers.ring()?;
        if count != self.next && (self.used || count != 0) {
            return Err(KatError::OutOfOrder { expected: self.next, got: count });
        }
        self.next = count.saturating_add(1);
        // Room for one separator and for two digits more than the modulus has.
        let digits = ring.q().to_string().len();
        self.lines.set_limit(HEADER + ring.n() * (digits + 3));
        let line = self.lines.number();
        match &mut self.record {
            Some(record) => {
                (record.ring, record.count, record.line) = (ring, count, line);
                record.unknown.clear();
            }
            empty => {
                let (a, b, c, unknown) = Default::default();
                *empty = Some(Record { ring, count, line, a, b, c, unknown });
            }
        }
        (self.open, self.used, self.given) = (true, true, [false; 3]);
        Ok(())
    }

    fn field(&mut self, index: usize) -> Result<(), KatError> {
        let field = FIELDS[index];
        let Some(record) = self.record.as_mut().filter(|_| self.open) else {
            return Err(KatError::OutsideRecord(field));
        };
        if std::mem::replace(&mut self.given[index], true) {
            return Err(KatError::DuplicateField { count: record.count, field });
        }
        let target = match index {
            0 => &mut record.a,
            1 => &mut record.b,
            _ => &mut record.c,
        };
        let (_, value) = split(self.lines.line(), false)?;
        coefficients(field, value, record.ring.n(), record.ring.q(), target)
    }

    fn close(&mut self) -> Result<bool, KatError> {
        self.open = false;
        let count = self.record.as_ref().map_or(0, |record| record.count);
        match FIELDS.iter().zip(self.given).find(|(_, given)| !given) {
            Some((field, _)) => Err(KatError::MissingField { count, field }),
            None => Ok(true),
        }
    }
}

impl Headers {
    fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), KatError> {
        let twice = match key {
            b"n" => self.n.replace(number(value)?).map(|_| "n"),
            b"q" => self.q.replace(number(value)?).map(|_| "q"),
            b"f" => {
                let text = std::str::from_utf8(value).map_err(|_| malformed(value, "a polynomial"))?;
                self.f.replace(Quotient::parse(text).map_err(KatError::Ring)?).map(|_| "f")
            }
            _ => {
                self.unknown += 1;
                None
            }
        };
        if let Some(name) = twice {
            return Err(KatError::DuplicateHeader(name));
        }
        if let (Some(n), Some((degree, _))) = (self.n, &self.f)
            && n != *degree as u64
        {
            return Err(KatError::DegreeMismatch { n, degree: *degree });
        }
        if let (Some(_), Some(q), Some((degree, f)), None) = (self.n, self.q, &self.f, &self.ring) {
            let ring = RingSpec::new(*degree, q, f.clone()).map_err(KatError::Ring)?;
            let preset = presets::all()
                .into_iter()
                .find(|preset| (preset.n(), preset.q(), preset.f()) == (ring.n(), ring.q(), ring.f()));
            self.ring = Some(Arc::new(preset.cloned().unwrap_or(ring)));
        }
        Ok(())
    }

    fn ring(&self) -> Result<Arc<RingSpec>, KatError> {
        let missing = match (self.n, self.q) {
            (None, _) => "n",
            (_, None) => "q",
            _ => "f",
        };
        self.ring.clone().ok_or(KatError::MissingHeader(missing))
    }
}

/// Takes `key = value` or `[key = value]` apart.
fn split(line: &[u8], is_header: bool) -> Result<(&[u8], &[u8]), KatError> {
    let bad = || malformed(line, if is_header { "a header `[key = value]`" } else { "`key = value`" });
    let inner = match is_header {
        true => line.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).ok_or_else(bad)?,
        false => line,
    };
    let end = inner.iter().position(|byte| *byte == b'=').ok_or_else(bad)?;
    let (key, value) = (inner[..end].trim_ascii(), inner[end + 1..].trim_ascii());
    if super::is_key(key) { Ok((key, value)) } else { Err(bad()) }
}

fn malformed(text: &[u8], expected: &'static str) -> KatError {
    KatError::Malformed { text: excerpt(text), expected }
}

/// Decimal digits to a number.
fn number(digits: &[u8]) -> Result<u64, KatError> {
    match accumulate(digits) {
        Some(Some(number)) if !digits.is_empty() => Ok(number),
        _ => Err(malformed(digits, "a decimal number below 2^64")),
    }
}

/// `None` where there is another character than a digit, `Some(None)` where the number has more than 64 bits.
fn accumulate(digits: &[u8]) -> Option<Option<u64>> {
    let mut value = Some(0u64);
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.and_then(|value| value.checked_mul(10)?.checked_add(digit.into()));
    }
    Some(value)
}

fn coefficients(field: &'static str, text: &[u8], n: usize, q: u64, out: &mut Vec<u64>) -> Result<(), KatError> {
    out.clear();
    let mut got = 0;
    for token in text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty()) {
        let value = accumulate(token).ok_or_else(|| malformed(token, "a decimal coefficient"))?;
        if got < n {
            out.push(value.filter(|value| *value < q).ok_or(KatError::Unreduced { field, index: got, q })?);
        }
        got += 1;
    }
    if got == n { Ok(()) } else { Err(KatError::WrongCount { field, expected: n, got }) }
}
