//! Every target in one executable: `KARAT_FUZZ` names the one that runs. One link instead of one for each target.
#![no_main]

use std::sync::LazyLock;

static RUN: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("KARAT_FUZZ").unwrap_or_default();
    match karat_fuzz::TARGETS.iter().find(|(target, _)| *target == name) {
        Some((_, run)) => *run,
        None => panic!(
            "KARAT_FUZZ names a target: {:?}",
            karat_fuzz::TARGETS.iter().map(|(target, _)| target).collect::<Vec<_>>()
        ),
    }
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (*RUN)(data));
