//! Damaged files about schemes: what is cut off, missing, doubled or exchanged never passes.

use std::fs;
use std::path::Path;

use karat::AnyBackend;
use karat::kat::scheme::Own;
use karat::kat::{FileReport, KatError, Runner, nist};
use serde_json::{Value, json};

use super::check;

fn rsp(scheme: &str, count: u64) -> String {
    let mut own = Own::new(&AnyBackend::from_name("scalar").unwrap()).unwrap();
    let mut text = Vec::new();
    nist::write(&mut own, scheme, &nist::ENTROPY, count, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The line and the error of a file that must have one.
fn error(name: &str, text: &str) -> (u64, KatError) {
    let error = check(name, text.as_bytes()).error.unwrap_or_else(|| panic!("{name} is accepted"));
    (error.line, error.error)
}

/// Three keys of ML-KEM-512 with a coefficient that is `q` or more.
fn modulus() -> String {
    let key = |byte: &str| byte.repeat(800) + "\n";
    ["ff", "fe", "fd"].map(key).concat()
}

#[test]
fn cctv_keys() {
    use KatError::{KeyLength, UnendedLine};
    let text = modulus();
    assert_eq!(check("ML-KEM-512.txt", text.as_bytes()).passed, 3);
    assert_eq!(check("keys", text.as_bytes()).passed, 3);
    assert!(matches!(error("ML-KEM-768.txt", &text), (1, KeyLength { len: 800, scheme: "ML-KEM-768" })));
    assert!(matches!(error("keys", &text[2..]), (1, KeyLength { len: 799, scheme: "any parameter set of ML-KEM" })));
    let mixed = text + &"ff".repeat(1184) + "\n";
    assert!(matches!(error("keys", &mixed), (4, KeyLength { len: 1184, scheme: "ML-KEM-512" })));
    // Cut anywhere within a line, also where what is left is a key of another set.
    for len in [64, 65, 1600, 1700, 3 * 1601 - 1, 3 * 1601 + 1600] {
        assert!(matches!(error("keys", &mixed[..len]), (_, UnendedLine)), "{len}");
    }
}

#[test]
fn cctv_values() {
    let mut own = Own::new(&AnyBackend::from_name("scalar").unwrap()).unwrap();
    let mut text = Vec::new();
    nist::write(&mut own, "ML-KEM-512", &nist::ENTROPY, 1, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(&format!("{name} = "))).unwrap();
    let values = format!("dk = {}\nc = {}\nK = {}\n", field("sk"), field("ct"), field("ss"));
    assert_eq!(check("values", values.as_bytes()).passed, 1);
    for len in (64..values.len()).step_by(61).chain([values.len() - 1, values.len() - 65]) {
        assert!(!check("values", &values.as_bytes()[..len]).is_ok(), "{len}");
    }
    let ends: Vec<usize> = values.match_indices('\n').map(|(at, _)| at + 1).collect();
    assert!(matches!(error("values", &values[..ends[0]]), (0, KatError::NoRecords)));
    assert!(matches!(error("values", &values[..ends[1]]), (0, KatError::NoRecords)));
}

#[test]
fn response_files() {
    use KatError::{DuplicateField, MissingField, OutOfOrder};
    let text = rsp("ML-DSA-44", 2);
    assert_eq!(check("x", text.as_bytes()).passed, 2);
    let twice = text.replacen("mlen = 33\n", "mlen = 33\nmlen = 33\n", 1);
    assert!(matches!(error("x", &twice), (6, DuplicateField { count: 0, field: "mlen" })));
    let gap = text.replace("count = 1", "count = 2");
    assert!(matches!(error("x", &gap), (12, OutOfOrder { expected: 1, got: 2 })));
    let cut = &text[..text.rfind("smlen").unwrap()];
    assert!(matches!(error("x", cut), (12, MissingField { count: 1, field: "sm" })));
    let (_, number) = error("x", &text.replacen("mlen = 33", "mlen = 34", 1));
    assert!(number.to_string().contains("`34`"), "{number}");
    // A signed message that ends with another message is a wrong record, not an unreadable file.
    let sm = text.lines().find(|line| line.starts_with("sm = ")).unwrap();
    let other = format!("{}{}", &sm[..sm.len() - 1], if sm.ends_with('0') { '1' } else { '0' });
    let report = check("x", text.replacen(sm, &other, 1).as_bytes());
    assert_eq!((report.passed, report.failed, report.error.is_none()), (1, 1, true));
    assert_eq!(report.wrong.unwrap(), "count = 0 (line 10): `sm` is no signature followed by `msg`");
}

/// Checks a prompt beside expected results.
fn acvp(folder: &Path, prompt: &Value, results: &Value) -> FileReport {
    fs::write(folder.join("expectedResults.json"), results.to_string()).unwrap();
    fs::write(folder.join("prompt.json"), prompt.to_string()).unwrap();
    let mut runner = Runner::new(AnyBackend::from_name("scalar").unwrap());
    runner.check_file(&folder.join("prompt.json"), &mut |_| ())
}

#[test]
fn prompts_and_expected_results() {
    let folder = std::env::temp_dir().join(format!("karat-acvp-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let seed = |i: u8| hex::encode_upper([i; 32]);
    let tests: Vec<_> = (1..=3).map(|i| json!({"tcId": i, "seed": seed(i)})).collect();
    let dsa = karat::schemes::mldsa::MlDsa44::new(karat::Cpu::new()).unwrap();
    let answers = |i: u8| {
        let (pk, sk) = dsa.keygen(&[i; 32]);
        json!({"tcId": i, "pk": hex::encode(pk), "sk": hex::encode(sk)})
    };
    let document = |groups: Value| {
        json!({
            "vsId": 42, "algorithm": "ML-DSA", "mode": "keyGen", "revision": "FIPS204", "isSample": false,
            "testGroups": groups,
        })
    };
    let group = |set: &str| json!({"tgId": 1, "testType": "AFT", "parameterSet": set, "tests": tests});
    let prompt = document(json!([group("ML-DSA-44")]));
    let results = document(json!([{"tgId": 1, "tests": [answers(1), answers(2), answers(3)]}]));
    let check = |prompt: &Value, results: &Value| {
        let report = acvp(&folder, prompt, results);
        (report.passed, report.failed, report.skipped(), report.error.map(|error| error.error))
    };
    assert!(matches!(check(&prompt, &results), (3, 0, 0, None)));
    // Tests and groups without an answer.
    let fewer = document(json!([{"tgId": 1, "tests": [answers(1), answers(3)]}]));
    assert!(matches!(check(&prompt, &fewer), (2, 1, 0, None)));
    let wrong = acvp(&folder, &prompt, &fewer).wrong.unwrap();
    assert_eq!(wrong, "tcId 2: the expected results have no answer to this test");
    assert!(matches!(check(&prompt, &document(json!([]))), (0, 3, 0, None)));
    let other_group = document(json!([{"tgId": 2, "tests": [answers(1), answers(2), answers(3)]}]));
    assert!(matches!(check(&prompt, &other_group), (0, 3, 0, None)));
    // What nobody knows is skipped, answered or not.
    let unknown = document(json!([group("ML-DSA-45")]));
    assert!(matches!(check(&unknown, &results), (0, 0, 3, None)));
    assert!(matches!(check(&unknown, &fewer), (0, 0, 3, None)));
    // Files that do not belong together.
    for field in ["vsId", "algorithm", "mode", "revision"] {
        let mut other = results.clone();
        other[field] = json!("another");
        let (.., error) = check(&prompt, &other);
        assert!(matches!(error, Some(KatError::OtherResults { field: told, .. }) if told == field), "{field}");
    }
    let twice = document(json!([{"tgId": 1, "tests": [answers(1), answers(2), answers(2)]}]));
    assert!(matches!(check(&prompt, &twice), (0, 0, 0, Some(KatError::DuplicateTest(2)))));
    // Nothing to check is no success.
    assert!(matches!(check(&document(json!([])), &results), (0, 0, 0, Some(KatError::NoRecords))));
    let mut runner = Runner::new(AnyBackend::from_name("scalar").unwrap());
    let report = runner.check_file(&folder.join("expectedResults.json"), &mut |_| ());
    assert_eq!((report.prompt, report.skips.len()), (Some(folder.join("prompt.json")), 0));
    fs::remove_file(folder.join("prompt.json")).unwrap();
    let report = runner.check_file(&folder.join("expectedResults.json"), &mut |_| ());
    assert_eq!((report.prompt, report.skips.len()), (None, 1));
    fs::remove_dir_all(&folder).unwrap();
}

/// A document without contents is damaged, as a response file is.
#[test]
fn empty_documents() {
    for text in ["", "\n\n", "nonsense", "{", "42 43"] {
        assert!(matches!(error("prompt.json", text), (_, KatError::Json(_))), "{text:?}");
        assert!(matches!(error("PROMPT.JSON.GZ", text), (_, KatError::Json(_))), "{text:?}");
    }
}
