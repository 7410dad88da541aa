//! What AddressSanitizer and UBSan must find: `KARAT_EMULATION=asan cargo test`.
//!
//! They end the process, so that each fault runs in one of its own: this executable again, asked for one test.
#![cfg(emulation_asan)]

mod common;

use std::process::Command;

use common::faulty::run;
use karat_emulation::Order;

/// Names the fault to the started process.
const FAULT: &str = "KARAT_PLANTED_FAULT";

const FAULTS: [(&str, &str); 2] = [("write_out_of_range", "AddressSanitizer"), ("shift_too_far", "shift exponent")];

#[test]
fn faults_end_the_process() {
    for (fault, words) in FAULTS {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "the_fault_that_is_named", "--nocapture"])
            .env(FAULT, fault)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(words), "{fault}: {text}");
    }
}

/// Without a name, the kernels as they are.
#[test]
fn the_fault_that_is_named() {
    let named = std::env::var(FAULT).ok();
    let fault = FAULTS.iter().map(|(fault, _)| *fault).find(|fault| Some(*fault) == named.as_deref());
    for program in ["product_u16", "warp_u32_256_3329_1_5"].into_iter().take(if fault.is_some() { 1 } else { 2 }) {
        let (result, expected) = run(program, fault, Order::Ascending);
        assert_eq!(result.unwrap(), expected);
    }
}
