#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| karat_fuzz::ckks_files::run(data));
