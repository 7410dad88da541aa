//! Where ring products run: the two traits of the engine, and their implementations.
//!
//! [`Backend`] owns memory; [`RingMul`] transforms and multiplies batches of polynomials that lie there. The typed
//! front of both is [`RingContext`](crate::RingContext).

mod any;
mod buffer;
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod reference;
mod select;

pub use any::{AnyBackend, AnyBuffer, AnyPlan};
pub use buffer::HostBuffer;
pub use cpu::Cpu;
pub use reference::{Reference, ReferencePlan};

use crate::arith::Word;
use crate::ring::Ring;
use crate::{Error, Result};

/// What happens to a buffer's contents when it is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erase {
    /// Nothing: the contents are public.
    No,
    /// They are overwritten before the memory is given back.
    OnDrop,
}

/// A place that holds words: host memory or a device's.
pub trait Backend: Clone + Send + Sync + 'static {
    /// The name that `KARAT_BACKEND` and `--backend` know.
    fn name(&self) -> &'static str;

    /// Words resident there.
    type Buffer<W: Word>: Send + Sync;

    /// `len` words, zero.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn alloc<W: Word>(&self, len: usize, erase: Erase) -> Result<Self::Buffer<W>>;

    /// Copies host words to the start of a buffer.
    ///
    /// # Errors
    /// `WrongLength` where the buffer is shorter.
    fn upload<W: Word>(&self, source: &[W], target: &mut Self::Buffer<W>) -> Result<()>;

    /// Copies the start of a buffer to the host, and waits for it.
    ///
    /// # Errors
    /// `WrongLength` where the buffer is shorter.
    fn download<W: Word>(&self, source: &Self::Buffer<W>, target: &mut [W]) -> Result<()>;

    /// Waits until everything that was started has ended.
    ///
    /// # Errors
    /// What a device reports.
    fn synchronize(&self) -> Result<()>;
}

/// Multiplication in the ring `R` for batches of polynomials on a backend.
///
/// Coefficients lie as `[batch][N]`, canonical in `[0, q)`, lowest degree first. Values in the transform domain lie
/// as `[batch][ntt_words]` 64-bit words whose inside belongs to the backend; [`RingMul::export_ntt`] and
/// [`RingMul::import_ntt`] give the canonical form that standards fix. Prepared factors lie as
/// `[batch][prepared_words]`.
///
/// # Bounds
/// Buffers may be longer than needed, never shorter (`WrongLength`). Every transform-domain value that comes out may
/// go in again, except in a lifted ring: there a product may not be a factor again, and a sum may have at most
/// [`RingMul::max_terms`] products. [`RingContext`](crate::RingContext) checks both.
///
/// # Constant time
/// No implementation branches on, indexes by or divides coefficients.
pub trait RingMul<R: Ring>: Backend {
    /// Tables, kernels and geometry for one ring.
    type Plan: Send + Sync;

    /// Prepares a ring.
    ///
    /// # Errors
    /// Where the backend cannot multiply in it.
    fn plan(&self, ring: &R) -> Result<Self::Plan>;

    /// 64-bit words of one polynomial in the transform domain.
    fn ntt_words(&self, plan: &Self::Plan) -> usize;

    /// 64-bit words of one prepared factor.
    fn prepared_words(&self, plan: &Self::Plan) -> usize;

    /// How many products a sum in the transform domain may have; `u64::MAX` where a product is a factor like any
    /// other, else (lifted rings) the room of the auxiliary primes.
    fn max_terms(&self, plan: &Self::Plan) -> u64;

    /// Forward transforms.
    ///
    /// # Errors
    /// `WrongLength`, or what a device reports; so for all operations.
    fn ntt(
        &self,
        plan: &Self::Plan,
        batch: usize,
        coefficients: &Self::Buffer<R::Word>,
        ntt: &mut Self::Buffer<u64>,
    ) -> Result<()>;

    /// Inverse transforms, scaled: `intt(ntt(a)) = a`.
    fn intt(
        &self,
        plan: &Self::Plan,
        batch: usize,
        ntt: &Self::Buffer<u64>,
        coefficients: &mut Self::Buffer<R::Word>,
    ) -> Result<()>;

    /// `out[i] = a[i] · b[i]` in the transform domain.
    fn pointwise(
        &self,
        plan: &Self::Plan,
        batch: usize,
        a: &Self::Buffer<u64>,
        b: &Self::Buffer<u64>,
        out: &mut Self::Buffer<u64>,
    ) -> Result<()> {
        self.mat_vec(plan, Matrix { batch, rows: 1, columns: 1, shared: false }, a, b, out)
    }

