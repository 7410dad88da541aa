//! ACVP's and Wycheproof's JSON, mutated as JSON: nodes removed, repeated, renamed, retyped, exchanged. Whole documents
//! pass; one whose inputs or answers were changed in one digit never does.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use karat::AnyBackend;
use karat::kat::scheme::{Own, builtin};
use karat::kat::{acvp, nist};
use serde_json::{Value, json};

use crate::vector_files::{check, edit as edit_bytes};

static ACVP: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let backend = AnyBackend::from_name("scalar").expect("there is always a scalar backend");
    let mut own = Own::new(&backend).expect("karat has its schemes");
    let mut documents = Vec::new();
    for scheme in ["ML-KEM-512", "ML-DSA-44"] {
        let mut text = Vec::new();
        acvp::write(&mut own, scheme, &nist::ENTROPY, 1, &mut text).expect("memory takes all");
        let all: Vec<Value> = serde_json::from_slice(&text).expect("what karat writes is JSON");
        documents.extend(all);
    }
    documents
});

/// Of each document of the smallest parameter sets the group with the fewest bytes, and of it one test of each result.
static WYCHEPROOF: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let smallest = builtin().filter(|(name, _)| name.contains("512") || name.contains("44"));
    let documents = smallest.map(|(_, text)| {
        let mut document: Value = serde_json::from_str(text).expect("Wycheproof's JSON");
        let groups = document["testGroups"].as_array_mut().expect("an array");
        for group in groups.iter_mut() {
            let tests = group["tests"].as_array_mut().expect("an array");
            let mut seen = Vec::new();
            tests.retain(|test| {
                let new = !seen.contains(&test["result"]);
                seen.push(test["result"].clone());
                new
            });
        }
        groups.sort_by_key(|group| (group["tests"].as_array().map_or(0, Vec::len) < 2, group.to_string().len()));
        groups.truncate(1);
        document
    });
    documents.collect()
});

/// ACVP's documents.
pub fn acvp(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = attempt(&mut Unstructured::new(data), &ACVP);
}

/// Wycheproof's documents.
pub fn wycheproof(data: &[u8]) {
    let _ = attempt(&mut Unstructured::new(data), &WYCHEPROOF);
}

fn attempt(u: &mut Unstructured, documents: &[Value]) -> Result<()> {
    let mut document = u.choose(documents)?.clone();
    let whole = document.clone();
    if u.ratio(1u8, 3u8)? {
        let spoilt = flip_digit(u, &mut document)?;
        let report = check("x.json", document.to_string().as_bytes());
        assert!(!spoilt || !report.is_ok(), "a wrong digit passes: {report:?} in {document}");
        return Ok(());
    }
    let edits = u.int_in_range(0..=4u8)?;
    for _ in 0..edits {
        edit(u, &mut document)?;
    }
    let mut text = document.to_string().into_bytes();
    if u.ratio(1u8, 8u8)? {
        edit_bytes(u, &mut text)?;
        check("x.json", &text);
        return Ok(());
    }
    let report = check("x.json", &text);
    if document == whole {
        assert!(report.is_ok() && report.passed > 0, "a whole document does not pass: {report:?}");
    }
    Ok(())
}

/// The pointers (RFC 6901) of all nodes below the root.
fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    let mut below = |key: &str, value: &Value| {
        let pointer = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        out.push(pointer.clone());
        pointers(value, &pointer, out);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| below(key, value)),
        Value::Array(array) => array.iter().enumerate().for_each(|(i, value)| below(&i.to_string(), value)),
        _ => {}
    }
}

fn all_pointers(value: &Value) -> Vec<String> {
    let mut out = Vec::new();
    pointers(value, "", &mut out);
    out
}

/// Changes one digit of one byte string that a valid test depends on; false where there is none.
fn flip_digit(u: &mut Unstructured, document: &mut Value) -> Result<bool> {
    const ACVP_FIELDS: [&str; 14] =
        ["d", "z", "seed", "ek", "dk", "pk", "sk", "m", "c", "k", "message", "context", "rnd", "signature"];
    const WYCHEPROOF_FIELDS: [&str; 7] = ["c", "K", "m", "ek", "msg", "ctx", "sig"];
    let generates = document["mode"] == "keyGen";
    // A private key also holds what its own use does not show: a wrong low bit, another key's hash.
    let shows = |pointer: &str| {
        let (place, name) = pointer.rsplit_once('/').expect("a pointer begins with a slash");
        match document.pointer(place).and_then(|test| test.get("result")) {
            Some(result) => result == "valid" && WYCHEPROOF_FIELDS.contains(&name),
            None => {
                place.contains("/tests/") && ACVP_FIELDS.contains(&name) && (generates || name != "dk" && name != "sk")
            }
        }
    };
    let fields: Vec<String> = all_pointers(document).into_iter().filter(|pointer| shows(pointer)).collect();
    let Some(Value::String(text)) = document.pointer_mut(u.choose(&fields)?) else { return Ok(false) };
    if text.is_empty() {
        return Ok(false);
    }
    let at = u.int_in_range(0..=text.len() - 1)?;
    let digit = text[at..=at].chars().next().and_then(|c| c.to_digit(16)).expect("hexadecimal");
    text.replace_range(at..=at, &format!("{:x}", digit ^ (1 << u.int_in_range(0..=3u32)?)));
    Ok(true)
}

/// Changes one node.
fn edit(u: &mut Unstructured, document: &mut Value) -> Result<()> {
    let all = all_pointers(document);
    if all.is_empty() {
        return Ok(());
    }
    let (pointer, other) = (u.choose(&all)?, u.choose(&all)?);
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer begins with a slash");
    let copy = document.pointer(other).expect("it was listed").clone();
    let kind = u.int_in_range(0..=7u8)?;
    let value = any(u)?;
    let parent = document.pointer_mut(parent).expect("it was listed");
    match (kind, parent) {
        (0, Value::Object(map)) => drop(map.remove(key)),
        (0, Value::Array(array)) => drop(array.remove(key.parse().expect("an index"))),
        (1, Value::Object(map)) => {
            let value = map.remove(key).expect("it was listed");
            map.insert(format!("{key}{}", u.choose(&["", "x", "0", "é"])?), value);
        }
        (1, Value::Array(array)) => {
            let value = array[key.parse::<usize>().expect("an index")].clone();
            array.push(value);
        }
        (2 | 3, _) => *document.pointer_mut(pointer).expect("it was listed") = copy,
        (4, _) => {
            if let Some(Value::String(text)) = document.pointer_mut(pointer) {
                let cut = u.int_in_range(0..=text.len())?;
                text.truncate((0..=cut).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0));
            }
        }
        (5, _) => {
            if let Some(Value::String(text)) = document.pointer_mut(pointer) {
                text.push_str(u.choose(&["0", "00", "g", "é", " ", "\0"])?);
            }
        }
        _ => *document.pointer_mut(pointer).expect("it was listed") = value,
    }
    Ok(())
}

/// A value of any type.
fn any(u: &mut Unstructured) -> Result<Value> {
    Ok(match u.int_in_range(0..=9u8)? {
        0 => Value::Null,
        1 => json!(u.arbitrary::<bool>()?),
        2 => json!(u.arbitrary::<i8>()?),
        3 => json!(u.arbitrary::<u64>()?),
        4 => json!(1e300),
        5 => json!(""),
        6 => json!("00".repeat(u.arbitrary::<u8>()?.into())),
        7 => json!({}),
        8 => (0..u.int_in_range(0..=100u8)?).fold(json!([]), |inner, _| json!([inner])),
        _ => json!([]),
    })
}
