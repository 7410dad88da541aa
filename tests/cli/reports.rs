//! `karat check`, `bench`, `rings`, `info`, and what all commands have in common.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use crate::karat;

#[test]
fn check() {
    let text = karat(&["check", "--filter", "ml-"]).ok();
    assert!(text.contains("| ml-kem ") && text.contains("| k-ntt "), "{text}");
    assert!(text.lines().last().unwrap().ends_with(" passed, 0 failed"), "{text}");
    for ring in ["sntrup761", "x^100 + 3x^7", "n=4096,q=12289", "n=1000,q=1000"] {
        let object = karat(&["check", "--json", "--filter", ring]).object("check");
        let rows = object["rows"].as_array().unwrap();
        assert_eq!(object["summary"]["passed"], rows.len());
        for row in rows {
            assert!(row["passed"] == true && row["products"].as_u64().unwrap() >= 14, "{row}");
            assert!(row["products_per_second"].as_f64().unwrap() > 0.0);
        }
    }
}

#[test]
fn the_oracle_is_held_against_the_vectors() {
    let object = karat(&["check", "--json", "--backend", "reference", "--filter", "ml-"]).object("check");
    for row in object["rows"].as_array().unwrap() {
        assert!(row["backend"] == "reference" && row["passed"] == true && row["products"].as_u64().unwrap() > 0);
    }
}

#[test]
fn bench() {
    let object =
        karat(&["bench", "ring", "--json", "--filter", "/ml-kem/scalar/1", "--backend", "scalar"]).object("bench");
    let rows = object["rows"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["op"].as_str().unwrap()).collect::<Vec<_>>(), ["mul", "ntt", "intt"]);
    for row in rows {
        let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        let expected =
            ["backend", "batch", "floor_ns", "median_ns", "op", "peer", "peer_median_ns", "ratio", "ring", "suite"];
        assert_eq!(keys, expected);
        assert!(row["suite"] == "ring" && row["ring"] == "ml-kem" && row["backend"] == "scalar" && row["batch"] == 1);
        assert!(row["median_ns"].as_f64().unwrap() > 0.0 && row["floor_ns"].is_null());
    }
    // Primes of 60 bits, above the size that the oracle multiplies in full, and a lift.
    for filter in ["mul/he-8192-60", "ntt/saber/scalar/1", "intt/he-1024-30"] {
        let text = karat(&["bench", "ring", "--filter", filter, "--backend", "scalar"]).ok();
        assert!(text.contains(filter.split('/').nth(1).unwrap()), "{text}");
    }
}

#[test]
fn bench_rns() {
    for (bits, backend) in [("30", "auto"), ("49", "auto"), ("60", "scalar")] {
        let ring = ["--n", "64", "--primes", "3", "--special", "2", "--bits", bits];
        let object = karat(&[&["bench", "rns", "--json", "--backend", backend][..], &ring].concat()).object("bench");
        let rows = object["rows"].as_array().unwrap();
        let ops = ["forward", "inverse", "convert", "mod_up", "key_product", "mod_down", "rescale"];
        assert_eq!(rows.iter().map(|row| row["op"].as_str().unwrap()).collect::<Vec<_>>(), ops);
        for row in rows {
            assert!(row["suite"] == "rns" && row["ring"] == format!("rns-64-3+2x{bits}"), "{row}");
            assert!(row["median_ns"].as_f64().unwrap() > 0.0 && row["floor_ns"].as_f64().unwrap() > 0.0, "{row}");
        }
    }
    let one = karat(&["bench", "rns", "--n", "64", "--primes", "1", "--special", "0", "--filter", "forward/"]).ok();
    assert!(one.contains("rns-64-1+0x49"), "{one}");
    assert!(karat(&["bench", "rns", "--n", "100"]).error().contains("N = 100"));
}

#[test]
fn rings() {
    let text = karat(&["rings"]).ok();
    for ring in karat::ring::presets::all() {
        assert!(text.contains(&format!("| {} ", ring.name())), "{text}");
    }
    let kem = karat(&["rings", "ml-kem"]).ok();
    for part in ["FIPS 203", "alpha = 1", "512 does not", "17", "7, negacyclic"] {
        assert!(kem.contains(part), "{kem}");
    }
    assert!(karat(&["rings", "q=1000,f=x^1000-1"]).ok().contains("2^3 * 5^3"));
    let object = karat(&["rings", "--json"]).object("rings");
    assert_eq!(object["rows"].as_array().unwrap().len(), karat::ring::presets::all().len());
    let row = &karat(&["rings", "saber", "--json"]).object("rings")["rows"][0];
    assert!(row["method"] == "lift" && row["alpha"].is_null() && row["transform"].is_null(), "{row}");
}

#[test]
fn info() {
    let text = karat(&["info"]).ok();
    for part in [
        env!("CARGO_PKG_VERSION"),
        "backend scalar",
        "threads",
        if cfg!(feature = "cuda") { "nvrtc" } else { "no CUDA support" },
    ] {
        assert!(text.contains(part), "{text}");
    }
    let object = karat(&["info", "--json"]).object("info");
    assert!(object["rows"].as_array().unwrap().iter().any(|row| row["item"] == "gpu" && row["available"] == false));
}

#[test]
fn help_and_version() {
    assert!(karat(&["--help"]).ok().contains("karat rings"));
    assert!(karat(&["--version"]).ok().contains(env!("CARGO_PKG_VERSION")));
    for command in ["check", "kat", "mul", "ntt", "vectors", "bench", "rings", "info"] {
        assert!(karat(&[command, "--help"]).ok().contains("--json"));
    }
}

/// `karat ... | head -1`: no panic, no complaint.
#[test]
fn a_closed_pipe_is_no_error() {
    // Far more than a pipe holds.
    let args = ["vectors", "--ring", "ml-kem", "--count", "500", "--seed", "00"];
    for args in [&args[..], &[&args[..], &["--json"]].concat()] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_karat"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut start = [0; 10];
        BufReader::with_capacity(10, child.stdout.take().unwrap()).read_exact(&mut start).unwrap();
        let mut complaint = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut complaint).unwrap();
        assert_eq!((child.wait().unwrap().code(), complaint.as_str()), (Some(0), ""));
    }
}