    /// `out[i] = sum over j < terms of a[i][j] · b[i][j]` in the transform domain.
    fn pointwise_acc(
        &self,
        plan: &Self::Plan,
        batch: usize,
        terms: usize,
        a: &Self::Buffer<u64>,
        b: &Self::Buffer<u64>,
        out: &mut Self::Buffer<u64>,
    ) -> Result<()> {
        self.mat_vec(plan, Matrix { batch, rows: 1, columns: terms, shared: false }, a, b, out)
    }

    /// `out[i] = M[i] · v[i]` in the transform domain: `M` is `[batch][rows][columns]`, or `[rows][columns]` where
    /// one matrix is shared; `v` is `[batch][columns]`, `out` `[batch][rows]`.
    fn mat_vec(
        &self,
        plan: &Self::Plan,
        shape: Matrix,
        matrix: &Self::Buffer<u64>,
        vector: &Self::Buffer<u64>,
        out: &mut Self::Buffer<u64>,
    ) -> Result<()>;

    /// Prepares factors that are used many times.
    fn prepare(
        &self,
        plan: &Self::Plan,
        batch: usize,
        ntt: &Self::Buffer<u64>,
        prepared: &mut Self::Buffer<u64>,
    ) -> Result<()>;

    /// `out[i] = a[i] · prepared[i]` in the transform domain, or `a[i] · prepared[0]` where one factor is shared.
    fn pointwise_prepared(
        &self,
        plan: &Self::Plan,
        batch: usize,
        shared: bool,
        a: &Self::Buffer<u64>,
        prepared: &Self::Buffer<u64>,
        out: &mut Self::Buffer<u64>,
    ) -> Result<()>;

    /// Whole products `out[i] = a[i] · b[i]` of coefficients; fused where the backend can.
    fn mul(
        &self,
        plan: &Self::Plan,
        batch: usize,
        a: &Self::Buffer<R::Word>,
        b: &Self::Buffer<R::Word>,
        out: &mut Self::Buffer<R::Word>,
    ) -> Result<()>;

    /// Transform-domain values as canonical residues `[batch][N]`, slots bit-reversed (the order of FIPS 203 and
    /// 204), `width` coefficients a slot.
    ///
    /// # Errors
    /// `Unsupported` in a lifted ring: its domain is a backend's own.
    fn export_ntt(
        &self,
        plan: &Self::Plan,
        batch: usize,
        ntt: &Self::Buffer<u64>,
        residues: &mut Self::Buffer<R::Word>,
    ) -> Result<()>;

    /// The inverse of [`RingMul::export_ntt`].
    ///
    /// # Errors
    /// `Unsupported` in a lifted ring.
    fn import_ntt(
        &self,
        plan: &Self::Plan,
        batch: usize,
        residues: &Self::Buffer<R::Word>,
        ntt: &mut Self::Buffer<u64>,
    ) -> Result<()>;
}

/// The shape of a matrix-vector product over a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matrix {
    /// Number of products.
    pub batch: usize,
    /// Rows of the matrix: length of each result.
    pub rows: usize,
    /// Columns of the matrix: length of each vector.
    pub columns: usize,
    /// Whether all products share one matrix.
    pub shared: bool,
}

impl Matrix {
    /// Polynomials in the matrix, the vectors and the results.
    ///
    /// ```
    /// use karat::backend::Matrix;
    /// let shape = Matrix { batch: 10, rows: 2, columns: 3, shared: true };
    /// assert_eq!(shape.lengths(), (6, 30, 20));
    /// ```
    pub fn lengths(&self) -> (usize, usize, usize) {
        let matrices = if self.shared { 1 } else { self.batch };
        // A product beyond usize is more than any batch holds: it stays unequal to every length.
        let product = |a: usize, b: usize| a.saturating_mul(b);
        (
            product(matrices, product(self.rows, self.columns)),
            product(self.batch, self.columns),
            product(self.batch, self.rows),
        )
    }
}

/// Checks the length of an operand.
pub(crate) fn expect_len(what: &'static str, got: usize, expected: usize) -> Result<()> {
    if got < expected {
        return Err(Error::WrongLength { what, expected, got });
    }
    Ok(())
}
