#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| karat_fuzz::json_vectors::acvp(data));
