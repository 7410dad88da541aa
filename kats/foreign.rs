//! A program in another language under test: a plain Python ML-KEM, and its faults.

use std::process::Command as Process;
use std::time::Duration;

use karat::kat::scheme::{Command, Own};
use karat::kat::{FileReport, Runner, nist};
use karat::{AnyBackend, Cpu};

/// Checks two records of NIST's kind with the program.
fn check(scheme: &str, fault: &str, timeout: Duration) -> Option<FileReport> {
    if Process::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3");
        return None;
    }
    let backend = AnyBackend::Cpu(Cpu::new());
    let mut text = Vec::new();
    nist::write(&mut Own::new(&backend).unwrap(), scheme, &nist::ENTROPY, 2, &mut text).unwrap();
    let program = concat!("python3 ", env!("CARGO_MANIFEST_DIR"), "/kats/foreign/ml_kem.py ");
    let command = Command::new(&(program.to_string() + fault), timeout);
    let mut runner = Runner::new(backend).with_implementation(command);
    Some(runner.check_reader(format!("{scheme}.rsp"), &text[..], &mut |_| ()))
}

const PATIENT: Duration = Duration::from_secs(300);

#[test]
fn another_implementation_passes() {
    for scheme in ["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"] {
        let Some(report) = check(scheme, "", PATIENT) else { return };
        assert_eq!((report.passed, report.failed, report.skipped()), (2, 0, 0), "{:?}", report.wrong);
    }
}

#[test]
fn faults_are_told() {
    for (fault, timeout, says) in [
        ("wrong", PATIENT, "`k` differs at byte 0"),
        ("hang", Duration::from_millis(300), "no answer within"),
        ("die", PATIENT, "ended without an answer: exit status: 3"),
        ("nonsense", PATIENT, "answered nonsense: no JSON: `as you like it`"),
    ] {
        let Some(report) = check("ML-KEM-512", fault, timeout) else { return };
        assert_eq!((report.passed, report.failed), (0, 2), "{fault}");
        let wrong = report.wrong.unwrap();
        assert!(wrong.starts_with("count = 0, ") && wrong.contains(says), "{wrong}");
    }
}
