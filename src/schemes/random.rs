//! Seeds from random-number generators.

use rand_core::TryCryptoRng;

use super::{Error, Result, Wiped};

/// Random bytes that are erased after use.
pub(super) fn draw<const LEN: usize>(rng: &mut (impl TryCryptoRng + ?Sized)) -> Result<Wiped<[u8; LEN]>> {
    let mut out = Wiped::new([0; LEN]);
    rng.try_fill_bytes(&mut out[..]).map_err(|_| Error::NoRandomness)?;
    Ok(out)
}
