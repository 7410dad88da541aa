//! `karat vectors` and `karat kat`.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::{Compression, write::GzEncoder};

use crate::{json, karat, karat_in};

fn vectors(ring: &str, more: &[&str]) -> crate::Run {
    karat(&[&["vectors", "--ring", ring, "--count", "3", "--seed", "00ff"], more].concat())
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn vectors_validate_on_every_backend() {
    let folder = tempfile::tempdir().unwrap();
    for ring in ["ml-kem", "sntrup761", "n=100,q=97,f=x^100+3x^7+5", "q=1000,f=x^30-1"] {
        let text = vectors(ring, &[]).ok();
        assert_eq!(text, vectors(ring, &[]).ok(), "the same seed gives the same vectors");
        assert_eq!(text, vectors(ring, &["--backend", "reference"]).ok());
        fs::write(folder.path().join("v.rsp"), &text).unwrap();
        fs::write(folder.path().join("v.rsp.gz"), gzip(text.as_bytes())).unwrap();
        for backend in ["scalar", "reference"] {
            let report = karat_in(folder.path(), &["kat", ".", "--backend", backend], "").ok();
            assert!(report.ends_with("2 passed, 0 failed, 0 skipped\n"), "{report}");
            assert!(report.contains("v.rsp.gz: ok, 7 passed, 0 failed\n"), "{report}");
        }
    }
    assert_ne!(
        vectors("ml-kem", &[]).ok(),
        karat(&["vectors", "--ring", "ml-kem", "--count", "3", "--seed", "00fe"]).ok()
    );
}

#[test]
fn vectors_to_a_file_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("v.rsp");
    let object = vectors("ml-kem", &["--json", "--out", out.to_str().unwrap()]).object("vectors");
    assert_eq!(object["rows"][0]["count"], 7);
    assert_eq!(fs::read_to_string(out).unwrap(), vectors("ml-kem", &[]).ok());
    let object = vectors("q=17,f=x^2+1", &["--json"]).object("vectors");
    assert_eq!(object["rows"][3]["a"], serde_json::json!([16, 16]));
    assert_eq!(object["rows"].as_array().unwrap().len(), 7);
}

#[test]
fn the_built_in_vectors() {
    let report = karat(&["kat", "kats"]).ok();
    assert!(report.contains(" passed, 0 failed, "), "{report}");
    let object = karat(&["kat", "kats", "--json"]).object("kat");
    assert!(object["rows"].as_array().unwrap().iter().all(|row| row["result"] == "ok" || row["result"] == "skipped"));
}

#[test]
fn vectors_from_elsewhere() {
    let Some(folder) = std::env::var_os("KARAT_VECTORS") else {
        eprintln!("skipped: KARAT_VECTORS is not set");
        return;
    };
    let folder = Path::new(&folder).join("ring");
    let report = karat(&["kat", folder.to_str().unwrap()]).ok();
    assert!(report.ends_with(" passed, 0 failed, 0 skipped\n"), "{report}");
}

const TINY: &str = "[n = 2]\n[q = 17]\n[f = x^2 + 1]\n\ncount = 0\na = 2 6\nb = 5 1\nc = 4 15\n";

/// Runs `karat kat` on one file.
fn kat(name: &str, contents: &[u8], more: &[&str]) -> crate::Run {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), contents).unwrap();
    karat_in(folder.path(), &[&["kat", name], more].concat(), "")
}

#[test]
fn a_wrong_product_is_status_1() {
    let wrong = TINY.replace("c = 4 15", "c = 4 14");
    let run = kat("t.rsp", wrong.as_bytes(), &[]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let expected = "t.rsp: FAILED, 0 passed, 1 failed; record 0 (line 5), coefficient 1 is 14 in the file and 15 here\n\
                    0 passed, 1 failed, 0 skipped\n";
    assert_eq!(run.stdout, expected);
    let run = kat("t.rsp", wrong.as_bytes(), &["--json"]);
    assert_eq!(run.code, 1);
    let row = &json(&run.stdout, "kat")["rows"][0];
    assert_eq!((&row["mismatch"]["record"], &row["mismatch"]["coefficient"]), (&0.into(), &1.into()));
}

#[test]
fn damaged_files_are_status_2() {
    let compressed = gzip(TINY.as_bytes());
    let text = |from: &str, to: &str| TINY.replace(from, to).into_bytes();
    for (name, contents, expected) in [
        ("t.rsp", text("b = 5 1", "b = 5"), "t.rsp:7: `b` has 1 coefficients where the ring needs 2"),
        ("t.rsp", text("b = 5 1", "b = 5 17"), "t.rsp:7: coefficient 1 of `b` is not reduced"),
        ("t.rsp", text("b = 5 1", "b = 5 x"), "t.rsp:7: cannot read `x`"),
        ("t.rsp", text("b = 5 1\n", ""), "t.rsp:5: record 0 has no `b`"),
        ("t.rsp", text("[q = 17]", "[q = 1]"), "t.rsp:3: modulus 1"),
        ("t.rsp", text("[q = 17]", "[q = 0]"), "t.rsp:3: modulus 0"),
        ("t.rsp", text("[n = 2]", "[n = 3]"), "t.rsp:3: n = 3, but f has degree 2"),
        ("t.rsp", text("count = 0", "count 0"), "t.rsp:5: cannot read `count 0`"),
        ("t.rsp.gz", compressed[..compressed.len() - 9].to_vec(), "the gzip data is cut off"),
    ] {
        let run = kat(name, &contents, &[]);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(expected), "{}", run.stderr);
        assert!(run.stdout.ends_with("0 passed, 1 failed, 0 skipped\n"), "{}", run.stdout);
        let run = kat(name, &contents, &["--json"]);
        assert_eq!(run.code, 2);
        assert_eq!(json(&run.stdout, "kat")["rows"][0]["result"], "error");
    }
}

