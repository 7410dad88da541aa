//! The text vectors of the C2SP community (CCTV) for ML-KEM.
//!
//! Two kinds: lines `name = hex`, of which `ek`, `m`, `dk`, `c` and `K` are an encapsulation and a decapsulation; and
//! bare lines of hexadecimal, each an encapsulation key that must be refused. A file's name may begin with its
//! parameter set. A key of another length, or a last line without its end, says that the file was cut off.

use std::string::String;
use std::vec::Vec;

use super::scheme::{Case, Expected, Record};
use super::{FileReport, KatError, nist};

/// A parameter set with the lengths of its keys in bytes.
struct Set {
    name: &'static str,
    ek: usize,
    dk: usize,
}

const SETS: [Set; 3] = [
    Set { name: "ML-KEM-512", ek: 800, dk: 1632 },
    Set { name: "ML-KEM-768", ek: 1184, dk: 2400 },
    Set { name: "ML-KEM-1024", ek: 1568, dk: 3168 },
];

/// Notes the parameter set of a key in this line, which must be the one that is known already.
fn agree(set: &mut Option<&'static str>, line: u64, key: &[u8], len: fn(&Set) -> usize) -> Result<(), (u64, KatError)> {
    let found = SETS.iter().find(|set| len(set) == key.len()).map(|set| set.name);
    if found.is_none() || set.is_some_and(|set| Some(set) != found) {
        let scheme = set.unwrap_or("any parameter set of ML-KEM");
        return Err((line, KatError::KeyLength { len: key.len(), scheme }));
    }
    *set = found;
    Ok(())
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

/// The records of a file of this name.
pub(super) fn records(text: &str, name: &str, report: &mut FileReport) -> Result<Vec<Record>, (u64, KatError)> {
    if !text.ends_with('\n') {
        return Err((text.lines().count() as u64, KatError::UnendedLine));
    }
    let mut set = nist::scheme(name.split('.').next().unwrap_or_default());
    if text.lines().next().is_some_and(|line| !line.contains('=')) {
        return refused_keys(text, set);
    }
    let mut fields: Vec<(&str, u64, Vec<u8>)> = Vec::new();
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
        fields.push((name, number, value));
    }
    report.skip("intermediate values, and the key generation of the FIPS 203 draft", internal);
    let field = |name: &str| fields.iter().find(|(field, ..)| *field == name);
    let get = |name: &str| field(name).map(|(.., value)| value.clone());
    if let Some((_, line, ek)) = field("ek") {
        agree(&mut set, *line, ek, |set| set.ek)?;
    }
    if let Some((_, line, dk)) = field("dk") {
        agree(&mut set, *line, dk, |set| set.dk)?;
    }
    let Some(scheme) = set else { return Err((0, KatError::NoRecords)) };
    let mut cases = Vec::new();
    if let (Some(ek), Some(m), Some(c), Some(k)) = (get("ek"), get("m"), get("c"), get("K")) {
        let expected = Expected::Values(Vec::from([("c", c), ("k", k)]));
        let scheme = scheme.into();
        cases.push(Case { scheme, op: "encaps".into(), inputs: Vec::from([("ek", ek), ("m", m)]), expected });
    }
    if let (Some(dk), Some(c), Some(k)) = (get("dk"), get("c"), get("K")) {
        let scheme = scheme.into();
        let expected = Expected::Values(Vec::from([("k", k)]));
        cases.push(Case { scheme, op: "decaps".into(), inputs: Vec::from([("dk", dk), ("c", c)]), expected });
    }
    if cases.is_empty() {
        return Err((0, KatError::NoRecords));
    }
    Ok(Vec::from([Record { id: "the file's values".into(), cases }]))
}

fn refused_keys(text: &str, mut set: Option<&'static str>) -> Result<Vec<Record>, (u64, KatError)> {
    let mut out = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let ek =
            hex::decode(line.trim()).map_err(|_| (number, malformed(line, "an encapsulation key in hexadecimal")))?;
        agree(&mut set, number, &ek, |set| set.ek)?;
        let scheme = set.unwrap_or_default();
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
