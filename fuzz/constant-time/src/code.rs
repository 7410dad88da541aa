//! The machine code of this executable: no division and no branch on data where secrets are handled.

#[path = "../../../tests/machine_code/scan.rs"]
mod scan;

use std::process::ExitCode;

/// Where secrets are handled apart from the kernels, which divide lengths.
const SECRETS: [&str; 2] = ["karat::schemes::", "karat::ckks::sample::"];

/// Vector code, whose masks are made of secrets.
const VECTORS: [&str; 2] = ["karat::backend::cpu::", "karat::rns::cpu::"];

/// Functions there that divide public numbers: lengths, and how many polynomials a batch or a key has.
const PUBLIC: [&str; 4] = ["::batch::", "::split_polys", "::Expanded<P>::read", "::sample::uniform"];

/// Functions that loop over secrets and are compiled apart on every level: one name for each level's copies.
const LOOPS: [&str; 14] = [
    "mldsa::encode::write_secret::",
    "mldsa::encode::read_secret::",
    "mldsa::encode::write_t0::",
    "mldsa::encode::write_response::",
    "mldsa::encode::write_high::",
    "mldsa::encode::add_assign::",
    "mldsa::encode::sub_assign::",
    "mldsa::keygen::split::",
    "mldsa::round::all_below::",
    "mldsa::sample::read_mask::",
    "mldsa::sign::highs::",
    "mldsa::sign::low_bits_hold::",
    "mldsa::sign::differences::",
    "mlkem::pke::read_message::",
];

/// Looks at every function; the planted division and the planted branch must be found.
pub fn check() -> ExitCode {
    let Ok(executable) = std::env::current_exe() else { return ExitCode::from(2) };
    let Some(disassembly) = scan::disassemble(&executable) else {
        eprintln!("there is no objdump");
        return ExitCode::from(2);
    };
    let functions = scan::functions(&disassembly);
    let planted = |name: &str| functions.iter().find(|function| function.name.contains(name));
    let seen = planted("planted::division").is_some_and(|function| function.divides())
        && planted("planted::branch").is_some_and(|function| !function.branches_on_data().is_empty());
    println!("planted division and branch: {}", if seen { "found" } else { "NOT FOUND: this run shows nothing" });
    if !seen {
        return ExitCode::from(3);
    }
    let of_secrets = || functions.iter().filter(|function| SECRETS.iter().any(|part| function.name.contains(part)));
    let (mut dividing, mut wrong) = (0, Vec::new());
    for function in of_secrets().filter(|function| function.divides()) {
        dividing += 1;
        if !PUBLIC.iter().any(|public| function.name.contains(public)) {
            wrong.push(format!("{}: divides", function.name));
        }
    }
    for function in functions.iter().filter(|function| VECTORS.iter().any(|part| function.name.contains(part))) {
        if function.stores_under_masks() {
            wrong.push(format!("{}: stores under a mask", function.name));
        }
    }
    let mut loops = 0;
    for function in of_secrets().filter(|function| LOOPS.iter().any(|name| function.name.contains(name))) {
        loops += 1;
        wrong.extend(function.branches_on_data().into_iter().map(|line| format!("{}: {line}", function.name)));
    }
    println!("{} functions, {dividing} divide public numbers, {loops} loop over secrets", of_secrets().count());
    wrong.iter().for_each(|line| println!("{line}"));
    if wrong.is_empty() && loops > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
