//! The hash functions of the standards, over a list of byte strings. States are erased after use.

mod keccak;
mod lanes;
#[cfg(feature = "mldsa")]
mod prehash;

pub(super) use keccak::Lanes;
pub(super) use lanes::{Job, MAX_LANES, RATE128, RATE256, each_block};
#[cfg(feature = "mldsa")]
pub use prehash::PreHash;

use shake::digest::ExtendableOutputReset;
use shake::{Shake256, Update, XofReader};

/// SHAKE-256 of the concatenation.
pub(super) fn shake256(parts: &[&[u8]], out: &mut [u8]) {
    let mut state = Shake256::default();
    for part in parts {
        state.update(part);
    }
    // In place: `finalize_xof` would move the state and leave a copy that nothing erases.
    state.finalize_xof_reset().read(out);
}

/// SHA3-256 of the concatenation.
#[cfg(feature = "mlkem")]
pub(super) fn sha3_256(parts: &[&[u8]], out: &mut [u8; 32]) {
    fixed::<sha3::Sha3_256>(parts, out.into());
}

/// SHA3-512 of the concatenation.
#[cfg(feature = "mlkem")]
pub(super) fn sha3_512(parts: &[&[u8]], out: &mut [u8; 64]) {
    fixed::<sha3::Sha3_512>(parts, out.into());
}

#[cfg(feature = "mlkem")]
fn fixed<H: Default + sha3::digest::FixedOutputReset>(parts: &[&[u8]], out: &mut sha3::digest::Output<H>) {
    let mut state = H::default();
    for part in parts {
        state.update(part);
    }
    state.finalize_into_reset(out);
}
