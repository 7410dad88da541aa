#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| karat_fuzz::mlkem::decaps_any(data));
