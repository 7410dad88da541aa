//! A program in another language under test: a plain Python ML-KEM, and its faults.

use std::process::Command as Process;
use std::time::Duration;

use karat::kat::scheme::{Answer, Case, Command, Expected, Implementation, Own};
use karat::kat::{FileReport, Runner, nist};
use karat::{AnyBackend, Cpu};

/// The program, with a fault.
fn program(fault: &str, timeout: Duration) -> Option<Command> {
    if Process::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3");
        return None;
    }
    let program = concat!("python3 ", env!("CARGO_MANIFEST_DIR"), "/kats/foreign/ml_kem.py ");
    Some(Command::new(&(program.to_string() + fault), timeout))
}

/// Checks two records of NIST's kind with the program.
fn check(scheme: &str, fault: &str, timeout: Duration) -> Option<FileReport> {
    let command = program(fault, timeout)?;
    let backend = AnyBackend::Cpu(Cpu::new());
    let mut text = Vec::new();
    nist::write(&mut Own::new(&backend).unwrap(), scheme, &nist::ENTROPY, 2, &mut text).unwrap();
    let mut runner = Runner::new(backend).with_implementation(command);
    Some(runner.check_reader(format!("{scheme}.rsp"), &text[..], &mut |_| ()))
}

const PATIENT: Duration = Duration::from_secs(300);
const SHORT: Duration = Duration::from_millis(300);

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
        ("hang", SHORT, "no answer within 300ms"),
        ("die", PATIENT, "ended without an answer: exit status: 3"),
        ("nonsense", PATIENT, "answered nonsense: no JSON: `as you like it`"),
    ] {
        let Some(report) = check("ML-KEM-512", fault, timeout) else { return };
        assert_eq!((report.passed, report.failed), (0, 2), "{fault}");
        let wrong = report.wrong.unwrap();
        assert!(wrong.starts_with("count = 0, ") && wrong.contains(says), "{wrong}");
    }
}

/// What `karat kat` says of a request that is larger than a pipe holds.
fn large_request(fault: &str, timeout: Duration) -> Option<String> {
    let mut program = program(fault, timeout)?;
    let inputs = vec![("message", vec![7; 1 << 20])];
    let case = Case { scheme: "ML-DSA-44".into(), op: "sign".into(), inputs, expected: Expected::Refusal };
    match program.answer(&[&case]).remove(0) {
        Answer::Failure(why) => Some(why),
        other => panic!("{other:?}"),
    }
}

/// The timeout includes sending the request.
#[test]
fn a_program_that_does_not_read() {
    let Some(why) = large_request("deaf", SHORT) else { return };
    assert_eq!(why, "the program gave no answer within 300ms, nor did it read all of its request");
}

/// Nobody waits for a program that can answer no more.
#[test]
fn a_program_that_closes_its_output_and_runs_on() {
    let Some(why) = large_request("mute", PATIENT) else { return };
    assert_eq!(why, "the program ended without an answer: it closed its output, ran on and was stopped");
}
