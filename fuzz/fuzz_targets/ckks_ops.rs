#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| karat_fuzz::ckks_ops::run(data));
