//! A backend chosen at run time.

#[cfg(feature = "cuda")]
use super::cuda::{self, Cuda};
use super::{Backend, Cpu, Erase, HostBuffer, Matrix, Reference, ReferencePlan, RingMul, cpu};
use crate::arith::Word;
use crate::ring::Ring;
use crate::{Error, Result};

/// Any of the backends, chosen by name or by `KARAT_BACKEND`.
///
/// ```
/// use karat::{AnyBackend, Backend};
/// assert_eq!(AnyBackend::from_name("scalar")?.name(), "scalar");
/// assert!(AnyBackend::from_name("abacus").is_err());
/// # Ok::<(), karat::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AnyBackend {
    /// The schoolbook oracle.
    Reference(Reference),
    /// The CPU, at one of its levels.
    Cpu(Cpu),
    /// An NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(Cuda),
    /// All NVIDIA GPUs of this machine.
    #[cfg(feature = "cuda")]
    CudaAll(cuda::Gpus<cuda::Driver>),
}

/// A buffer of [`AnyBackend`].
#[derive(Debug)]
#[non_exhaustive]
pub enum AnyBuffer<W> {
    /// Host memory.
    Host(HostBuffer<W>),
    /// A GPU's memory.
    #[cfg(feature = "cuda")]
    Cuda(cuda::DeviceBuffer<cuda::Driver, W>),
    /// The memory of several GPUs.
    #[cfg(feature = "cuda")]
    CudaAll(cuda::GpusBuffer<cuda::Driver, W>),
}

/// A plan of [`AnyBackend`].
#[derive(Debug)]
#[non_exhaustive]
pub enum AnyPlan {
    /// For the schoolbook oracle.
    Reference(ReferencePlan),
    /// For the CPU.
    Cpu(cpu::Plan),
    /// For an NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(alloc::boxed::Box<cuda::Plan<cuda::Driver>>),
    /// For several NVIDIA GPUs.
    #[cfg(feature = "cuda")]
    CudaAll(alloc::vec::Vec<cuda::Plan<cuda::Driver>>),
}

/// Calls one method on the backend, plan and buffers that belong together; those of another backend are an error.
macro_rules! dispatch {
    ($self:ident, $plan:ident, [$($buffer:ident),*], |$b:ident, $p:ident| $call:expr) => {
        match ($self, $plan, $($buffer),*) {
            (AnyBackend::Reference($b), AnyPlan::Reference($p), $(AnyBuffer::Host($buffer)),*) => $call,
            (AnyBackend::Cpu($b), AnyPlan::Cpu($p), $(AnyBuffer::Host($buffer)),*) => $call,
            #[cfg(feature = "cuda")]
            (AnyBackend::Cuda($b), AnyPlan::Cuda($p), $(AnyBuffer::Cuda($buffer)),*) => $call,
            #[cfg(feature = "cuda")]
            (AnyBackend::CudaAll($b), AnyPlan::CudaAll($p), $(AnyBuffer::CudaAll($buffer)),*) => $call,
            #[allow(unreachable_patterns)]
            _ => Err(Error::Foreign("backends")),
        }
    };
}

/// Calls one method on the backend and the buffer that belong together.
macro_rules! copy {
    ($self:ident, $buffer:ident, |$b:ident| $call:expr) => {
        match ($self, $buffer) {
            (AnyBackend::Reference($b), AnyBuffer::Host($buffer)) => $call,
            (AnyBackend::Cpu($b), AnyBuffer::Host($buffer)) => $call,
            #[cfg(feature = "cuda")]
            (AnyBackend::Cuda($b), AnyBuffer::Cuda($buffer)) => $call,
            #[cfg(feature = "cuda")]
            (AnyBackend::CudaAll($b), AnyBuffer::CudaAll($buffer)) => $call,
            #[cfg(feature = "cuda")]
            _ => Err(Error::Foreign("backends")),
        }
    };
}

impl Backend for AnyBackend {
    fn name(&self) -> &'static str {
        match self {
            Self::Reference(b) => b.name(),
            Self::Cpu(b) => b.name(),
            #[cfg(feature = "cuda")]
            Self::Cuda(b) => b.name(),
            #[cfg(feature = "cuda")]
            Self::CudaAll(_) => "cuda:all",
        }
    }

    type Buffer<W: Word> = AnyBuffer<W>;

    fn alloc<W: Word>(&self, len: usize, erase: Erase) -> Result<AnyBuffer<W>> {
        match self {
            Self::Reference(b) => b.alloc(len, erase).map(AnyBuffer::Host),
            Self::Cpu(b) => b.alloc(len, erase).map(AnyBuffer::Host),
            #[cfg(feature = "cuda")]
            Self::Cuda(b) => b.alloc(len, erase).map(AnyBuffer::Cuda),
            #[cfg(feature = "cuda")]
            Self::CudaAll(b) => b.alloc(len, erase).map(AnyBuffer::CudaAll),
        }
    }

    fn upload<W: Word>(&self, source: &[W], target: &mut AnyBuffer<W>) -> Result<()> {
        copy!(self, target, |b| b.upload(source, target))
    }

    fn download<W: Word>(&self, source: &AnyBuffer<W>, target: &mut [W]) -> Result<()> {
        copy!(self, source, |b| b.download(source, target))
    }

    fn synchronize(&self) -> Result<()> {
        match self {
            Self::Reference(b) => b.synchronize(),
            Self::Cpu(b) => b.synchronize(),
            #[cfg(feature = "cuda")]
            Self::Cuda(b) => b.synchronize(),
            #[cfg(feature = "cuda")]
            Self::CudaAll(b) => b.synchronize(),
        }
    }
}

