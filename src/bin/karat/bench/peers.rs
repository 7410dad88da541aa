//! Other libraries that multiply in the same rings, for comparison: only in builds with the feature `bench-peers`.

#[cfg(feature = "bench-peers")]
mod fhe;

use karat::RingSpec;

use super::case::Op;
use crate::failure::Failure;

/// A library prepared for one ring.
pub trait Peer {
    /// Its name in rows.
    fn name(&self) -> &'static str;

    /// Runs the operation once, for one polynomial.
    fn run(&mut self, op: Op);

    /// Whether its product is right, which needs both transforms.
    fn is_right(&mut self) -> Result<bool, Failure>;
}

/// The peer for a ring, where this build has one.
pub fn peer_for(spec: &RingSpec) -> Option<Box<dyn Peer>> {
    #[cfg(feature = "bench-peers")]
    return fhe::FheMath::new(spec).map(|peer| Box::new(peer) as _);
    #[cfg(not(feature = "bench-peers"))]
    {
        let _ = spec;
        None
    }
}
