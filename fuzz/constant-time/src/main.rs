//! Constant time, watched by valgrind: `.ci/constant-time` builds and runs this at several levels of optimisation.
//!
//! Secrets are marked undefined, so that memcheck reports every branch and every address that depends on one of
//! them. Planted leaks come first: where they are not reported, nothing else counts. Divisions have no branch and no
//! address; with the argument `code` this looks for them in its own machine code.

mod ckks;
mod code;
mod dsa;
mod kem;
mod planted;
mod rings;

use std::process::ExitCode;

use karat::{AnyBackend, Cpu, memcheck};

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|argument| argument == "code") {
        return code::check();
    }
    if !memcheck::is_watching() {
        eprintln!("run me under valgrind: .ci/constant-time does");
        return ExitCode::from(2);
    }
    if !planted::are_reported() {
        return ExitCode::from(3);
    }
    let mut leaks = 0;
    let mut line = |name: &str, what: &str, found: u64| {
        println!("{name:10} {what:40} {found} leaks");
        leaks += found;
    };
    for spec in rings::all() {
        for (name, backend) in AnyBackend::all() {
            if let Some(found) = backend.ok().and_then(|backend| rings::leaks(backend, &spec)) {
                line(name, &spec.to_string(), found);
            }
        }
    }
    let schemes: [(&str, fn(Cpu) -> u64); 3] = [("ML-KEM", kem::leaks), ("ML-DSA", dsa::leaks), ("CKKS", ckks::leaks)];
    for (name, backend) in AnyBackend::all() {
        if let Ok(AnyBackend::Cpu(cpu)) = backend {
            schemes.iter().for_each(|(what, of)| line(name, what, of(cpu)));
        }
    }
    println!("what became public, and how often:");
    let mut unseen = 0;
    for leak in memcheck::LEAKS {
        let times = memcheck::times_shown(leak);
        println!("{times:>10} {leak:?}");
        unseen += u64::from(times == 0);
    }
    println!("{leaks} leaks");
    // A place that no run passes is one that nobody has watched.
    if leaks > 0 || unseen > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
