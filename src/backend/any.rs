//! A backend chosen at run time.

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
}

/// A buffer of [`AnyBackend`].
#[derive(Debug)]
#[non_exhaustive]
pub enum AnyBuffer<W> {
    /// Host memory.
    Host(HostBuffer<W>),
}

/// A plan of [`AnyBackend`].
#[derive(Debug)]
#[non_exhaustive]
pub enum AnyPlan {
    /// For the schoolbook oracle.
    Reference(ReferencePlan),
    /// For the CPU.
    Cpu(cpu::Plan),
}

/// Calls one method on the backend and plan that belong together; a plan of another backend is an error.
macro_rules! dispatch {
    ($self:ident, $plan:ident, |$b:ident, $p:ident| $call:expr) => {
        match ($self, $plan) {
            (AnyBackend::Reference($b), AnyPlan::Reference($p)) => $call,
            (AnyBackend::Cpu($b), AnyPlan::Cpu($p)) => $call,
            _ => Err(Error::Foreign("backends")),
        }
    };
}

impl Backend for AnyBackend {
    fn name(&self) -> &'static str {
        match self {
            Self::Reference(b) => b.name(),
            Self::Cpu(b) => b.name(),
        }
    }

    type Buffer<W: Word> = AnyBuffer<W>;

    fn alloc<W: Word>(&self, len: usize, erase: Erase) -> Result<AnyBuffer<W>> {
        match self {
            Self::Reference(b) => b.alloc(len, erase).map(AnyBuffer::Host),
            Self::Cpu(b) => b.alloc(len, erase).map(AnyBuffer::Host),
        }
    }

    fn upload<W: Word>(&self, source: &[W], target: &mut AnyBuffer<W>) -> Result<()> {
        let AnyBuffer::Host(target) = target;
        match self {
            Self::Reference(b) => b.upload(source, target),
            Self::Cpu(b) => b.upload(source, target),
        }
    }

    fn download<W: Word>(&self, source: &AnyBuffer<W>, target: &mut [W]) -> Result<()> {
        let AnyBuffer::Host(source) = source;
        match self {
            Self::Reference(b) => b.download(source, target),
            Self::Cpu(b) => b.download(source, target),
        }
    }

    fn synchronize(&self) -> Result<()> {
        match self {
            Self::Reference(b) => b.synchronize(),
            Self::Cpu(b) => b.synchronize(),
        }
    }
}

impl<R: Ring> RingMul<R> for AnyBackend {
    type Plan = AnyPlan;

    fn plan(&self, ring: &R) -> Result<AnyPlan> {
        match self {
            Self::Reference(b) => b.plan(ring).map(AnyPlan::Reference),
            Self::Cpu(b) => b.plan(ring).map(AnyPlan::Cpu),
        }
    }

    fn ntt_words(&self, plan: &AnyPlan) -> usize {
        match plan {
            AnyPlan::Reference(p) => RingMul::<R>::ntt_words(&Reference, p),
            AnyPlan::Cpu(p) => p.ntt_words(),
        }
    }

    fn prepared_words(&self, plan: &AnyPlan) -> usize {
        match plan {
            AnyPlan::Reference(p) => RingMul::<R>::prepared_words(&Reference, p),
            AnyPlan::Cpu(p) => p.prepared_words(),
        }
    }

    fn max_terms(&self, plan: &AnyPlan) -> u64 {
        match plan {
            AnyPlan::Reference(p) => RingMul::<R>::max_terms(&Reference, p),
            AnyPlan::Cpu(p) => p.max_terms(),
        }
    }

    fn ntt(
        &self,
        plan: &AnyPlan,
        batch: usize,
        coefficients: &AnyBuffer<R::Word>,
        ntt: &mut AnyBuffer<u64>,
    ) -> Result<()> {
        let (AnyBuffer::Host(coefficients), AnyBuffer::Host(ntt)) = (coefficients, ntt);
        dispatch!(self, plan, |b, p| RingMul::<R>::ntt(b, p, batch, coefficients, ntt))
    }

    fn intt(
        &self,
        plan: &AnyPlan,
        batch: usize,
        ntt: &AnyBuffer<u64>,
        coefficients: &mut AnyBuffer<R::Word>,
    ) -> Result<()> {
        let (AnyBuffer::Host(coefficients), AnyBuffer::Host(ntt)) = (coefficients, ntt);
        dispatch!(self, plan, |b, p| RingMul::<R>::intt(b, p, batch, ntt, coefficients))
    }

    fn mat_vec(
        &self,
        plan: &AnyPlan,
        shape: Matrix,
        matrix: &AnyBuffer<u64>,
        vector: &AnyBuffer<u64>,
        out: &mut AnyBuffer<u64>,
    ) -> Result<()> {
        let (AnyBuffer::Host(matrix), AnyBuffer::Host(vector), AnyBuffer::Host(out)) = (matrix, vector, out);
        dispatch!(self, plan, |b, p| RingMul::<R>::mat_vec(b, p, shape, matrix, vector, out))
    }

    fn prepare(&self, plan: &AnyPlan, batch: usize, ntt: &AnyBuffer<u64>, prepared: &mut AnyBuffer<u64>) -> Result<()> {
        let (AnyBuffer::Host(ntt), AnyBuffer::Host(prepared)) = (ntt, prepared);
        dispatch!(self, plan, |b, p| RingMul::<R>::prepare(b, p, batch, ntt, prepared))
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
        let (AnyBuffer::Host(a), AnyBuffer::Host(prepared), AnyBuffer::Host(out)) = (a, prepared, out);
        dispatch!(self, plan, |b, p| RingMul::<R>::pointwise_prepared(b, p, batch, shared, a, prepared, out))
    }

    fn mul(
        &self,
        plan: &AnyPlan,
        batch: usize,
        a: &AnyBuffer<R::Word>,
        b: &AnyBuffer<R::Word>,
        out: &mut AnyBuffer<R::Word>,
    ) -> Result<()> {
        let (AnyBuffer::Host(a), AnyBuffer::Host(b), AnyBuffer::Host(out)) = (a, b, out);
        dispatch!(self, plan, |backend, p| RingMul::<R>::mul(backend, p, batch, a, b, out))
    }

    fn export_ntt(
        &self,
        plan: &AnyPlan,
        batch: usize,
        ntt: &AnyBuffer<u64>,
        residues: &mut AnyBuffer<R::Word>,
    ) -> Result<()> {
        let (AnyBuffer::Host(ntt), AnyBuffer::Host(residues)) = (ntt, residues);
        dispatch!(self, plan, |b, p| RingMul::<R>::export_ntt(b, p, batch, ntt, residues))
    }

    fn import_ntt(
        &self,
        plan: &AnyPlan,
        batch: usize,
        residues: &AnyBuffer<R::Word>,
        ntt: &mut AnyBuffer<u64>,
    ) -> Result<()> {
        let (AnyBuffer::Host(residues), AnyBuffer::Host(ntt)) = (residues, ntt);
        dispatch!(self, plan, |b, p| RingMul::<R>::import_ntt(b, p, batch, residues, ntt))
    }
}
