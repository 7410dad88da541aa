//! The hash functions of the standards, over a list of byte strings. States are erased after use.

mod keccak;
mod lanes;
#[cfg(feature = "mldsa")]
mod prehash;

pub(super) use keccak::Lanes;
pub(super) use lanes::{Job, MAX_LANES, RATE128, RATE256, each_block};
#[cfg(feature = "mldsa")]
pub use prehash::PreHash;

/// SHAKE-256 of the concatenation.
pub(super) fn shake256(parts: &[&[u8]], out: &mut [u8]) {
    Job::shake256(parts).read(out);
}

/// SHA3-256 of the concatenation.
#[cfg(feature = "mlkem")]
pub(super) fn sha3_256(parts: &[&[u8]], out: &mut [u8; 32]) {
    Job::sha3_256(parts).read(out);
}

/// SHA3-512 of the concatenation.
#[cfg(feature = "mlkem")]
pub(super) fn sha3_512(parts: &[&[u8]], out: &mut [u8; 64]) {
    Job::sha3_512(parts).read(out);
}
