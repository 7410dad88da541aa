//! What the fuzz targets share: rings, operands and comparisons made from a fuzzer's bytes, and one module per target.
//!
//! A target is a function of bytes that panics where karat is wrong, so that libFuzzer, `cargo test` and a debugger
//! run the same code. Inputs are structured: bytes choose a ring and operands through [`arbitrary`], and almost every
//! input does real work.

pub mod arrays;
pub mod ckks_files;
pub mod ckks_ops;
pub mod compare;
pub mod description;
#[cfg(feature = "emulation")]
pub mod emulated_kernels;
pub mod fields;
pub mod json_vectors;
#[cfg(feature = "cuda")]
pub mod kernel_cache;
pub mod kntt_steps;
pub mod mldsa;
pub mod mlkem;
pub mod ntt_roundtrip;
pub mod operands;
pub mod peers;
pub mod reduce;
pub mod ring_diff;
pub mod rings;
pub mod rns_convert;
pub mod rsp;
#[cfg(test)]
mod seeds;
pub mod vector_files;

// Readers of the program `karat`, which the library does not have.
#[allow(dead_code)]
#[path = "../../src/bin/karat/failure.rs"]
mod failure;
#[path = "../../src/bin/karat/npy.rs"]
#[allow(dead_code)]
mod npy;
#[allow(dead_code)]
#[path = "../../src/bin/karat/poly.rs"]
mod poly;
#[allow(dead_code)]
#[path = "../../src/bin/karat/text.rs"]
mod text;

/// A target: a name, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// Every target, by the name that `cargo fuzz run` knows.
pub const TARGETS: &[Target] = &[
    ("acvp", json_vectors::acvp),
    ("ckks_files", ckks_files::run),
    ("ckks_ops", ckks_ops::run),
    ("decaps_any", mlkem::decaps_any),
    ("description", description::run),
    #[cfg(feature = "emulation")]
    ("emulated_kernels", emulated_kernels::run),
    #[cfg(feature = "cuda")]
    ("kernel_cache", kernel_cache::run),
    ("kntt_steps", kntt_steps::run),
    ("mldsa", mldsa::run),
    ("mlkem", mlkem::run),
    ("npy", arrays::run),
    ("ntt_roundtrip", ntt_roundtrip::run),
    ("reduce", reduce::run),
    ("ring_diff", ring_diff::run),
    ("rns_convert", rns_convert::run),
    ("rsp", rsp::run),
    ("vector_files", vector_files::run),
    ("verify_any", mldsa::verify_any),
    ("wycheproof", json_vectors::wycheproof),
];
