//! What the fuzz targets share: rings, operands and comparisons made from a fuzzer's bytes, and one module per target.
//!
//! A target is a function of bytes that panics where karat is wrong, so that libFuzzer, `cargo test` and a debugger
//! run the same code. Inputs are structured: bytes choose a ring and operands through [`arbitrary`], and almost every
//! input does real work.

pub mod ckks_files;
pub mod compare;
pub mod description;
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
pub mod vector_files;

/// A target: a name, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// Every target, by the name that `cargo fuzz run` knows.
pub const TARGETS: [Target; 11] = [
    ("ckks_files", ckks_files::run),
    ("description", description::run),
    ("kntt_steps", kntt_steps::run),
    ("mldsa", mldsa::run),
    ("mlkem", mlkem::run),
    ("ntt_roundtrip", ntt_roundtrip::run),
    ("reduce", reduce::run),
    ("ring_diff", ring_diff::run),
    ("rns_convert", rns_convert::run),
    ("rsp", rsp::run),
    ("vector_files", vector_files::run),
];