impl<R: Ring> RingMul<R> for AnyBackend {
    type Plan = AnyPlan;

    fn plan(&self, ring: &R) -> Result<AnyPlan> {
        match self {
            Self::Reference(b) => b.plan(ring).map(AnyPlan::Reference),
            Self::Cpu(b) => b.plan(ring).map(AnyPlan::Cpu),
            #[cfg(feature = "cuda")]
            Self::Cuda(b) => b.plan(ring).map(|plan| AnyPlan::Cuda(alloc::boxed::Box::new(plan))),
            #[cfg(feature = "cuda")]
            Self::CudaAll(b) => b.plan(ring).map(AnyPlan::CudaAll),
        }
    }

    fn ntt_words(&self, plan: &AnyPlan) -> usize {
        match plan {
            AnyPlan::Reference(p) => RingMul::<R>::ntt_words(&Reference, p),
            AnyPlan::Cpu(p) => p.ntt_words(),
            #[cfg(feature = "cuda")]
            AnyPlan::Cuda(p) => p.ntt_words(),
            #[cfg(feature = "cuda")]
            AnyPlan::CudaAll(p) => p.first().map_or(0, cuda::Plan::ntt_words),
        }
    }

    fn prepared_words(&self, plan: &AnyPlan) -> usize {
        match plan {
            AnyPlan::Reference(p) => RingMul::<R>::prepared_words(&Reference, p),
            AnyPlan::Cpu(p) => p.prepared_words(),
            #[cfg(feature = "cuda")]
            AnyPlan::Cuda(p) => p.prepared_words(),
            #[cfg(feature = "cuda")]
            AnyPlan::CudaAll(p) => p.first().map_or(0, cuda::Plan::prepared_words),
        }
    }

    fn max_terms(&self, plan: &AnyPlan) -> u64 {
        match plan {
            AnyPlan::Reference(p) => RingMul::<R>::max_terms(&Reference, p),
            AnyPlan::Cpu(p) => p.max_terms(),
            #[cfg(feature = "cuda")]
            AnyPlan::Cuda(p) => p.max_terms(),
            #[cfg(feature = "cuda")]
            AnyPlan::CudaAll(p) => p.first().map_or(0, cuda::Plan::max_terms),
        }
    }

    fn ntt(
        &self,
        plan: &AnyPlan,
        batch: usize,
        coefficients: &AnyBuffer<R::Word>,
        ntt: &mut AnyBuffer<u64>,
    ) -> Result<()> {
        dispatch!(self, plan, [coefficients, ntt], |b, p| RingMul::<R>::ntt(b, p, batch, coefficients, ntt))
    }

    fn intt(
        &self,
        plan: &AnyPlan,
        batch: usize,
        ntt: &AnyBuffer<u64>,
        coefficients: &mut AnyBuffer<R::Word>,
    ) -> Result<()> {
        dispatch!(self, plan, [coefficients, ntt], |b, p| RingMul::<R>::intt(b, p, batch, ntt, coefficients))
    }

    fn mat_vec(
        &self,
        plan: &AnyPlan,
        shape: Matrix,
        matrix: &AnyBuffer<u64>,
        vector: &AnyBuffer<u64>,
        out: &mut AnyBuffer<u64>,
    ) -> Result<()> {
        dispatch!(self, plan, [matrix, vector, out], |b, p| RingMul::<R>::mat_vec(b, p, shape, matrix, vector, out))
    }

    fn prepare(&self, plan: &AnyPlan, batch: usize, ntt: &AnyBuffer<u64>, prepared: &mut AnyBuffer<u64>) -> Result<()> {
        dispatch!(self, plan, [ntt, prepared], |b, p| RingMul::<R>::prepare(b, p, batch, ntt, prepared))
    }

    fn pointwise_prepared(
        &self,
        plan: &AnyPlan,
        batch: usize,
        shared: bool,
        a: &AnyBuffer<u64>,
        prepared: &AnyBuffer<u64>,
        out: &mut AnyBuffer<u64>,
    ) -> Result<()> {
        dispatch!(self, plan, [a, prepared, out], |b, p| RingMul::<R>::pointwise_prepared(
            b, p, batch, shared, a, prepared, out
        ))
    }

    fn mul(
        &self,
        plan: &AnyPlan,
        batch: usize,
        a: &AnyBuffer<R::Word>,
        b: &AnyBuffer<R::Word>,
        out: &mut AnyBuffer<R::Word>,
    ) -> Result<()> {
        dispatch!(self, plan, [a, b, out], |backend, p| RingMul::<R>::mul(backend, p, batch, a, b, out))
    }

    fn export_ntt(
        &self,
        plan: &AnyPlan,
        batch: usize,
        ntt: &AnyBuffer<u64>,
        residues: &mut AnyBuffer<R::Word>,
    ) -> Result<()> {
        dispatch!(self, plan, [ntt, residues], |b, p| RingMul::<R>::export_ntt(b, p, batch, ntt, residues))
    }

    fn import_ntt(
        &self,
        plan: &AnyPlan,
        batch: usize,
        residues: &AnyBuffer<R::Word>,
        ntt: &mut AnyBuffer<u64>,
    ) -> Result<()> {
        dispatch!(self, plan, [residues, ntt], |b, p| RingMul::<R>::import_ntt(b, p, batch, residues, ntt))
    }
}
