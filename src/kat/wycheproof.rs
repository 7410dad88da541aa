//! Wycheproof's JSON vectors.

use std::string::String;
use std::vec::Vec;

use serde_json::Value;

use super::json::Object;
use super::scheme::{Case, Expected, Record, Values};
use super::{FileReport, KatError};

const TOP: [&str; 8] =
    ["algorithm", "schema", "numberOfTests", "header", "notes", "testGroups", "generatorVersion", "source"];
/// `privateKeyPkcs8` and `publicKeyDer` wrap what other fields hold.
const GROUP: [&str; 9] = [
    "type",
    "source",
    "parameterSet",
    "publicKey",
    "publicKeyDer",
    "privateKey",
    "privateSeed",
    "privateKeyPkcs8",
    "tests",
];
const TEST: [&str; 15] =
    ["tcId", "comment", "flags", "result", "seed", "ek", "dk", "m", "c", "K", "msg", "mu", "ctx", "rnd", "sig"];

/// Whether a document is one of Wycheproof's, by its top-level fields.
pub(super) fn is_document(document: &Value) -> bool {
    document.get("schema").is_some() && document.get("testGroups").is_some()
}

/// The records of a document.
pub(super) fn records(document: &Value, report: &mut FileReport) -> Result<Vec<Record>, KatError> {
    let top = Object::new(document, "file")?;
    unknown(&top, &TOP, report);
    let algorithm = top.text("algorithm")?;
    let mut out = Vec::new();
    for group in top.array("testGroups")? {
        let group = Object::new(group, "group")?;
        unknown(&group, &GROUP, report);
        for test in group.array("tests")? {
            let id = Object::new(test, "test")?.number("tcId")?;
            let test = Object::new(test, std::format!("tcId {id}"))?;
            unknown(&test, &TEST, report);
            match cases(algorithm, &group, &test)? {
                Ok(cases) => out.push(Record { id: std::format!("tcId {id}"), cases }),
                Err(reason) => report.skip(&reason, 1),
            }
        }
    }
    Ok(out)
}

fn unknown(object: &Object, known: &[&str], report: &mut FileReport) {
    for field in object.unknown(known) {
        report.skip(&std::format!("field `{}`, which this format does not define", crate::error::excerpt(field)), 1);
    }
}

/// The operations of a test, or the reason why there is no reader for it.
fn cases(algorithm: &str, group: &Object, test: &Object) -> Result<Result<Vec<Case>, String>, KatError> {
    let valid = match test.text("result")? {
        "valid" => true,
        "invalid" => false,
        other => {
            return Ok(Err(std::format!(
                "result `{}`, which is neither valid nor invalid",
                crate::error::excerpt(other)
            )));
        }
    };
    let set = if algorithm == "ML-KEM" { group.text("parameterSet")? } else { algorithm };
    let case = |op: &str, inputs: Values, expected: Values| Case {
        scheme: set.into(),
        op: op.into(),
        inputs,
        expected: if valid { Expected::Values(expected) } else { Expected::Refusal },
    };
    let given = |from: &Object, names: &[(&str, &'static str)]| -> Result<Values, KatError> {
        names.iter().map(|(field, name)| Ok((*name, from.bytes(field)?))).collect()
    };
    // What an invalid test prints as its result is not an answer.
    let wanted = |names: &[(&str, &'static str)]| if valid { given(test, names) } else { Ok(Vec::new()) };
    let kind = group.text("type")?;
    Ok(Ok(match kind {
        "MLKEMKeyGen" => {
            Vec::from([case("keygen", given(test, &[("seed", "seed")])?, wanted(&[("ek", "ek"), ("dk", "dk")])?)])
        }
        "MLKEMEncapsTest" => {
            let inputs = given(test, &[("ek", "ek"), ("m", "m")])?;
            Vec::from([case("encaps", inputs, wanted(&[("c", "c"), ("K", "k")])?)])
        }
        "MLKEMDecapsValidationTest" => {
            let inputs = given(test, &[("dk", "dk"), ("c", "c")])?;
            if valid && test.has("ek") {
                inside(&test.bytes("ek")?, &test.bytes("dk")?)?;
            }
            Vec::from([case("decaps", inputs, wanted(&[("K", "k")])?)])
        }
        "MLKEMTest" => {
            let inputs = given(test, &[("seed", "seed"), ("c", "c")])?;
            let mut cases = Vec::from([case("decaps", inputs, wanted(&[("K", "k")])?)]);
            if valid && test.has("ek") {
                cases.push(case("keygen", given(test, &[("seed", "seed")])?, given(test, &[("ek", "ek")])?));
            }
            cases
        }
        "MlDsaSign" => {
            let key = if group.has("privateSeed") { ("privateSeed", "seed") } else { ("privateKey", "sk") };
            let mut inputs = given(group, &[key])?;
            if test.has("rnd") {
                inputs.extend(given(test, &[("rnd", "rnd")])?);
            }
            let op = if test.has("msg") {
                inputs.extend(message(test)?);
                "sign"
            } else {
                inputs.extend(given(test, &[("mu", "mu")])?);
                "sign-mu"
            };
            let mut cases = Vec::from([case(op, inputs, wanted(&[("sig", "signature")])?)]);
            if valid && group.has("privateSeed") && group.has("publicKey") {
                cases.push(case("keygen", given(group, &[key])?, given(group, &[("publicKey", "pk")])?));
            }
            cases
        }
        "MlDsaVerify" => {
            let mut inputs = given(group, &[("publicKey", "pk")])?;
            inputs.extend(message(test)?);
            inputs.extend(given(test, &[("sig", "signature")])?);
            Vec::from([case("verify", inputs, Vec::new())])
        }
        other => {
            return Ok(Err(std::format!("tests of the type `{}`: no reader", crate::error::excerpt(other))));
        }
    }))
}

/// Checks an encapsulation key that is printed beside the decapsulation key which holds it: FIPS 203, algorithm 16, puts
/// the secret vector, 32 bytes shorter, before it and `H(ek)` and `z`, 32 bytes each, behind it.
fn inside(ek: &[u8], dk: &[u8]) -> Result<(), KatError> {
    const SEED: usize = 32;
    match dk.get(ek.len().wrapping_sub(SEED)..).and_then(|rest| rest.split_at_checked(ek.len())) {
        Some((own, behind)) if own == ek && behind.len() == 2 * SEED => Ok(()),
        _ => Err(KatError::Malformed {
            text: "ek".into(),
            expected: "the encapsulation key that its decapsulation key dk holds",
        }),
    }
}

fn message(test: &Object) -> Result<Values, KatError> {
    let context = test.optional_bytes("ctx")?.unwrap_or_default();
    Ok(Vec::from([("message", test.bytes("msg")?), ("context", context)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte of a printed key counts, and so does its length.
    #[test]
    fn a_key_beside_the_one_that_holds_it() {
        let dk: Vec<u8> = (0..=255).collect();
        let ek = &dk[80..192];
        inside(ek, &dk).unwrap();
        for i in 0..ek.len() {
            let mut wrong = ek.to_vec();
            wrong[i] ^= 1;
            assert!(inside(&wrong, &dk).is_err());
        }
        assert!(inside(&dk[80..191], &dk).is_err());
        assert!(inside(&dk[81..192], &dk).is_err());
        assert!(inside(&[], &dk).is_err());
        assert!(inside(&dk, &dk).is_err());
        assert!(inside(ek, &dk[..10]).is_err());
    }
}
