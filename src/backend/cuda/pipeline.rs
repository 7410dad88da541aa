//! Products of operands that lie in pinned host memory: copies and kernels overlap, and any batch fits.

use super::buffer::DeviceBuffer;
use super::device::Device;
use super::pinned::PinnedBuffer;
use super::{Gpu, Plan};
use crate::Result;
use crate::arith::Word;
use crate::backend::{Backend, Erase, RingMul, expect_len};
use crate::ring::Ring;

/// Streams that take turns: one copies to the device, one multiplies, one copies back.
const LANES: usize = 3;

/// Bytes of a factor in one part.
const PART: usize = 16 << 20;

/// One stream with what it works on.
struct Lane<D: Device, W> {
    gpu: Gpu<D>,
    a: DeviceBuffer<D, W>,
    b: DeviceBuffer<D, W>,
    out: DeviceBuffer<D, W>,
}

impl<D: Device> Gpu<D> {
    /// `out[i] = a[i] · b[i]` for coefficients `[batch][N]` in pinned host memory, in parts that take turns on several
    /// streams. The batch may be larger than the device's memory. Device memory is erased. What is started on this handle
    /// afterwards runs after it; reading the result waits for it.
    ///
    /// # Errors
    /// `WrongLength`, or what the device reports.
    ///
    /// ```
    /// use karat::backend::{Erase, RingMul, cuda::Cuda};
    /// use karat::ring::presets::MlKem;
    /// let Ok(gpu) = Cuda::new(0) else { return Ok(()) };
    /// let plan = RingMul::<MlKem>::plan(&gpu, &MlKem)?;
    /// let mut a = gpu.pinned::<u16>(1000 * 256, Erase::No)?;
    /// a.words_mut()?.fill(1);
    /// let mut out = gpu.pinned::<u16>(1000 * 256, Erase::No)?;
    /// gpu.mul_pinned::<MlKem>(&plan, 1000, &a, &a, &mut out)?;
    /// assert_eq!(out.words()?[255], 256);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn mul_pinned<R: Ring>(
        &self,
        plan: &Plan<D>,
        batch: usize,
        a: &PinnedBuffer<D, R::Word>,
        b: &PinnedBuffer<D, R::Word>,
        out: &mut PinnedBuffer<D, R::Word>,
    ) -> Result<()> {
        let n = plan.n;
        let words = batch.saturating_mul(n);
        expect_len("the first factor", a.len(), words)?;
        expect_len("the second factor", b.len(), words)?;
        expect_len("the result", out.len(), words)?;
        let part = (PART / (n * size_of::<R::Word>())).clamp(1, batch.max(1));
        let lanes =
            (0..LANES.min(batch.div_ceil(part))).map(|_| self.lane::<R::Word>(part * n)).collect::<Result<Vec<_>>>();
        let mut lanes = lanes?;
        for (i, first) in (0..batch).step_by(part).enumerate() {
            let count = part.min(batch - first);
            let turn = i % lanes.len();
            let Lane { gpu, a: da, b: db, out: dout } = &mut lanes[turn];
            gpu.start_upload(a, first * n, da, count * n)?;
            gpu.start_upload(b, first * n, db, count * n)?;
            RingMul::<R>::mul(gpu, plan, count, da, db, dout)?;
            gpu.start_download(dout, out, first * n, count * n)?;
        }
        lanes.iter().try_for_each(|lane| self.join(&lane.gpu))
    }

    fn lane<W: Word>(&self, words: usize) -> Result<Lane<D, W>> {
        let gpu = self.fork()?;
        let buffer = || gpu.alloc::<W>(words, Erase::OnDrop);
        let (a, b, out) = (buffer()?, buffer()?, buffer()?);
        Ok(Lane { gpu, a, b, out })
    }
}
