//! `karat mul` and `karat ntt`.

use std::fs;
use std::path::Path;

use crate::{json, karat_in};

const RING: &str = "n=4,q=17,f=x^4+1";

/// A folder with the operands `a` (two polynomials) and `b`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "# two\n1 2 3 4\n\n0 0 0 1\n").unwrap();
    fs::write(folder.path().join("b"), "16 0 0 0\n0 1 0 0 # x\n").unwrap();
    folder
}

fn mul(folder: &Path, more: &[&str]) -> crate::Run {
    let args = [&["mul", "--ring", RING, "--a", "a", "--b", "b"], more].concat();
    karat_in(folder, &args, "")
}

/// An array file of 16-bit integers.
fn array(shape: &str, values: &[i16]) -> Vec<u8> {
    let dict = format!("{{'descr': '<i2', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((dict.len() as u16).to_le_bytes());
    out.extend(dict.bytes());
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    out
}

/// Shape and values of an array file that karat wrote.
fn read_array(path: &Path) -> (Vec<u64>, Vec<i64>) {
    let file = npyz::NpyFile::new(fs::File::open(path).unwrap()).unwrap();
    (file.shape().to_vec(), file.into_vec().unwrap())
}

#[test]
fn products_as_text() {
    let folder = folder();
    assert_eq!(mul(folder.path(), &[]).ok(), "16 15 14 13\n16 0 0 0\n");
    for backend in ["auto", "scalar", "reference"] {
        assert_eq!(mul(folder.path(), &["--backend", backend]).ok(), "16 15 14 13\n16 0 0 0\n");
    }
    for alpha in ["0", "1", "2"] {
        assert_eq!(mul(folder.path(), &["--alpha", alpha]).ok(), "16 15 14 13\n16 0 0 0\n");
    }
    let args = ["mul", "--ring", RING, "--a", "-", "--b", "b"];
    assert_eq!(karat_in(folder.path(), &args, "1 0 0 0\n1 0 0 0").ok(), "16 0 0 0\n0 1 0 0\n");
}

#[test]
fn a_file_is_replaced() {
    let folder = folder();
    let out = folder.path().join("c");
    fs::write(&out, "old").unwrap();
    assert_eq!(mul(folder.path(), &["--out", "c"]).ok(), "");
    assert_eq!(fs::read_to_string(out).unwrap(), "16 15 14 13\n16 0 0 0\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary file is left");
    // The output may replace an input.
    assert_eq!(mul(folder.path(), &["--out", "a"]).ok(), "");
    assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "16 15 14 13\n16 0 0 0\n");
}

#[test]
fn signed_coefficients() {
    let folder = folder();
    fs::write(folder.path().join("b"), "-1 0 0 0\n0 1 0 0\n").unwrap();
    assert_eq!(mul(folder.path(), &["--centred"]).ok(), "-1 -2 -3 -4\n-1 0 0 0\n");
}

#[test]
fn products_as_json() {
    let folder = folder();
    let rows = mul(folder.path(), &["--json"]).object("mul");
    assert_eq!(rows["rows"][0]["coefficients"], serde_json::json!([16, 15, 14, 13]));
    assert_eq!((rows["rows"].as_array().unwrap().len(), &rows["summary"]["passed"]), (2, &2.into()));
    let row = &mul(folder.path(), &["--json", "--out", "c"]).object("mul")["rows"][0];
    assert_eq!((&row["products"], &row["out"]), (&2.into(), &"c".into()));
    assert_eq!(fs::read_to_string(folder.path().join("c")).unwrap(), "16 15 14 13\n16 0 0 0\n");
}

