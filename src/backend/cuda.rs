//! CUDA: the same rings on an NVIDIA GPU.
//!
//! Kernels (`kernels/*.cu`) are compiled at run time for the device at hand and kept in a cache. The driver and the
//! compiler (NVRTC) are loaded at run time too: a build with this backend runs anywhere, and says in words what is
//! missing. Everything above [`Device`] knows no driver, so that tests run the same kernels on a CPU.

mod all;
mod buffer;
mod cache;
mod cluster;
mod device;
mod driver;
mod graph;
mod jit;
mod large;
mod long;
pub(crate) mod ntt_variant;
mod ops;
mod params;
mod patent;
mod pinned;
mod pipeline;
mod plan;
mod probe;
pub(crate) mod rns;
mod source;
mod tables;
mod traffic;
mod tune;
mod tuning;
mod variant;
mod warp;

pub use all::{Gpus, GpusBuffer};
pub use buffer::DeviceBuffer;
pub use cache::{build_pack, pack_file, packed};
pub use cluster::ClusterShape;
pub use device::{Device, Grid, Limits, Memory, Pinned, Scratch, not_recordable};
pub use driver::{Driver, DriverGraph, DriverMemory, DriverModule, DriverPinned, Event};
pub use graph::Graph;
pub use jit::compile;
pub use ntt_variant::NttVariant;
pub use patent::{MAX_POINTS, Patent, Values};
pub use pinned::PinnedBuffer;
pub use plan::Plan;
pub use probe::{DeviceInfo, devices, nvrtc_version};
pub use source::{Family, Program, WordClass, programs};
pub use traffic::Traffic;
pub use tune::Measured;
pub use tuning::{NttShape, ProductChoice, Tuning, WarpTuning};
pub use variant::Variant;

use std::sync::Arc;

use super::{Backend, Erase, expect_len};
use crate::arith::Word;
use crate::{Error, Result};

/// A device as a backend: one stream of it. Clones share the stream; [`Gpu::fork`] gives another.
#[derive(Debug, Clone)]
pub struct Gpu<D> {
    device: D,
    variant: Variant,
    ntt: NttVariant,
    // Shared: handles are cloned.
    tuning: Arc<Tuning>,
}

/// An NVIDIA GPU.
pub type Cuda = Gpu<Driver>;

impl Cuda {
    /// The GPU of this number, with a stream of its own.
    ///
    /// # Errors
    /// `BackendUnavailable` where there is no driver, no compiler or no such device; `Parse` for a malformed
    /// `KARAT_CUDA_VARIANT`.
    ///
    /// ```
    /// use karat::{Backend, backend::cuda::Cuda};
    /// match Cuda::new(0) {
    ///     Ok(cuda) => assert_eq!(cuda.name(), "cuda"),
    ///     Err(error) => println!("{error}"),
    /// }
    /// ```
    pub fn new(ordinal: usize) -> Result<Self> {
        let gpu = Self::on(Driver::new(ordinal)?, Variant::from_env()?).with_ntt(NttVariant::from_env()?);
        Ok(match tune::stored(&gpu) {
            Some(tuning) => gpu.with_tuning(tuning),
            None => gpu,
        })
    }
}

impl<D: Device> Gpu<D> {
    /// A device as a backend.
    pub fn on(device: D, variant: Variant) -> Self {
        Self { device, variant, ntt: NttVariant::default(), tuning: Arc::default() }
    }

    /// The same stream with another way of computing whole products.
    pub fn with_variant(self, variant: Variant) -> Self {
        Self { variant, ..self }
    }

    /// The same stream with another way of computing RNS transforms.
    ///
    /// ```
    /// use karat::backend::cuda::{Cuda, NttVariant};
    /// let Ok(gpu) = Cuda::new(0) else { return Ok(()) };
    /// assert_eq!(gpu.with_ntt(NttVariant::parse("ntt:mixed")?).ntt().to_string(), "mixed");
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn with_ntt(self, ntt: NttVariant) -> Self {
        Self { ntt, ..self }
    }

    /// How RNS transforms are computed.
    pub fn ntt(&self) -> NttVariant {
        self.ntt
    }

    /// The same stream with other thresholds; for plans that are made from now on.
    pub fn with_tuning(self, tuning: Tuning) -> Self {
        Self { tuning: Arc::new(tuning), ..self }
    }

    /// The thresholds that plans are made with.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }
}

impl<D: Device> Backend for Gpu<D> {
    fn name(&self) -> &'static str {
        self.device.name()
    }

    type Buffer<W: Word> = DeviceBuffer<D, W>;

    fn alloc<W: Word>(&self, len: usize, erase: Erase) -> Result<DeviceBuffer<D, W>> {
        DeviceBuffer::new(&self.device, len, erase)
    }

    fn upload<W: Word>(&self, source: &[W], target: &mut DeviceBuffer<D, W>) -> Result<()> {
        expect_len("the buffer", target.len(), source.len())?;
        self.check(target)?;
        self.device.upload(bytemuck::cast_slice(source), target.memory_mut())
    }

    fn download<W: Word>(&self, source: &DeviceBuffer<D, W>, target: &mut [W]) -> Result<()> {
        expect_len("the buffer", source.len(), target.len())?;
        self.check(source)?;
        self.device.download(source.memory(), bytemuck::cast_slice_mut(target))
    }

    fn synchronize(&self) -> Result<()> {
        self.device.synchronize()
    }
}

impl<D: Device> Gpu<D> {
    fn check<W: Word>(&self, buffer: &DeviceBuffer<D, W>) -> Result<()> {
        if !self.device.owns(buffer.memory()) {
            return Err(Error::Foreign("streams"));
        }
        self.device.keep(buffer.memory());
        Ok(())
    }
}
