//! Bad input: status 2, one line that says what and where, and nothing written.

use std::fs;

use crate::{Run, karat, karat_in};

/// Runs `karat` with these files in an empty folder and checks that it left nothing else there.
#[track_caller]
fn refused(files: &[(&str, &[u8])], args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let message = karat_in(folder.path(), args, "").error();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), files.len(), "a file was written");
    message
}

const RING: &str = "q=17,f=x^4+1";
const GOOD: (&str, &[u8]) = ("b", b"1 2 3 4\n5 6 7 8\n");

fn mul(a: &[u8], more: &[&str]) -> String {
    let args = [&["mul", "--ring", RING, "--a", "a", "--b", "b", "--out", "out"], more].concat();
    refused(&[("a", a), GOOD], &args)
}

#[test]
fn polynomials() {
    for (text, expected) in [
        ("1 2 3\n5 6 7 8\n", "a: line 1: 3 coefficients, where the ring has N = 4"),
        ("1 2 3 4\n\n# c\n5 6 7 8 9\n", "a: line 4: 5 coefficients, where the ring has N = 4"),
        ("1 2 3 4\n5 6 17 8\n", "a: line 2, coefficient 2: not reduced: all must lie in [0, 17)"),
        ("1 -2 3 4\n5 6 7 8\n", "a: line 1, coefficient 1: not reduced"),
        ("1 2 3 4.5\n", "a: line 1, coefficient 3: `.` belongs to no decimal number"),
        ("1 2 3 4\n", "a holds 1 polynomials and b holds 2"),
        ("1 2 3 4\n1 2 3 4\n1 2 3 4\n", "a holds 3 polynomials and b holds 2"),
        ("", "a holds 0 polynomials"),
    ] {
        let message = mul(text.as_bytes(), &[]);
        assert!(message.contains(expected), "{message}");
    }
    assert!(mul(b"9 0 0 0\n0 0 0 0\n", &["--centred"]).contains("all must lie in [-8, 8]"));
    // An error late in a long input: nothing was printed before it.
    let late = [&b"1 2 3 4\n".repeat(9999)[..], b"1 2 3 17\n"].concat();
    let good = b"1 2 3 4\n".repeat(10000);
    let message = refused(&[("a", &late), ("b", &good)], &["mul", "--ring", RING, "--a", "a", "--b", "b"]);
    assert!(message.contains("line 10000, coefficient 3"), "{message}");
    let message = refused(&[("a", &late)], &["ntt", "--ring", RING, "--in", "a", "--out", "out"]);
    assert!(message.contains("line 10000"), "{message}");
}