#[test]
fn arrays() {
    let folder = folder();
    let write = |name: &str, bytes| fs::write(folder.path().join(name), bytes).unwrap();
    write("a.npy", array("(2, 4)", &[1, 2, 3, 4, 0, 0, 0, 1]));
    write("one.npy", array("(4,)", &[0, -1, 0, 0]));
    let run = |args: &[&str]| karat_in(folder.path(), &[&["mul", "--ring", RING], args].concat(), "");
    assert_eq!(run(&["--a", "a.npy", "--b", "b"]).ok(), "16 15 14 13\n16 0 0 0\n");
    run(&["--a", "a.npy", "--b", "b", "--out", "c.npy"]).ok();
    assert_eq!(read_array(&folder.path().join("c.npy")), (vec![2, 4], vec![16, 15, 14, 13, 16, 0, 0, 0]));
    run(&["--a", "one.npy", "--b", "one.npy", "--centred", "--out", "d.npy"]).ok();
    assert_eq!(read_array(&folder.path().join("d.npy")), (vec![4], vec![0, 0, 1, 0]));
    // What karat writes it reads.
    assert_eq!(run(&["--a", "c.npy", "--b", "c.npy"]).ok().lines().count(), 2);
}

#[test]
fn more_records_than_are_held_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let a: String = (0..5000).map(|i| format!("{} 1\n", i % 17)).collect();
    fs::write(folder.path().join("a"), &a).unwrap();
    fs::write(folder.path().join("b"), "0 1\n".repeat(5000)).unwrap();
    let args = ["mul", "--ring", "q=17,f=x^2+1", "--a", "a", "--b", "b"];
    let expected: String = (0..5000).map(|i| format!("16 {}\n", i % 17)).collect();
    assert_eq!(karat_in(folder.path(), &args, "").ok(), expected);
}

fn ntt(args: &[&str], input: &str) -> crate::Run {
    karat_in(Path::new("."), &[&["ntt"], args].concat(), input)
}

/// The polynomial with these coefficients and zeros up to N.
fn padded(n: usize, first: &[u64]) -> String {
    let coefficients = (0..n).map(|i| first.get(i).copied().unwrap_or(0).to_string());
    coefficients.collect::<Vec<_>>().join(" ") + "\n"
}

#[test]
fn standard_order_is_the_default_where_there_is_one() {
    let x = padded(256, &[0, 1]);
    let values = ntt(&["--ring", "ml-dsa"], &x).ok();
    assert!(values.starts_with("1753 8378664 "), "{values}"); // the root of FIPS 204 and its negative
    assert_eq!(values, ntt(&["--ring", "ml-dsa", "--order", "standard"], &x).ok());
    assert_eq!(ntt(&["--ring", "ml-dsa", "--inverse"], &values).ok(), x);

    // FIPS 203: slot 0 holds residues modulo x^2 - 17.
    let values = ntt(&["--ring", "ml-kem"], &padded(256, &[0, 0, 1])).ok();
    assert!(values.starts_with("17 0 3312 0 "), "{values}");
}

#[test]
fn orders() {
    // gamma = 2 has order 8 modulo 17: slots are 2, 8, 15 (= 2^5), 9 (= 2^7) in natural order.
    let run = |order: &[&str], input| ntt(&[&["--ring", RING], order].concat(), input).ok();
    assert_eq!(run(&["--order", "natural"], "0 1 0 0"), "2 8 15 9\n");
    assert_eq!(run(&["--order", "bitrev"], "0 1 0 0"), "2 15 8 9\n");
    assert_eq!(run(&[], "0 1 0 0"), "2 15 8 9\n");
    assert_eq!(run(&["--order", "natural", "--inverse"], "2 8 15 9"), "0 1 0 0\n");
    assert_eq!(run(&["--order", "natural", "--centred"], "0 1 0 0"), "2 8 -2 -8\n");
    // With alpha = 1, residues modulo x^2 - 4 and x^2 + 4.
    assert_eq!(run(&["--alpha", "1"], "0 1 1 0"), "4 1 13 1\n");
}

#[test]
fn transforms_as_json() {
    let object = json(&ntt(&["--ring", RING, "--json"], "0 1 0 0\n1 0 0 0\n").ok(), "ntt");
    assert_eq!(object["rows"][1]["coefficients"], serde_json::json!([1, 1, 1, 1]));
    assert_eq!(object["summary"]["passed"], 2);
}
