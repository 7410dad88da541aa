//! The text vectors of the C2SP community (CCTV) for ML-KEM.
//!
//! Two kinds: lines `name = hex`, of which `ek`, `m`, `dk`, `c` and `K` are an encapsulation and a decapsulation; and
//! bare lines of hexadecimal, each an encapsulation key that must be refused.

use std::string::String;
use std::vec::Vec;

use super::scheme::{Case, Expected, Record};
use super::{FileReport, KatError};

/// The parameter set whose encapsulation keys have this many bytes.
fn by_ek(len: usize) -> Option<&'static str> {
    match len {
        800 => Some("ML-KEM-512"),
        1184 => Some("ML-KEM-768"),
        1568 => Some("ML-KEM-1024"),
        _ => None,
    }
}

/// Whether text looks like one of the two kinds.
pub(super) fn is_text(head: &[u8]) -> bool {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let hex = |bytes: &[u8]| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_hexdigit);
    match first.iter().position(|byte| *byte == b'=') {
        None => first.len() >= 64 && hex(first),
        Some(at) => {
            matches!(first[..at].trim_ascii(), b"d" | b"dk" | b"ek" | b"z") && hex(first[at + 1..].trim_ascii())
        }
    }
}

/// The records of a file.
pub(super) fn records(text: &str, report: &mut FileReport) -> Result<Vec<Record>, (u64, KatError)> {
    if text.lines().next().is_some_and(|line| !line.contains('=')) {
        return refused_keys(text, report);
    }
    let mut fields: Vec<(&str, Vec<u8>)> = Vec::new();
    let mut internal = 0;
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let Some((name, value)) = line.split_once('=') else {
            return Err((number, malformed(line, "a line `name = value`")));
        };
        let name = name.trim();
        if !["ek", "dk", "m", "c", "K"].contains(&name) {
            internal += 1;
            continue;
        }
        let value = hex::decode(value.trim()).map_err(|_| (number, malformed(line, "bytes in hexadecimal")))?;
        fields.push((name, value));
    }
    report.skip("intermediate values, and the key generation of the FIPS 203 draft", internal);
    let get = |name: &str| fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone());
    let mut cases = Vec::new();
    if let (Some(ek), Some(m), Some(c), Some(k)) = (get("ek"), get("m"), get("c"), get("K")) {
        let expected = Expected::Values(Vec::from([("c", c), ("k", k)]));
        let scheme = by_ek(ek.len()).unwrap_or("ML-KEM of an unknown size").into();
        cases.push(Case { scheme, op: "encaps".into(), inputs: Vec::from([("ek", ek), ("m", m)]), expected });
    }
    if let (Some(dk), Some(c), Some(k)) = (get("dk"), get("c"), get("K")) {
        // dk is 768 bytes and 96 more a rank, ek 384 and 32 more.
        let scheme = by_ek(dk.len().saturating_sub(96) / 2 + 32).unwrap_or("ML-KEM of an unknown size").into();
        let expected = Expected::Values(Vec::from([("k", k)]));
        cases.push(Case { scheme, op: "decaps".into(), inputs: Vec::from([("dk", dk), ("c", c)]), expected });
    }
    if cases.is_empty() {
        report.skip("no complete encapsulation or decapsulation", 1);
        return Ok(Vec::new());
    }
    Ok(Vec::from([Record { id: "the file's values".into(), cases }]))
}

fn refused_keys(text: &str, report: &mut FileReport) -> Result<Vec<Record>, (u64, KatError)> {
    let mut out = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let ek =
            hex::decode(line.trim()).map_err(|_| (number, malformed(line, "an encapsulation key in hexadecimal")))?;
        let Some(scheme) = by_ek(ek.len()) else {
            report.skip("keys of a length that no parameter set has", 1);
            continue;
        };
        let case =
            |op: &str, inputs| Case { scheme: scheme.into(), op: op.into(), inputs, expected: Expected::Refusal };
        let encaps = case("encaps", Vec::from([("ek", ek.clone()), ("m", std::vec![0; 32])]));
        let check = case("check-ek", Vec::from([("ek", ek)]));
        out.push(Record { id: std::format!("line {number}"), cases: Vec::from([check, encaps]) });
    }
    Ok(out)
}

fn malformed(line: &str, expected: &'static str) -> KatError {
    let text: String = crate::error::excerpt(line);
    KatError::Malformed { text, expected }
}
