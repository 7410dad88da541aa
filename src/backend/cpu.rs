//! The CPU backend: constant time in the coefficients, batches split over threads.
//!
//! A [`Plan`] binds everything that depends on the ring (method, word class, tables, kernels of the CPU's level), so
//! that nothing is chosen again inside an operation.

#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(crate) mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(crate) mod avx512;
mod checked;
mod direct;
mod kernels;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(crate) mod lanes;
mod level;
mod lift;
mod parallel;
mod plan;
mod scalar;
mod schedule;
pub(crate) mod scratch;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod vector;

pub use level::Level;
pub use plan::Plan;

use super::buffer::host_memory;
use super::{Backend, HostBuffer, Matrix, RingMul, expect_len};
use crate::ring::Ring;
use crate::{Error, Result};

/// The CPU, at one level of instruction sets.
///
/// ```
/// use karat::{Backend, Cpu};
/// assert_eq!(Cpu::scalar().name(), "scalar");
/// assert_eq!(format!("{:?}", Cpu::scalar().single_threaded()), "Cpu { level: Scalar, threads: false }");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    level: Level,
    threads: bool,
}

impl core::fmt::Debug for Cpu {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // Builds without the feature `parallel` have no threads, whatever is asked for.
        let threads = self.threads && cfg!(feature = "parallel");
        f.debug_struct("Cpu").field("level", &self.level).field("threads", &threads).finish()
    }
}

impl Cpu {
    /// The highest level that this CPU has.
    ///
    /// ```
    /// let cpu = karat::Cpu::new();
    /// assert!(cpu.level() >= karat::backend::cpu::Level::Scalar);
    /// ```
    pub fn new() -> Self {
        let best = [Level::Avx512, Level::Avx2].into_iter().find(|level| level.missing().is_empty());
        Self { level: best.unwrap_or(Level::Scalar), threads: true }
    }

    /// A given level.
    ///
    /// # Errors
    /// `BackendUnavailable`, with the features that are missing, where this CPU or build lacks it.
    ///
    /// ```
    /// use karat::{Cpu, backend::cpu::Level};
    /// assert_eq!(Cpu::with_level(Level::Scalar)?, Cpu::scalar());
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn with_level(level: Level) -> Result<Self> {
        let missing = level.missing();
        if missing.is_empty() {
            return Ok(Self { level, threads: true });
        }
        Err(Error::BackendUnavailable {
            name: level.name().into(),
            reason: alloc::format!("this CPU or build lacks {}", missing.join(", ")),
        })
    }

    /// Portable code on any CPU.
    pub const fn scalar() -> Self {
        Self { level: Level::Scalar, threads: true }
    }

    /// The same level, batches on the calling thread alone.
    ///
    /// ```
    /// let cpu = karat::Cpu::new().single_threaded();
    /// assert_eq!(cpu.level(), karat::Cpu::new().level());
    /// ```
    pub const fn single_threaded(self) -> Self {
        Self { threads: false, ..self }
    }

    /// The level.
    pub const fn level(&self) -> Level {
        self.level
    }
}

impl Default for Cpu {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        self.level.name()
    }

    host_memory!();
}

impl<R: Ring> RingMul<R> for Cpu {
    type Plan = Plan;

    fn plan(&self, ring: &R) -> Result<Plan> {
        Plan::new(self.level, ring.spec())
    }

    fn ntt_words(&self, plan: &Plan) -> usize {
        plan.ntt_words()
    }

    fn prepared_words(&self, plan: &Plan) -> usize {
        plan.prepared_words()
    }

    fn max_terms(&self, plan: &Plan) -> u64 {
        plan.max_terms()
    }

    fn ntt(
        &self,
        plan: &Plan,
        batch: usize,
        coefficients: &HostBuffer<R::Word>,
        ntt: &mut HostBuffer<u64>,
    ) -> Result<()> {
        let (n, words) = (plan.n(), plan.ntt_words());
        expect_len("the operand", coefficients.len(), batch * n)?;
        expect_len("the result", ntt.len(), batch * words)?;
        self.each(plan, &mut ntt[..batch * words], words, |i, out| {
            plan.forward(&coefficients[i * n..][..n], out);
        });
        Ok(())
    }

    fn intt(
        &self,
        plan: &Plan,
        batch: usize,
        ntt: &HostBuffer<u64>,
        coefficients: &mut HostBuffer<R::Word>,
    ) -> Result<()> {
        let (n, words) = (plan.n(), plan.ntt_words());
        expect_len("the operand", ntt.len(), batch * words)?;
        expect_len("the result", coefficients.len(), batch * n)?;
        self.each(plan, &mut coefficients[..batch * n], n, |i, out| {
            plan.inverse(&ntt[i * words..][..words], out);
        });
        Ok(())
    }

