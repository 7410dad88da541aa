//! `karat vectors`: deterministic vectors for implementers of any ring.

use std::io::{BufReader, BufWriter, Write};

use karat::Backend;
use karat::kat::{rsp, vectors};
use serde::Serialize;

use crate::args::{BackendArgs, RingArgs};
use crate::failure::Failure;
use crate::output::{Output, Summary, progress};
use crate::sink::deliver;
use crate::staged::Staged;

/// Write products in a ring as .rsp text: random ones that follow from the seed, then extremes.
///
/// The same ring, count and seed give the same bytes on every machine. Operands come from a SHAKE-256 stream over
/// "karat ring vectors v1", the ring and the seed; the documentation of karat::kat::vectors defines it so that it can be
/// followed in any language.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    ring: RingArgs,
    #[command(flatten)]
    backend: BackendArgs,
    /// Number of random records.
    #[arg(long)]
    count: u64,
    /// Seed: hexadecimal, two digits a byte.
    #[arg(long, value_name = "HEX")]
    seed: String,
    /// Where they go [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
}

/// What was done, where the records themselves are elsewhere.
#[derive(Serialize)]
struct Row<'a> {
    ring: String,
    backend: &'static str,
    count: u64,
    out: Option<&'a str>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    let spec = args.ring.spec()?;
    let backend = args.backend.backend()?;
    let seed = bytes(&args.seed)?;
    let mut staged = Staged::new(args.out.as_deref())?;
    let bar = progress(None, "writing bytes");
    let name = staged.name().to_string();
    let mut writer = BufWriter::with_capacity(1 << 16, bar.wrap_write(&mut staged));
    vectors::write(&backend, &spec, args.count, &seed, &mut writer)?;
    writer.flush().map_err(Failure::io(&name))?;
    drop(writer);
    bar.finish_and_clear();
    let count = args.count.saturating_add(vectors::EXTREMES);
    let summary = Summary { passed: count, ..Summary::default() };
    if out.json() && staged.path().is_none() {
        staged = as_json(staged)?;
    }
    let row = Row { ring: spec.to_string(), backend: backend.name(), count, out: args.out.as_deref() };
    deliver(staged, out, &row, summary)
}

/// The bytes that hexadecimal digits stand for.
fn bytes(hex: &str) -> Result<Vec<u8>, Failure> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = hex.as_bytes().chunks(2).map(byte).collect();
    bytes.ok_or_else(|| Failure::Usage("--seed takes hexadecimal digits, two for each byte, such as 00ff".into()))
}

/// The rows of the JSON object that stand for this text.
fn as_json(text: Staged) -> Result<Staged, Failure> {
    #[derive(Serialize)]
    struct Record<'a> {
        count: u64,
        a: &'a [u64],
        b: &'a [u64],
        c: &'a [u64],
    }
    let mut rows = Staged::new(None)?;
    let failed = Failure::io("standard output");
    let Some(text) = text.commit()? else { return Ok(rows) };
    let mut reader = rsp::Reader::new("vectors", BufReader::new(text));
    let mut writer = BufWriter::new(&mut rows);
    while let Some(record) = reader.read()? {
        let comma = if record.count > 0 { "," } else { "" };
        write!(writer, "{comma}").map_err(&failed)?;
        let row = Record { count: record.count, a: &record.a, b: &record.b, c: &record.c };
        serde_json::to_writer(&mut writer, &row).map_err(|e| failed(e.into()))?;
    }
    writer.flush().map_err(&failed)?;
    drop(writer);
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal() {
        assert_eq!(bytes("00fFa1").unwrap(), [0, 255, 161]);
        assert!(bytes("").unwrap().is_empty());
        for wrong in ["0", "0g", "0x", " 00", "é"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
