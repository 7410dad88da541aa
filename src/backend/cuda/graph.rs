//! Recorded operations, and streams that run beside each other.

use core::fmt;

use super::device::Device;
use super::{Driver, Gpu};
use crate::Error;

/// A sequence of operations that was recorded once and runs again with one call, on the stream that it was recorded on.
/// It keeps the memory that the operations use, also where a buffer is dropped; that memory is freed, and erased where
/// it was secret, after the graph.
///
/// Any operation on polynomials can be recorded; copies from and to the host, and waiting, cannot.
///
/// ```
/// use karat::backend::cuda::{Cuda, Graph};
/// use karat::{RingContext, ring::presets::MlKem};
/// let Ok(gpu) = Cuda::new(0) else { return Ok(()) };
/// let ring = RingContext::new(gpu.clone(), MlKem)?;
/// let (a, mut out) = (ring.upload(&[1; 256])?, ring.zeros(1)?);
/// let graph = Graph::record(&gpu, |_| ring.mul_into(&a, &a, &mut out))?;
/// graph.replay()?;
/// assert_eq!(out.download()?, ring.mul(&a, &a)?.download()?);
/// # Ok::<(), karat::Error>(())
/// ```
pub struct Graph<D: Device> {
    gpu: Gpu<D>,
    graph: D::Graph,
}

impl<D: Device> Graph<D> {
    /// Records what `work` starts on this handle and on forks of it that are joined again. Nothing of it runs.
    ///
    /// # Errors
    /// What `work` gives, or `Device` where something cannot be recorded.
    pub fn record<E: From<Error>>(gpu: &Gpu<D>, work: impl FnOnce(&Gpu<D>) -> Result<(), E>) -> Result<Self, E> {
        gpu.device.start_recording()?;
        let worked = work(gpu);
        // A recording ends in any case: the stream must be usable again.
        let graph = gpu.device.end_recording();
        worked?;
        Ok(Self { gpu: gpu.clone(), graph: graph? })
    }

    /// Starts the operations again, after all that was started on the handle before.
    ///
    /// # Errors
    /// What the device reports.
    pub fn replay(&self) -> crate::Result<()> {
        self.gpu.device.replay(&self.graph)
    }
}

impl Graph<Driver> {
    /// Nanoseconds that the GPU takes for the operations: the median of so many replays, after a few that warm up.
    ///
    /// # Errors
    /// What the device reports.
    ///
    /// ```
    /// use karat::backend::cuda::{Cuda, Graph};
    /// use karat::{Error, RingContext, ring::presets::MlKem};
    /// let Ok(gpu) = Cuda::new(0) else { return Ok(()) };
    /// let ring = RingContext::new(gpu.clone(), MlKem)?;
    /// let (a, mut out) = (ring.upload(&[1; 256])?, ring.zeros(1)?);
    /// let graph = Graph::record(&gpu, |_| ring.mul_into(&a, &a, &mut out))?;
    /// assert!(graph.median_ns(5)? > 0.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn median_ns(&self, samples: usize) -> crate::Result<f64> {
        const WARM_UP: usize = 3;
        (0..WARM_UP).try_for_each(|_| self.replay())?;
        let mut times = Vec::with_capacity(samples.max(1));
        for _ in 0..samples.max(1) {
            let start = self.gpu.device.record()?;
            self.replay()?;
            times.push(self.gpu.device.record()?.since_ns(&start)?);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }
}

impl<D: Device> fmt::Debug for Graph<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Graph")
    }
}

impl<D: Device> Gpu<D> {
    /// A stream beside this one, which uses the same buffers and plans. What is started there runs after all that was
    /// started here before, and beside what is started here later.
    ///
    /// Between a write on one stream and a read on the other stands a fork or a [`Gpu::join`]; without one it is not
    /// said which comes first. Dropping a buffer waits for all streams that use it.
    ///
    /// # Errors
    /// What the device reports.
    ///
    /// ```
    /// use karat::{Backend, backend::cuda::Cuda};
    /// let Ok(gpu) = Cuda::new(0) else { return Ok(()) };
    /// let beside = gpu.fork()?;
    /// gpu.join(&beside)?;
    /// gpu.synchronize()?;
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn fork(&self) -> crate::Result<Self> {
        Ok(Self { device: self.device.fork()?, ..self.clone() })
    }

    /// What is started here from now on runs after all that was started on `beside` before.
    ///
    /// # Errors
    /// `Foreign` where neither was forked from the other or from a common one.
    pub fn join(&self, beside: &Self) -> crate::Result<()> {
        self.device.follow(&beside.device)
    }
}