    fn mat_vec(
        &self,
        plan: &Plan,
        shape: Matrix,
        matrix: &HostBuffer<u64>,
        vector: &HostBuffer<u64>,
        out: &mut HostBuffer<u64>,
    ) -> Result<()> {
        let words = plan.ntt_words();
        let (matrices, vectors, results) = shape.lengths();
        expect_len("the matrix", matrix.len(), matrices * words)?;
        expect_len("the vector", vector.len(), vectors * words)?;
        expect_len("the result", out.len(), results * words)?;
        let matrix_len = shape.rows * shape.columns * words;
        self.each(plan, &mut out[..results * words], shape.rows * words, |i, out| {
            let matrix = &matrix[if shape.shared { 0 } else { i * matrix_len }..][..matrix_len];
            let vector = &vector[i * shape.columns * words..][..shape.columns * words];
            plan.mat_vec(shape.columns, matrix, vector, out);
        });
        Ok(())
    }

    fn prepare(&self, plan: &Plan, batch: usize, ntt: &HostBuffer<u64>, prepared: &mut HostBuffer<u64>) -> Result<()> {
        let (words, prepared_words) = (plan.ntt_words(), plan.prepared_words());
        expect_len("the operand", ntt.len(), batch * words)?;
        expect_len("the result", prepared.len(), batch * prepared_words)?;
        self.each(plan, &mut prepared[..batch * prepared_words], prepared_words, |i, out| {
            plan.prepare(&ntt[i * words..][..words], out);
        });
        Ok(())
    }

    fn pointwise_prepared(
        &self,
        plan: &Plan,
        batch: usize,
        shared: bool,
        a: &HostBuffer<u64>,
        prepared: &HostBuffer<u64>,
        out: &mut HostBuffer<u64>,
    ) -> Result<()> {
        let (words, prepared_words) = (plan.ntt_words(), plan.prepared_words());
        let factors = if shared { 1 } else { batch };
        expect_len("the first factor", a.len(), batch * words)?;
        expect_len("the prepared factor", prepared.len(), factors * prepared_words)?;
        expect_len("the result", out.len(), batch * words)?;
        self.each(plan, &mut out[..batch * words], words, |i, out| {
            let prepared = &prepared[if shared { 0 } else { i * prepared_words }..][..prepared_words];
            plan.pointwise_prepared(&a[i * words..][..words], prepared, out);
        });
        Ok(())
    }

    fn mul(
        &self,
        plan: &Plan,
        batch: usize,
        a: &HostBuffer<R::Word>,
        b: &HostBuffer<R::Word>,
        out: &mut HostBuffer<R::Word>,
    ) -> Result<()> {
        let n = plan.n();
        expect_len("the first factor", a.len(), batch * n)?;
        expect_len("the second factor", b.len(), batch * n)?;
        expect_len("the result", out.len(), batch * n)?;
        let group = plan.group() * n;
        let (grouped, single) = out[..batch * n].split_at_mut(batch * n / group * group);
        let start = grouped.len();
        self.each(plan, grouped, group, |i, out| {
            plan.multiply_group(&a[i * group..][..group], &b[i * group..][..group], out);
        });
        self.each(plan, single, n, |i, out| {
            let i = start + i * n;
            plan.multiply(&a[i..][..n], &b[i..][..n], out);
        });
        Ok(())
    }

    fn export_ntt(
        &self,
        plan: &Plan,
        batch: usize,
        ntt: &HostBuffer<u64>,
        residues: &mut HostBuffer<R::Word>,
    ) -> Result<()> {
        let (n, words) = (plan.n(), plan.ntt_words());
        expect_len("the operand", ntt.len(), batch * words)?;
        expect_len("the result", residues.len(), batch * n)?;
        plan.check_exportable()?;
        self.each(plan, &mut residues[..batch * n], n, |i, out| {
            plan.export(&ntt[i * words..][..words], out);
        });
        Ok(())
    }

    fn import_ntt(
        &self,
        plan: &Plan,
        batch: usize,
        residues: &HostBuffer<R::Word>,
        ntt: &mut HostBuffer<u64>,
    ) -> Result<()> {
        let (n, words) = (plan.n(), plan.ntt_words());
        expect_len("the operand", residues.len(), batch * n)?;
        expect_len("the result", ntt.len(), batch * words)?;
        plan.check_exportable()?;
        self.each(plan, &mut ntt[..batch * words], words, |i, out| {
            plan.import(&residues[i * n..][..n], out);
        });
        Ok(())
    }
}
