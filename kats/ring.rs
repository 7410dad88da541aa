//! The ring vectors of this folder: are they what they were, are they right, and does every backend agree?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use karat::kat::{FileReport, Runner, files, vectors::Operands};
use karat::{AnyBackend, RingSpec, ring::presets};
use num_bigint::BigUint;

mod list;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kats")
}

fn read(file: &str) -> Vec<u8> {
    fs::read(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn scalar() -> AnyBackend {
    AnyBackend::from_name("scalar").unwrap()
}

#[test]
fn digests() {
    let sums = String::from_utf8(read("SHA256SUMS")).unwrap();
    let listed: BTreeMap<&str, &str> =
        sums.lines().map(|line| line.split_once("  ").unwrap()).map(|(sum, file)| (file, sum)).collect();
    let is_vector = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rsp");
    let present: Vec<PathBuf> = files(&[folder()]).into_iter().filter(is_vector).collect();
    assert_eq!(present.len(), listed.len(), "every vector file is in SHA256SUMS");
    for (file, sum) in listed {
        assert_eq!(list::sha256(&read(file)), sum, "{file}");
    }
}

#[test]
fn every_preset_has_a_file() {
    let all = list::all();
    for preset in presets::all() {
        assert!(all.iter().any(|(_, ring, _)| list::same(ring, preset)), "{preset}");
    }
}

#[test]
fn files_can_be_made_again() {
    for (file, ring, count) in list::all() {
        assert!(list::generate(&scalar(), &ring, count) == read(&file), "{file} differs: see README.md");
    }
}

/// Nothing of karat takes part here: neither its reader nor its arithmetic.
#[test]
fn products_are_right_by_big_integers() {
    for (file, _, random) in list::all() {
        let text = String::from_utf8(read(&file)).unwrap();
        let value = |key: &str| {
            let start = format!("[{key} = ");
            text.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix(']')).unwrap()
        };
        let n: usize = value("n").parse().unwrap();
        let q: u64 = value("q").parse().unwrap();
        let tail = lower_terms(value("f"), n);
        let polynomials: Vec<(&str, Vec<u64>)> = text
            .lines()
            .filter_map(|line| line.split_once(" = ").filter(|(key, _)| ["a", "b", "c"].contains(key)))
            .map(|(key, values)| (key, values.split(' ').map(|value| value.parse().unwrap()).collect()))
            .collect();
        assert_eq!(polynomials.len() as u64, 3 * (random + 4), "{file}");
        for (count, record) in polynomials.chunks(3).enumerate() {
            let [("a", a), ("b", b), ("c", c)] = record else { panic!("{file}: fields of record {count}") };
            assert!(a.len() == n && b.len() == n && *c == kronecker(a, b, q, &tail), "{file}: record {count}");
        }
    }
}

/// The product by one multiplication of big integers, then reduced by `q` and by `f`.
fn kronecker(a: &[u64], b: &[u64], q: u64, tail: &[(usize, i128)]) -> Vec<u64> {
    // A sum of n products of residues below 2^62 has fewer than 160 bits.
    const SLOT: usize = 20;
    let n = a.len();
    let pack = |values: &[u64]| {
        let mut bytes = vec![0; n * SLOT];
        for (slot, value) in bytes.chunks_mut(SLOT).zip(values) {
            slot[..8].copy_from_slice(&value.to_le_bytes());
        }
        BigUint::from_bytes_le(&bytes)
    };
    let mut bytes = (pack(a) * pack(b)).to_bytes_le();
    bytes.resize(2 * n * SLOT, 0);
    let residue = |slot| u64::try_from(BigUint::from_bytes_le(slot) % q).unwrap();
    let mut product: Vec<u64> = bytes.chunks(SLOT).map(residue).collect();
    for k in (n..2 * n).rev() {
        for (exponent, coefficient) in tail {
            let term = i128::from(product[k]) * coefficient % i128::from(q);
            let target = &mut product[k - n + exponent];
            *target = (i128::from(*target) - term).rem_euclid(q.into()) as u64;
        }
    }
    product.truncate(n);
    product
}

/// Exponents and coefficients of `x^n + ...` below `x^n`, as a file spells them.
fn lower_terms(f: &str, n: usize) -> Vec<(usize, i128)> {
    let mut tokens = f.split(' ');
    assert_eq!(tokens.next().unwrap(), if n == 1 { "x".into() } else { format!("x^{n}") });
    let tokens: Vec<&str> = tokens.collect();
    let term = |pair: &[&str]| {
        let (coefficient, exponent) = match pair[1].split_once('x') {
            None => (pair[1], 0),
            Some((coefficient, "")) => (coefficient, 1),
            Some((coefficient, power)) => (coefficient, power.strip_prefix('^').unwrap().parse().unwrap()),
        };
        let size: i128 = if coefficient.is_empty() { 1 } else { coefficient.parse().unwrap() };
        (exponent, if pair[0] == "-" { -size } else { size })
    };
    tokens.chunks(2).map(term).collect()
}

/// Constants from Python, for example
/// `hashlib.shake_256(b"karat ring vectors v1\nn = 256\nq = 3329\nf = x^256 + 1\nkarat kats").digest(4096)`:
/// two bytes a coefficient, little-endian, low 12 bits, values from 3329 on dropped.
#[test]
fn derivation() {
    let records = |ring: &str| -> Vec<_> {
        let ring: RingSpec = ring.parse().unwrap();
        Operands::new(&ring, 2, list::SEED).unwrap().collect()
    };
    let kem = records("ml-kem");
    assert_eq!(kem.len(), 6);
    assert_eq!(kem[0].0[..8], [1858, 864, 636, 1019, 1033, 2580, 2121, 1102]);
    assert_eq!(kem[0].1[252..], [2356, 2252, 2374, 2028]);
    assert_eq!(kem[5].1[..12], [3328, 3328, 0, 0, 3328, 3328, 0, 3328, 1, 1, 0, 3328]);
    let wide = records("q=4611686018427387903,f=x^128+1");
    assert_eq!(wide[0].0[..3], [1476906029669374152, 2869340344110174141, 4600394222864538]);
}

/// Validates a folder on every backend that is there; gives the reports of each.
fn run(folder: PathBuf, accept: impl Fn(&[FileReport])) {
    for (name, backend) in AnyBackend::all() {
        match backend {
            Err(reason) => eprintln!("{name} skipped: {reason}"),
            Ok(backend) => {
                let mut runner = Runner::new(backend);
                let paths = files(std::slice::from_ref(&folder));
                let check = |path: &PathBuf| runner.check_file(path, &mut |_| ());
                let reports: Vec<FileReport> = paths.iter().map(check).collect();
                for report in &reports {
                    assert!(report.is_ok(), "{name}: {report:?}");
                }
                accept(&reports);
            }
        }
    }
}

#[test]
fn every_backend_agrees() {
    let expected: u64 = list::all().iter().map(|(_, _, count)| count + 4).sum();
    run(folder(), |reports| {
        assert_eq!(reports.iter().map(|report| report.passed).sum::<u64>(), expected);
        assert_eq!(reports.iter().filter(|report| report.format.is_some()).count(), list::all().len());
    });
}

/// Further vectors, where there are some: `ring/*.rsp` below the folder that `KARAT_VECTORS` names.
#[test]
fn vectors_from_elsewhere() {
    let Some(folder) = env::var_os("KARAT_VECTORS") else {
        eprintln!("skipped: KARAT_VECTORS is not set");
        return;
    };
    run(Path::new(&folder).join("ring"), |reports| {
        assert!(!reports.is_empty());
        assert!(reports.iter().all(|report| report.passed > 0 && report.skipped() == 0));
        eprintln!("{} files, {} records", reports.len(), reports.iter().map(|report| report.passed).sum::<u64>());
    });
}
