//! NIST's ACVP vectors: `prompt.json` with `expectedResults.json`, or `internalProjection.json`, which holds both.
//!
//! A file holds one document or an array of documents.

use std::collections::BTreeMap;
use std::io::Write;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::json::Object;
use super::scheme::{Case, Expected, Implementation, Record, Values};
use super::{FileReport, KatError, nist};

const TOP: [&str; 6] = ["vsId", "algorithm", "mode", "revision", "isSample", "testGroups"];
const GROUP: [&str; 9] = [
    "tgId",
    "testType",
    "parameterSet",
    "function",
    "deterministic",
    "signatureInterface",
    "preHash",
    "externalMu",
    "tests",
];
const TEST: [&str; 20] = [
    "tcId",
    "deferred",
    "testPassed",
    "reason",
    "d",
    "z",
    "m",
    "ek",
    "dk",
    "c",
    "k",
    "seed",
    "pk",
    "sk",
    "message",
    "mu",
    "rnd",
    "context",
    "hashAlg",
    "signature",
];

/// Whether a document is one of ACVP's, by its top-level fields.
pub(super) fn is_document(document: &Value) -> bool {
    document.get("vsId").is_some() && document.get("testGroups").is_some()
}

/// Whether a document holds answers alone, as `expectedResults.json` does: its groups say nothing of their tests.
pub(super) fn only_answers(document: &Value) -> bool {
    let groups = document["testGroups"].as_array().map(Vec::as_slice).unwrap_or_default();
    !groups.is_empty() && groups.iter().all(|group| group.get("testType").is_none())
}

/// Whether a document with inputs carries the answers too.
pub(super) fn has_answers(document: &Value) -> bool {
    document["testGroups"][0]["tests"][0].get("deferred").is_some()
}

/// Writes `count` tests of each kind as documents that hold prompts and answers, for ML-KEM and ML-DSA: `keyGen`, then
/// `encapDecap` or `sigGen` and `sigVer`. The randomness is that of [`nist::write`].
///
/// # Errors
/// `Io`, or `Refused` where the implementation does not answer or the standard has no such parameter set.
///
/// ```
/// use karat::{AnyBackend, kat::{Runner, acvp, nist, scheme::Own}};
/// let backend = AnyBackend::from_name("scalar")?;
/// let mut text = Vec::new();
/// acvp::write(&mut Own::new(&backend)?, "ML-DSA-44", &nist::ENTROPY, 2, &mut text)?;
/// let report = Runner::new(backend).check_reader("memory.json", &text[..], &mut |_| ());
/// assert_eq!((report.passed, report.failed, report.skipped()), (6, 0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(
    implementation: &mut dyn Implementation,
    scheme: &str,
    entropy: &[u8; 48],
    count: u64,
    mut writer: impl Write,
) -> Result<(), KatError> {
    let (algorithm, revision) = match scheme {
        _ if scheme.starts_with("ML-KEM") => ("ML-KEM", "FIPS203"),
        _ if scheme.starts_with("ML-DSA") => ("ML-DSA", "FIPS204"),
        _ => return Err(KatError::Refused(std::format!("ACVP has no vectors of {scheme}"))),
    };
    // Mode, the fields of its group, tests.
    let mut documents: Vec<(&str, Value, Vec<Value>)> = match algorithm {
        "ML-KEM" => Vec::from([
            ("keyGen", json!({}), Vec::new()),
            ("encapDecap", json!({"function": "encapsulation"}), Vec::new()),
        ]),
        _ => {
            let form = json!({"signatureInterface": "external", "preHash": "pure", "deterministic": false});
            let verified = json!({"signatureInterface": "external", "preHash": "pure"});
            Vec::from([
                ("keyGen", json!({}), Vec::new()),
                ("sigGen", form, Vec::new()),
                ("sigVer", verified, Vec::new()),
            ])
        }
    };
    for record in nist::generate(implementation, scheme, entropy, count) {
        let record = record?;
        let text = |name: &str| hex::encode_upper(record.get(name));
        let id = documents[0].2.len() + 1;
        let mut test = |document: usize, fields: &[&str]| {
            let mut out = json!({"tcId": id, "deferred": false});
            fields.iter().for_each(|name| out[name] = text(name).into());
            if documents[document].0 == "sigVer" {
                out["testPassed"] = true.into();
            }
            documents[document].2.push(out);
        };
        if algorithm == "ML-KEM" {
            test(0, &["d", "z", "ek", "dk"]);
            test(1, &["ek", "dk", "m", "c", "k"]);
        } else {
            test(0, &["seed", "pk", "sk"]);
            test(1, &["sk", "message", "context", "rnd", "signature"]);
            test(2, &["pk", "message", "context", "signature"]);
        }
    }
    let documents: Vec<Value> = documents
        .into_iter()
        .map(|(mode, mut group, tests)| {
            group["tgId"] = 1.into();
            group["testType"] = "AFT".into();
            group["parameterSet"] = scheme.into();
            group["tests"] = tests.into();
            json!({
                "vsId": 0, "algorithm": algorithm, "mode": mode, "revision": revision, "isSample": false,
                "testGroups": [group],
            })
        })
        .collect();
    serde_json::to_writer_pretty(&mut writer, &documents)?;
    writeln!(writer)?;
    Ok(writer.flush()?)
}