#[test]
fn other_files_are_skipped() {
    // Nothing checked is no success.
    let run = kat("notes.md", b"# Notes\n\nnothing\n", &[]);
    assert!(run.stdout.ends_with("0 passed, 0 failed, 1 skipped\n"));
    assert_eq!((run.code, run.stderr.as_str()), (2, "error: nothing was checked: every file was skipped\n"));
    let run = kat("notes.md", b"# Notes\n\nnothing\n", &["--json"]);
    assert!(run.json_error("kat").contains("nothing was checked"));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.md"), "# Notes\n").unwrap();
    fs::write(folder.path().join("tiny.rsp"), TINY).unwrap();
    assert!(karat_in(folder.path(), &["kat", "."], "").ok().ends_with("1 passed, 0 failed, 1 skipped\n"));
    let folder = tempfile::tempdir().unwrap();
    assert!(karat_in(folder.path(), &["kat", "."], "").error().contains("no file"));
}

/// A path that is not there is named, and the others are still looked at.
#[test]
fn a_missing_path_among_others() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.rsp"), TINY).unwrap();
    fs::write(folder.path().join("bad.rsp"), TINY.replace("4 15", "4 14")).unwrap();
    let run = karat_in(folder.path(), &["kat", "good.rsp", "missing", "bad.rsp"], "");
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("good.rsp: ok, 1 passed") && run.stdout.contains("bad.rsp: FAILED"), "{}", run.stdout);
    assert!(run.stdout.ends_with("1 passed, 2 failed, 0 skipped\n"), "{}", run.stdout);
    assert!(run.stderr.starts_with("error: missing: ") && run.stderr.lines().count() == 1, "{}", run.stderr);
    let run = karat_in(folder.path(), &["kat", "good.rsp", "missing", "--json"], "");
    assert_eq!(run.code, 2);
    let rows = &json(&run.stdout, "kat")["rows"];
    assert_eq!((&rows[0]["result"], &rows[1]["result"]), (&"ok".into(), &"error".into()));
}

/// `karat kat` recognises what `karat vectors --scheme` writes, whatever the file is called.
#[test]
fn vectors_of_schemes() {
    for scheme in ["ml-kem-512", "ML-DSA-44", "kyber768", "Dilithium2"] {
        let text = karat(&["vectors", "--scheme", scheme, "--count", "2"]).ok();
        let (first, rest) = text.split_once('\n').unwrap();
        assert!(first.strip_prefix("# ").unwrap().eq_ignore_ascii_case(scheme) && rest.starts_with("\ncount = 0\n"));
        assert!(kat("v", text.as_bytes(), &[]).ok().contains("v: ok, 2 passed, 0 failed\n"));
    }
    let acvp = karat(&["vectors", "--scheme", "ml-kem-768", "--count", "1", "--format", "acvp"]).ok();
    assert!(kat("v", acvp.as_bytes(), &["--batch", "3"]).ok().contains("0 failed"));
    let other = karat(&["vectors", "--scheme", "ml-kem-512", "--count", "1", "--seed", &"07".repeat(48)]).ok();
    assert!(kat("v", other.as_bytes(), &[]).ok().contains("v: ok, 1 passed"));
}

/// A program needs no backend, and the rows name it; an empty KARAT_BACKEND is none.
#[test]
fn rows_name_what_computed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kem.rsp"), karat(&["vectors", "--scheme", "ml-kem-512", "--count", "1"]).ok())
        .unwrap();
    let run = |backend: &str, more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_karat"));
        command.args(["kat", "kem.rsp", "--json"]).args(more).current_dir(&folder).env("KARAT_BACKEND", backend);
        let output = command.output().unwrap();
        let row = json(std::str::from_utf8(&output.stdout).unwrap(), "kat")["rows"][0].clone();
        (output.status.code(), row)
    };
    // `cat` gives the request back: no answer.
    let (code, row) = run("abacus", &["--cmd", "cat"]);
    assert_eq!((code, &row["program"], row.get("backend")), (Some(1), &"cat".into(), None));
    assert!(row["wrong"].as_str().unwrap().contains("answered nonsense"), "{row}");
    let (code, row) = run("", &[]);
    assert_eq!((code, row.get("program"), row["backend"].is_string()), (Some(0), None, true));
}

