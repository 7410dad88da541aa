//! Polynomials that are written: text, a NumPy array, or rows of the JSON object.

use std::io::{self, BufWriter, Write};

use karat::arith::Word;
use npyz::{NpyWriter, WriterBuilder};

use crate::failure::Failure;
use crate::output::{Output, Summary};
use crate::poly::{Format, is_npy};
use crate::staged::Staged;

/// Writes polynomials to a staged output.
pub struct PolySink<'a> {
    name: String,
    format: Format,
    form: Form<'a>,
    count: u64,
}

type Out<'a> = BufWriter<&'a mut Staged>;

enum Form<'a> {
    Text(Out<'a>),
    Json(Out<'a>),
    Npy(NpyWriter<i64, Out<'a>>),
}

impl<'a> PolySink<'a> {
    /// The form follows from the target: an array where its name ends in `.npy` (of shape (N,) where `flat`), JSON
    /// rows on standard output where these are wanted, else text.
    pub fn new(staged: &'a mut Staged, format: Format, json: bool, flat: bool) -> Result<Self, Failure> {
        let name = staged.name().to_string();
        let (npy, rows) = (staged.path().is_some_and(is_npy), json && staged.path().is_none());
        let out = BufWriter::with_capacity(1 << 16, staged);
        let form = if npy {
            let options = npyz::WriteOptions::new().default_dtype().writer(out);
            let array = if flat { options.begin_1d() } else { options.begin_2d(format.n as u64) };
            Form::Npy(array.map_err(Failure::io(&name))?)
        } else if rows {
            Form::Json(out)
        } else {
            Form::Text(out)
        };
        Ok(Self { name, format, form, count: 0 })
    }

    /// Writes the polynomials of `residues`, `[count][N]`.
    pub fn write<W: Word>(&mut self, residues: &[W]) -> Result<(), Failure> {
        for polynomial in residues.chunks_exact(self.format.n) {
            self.polynomial(polynomial).map_err(Failure::io(&self.name))?;
            self.count += 1;
        }
        Ok(())
    }

    fn polynomial<W: Word>(&mut self, residues: &[W]) -> io::Result<()> {
        let values = residues.iter().map(|c| self.format.written(c.to_u64()));
        match &mut self.form {
            Form::Npy(out) => out.extend(values),
            Form::Text(out) => {
                join(out, values, ' ')?;
                writeln!(out)
            }
            Form::Json(out) => {
                let comma = if self.count > 0 { "," } else { "" };
                write!(out, "{comma}{{\"index\":{},\"coefficients\":[", self.count)?;
                join(out, values, ',')?;
                write!(out, "]}}")
            }
        }
    }

    /// Writes what is buffered.
    pub fn finish(self) -> Result<(), Failure> {
        match self.form {
            Form::Text(mut out) | Form::Json(mut out) => out.flush(),
            Form::Npy(out) => out.finish(),
        }
        .map_err(Failure::io(&self.name))
    }
}

fn join(out: &mut impl Write, values: impl Iterator<Item = i64>, separator: char) -> io::Result<()> {
    for (i, value) in values.enumerate() {
        if i > 0 {
            write!(out, "{separator}")?;
        }
        write!(out, "{value}")?;
    }
    Ok(())
}

/// Ends a command that wrote to `staged`: puts the output in its place. `row` describes it in JSON mode where the
/// rows themselves did not go to standard output.
pub fn deliver(
    staged: Staged,
    out: &mut Output,
    row: &impl serde::Serialize,
    summary: Summary,
) -> Result<Summary, Failure> {
    match staged.commit()? {
        None => out.row(row)?,
        Some(rows) if out.json() => out.finish_staged(rows, summary)?,
        Some(text) => out.copy(text)?,
    }
    Ok(summary)
}