/// The records of a document; `answers` is the document with the expected results.
pub(super) fn records(document: &Value, answers: &Value, report: &mut FileReport) -> Result<Vec<Record>, KatError> {
    let top = Object::new(document, "file")?;
    let (algorithm, mode) = (top.text("algorithm")?, top.text("mode")?);
    for field in ["vsId", "algorithm", "mode", "revision"] {
        if document[field] != answers[field] {
            let [prompt, results] = [document, answers].map(|from| short(&from[field].to_string()));
            return Err(KatError::OtherResults { field, prompt, results });
        }
    }
    let mut results = BTreeMap::new();
    for (group, id) in tests(&Object::new(answers, "results")?)? {
        for test in group.array("tests")? {
            let number = Object::new(test, "result")?.number("tcId")?;
            if results.insert((id, number), test).is_some() {
                return Err(KatError::DuplicateTest(number));
            }
        }
    }
    unknown(&top, &TOP, report);
    let mut out = Vec::new();
    for (group, id) in tests(&top)? {
        unknown(&group, &GROUP, report);
        for test in group.array("tests")? {
            let number = Object::new(test, std::format!("group {id}, test"))?.number("tcId")?;
            let test = Object::new(test, std::format!("tcId {number}"))?;
            unknown(&test, &TEST, report);
            let result = results.get(&(id, number));
            let result =
                result.map(|result| Object::new(result, std::format!("result of tcId {number}"))).transpose()?;
            match case(algorithm, mode, &group, &test, result.as_ref()) {
                Ok(Ok(case)) => out.push(Record { id: std::format!("tcId {number}"), cases: Vec::from([case]) }),
                Ok(Err(reason)) => report.skip(&reason, 1),
                Err(KatError::NoExpectedResult) => {
                    report.fail(std::format!("tcId {number}: {}", KatError::NoExpectedResult));
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(out)
}

fn tests<'a>(top: &Object<'a>) -> Result<Vec<(Object<'a>, u64)>, KatError> {
    let groups = top.array("testGroups")?.iter();
    let group = |value| {
        let id = Object::new(value, "group")?.number("tgId")?;
        Ok((Object::new(value, std::format!("group {id}"))?, id))
    };
    groups.map(group).collect()
}

fn unknown(object: &Object, known: &[&str], report: &mut FileReport) {
    for field in object.unknown(known) {
        report.skip(&std::format!("field `{}`, which this format does not define", crate::error::excerpt(field)), 1);
    }
}

/// A test as a case, or the reason why there is no reader for it.
fn case(
    algorithm: &str,
    mode: &str,
    group: &Object,
    test: &Object,
    result: Option<&Object>,
) -> Result<Result<Case, String>, KatError> {
    let function = group.text("function")?;
    let set = group.text("parameterSet")?;
    if result.is_none() && nist::scheme(set).is_none() {
        return Ok(Err(std::format!("parameter set `{}`: no reader", short(set))));
    }
    let passed = || -> Result<Expected, KatError> {
        let passed = result.ok_or(KatError::NoExpectedResult)?.flag("testPassed")?;
        let missing = KatError::Malformed { text: "testPassed: nothing".into(), expected: "true or false" };
        Ok(if passed.ok_or(missing)? { Expected::Values(Vec::new()) } else { Expected::Refusal })
    };
    let given = |names: &[&'static str]| -> Result<Values, KatError> {
        names.iter().map(|name| Ok((*name, test.bytes(name)?))).collect()
    };
    let wanted = |names: &[&'static str]| -> Result<Expected, KatError> {
        let result = result.ok_or(KatError::NoExpectedResult)?;
        let values = names.iter().map(|name| Ok((*name, result.bytes(name)?)));
        Ok(Expected::Values(values.collect::<Result<_, KatError>>()?))
    };
    let (op, inputs, expected) = match (algorithm, mode, function) {
        ("ML-KEM", "keyGen", _) => {
            let seed = [test.bytes("d")?, test.bytes("z")?].concat();
            ("keygen".to_string(), Vec::from([("seed", seed)]), wanted(&["ek", "dk"])?)
        }
        ("ML-KEM", "encapDecap", "encapsulation") => ("encaps".into(), given(&["ek", "m"])?, wanted(&["c", "k"])?),
        ("ML-KEM", "encapDecap", "decapsulation") => ("decaps".into(), given(&["dk", "c"])?, wanted(&["k"])?),
        ("ML-KEM", "encapDecap", "encapsulationKeyCheck") => ("check-ek".into(), given(&["ek"])?, passed()?),
        ("ML-KEM", "encapDecap", "decapsulationKeyCheck") => ("check-dk".into(), given(&["dk"])?, passed()?),
        ("ML-DSA", "keyGen", _) => ("keygen".into(), given(&["seed"])?, wanted(&["pk", "sk"])?),
        ("ML-DSA", "sigGen", _) => {
            let (form, mut inputs) = form(group, test)?;
            inputs.extend(given(&["sk"])?);
            if group.flag("deterministic")? == Some(false) {
                inputs.extend(given(&["rnd"])?);
            }
            (std::format!("sign{form}"), inputs, wanted(&["signature"])?)
        }
        ("ML-DSA", "sigVer", _) => {
            let (form, mut inputs) = form(group, test)?;
            inputs.extend(given(&["pk", "signature"])?);
            (std::format!("verify{form}"), inputs, passed()?)
        }
        _ => {
            return Ok(Err(std::format!(
                "algorithm `{}`, mode `{}`, function `{}`: no reader",
                short(algorithm),
                short(mode),
                short(function)
            )));
        }
    };
    Ok(Ok(Case { scheme: set.into(), op, inputs, expected }))
}

/// The form of what is signed, and its inputs.
fn form(group: &Object, test: &Object) -> Result<(String, Values), KatError> {
    if group.text("signatureInterface")? == "internal" {
        return Ok(match group.flag("externalMu")? {
            Some(true) => ("-mu".into(), Vec::from([("mu", test.bytes("mu")?)])),
            _ => ("-internal".into(), Vec::from([("message", test.bytes("message")?)])),
        });
    }
    let inputs = Vec::from([("message", test.bytes("message")?), ("context", test.bytes("context")?)]);
    Ok(match group.text("preHash")? {
        "preHash" => (std::format!("-hash:{}", test.text("hashAlg")?), inputs),
        _ => (String::new(), inputs),
    })
}

fn short(text: &str) -> String {
    crate::error::excerpt(text)
}
