//! Polynomials in files: how coefficients are written, and inputs of either form.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use crate::failure::Failure;
use crate::npy::NpyReader;
use crate::text::TextReader;

/// How the polynomials of a ring are read and written.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Coefficients of a polynomial.
    pub n: usize,
    /// The modulus.
    pub q: u64,
    /// Whether coefficients are signed: read from `[-q/2, q/2]`, written in `(-q/2, q/2]` (mod± of FIPS 204).
    pub centred: bool,
}

impl Format {
    /// The canonical residue of a coefficient as it stands in a file, if it is one.
    pub fn residue(&self, value: i128) -> Option<u64> {
        let q = i128::from(self.q);
        match self.centred {
            true if (-q / 2..=q / 2).contains(&value) => Some(if value < 0 { value + q } else { value } as u64),
            false if (0..q).contains(&value) => Some(value as u64),
            _ => None,
        }
    }

    /// What a residue looks like in a file.
    pub fn written(&self, residue: u64) -> i64 {
        if self.centred && residue > self.q / 2 { residue as i64 - self.q as i64 } else { residue as i64 }
    }

    /// What is wrong with a coefficient that [`Format::residue`] refuses. Its value is not told: it may be secret.
    pub fn range(&self) -> String {
        if self.centred {
            format!("out of range: with --centred all must lie in [-{0}, {0}]", self.q / 2)
        } else {
            format!("not reduced: all must lie in [0, {}); --centred reads signed coefficients", self.q)
        }
    }

    /// How many polynomials are worked on at a time: bounded memory, and enough to split over threads.
    pub fn chunk(&self) -> usize {
        ((1 << 20) / self.n).clamp(1, 1 << 10)
    }
}

/// Whether a file name means a NumPy array.
pub fn is_npy(path: &str) -> bool {
    path.ends_with(".npy")
}

/// An input of polynomials, read one by one.
pub enum PolySource {
    Text(TextReader<Box<dyn BufRead>>),
    Npy(NpyReader<BufReader<File>>),
}

impl PolySource {
    /// Opens a file; `-` is standard input.
    pub fn open(path: &str, format: Format) -> Result<Self, Failure> {
        let open = || File::open(path).map(|file| BufReader::with_capacity(1 << 16, file)).map_err(Failure::io(path));
        Ok(match path {
            "-" => Self::Text(TextReader::new("standard input", Box::new(io::stdin().lock()), format)),
            _ if is_npy(path) => Self::Npy(NpyReader::new(path, open()?, format)?),
            _ => Self::Text(TextReader::new(path, Box::new(open()?), format)),
        })
    }

    /// Appends the residues of up to `count` polynomials and says how many there were; fewer only at the end.
    pub fn read(&mut self, count: usize, out: &mut Vec<u64>) -> Result<usize, Failure> {
        for i in 0..count {
            let more = match self {
                Self::Text(reader) => reader.next(out)?,
                Self::Npy(reader) => reader.next(out)?,
            };
            if !more {
                return Ok(i);
            }
        }
        Ok(count)
    }

    /// The name for messages.
    pub fn name(&self) -> &str {
        match self {
            Self::Text(reader) => reader.name(),
            Self::Npy(reader) => reader.name(),
        }
    }

    /// Whether it is one NumPy array of shape (N,).
    pub fn is_flat(&self) -> bool {
        matches!(self, Self::Npy(reader) if reader.is_flat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centred_coefficients() {
        for (q, least, most) in [(17, -8, 8), (16, -8, 8), (2, -1, 1), (3, -1, 1)] {
            let format = Format { n: 1, q, centred: true };
            assert_eq!((format.residue(least - 1), format.residue(most + 1)), (None, None));
            for residue in 0..q {
                let written = format.written(residue);
                assert!(2 * written > -(q as i64) && 2 * written <= q as i64);
                assert_eq!(format.residue(written.into()), Some(residue));
            }
            assert_eq!(format.residue(least), Some((least + q as i128) as u64));
        }
    }

    #[test]
    fn canonical_coefficients() {
        let format = Format { n: 1, q: 17, centred: false };
        assert_eq!([-1, 0, 16, 17].map(|c| format.residue(c)), [None, Some(0), Some(16), None]);
    }
}
