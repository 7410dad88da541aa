//! `karat vectors`: deterministic vectors for implementers of any ring, of ML-KEM and of ML-DSA.

use std::io::{BufReader, BufWriter, Write};

use karat::kat::scheme::Own;
use karat::kat::{acvp, nist, rsp, vectors};
use karat::{AnyBackend, Backend};
use serde::Serialize;

use crate::args::{BackendArgs, RingArgs};
use crate::failure::Failure;
use crate::output::{Output, Summary, progress};
use crate::sink::deliver;
use crate::staged::Staged;

/// Write vectors: products in a ring as .rsp text or, with --scheme, operations of ML-KEM and ML-DSA.
///
/// With --ring: random products that follow from the seed, then extremes. The same ring, count and seed give the same
/// bytes on every machine. Operands come from a SHAKE-256 stream over "karat ring vectors v1", the ring and the seed; the
/// documentation of karat::kat::vectors defines it so that it can be followed in any language.
///
/// With --scheme: key pairs with ciphertexts or signatures, as NIST's submission kit makes them, or as ACVP documents
/// that hold prompts and answers. All randomness comes from an AES-256-CTR-DRBG that the 48 bytes of the seed start;
/// NIST's own files have the bytes 00 to 2f, which is the default. Digests that others publish leave out the first line,
/// the scheme's name, and the empty one after it.
#[derive(clap::Args)]
#[command(override_usage = "karat vectors --ring <RING> --seed <HEX> --count <COUNT> [OPTIONS]
       karat vectors --scheme <NAME> --count <COUNT> [OPTIONS]")]
pub struct Args {
    #[command(flatten)]
    ring: Option<RingArgs>,
    /// Parameter set: ml-kem-768, ml-dsa-65, kyber768, dilithium3 and their sisters.
    #[arg(long, value_name = "NAME", conflicts_with = "RingArgs", required_unless_present = "RingArgs")]
    scheme: Option<String>,
    /// Format of the vectors of a scheme [default: rsp].
    #[arg(long, value_enum)]
    format: Option<SchemeFormat>,
    #[command(flatten)]
    backend: BackendArgs,
    /// Number of random records.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Seed: hexadecimal, two digits a byte.
    #[arg(long, value_name = "HEX", required_unless_present = "scheme")]
    seed: Option<String>,
    /// Where they go [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
}

/// Formats of vectors of schemes.
#[derive(Clone, Copy, clap::ValueEnum)]
enum SchemeFormat {
    /// `.rsp` text of NIST's submission kit.
    Rsp,
    /// ACVP documents, JSON.
    Acvp,
}

/// What was done, where the records themselves are elsewhere.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme: Option<&'static str>,
    backend: &'static str,
    count: u64,
    out: Option<&'a str>,
}

pub fn run(args: &Args, out: &mut Output) -> Result<Summary, Failure> {
    let backend = args.backend.backend()?;
    let seed = || args.seed.as_deref().map(bytes).transpose();
    let Some(ring) = &args.ring else { return run_scheme(args, &backend, seed()?, out) };
    if args.format.is_some() {
        return Err(Failure::Usage("--format belongs to --scheme: ring products are always .rsp text".into()));
    }
    let spec = ring.spec()?;
    let seed = seed()?.unwrap_or_default();
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
    let row =
        Row { ring: Some(spec.to_string()), scheme: None, backend: backend.name(), count, out: args.out.as_deref() };
    deliver(staged, out, &row, summary)
}

fn run_scheme(args: &Args, backend: &AnyBackend, seed: Option<Vec<u8>>, out: &mut Output) -> Result<Summary, Failure> {
    let name = args.scheme.as_deref().unwrap_or_default();
    let Some(scheme) = nist::scheme(name) else {
        let known = nist::SCHEMES.join(", ");
        return Err(Failure::Usage(format!("--scheme knows {known}, and not `{}`", name.escape_debug())));
    };
    let entropy = match seed {
        None => nist::ENTROPY,
        Some(seed) => <[u8; 48]>::try_from(seed).map_err(|seed| {
            Failure::Usage(format!("--seed has {} bytes; the generator of a scheme's vectors takes 48", seed.len()))
        })?,
    };
    if out.json() && args.out.is_none() {
        return Err(Failure::Usage("--json with --scheme needs --out: the vectors have a format of their own".into()));
    }
    let mut staged = Staged::new(args.out.as_deref())?;
    let mut own = Own::new(backend)?;
    let mut writer = BufWriter::with_capacity(1 << 16, &mut staged);
    match args.format.unwrap_or(SchemeFormat::Rsp) {
        SchemeFormat::Rsp => nist::write(&mut own, scheme, &entropy, args.count, &mut writer)?,
        SchemeFormat::Acvp => acvp::write(&mut own, scheme, &entropy, args.count, &mut writer)?,
    }
    drop(writer);
    let summary = Summary { passed: args.count, ..Summary::default() };
    let (scheme, count) = (Some(scheme), args.count);
    let row = Row { ring: None, scheme, backend: backend.name(), count, out: args.out.as_deref() };
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
    bytes
        .filter(|bytes| !bytes.is_empty())
        .ok_or_else(|| Failure::Usage("--seed takes hexadecimal digits, two for each byte, such as 00ff".into()))
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
        for wrong in ["", "0", "0g", "0x", " 00", "é"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
