//! Polynomials as text: one a line, decimal coefficients between blanks, lowest degree first. Empty lines and what
//! follows a `#` are skipped. Lines of any length are read in bounded memory.

use std::io::{self, BufRead};

use crate::failure::Failure;
use crate::poly::Format;

/// Reads polynomials from text.
pub struct TextReader<R> {
    name: String,
    reader: R,
    format: Format,
    /// The current line, from 1.
    line: u64,
}

/// The line that is being read.
#[derive(Default)]
struct Line {
    /// Coefficients so far; those past `N` are counted and not kept.
    count: usize,
    token: Option<Token>,
    comment: bool,
}

/// The number that is being read.
#[derive(Default)]
struct Token {
    negative: bool,
    digits: bool,
    size: i128,
}

impl Line {
    /// Takes one more byte, none of them a line break.
    fn push(&mut self, byte: u8, format: Format, out: &mut Vec<u64>) -> Result<(), String> {
        match byte {
            _ if self.comment => {}
            b'#' => {
                self.finish(format, out)?;
                self.comment = true;
            }
            b' ' | b'\t' | b'\r' => self.finish(format, out)?,
            b'-' if self.token.is_none() => self.token = Some(Token { negative: true, ..Token::default() }),
            b'0'..=b'9' => {
                let token = self.token.get_or_insert_default();
                token.digits = true;
                // 2^64 and more are all equally out of range.
                token.size = (token.size * 10 + i128::from(byte - b'0')).min(1 << 64);
            }
            _ => return Err(format!("`{}` belongs to no decimal number", byte.escape_ascii())),
        }
        Ok(())
    }

    /// Ends a number, if one has started.
    fn finish(&mut self, format: Format, out: &mut Vec<u64>) -> Result<(), String> {
        let Some(token) = self.token.take() else { return Ok(()) };
        if !token.digits {
            return Err("`-` without digits".into());
        }
        let value = if token.negative { -token.size } else { token.size };
        let residue = format.residue(value).ok_or_else(|| format.range())?;
        if self.count < format.n {
            out.push(residue);
        }
        self.count += 1;
        Ok(())
    }
}

impl<R: BufRead> TextReader<R> {
    pub fn new(name: &str, reader: R, format: Format) -> Self {
        Self { name: name.into(), reader, format, line: 0 }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Appends the residues of the next polynomial; false at the end.
    pub fn next(&mut self, out: &mut Vec<u64>) -> Result<bool, Failure> {
        loop {
            self.line += 1;
            let mut line = Line::default();
            let ended = self.read_line(&mut line, out)?;
            if line.count > 0 && line.count != self.format.n {
                let reason = format!("{} coefficients, where the ring has N = {}", line.count, self.format.n);
                return Err(self.error(format!("line {}", self.line), reason));
            }
            if line.count > 0 || ended {
                return Ok(line.count > 0);
            }
        }
    }

    /// Reads to the end of a line; whether the input ends there.
    fn read_line(&mut self, line: &mut Line, out: &mut Vec<u64>) -> Result<bool, Failure> {
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                other => other.map_err(Failure::io(&self.name))?,
            };
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let ended = end.is_some() || buffer.is_empty();
            let piece = &buffer[..end.unwrap_or(buffer.len())];
            let mut parsed = piece.iter().try_for_each(|byte| line.push(*byte, self.format, out));
            if ended {
                parsed = parsed.and_then(|()| line.finish(self.format, out));
            }
            let (used, at_end) = (piece.len() + usize::from(end.is_some()), buffer.is_empty());
            self.reader.consume(used);
            if let Err(reason) = parsed {
                return Err(self.error(format!("line {}, coefficient {}", self.line, line.count), reason));
            }
            if ended {
                return Ok(at_end);
            }
        }
    }

    fn error(&self, place: String, reason: String) -> Failure {
        Failure::Input { file: self.name.clone(), place, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, centred: bool) -> Result<Vec<u64>, String> {
        // A buffer of three bytes cuts numbers apart.
        let reader = io::BufReader::with_capacity(3, text.as_bytes());
        let mut reader = TextReader::new("t", reader, Format { n: 3, q: 17, centred });
        let mut out = Vec::new();
        while reader.next(&mut out).map_err(|e| e.to_string())? {}
        Ok(out)
    }

    #[test]
    fn polynomials() {
        assert_eq!(read("1 2 3\n4 5 16\n", false).unwrap(), [1, 2, 3, 4, 5, 16]);
        assert_eq!(read("# head\r\n\r\n  1\t002  3 # tail\r\n#", false).unwrap(), [1, 2, 3]);
        assert_eq!(read("1 2 3", false).unwrap(), [1, 2, 3]);
        assert_eq!(read("-1 8 -8", true).unwrap(), [16, 8, 9]);
        assert!(read("", false).unwrap().is_empty());
    }

    #[test]
    fn errors_name_the_place() {
        for (text, centred, expected) in [
            ("1 2\n", false, "t: line 1: 2 coefficients, where the ring has N = 3"),
            ("1 2 3\n\n1 2 3 4", false, "t: line 3: 4 coefficients, where the ring has N = 3"),
            (
                "1 17 3",
                false,
                "t: line 1, coefficient 1: not reduced: all must lie in [0, 17); --centred reads signed coefficients",
            ),
            (
                "1 2 -3",
                false,
                "t: line 1, coefficient 2: not reduced: all must lie in [0, 17); --centred reads signed coefficients",
            ),
            ("9 2 3", true, "t: line 1, coefficient 0: out of range: with --centred all must lie in [-8, 8]"),
            (
                "1 99999999999999999999999999999999999999999999999999 1",
                true,
                "t: line 1, coefficient 1: out of range: with --centred all must lie in [-8, 8]",
            ),
            ("1 2x 3", false, "t: line 1, coefficient 1: `x` belongs to no decimal number"),
            ("1 - 3", true, "t: line 1, coefficient 1: `-` without digits"),
            ("1 2-3 3", true, "t: line 1, coefficient 1: `-` belongs to no decimal number"),
            ("1 2 \u{e9}", true, "t: line 1, coefficient 2: `\\xc3` belongs to no decimal number"),
        ] {
            assert_eq!(read(text, centred).unwrap_err(), expected);
        }
    }
}
