//! The CPU backend: constant time in the coefficients, batches split over threads.
//!
//! A [`Plan`] binds everything that depends on the ring (method, word class, tables, kernels of the CPU's level), so
//! that nothing is chosen again inside an operation.

mod checked;
mod direct;
mod kernels;
mod lift;
mod parallel;
mod plan;
mod scalar;
mod scratch;

pub use plan::Plan;

use super::buffer::host_memory;
use super::{Backend, HostBuffer, Matrix, RingMul, expect_len};
use crate::Result;
use crate::ring::Ring;

/// The instruction sets that kernels exist for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// Portable code.
    Scalar,
}

impl Level {
    /// The name that `KARAT_BACKEND` knows.
    ///
    /// ```
    /// assert_eq!(karat::backend::cpu::Level::Scalar.name(), "scalar");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
        }
    }
}

/// The CPU, at one level of instruction sets.
///
/// ```
/// use karat::{Backend, Cpu};
/// assert_eq!(Cpu::scalar().name(), "scalar");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    level: Level,
    threads: bool,
}

impl Cpu {
    /// The highest level that this CPU has.
    ///
    /// ```
    /// let cpu = karat::Cpu::new();
    /// assert!(cpu.level() >= karat::backend::cpu::Level::Scalar);
    /// ```
    pub fn new() -> Self {
        Self::scalar()
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
        self.each(plan, &mut out[..batch * n], n, |i, out| {
            plan.multiply(&a[i * n..][..n], &b[i * n..][..n], out);
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