/// Expected results count with their prompt.
#[test]
fn expected_results_are_no_skipped_file() {
    let folder = tempfile::tempdir().unwrap();
    let document = |group: &str| {
        format!(r#"{{"vsId":1,"algorithm":"ML-KEM","mode":"encapDecap","revision":"FIPS203","testGroups":[{group}]}}"#)
    };
    let key = "ff".repeat(800);
    let group = format!(
        r#"{{"tgId":1,"testType":"VAL","parameterSet":"ML-KEM-512","function":"encapsulationKeyCheck","tests":[{{"tcId":1,"ek":"{key}"}}]}}"#
    );
    fs::write(folder.path().join("prompt.json"), document(&group)).unwrap();
    let results = document(r#"{"tgId":1,"tests":[{"tcId":1,"testPassed":false}]}"#);
    fs::write(folder.path().join("expectedResults.json"), &results).unwrap();
    let report = karat_in(folder.path(), &["kat", "."], "").ok();
    assert!(report.contains("expectedResults.json: read with the prompt beside it\n"), "{report}");
    assert!(report.ends_with("1 passed, 0 failed, 0 skipped\n"), "{report}");
    let run = karat_in(folder.path(), &["kat", "expectedResults.json"], "");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("nothing was checked"), "{}", run.stderr);
    // A wrong refusal says which way it is wrong.
    fs::write(folder.path().join("expectedResults.json"), results.replace("false", "true")).unwrap();
    let run = karat_in(folder.path(), &["kat", "prompt.json"], "");
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("refused where it must be accepted"), "{}", run.stdout);
    // An empty document is damaged.
    fs::write(folder.path().join("prompt.json"), "").unwrap();
    assert_eq!(karat_in(folder.path(), &["kat", "prompt.json"], "").code, 2);
}

/// The help says how a program is called and what it is asked.
#[test]
fn help_tells_what_a_program_must_know() {
    let help = |args: &[&str]| karat(args).ok().split_whitespace().collect::<Vec<_>>().join(" ");
    let kat = help(&["kat", "--help"]);
    for text in ["split at blanks", "encaps ", "decaps ", "check-dk", "verify*", "-hash:NAME", "rnd"] {
        assert!(kat.contains(text), "{text}");
    }
    let vectors = help(&["vectors", "--help"]);
    assert!(vectors.contains("karat vectors --scheme <NAME> --count <COUNT>") && vectors.contains("ML-KEM"));
}

#[test]
fn arguments_that_make_no_sense() {
    let folder = tempfile::tempdir().unwrap();
    let scheme = karat(&["vectors", "--scheme", "ml-kem-512", "--count", "1"]).ok();
    fs::write(folder.path().join("kem.rsp"), &scheme).unwrap();
    fs::write(folder.path().join("ring.rsp"), TINY).unwrap();
    let run = |args: &[&str]| karat_in(folder.path(), args, "");
    for args in [
        &["kat", "kem.rsp", "--batch", "0"][..],
        &["kat", "kem.rsp", "--batch", "-1"],
        &["kat", "kem.rsp", "--cmd", "cat", "--timeout", "0"],
        &["kat", "kem.rsp", "--timeout", "5"],
        &["kat", "kem.rsp", "--long"],
        &["kat", "kem.rsp", "--cmd", "cat", "--backend", "scalar"],
        &["vectors", "--scheme", "ml-kem-512", "--count", "0"],
        &["vectors", "--ring", "ml-kem", "--seed", "00", "--count", "0"],
        &["vectors", "--ring", "ml-kem", "--scheme", "ml-kem-512", "--count", "1"],
    ] {
        let run = run(args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
    }
    for (args, expected) in [
        (&["kat", "kem.rsp", "--cmd", "/no/such/program"][..], "`/no/such/program` cannot be started"),
        (&["kat", "kem.rsp", "--cmd", ""], "the command is empty"),
        (&["vectors", "--ring", "ml-kem", "--count", "1", "--seed", ""], "--seed takes hexadecimal digits"),
        (&["vectors", "--scheme", "ml-kem-512", "--count", "1", "--seed", ""], "--seed takes hexadecimal digits"),
        (&["vectors", "--scheme", "ml-kem-512", "--count", "1", "--seed", "00"], "--seed has 1 bytes"),
        (&["vectors", "--scheme", "x25519", "--count", "1"], "--scheme knows ML-KEM-512"),
        (
            &["vectors", "--ring", "ml-kem", "--count", "1", "--seed", "00", "--format", "acvp"],
            "--format belongs to --scheme",
        ),
    ] {
        let message = run(args).error();
        assert!(message.contains(expected), "{message}");
    }
    // A program is never asked for ring products: refused, not checked against karat itself.
    let refused = run(&["kat", "ring.rsp", "--cmd", "cat"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stdout.contains("ring.rsp: error") && refused.stderr.contains("ring products"),
        "{}",
        refused.stderr
    );
}
