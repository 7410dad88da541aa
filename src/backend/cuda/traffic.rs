//! Bytes that a product moves, counted from what its kernels load and store.

use super::device::Device;
use super::params::FLAG_LIFT;
use super::plan::Plan;
use super::variant::Variant;
use crate::arith::Word;

/// What one product of a batch moves, factors of transforms left out: those stay in caches.
///
/// ```
/// use karat::backend::{RingMul, cuda::Cuda};
/// use karat::ring::presets::MlKem;
/// let Ok(gpu) = Cuda::new(0) else { return Ok(()) };
/// let plan = RingMul::<MlKem>::plan(&gpu, &MlKem)?;
/// if let Some(traffic) = plan.traffic::<u16>(1 << 20) {
///     assert!(traffic.read + traffic.written >= 3 * 512);
/// }
/// # Ok::<(), karat::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Launches, where the batch fits one part.
    pub launches: usize,
    /// Bytes that kernels load from the device's memory.
    pub read: usize,
    /// Bytes that they store there.
    pub written: usize,
    /// Bytes that blocks store in each other's shared memory, or their own share of it.
    pub exchanged: usize,
}

impl<D: Device> Plan<D> {
    /// What a product of this batch moves, for coefficients in words of type `W`; nothing for pass-by-pass products and
    /// lifts in halves, which are no choice where another way fits.
    pub fn traffic<W: Word>(&self, batch: usize) -> Option<Traffic> {
        let (word, lane) = (size_of::<W>(), self.word_bytes);
        let operand = self.n * word;
        let whole = |times: usize| Traffic { launches: 1, read: 2 * times * operand, written: operand, exchanged: 0 };
        let warp = self.warp.as_ref().filter(|warp| warp.ring.store_bits() == W::WIDTH);
        if self.variant == Variant::Automatic && warp.is_some() {
            return Some(whole(1));
        }
        if let Some(traffic) = self.long.traffic::<W>(batch, self.n) {
            return Some(traffic);
        }
        if self.variant == Variant::Patent {
            let (parts, points) = self.patent().ok()?.shape();
            let pairs = parts * (parts - 1) / 2;
            let row = points * lane;
            return Some(Traffic {
                launches: if pairs > 0 { 10 } else { 8 },
                // Split; transforms, products, cross terms, wraps and sums, inverse; interleave.
                read: 2 * operand + (2 + 2 + 1 + 1 + 1 + 1) * parts * row + 7 * pairs * row - row,
                written: 8 * parts * row + pairs * row - row + operand,
                exchanged: 0,
            });
        }
        if self.block_holds(self.product_regions()) {
            // Each prime reads the coefficients again.
            return Some(whole(self.primes()));
        }
        let lanes = self.lanes * lane;
        (self.halves.is_some() && self.launch.flags & FLAG_LIFT == 0).then_some(Traffic {
            launches: 4,
            read: 2 * operand + 2 * lanes + lanes,
            written: 2 * lanes + lanes + operand,
            exchanged: 0,
        })
    }
}