#[test]
fn arrays() {
    let array = |descr: &str, fortran: &str, shape: &str, data: &[u8]| {
        let dict = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        [b"\x93NUMPY\x01\x00", &(dict.len() as u16).to_le_bytes()[..], dict.as_bytes(), data].concat()
    };
    for (bytes, expected) in [
        (array("<f8", "False", "(4,)", &[0; 32]), "the type is '<f8'; an integer type is needed"),
        (array("<i8", "True", "(2, 4)", &[0; 64]), "Fortran order"),
        (array("<i8", "False", "(2, 5)", &[0; 80]), "the shape is [2, 5]; (4,) or (batch, 4) is needed"),
        (array("|u1", "False", "(2, 4)", &[0; 7]), "row 1"),
        (array("|u1", "False", "(2, 4)", &[0, 0, 0, 0, 0, 17, 0, 0]), "row 1, coefficient 1: not reduced"),
        (b"1 2 3 4\n".to_vec(), "no NumPy array"),
    ] {
        let args = ["mul", "--ring", RING, "--a", "a.npy", "--b", "b", "--out", "out.npy"];
        let message = refused(&[("a.npy", &bytes), GOOD], &args);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn rings() {
    for (ring, expected) in [
        ("kyber", "unknown ring `kyber`"),
        ("q=0,f=x^4+1", "modulus 0"),
        ("q=1,f=x^4+1", "modulus 1"),
        ("q=4611686018427387904,f=x^4+1", "modulus 4611686018427387904"),
        ("n=0,q=17,f=1", "N = 0"),
        ("q=17,f=x^131073+1", "131073"),
        ("q=17,f=2x^4+1", "monic"),
        ("q=17", "f is missing"),
        ("q=17,f=x^4+1,alpha=3", "alpha = 3"),
    ] {
        for args in
            [&["rings", ring][..], &["ntt", "--ring", ring], &["vectors", "--count", "1", "--seed", "", "--ring", ring]]
        {
            let message = karat(args).error();
            assert!(message.contains(expected), "{message}");
        }
    }
}

#[test]
fn alphas() {
    for (ring, alpha, expected) in [
        ("saber", "1", "the k-NTT needs an odd modulus"),
        ("ml-kem", "0", "usable are 1 to 8"),
        ("ml-kem", "9", "usable are 1 to 8"),
        ("sntrup761", "0", "f = x^N + 1"),
    ] {
        let message = karat(&["mul", "--ring", ring, "--alpha", alpha, "--a", "-", "--b", "none"]).error();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn transforms_that_do_not_exist() {
    for (args, expected) in [
        (&["--ring", "saber"][..], "q is even"),
        (&["--ring", "sntrup761"], "f is neither"),
        (&["--ring", "falcon-512", "--order", "standard"], "no standard order"),
        (&["--ring", "ml-dsa", "--alpha", "1", "--order", "standard"], "no standard order"),
    ] {
        let message = karat(&[&["ntt"], args].concat()).error();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn arguments() {
    for (args, expected) in [
        (&["mul", "--ring", "ml-kem", "--a", "-", "--b", "-"][..], "only one of --a and --b"),
        (&["mul", "--ring", "ml-kem", "--a", "none", "--b", "none"], "none: "),
        (&["mul", "--ring", "ml-kem", "--a", "-", "--b", "-", "--backend", "abacus"], "only one"),
        (&["check", "--backend", "abacus"], "backend `abacus` is not available"),
        (&["vectors", "--ring", "ml-kem", "--count", "1", "--seed", "xy"], "hexadecimal"),
        (&["vectors", "--ring", "ml-kem", "--count", "1", "--seed", "00", "--out", "src"], "folder"),
        (&["bench", "ring", "--filter", "nothing like this"], "--filter"),
        (&["check", "--filter", "nothing like this"], "--filter"),
    ] {
        let message = karat(args).error();
        assert!(message.contains(expected), "{message}");
    }
}

/// What clap refuses takes more than a line.
#[test]
fn usage() {
    for args in [
        &[][..],
        &["multiply"],
        &["mul"],
        &["kat"],
        &["bench", "none"],
        &["mul", "--alpha", "-1"],
        &["rings", "a", "b"],
    ] {
        let Run { code, stdout, stderr } = karat(args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}");
        assert!(!stderr.is_empty());
    }
}

/// With `--json` there is one object, whatever is wrong.
#[test]
fn json_says_what_is_wrong() {
    for (args, expected) in [
        (&["mul", "--ring", "kyber", "--a", "none", "--b", "none"][..], "unknown ring `kyber`"),
        (&["mul", "--ring", RING, "--a", "none", "--b", "none"], "none: "),
        (&["mul", "--ring", RING], "required arguments were not provided: --a"),
        (&["kat"], "required arguments were not provided: <PATH>..."),
        (&["check", "--backend", "abacus"], "backend `abacus` is not available"),
        (&["kat", "--batch", "0", "kats"], "0"),
        (&["bench", "none"], "none"),
        (&["rings", "a", "b"], "unexpected argument 'b'"),
    ] {
        let run = karat(&[args, &["--json"]].concat());
        let message = run.json_error(args[0]);
        assert!(message.contains(expected), "{message}");
    }
    assert!(karat(&["multiply", "--json"]).json_error("").contains("multiply"));
    // Not where help was asked for.
    assert!(karat(&["mul", "--json", "--help"]).ok().contains("Usage"));
}

#[test]
fn an_override_that_cannot_be_met() {
    let run = |args: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_karat"))
            .args(args)
            .env("KARAT_BACKEND", "abacus")
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, message) = run(&["kat", "kats"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("backend `abacus` is not available"), "{message}");
    // `karat info` says so instead of failing.
    assert_eq!(run(&["info"]).0, Some(0));
}
