//! The typed front of the engine: contexts, and batches that know their domain and their secrecy.

mod batch;
mod domain;

pub use batch::PolyBatch;
pub use domain::{Coeff, Domain, Join, Ntt, Prepared, Public, Secrecy, Secret};

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::arith::Word;
use crate::backend::{Cpu, Matrix, RingMul, cpu};
use crate::memcheck::{Leak, shown};
use crate::ring::Ring;
use crate::{Error, Result};

/// One ring on one backend: makes batches of polynomials and computes with them.
///
/// Cloning is cheap; clones count as the same context. A context is made once and used from any thread.
///
/// ```
/// use karat::{AnyBackend, RingContext, ring::presets::MlDsa};
/// let ring = RingContext::new(AnyBackend::from_env()?, MlDsa)?;
/// let a = ring.upload(&[1u32; 512])?; // two polynomials of 256 coefficients
/// let s = ring.upload_secret(&[8380416u32; 512])?;
/// let product = ring.mul(&a, &s)?; // secret, because one factor is
/// assert_eq!(product.declassify("the example prints it").download()?.len(), 512);
/// # Ok::<(), karat::Error>(())
/// ```
pub struct RingContext<B: RingMul<R>, R: Ring> {
    inner: Arc<Inner<B, R>>,
}

struct Inner<B: RingMul<R>, R: Ring> {
    backend: B,
    ring: R,
    plan: B::Plan,
}

impl<B: RingMul<R>, R: Ring> Clone for RingContext<B, R> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<B: RingMul<R>, R: Ring> RingContext<B, R> {
    /// Prepares a ring on a backend.
    ///
    /// # Errors
    /// Where the backend cannot multiply in this ring.
    pub fn new(backend: B, ring: R) -> Result<Self> {
        let plan = backend.plan(&ring)?;
        Ok(Self { inner: Arc::new(Inner { backend, ring, plan }) })
    }

    /// The backend.
    pub fn backend(&self) -> &B {
        &self.inner.backend
    }

    /// The ring.
    pub fn ring(&self) -> &R {
        &self.inner.ring
    }

    /// The backend's tables for the ring.
    pub fn plan(&self) -> &B::Plan {
        &self.inner.plan
    }

    fn n(&self) -> usize {
        self.inner.ring.spec().n()
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Takes public coefficients over: `[batch][N]`, lowest degree first.
    ///
    /// # Errors
    /// `WrongLength` unless there are a positive multiple of `N`; `Unreduced` unless all lie in `[0, q)`.
    ///
    /// ```
    /// use karat::{Error, Reference, RingContext, ring::presets::MlKem};
    /// let ring = RingContext::new(Reference, MlKem)?;
    /// assert!(matches!(ring.upload(&[0u16; 255]), Err(Error::WrongLength { .. })));
    /// assert!(matches!(ring.upload(&[3329u16; 256]), Err(Error::Unreduced { index: 0, .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn upload(&self, coefficients: &[R::Word]) -> Result<PolyBatch<B, R, Coeff, Public>> {
        PolyBatch::upload(self, coefficients)
    }

    /// Takes secret coefficients over; every buffer that comes from them is erased when it is dropped.
    ///
    /// # Errors
    /// As [`RingContext::upload`].
    ///
    /// ```
    /// use karat::{Reference, RingContext, ring::presets::MlKem};
    /// let ring = RingContext::new(Reference, MlKem)?;
    /// let secret = ring.upload_secret(&[1u16; 256])?;
    /// assert_eq!(format!("{secret:?}"), "PolyBatch(1 secret polynomials, coefficients)");
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn upload_secret(&self, coefficients: &[R::Word]) -> Result<PolyBatch<B, R, Coeff, Secret>> {
        PolyBatch::upload(self, coefficients)
    }

    /// A batch of zero polynomials, to be filled by the `_into` operations.
    ///
    /// # Errors
    /// `OutOfMemory`; `WrongLength` for an empty batch.
    ///
    /// ```
    /// use karat::{PolyBatch, Reference, RingContext, context::{Coeff, Public}, ring::presets::MlKem};
    /// let ring = RingContext::new(Reference, MlKem)?;
    /// let zero: PolyBatch<_, _, Coeff, Public> = ring.zeros(3)?;
    /// assert_eq!(zero.batch(), 3);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn zeros<D: Domain, S: Secrecy>(&self, batch: usize) -> Result<PolyBatch<B, R, D, S>> {
        PolyBatch::zeros(self, batch)
    }

    /// Whole products `a[i] · b[i]`.
    ///
    /// # Errors
    /// `WrongLength` for batches of different sizes; `Foreign` for operands of another context.
    pub fn mul<S: Join<T>, T: Secrecy>(
        &self,
        a: &PolyBatch<B, R, Coeff, S>,
        b: &PolyBatch<B, R, Coeff, T>,
    ) -> Result<PolyBatch<B, R, Coeff, S::Output>> {
        let mut out = self.zeros(a.batch())?;
        self.mul_into(a, b, &mut out)?;
        Ok(out)
    }

    /// As [`RingContext::mul`], into a batch that exists: nothing is allocated on the CPU for small `N`.
    ///
    /// # Errors
    /// As [`RingContext::mul`].
    ///
    /// ```
    /// use karat::{Cpu, RingContext, ring::presets::MlKem};
    /// let ring = RingContext::new(Cpu::new(), MlKem)?;
    /// let (a, b) = (ring.upload(&[1u16; 256])?, ring.upload(&[2u16; 256])?);
    /// let mut c = ring.zeros(1)?;
    /// ring.mul_into(&a, &b, &mut c)?;
    /// assert_eq!(c.download()?[255], 512);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn mul_into<S: Join<T>, T: Secrecy>(
        &self,
        a: &PolyBatch<B, R, Coeff, S>,
        b: &PolyBatch<B, R, Coeff, T>,
        out: &mut PolyBatch<B, R, Coeff, S::Output>,
    ) -> Result<()> {
        a.check(self, "the first factor", a.batch())?;
        b.check(self, "the second factor", a.batch())?;
        out.check(self, "the result", a.batch())?;
        self.backend().mul(self.plan(), a.batch(), a.buffer(), b.buffer(), out.buffer_mut())
    }

    /// Forward transforms.
    ///
    /// # Errors
    /// `Foreign` for a batch of another context.
    ///
    /// ```
    /// use karat::{Cpu, RingContext, ring::presets::MlKem};
    /// let ring = RingContext::new(Cpu::new(), MlKem)?;
    /// let a = ring.upload(&[7u16; 256])?;
    /// assert_eq!(ring.intt(&ring.ntt(&a)?)?.download()?, [7; 256]);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn ntt<S: Secrecy>(&self, a: &PolyBatch<B, R, Coeff, S>) -> Result<PolyBatch<B, R, Ntt, S>> {
        a.check(self, "the operand", a.batch())?;
        let mut out = self.zeros(a.batch())?;
        self.backend().ntt(self.plan(), a.batch(), a.buffer(), out.buffer_mut())?;
        Ok(out)
    }

    /// Inverse transforms.
    ///
    /// # Errors
    /// `Foreign` for a batch of another context.
    ///
    /// ```
    /// use karat::{Cpu, RingContext, ring::presets::Saber};
    /// let ring = RingContext::new(Cpu::new(), Saber)?; // a lifted ring
    /// let a = ring.upload(&[8191u16; 256])?;
    /// assert_eq!(ring.intt(&ring.ntt(&a)?)?.download()?, [8191; 256]);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn intt<S: Secrecy>(&self, a: &PolyBatch<B, R, Ntt, S>) -> Result<PolyBatch<B, R, Coeff, S>> {
        a.check(self, "the operand", a.batch())?;
        let mut out = self.zeros(a.batch())?;
        self.backend().intt(self.plan(), a.batch(), a.buffer(), out.buffer_mut())?;
        Ok(out)
    }

    /// `a[i] · b[i]` in the transform domain.
    ///
    /// # Errors
    /// `WrongLength` for batches of different sizes, `Foreign` for another context, `LiftOverflow` where a lifted
    /// ring's domain has no room.
    ///
    /// ```
    /// use karat::{Cpu, RingContext, ring::presets::MlKem};
    /// let ring = RingContext::new(Cpu::new(), MlKem)?;
    /// let (a, b) = (ring.upload(&[1u16; 256])?, ring.upload(&[2u16; 256])?);
    /// let c = ring.intt(&ring.pointwise(&ring.ntt(&a)?, &ring.ntt(&b)?)?)?;
    /// assert_eq!(c.download()?, ring.mul(&a, &b)?.download()?);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn pointwise<S: Join<T>, T: Secrecy>(
        &self,
        a: &PolyBatch<B, R, Ntt, S>,
        b: &PolyBatch<B, R, Ntt, T>,
    ) -> Result<PolyBatch<B, R, Ntt, S::Output>> {
        self.pointwise_acc(1, a, b)
    }

    /// `sum over j < terms of a[i·terms + j] · b[i·terms + j]` in the transform domain.
    ///
    /// # Errors
    /// As [`RingContext::pointwise`]; `WrongLength` also where the batch is no multiple of `terms`.
    ///
    /// ```
    /// use karat::{Cpu, RingContext, ring::presets::MlDsa};
    /// let ring = RingContext::new(Cpu::new(), MlDsa)?;
    /// let a = ring.ntt(&ring.upload(&[1u32; 3 * 256])?)?;
    /// assert_eq!(ring.pointwise_acc(3, &a, &a)?.batch(), 1);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn pointwise_acc<S: Join<T>, T: Secrecy>(
        &self,
        terms: usize,
        a: &PolyBatch<B, R, Ntt, S>,
        b: &PolyBatch<B, R, Ntt, T>,
    ) -> Result<PolyBatch<B, R, Ntt, S::Output>> {
        let batch = a.batch() / terms.max(1);
        if terms == 0 || batch * terms != a.batch() {
            return Err(Error::WrongLength { what: "the first factor", expected: terms, got: a.batch() });
        }
        self.mat_vec(Matrix { batch, rows: 1, columns: terms, shared: false }, a, b)
    }

    /// Matrix times vectors in the transform domain; [`Matrix`] says how they lie.
    ///
    /// # Errors
    /// As [`RingContext::pointwise`].
    ///
    /// ```
    /// use karat::{Cpu, RingContext, backend::Matrix, ring::presets::MlKem};
    /// let ring = RingContext::new(Cpu::new(), MlKem)?;
    /// let matrix = ring.ntt(&ring.upload(&[1u16; 2 * 3 * 256])?)?;
    /// let vector = ring.ntt(&ring.upload(&[1u16; 3 * 256])?)?;
    /// let shape = Matrix { batch: 1, rows: 2, columns: 3, shared: true };
    /// assert_eq!(ring.mat_vec(shape, &matrix, &vector)?.batch(), 2);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn mat_vec<S: Join<T>, T: Secrecy>(
        &self,
        shape: Matrix,
        matrix: &PolyBatch<B, R, Ntt, S>,
        vector: &PolyBatch<B, R, Ntt, T>,
    ) -> Result<PolyBatch<B, R, Ntt, S::Output>> {
        let (matrices, vectors, results) = shape.lengths();
        matrix.check(self, "the matrix", matrices)?;
        vector.check(self, "the vector", vectors)?;
        let terms = self.room(matrix.terms(), vector.terms(), shape.columns)?;
        let mut out = self.zeros(results)?;
        self.backend().mat_vec(self.plan(), shape, matrix.buffer(), vector.buffer(), out.buffer_mut())?;
        out.set_terms(terms);
        Ok(out)
    }

    /// Products in the result of a sum of `count` products of factors with `a` and `b` products inside.
    fn room(&self, a: u64, b: u64, count: usize) -> Result<u64> {
        let max = self.backend().max_terms(self.plan());
        if max == u64::MAX {
            return Ok(0);
        }
        let terms = count as u64;
        if a != 0 || b != 0 || terms > max {
            return Err(Error::LiftOverflow { terms: terms.max(2), max: if a + b > 0 { 1 } else { max } });
        }
        Ok(terms)
    }

    /// Prepares factors that are used many times.
    ///
    /// # Errors
    /// `Foreign` for a batch of another context, `LiftOverflow` for a product in a lifted ring.
    ///
    /// ```
    /// use karat::{Cpu, RingContext, ring::presets::MlKem};
    /// let ring = RingContext::new(Cpu::new(), MlKem)?;
    /// let a = ring.ntt(&ring.upload(&[1u16; 3 * 256])?)?;
    /// let key = ring.prepare(&ring.ntt(&ring.upload(&[2u16; 256])?)?)?;
    /// assert_eq!(ring.pointwise_prepared(&a, &key)?.batch(), 3); // one factor serves all
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn prepare<S: Secrecy>(&self, a: &PolyBatch<B, R, Ntt, S>) -> Result<PolyBatch<B, R, Prepared, S>> {
        a.check(self, "the operand", a.batch())?;
        self.room(a.terms(), 0, 1)?;
        let mut out = self.zeros(a.batch())?;
        self.backend().prepare(self.plan(), a.batch(), a.buffer(), out.buffer_mut())?;
        Ok(out)
    }

    /// `a[i] · b[i]`, or `a[i] · b[0]` where there is one prepared factor.
    ///
    /// # Errors
    /// As [`RingContext::pointwise`].
    pub fn pointwise_prepared<S: Join<T>, T: Secrecy>(
        &self,
        a: &PolyBatch<B, R, Ntt, S>,
        b: &PolyBatch<B, R, Prepared, T>,
    ) -> Result<PolyBatch<B, R, Ntt, S::Output>> {
        let shared = b.batch() == 1;
        a.check(self, "the first factor", a.batch())?;
        b.check(self, "the prepared factor", if shared { 1 } else { a.batch() })?;
        let terms = self.room(a.terms(), 0, 1)?;
        let mut out = self.zeros(a.batch())?;
        self.backend().pointwise_prepared(self.plan(), a.batch(), shared, a.buffer(), b.buffer(), out.buffer_mut())?;
        out.set_terms(terms);
        Ok(out)
    }

    /// Transform-domain values as canonical residues, slots bit-reversed: the order of FIPS 203 and 204.
    ///
    /// # Errors
    /// `Unsupported` in a lifted ring.
    ///
    /// ```
    /// use karat::{Cpu, RingContext, ring::presets::MlDsa};
    /// let ring = RingContext::new(Cpu::new(), MlDsa)?;
    /// let mut x = [0u32; 256];
    /// x[1] = 1;
    /// let values = ring.export_ntt(&ring.ntt(&ring.upload(&x)?)?)?.download()?;
    /// assert_eq!(values[0], 1753); // the first evaluation point of FIPS 204
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn export_ntt<S: Secrecy>(&self, a: &PolyBatch<B, R, Ntt, S>) -> Result<PolyBatch<B, R, Coeff, S>> {
        a.check(self, "the operand", a.batch())?;
        let mut out = self.zeros(a.batch())?;
        self.backend().export_ntt(self.plan(), a.batch(), a.buffer(), out.buffer_mut())?;
        Ok(out)
    }

    /// The inverse of [`RingContext::export_ntt`]: residues in canonical order become transform-domain values.
    ///
    /// # Errors
    /// `Unsupported` in a lifted ring.
    pub fn import_ntt<S: Secrecy>(&self, residues: &PolyBatch<B, R, Coeff, S>) -> Result<PolyBatch<B, R, Ntt, S>> {
        residues.check(self, "the operand", residues.batch())?;
        let mut out = self.zeros(residues.batch())?;
        self.backend().import_ntt(self.plan(), residues.batch(), residues.buffer(), out.buffer_mut())?;
        Ok(out)
    }
}

impl<R: Ring> RingContext<Cpu, R> {
    /// One product of slices, without batches: nothing is allocated for small `N`, scratch memory is erased.
    ///
    /// # Errors
    /// `WrongLength` or `Unreduced`.
    ///
    /// ```
    /// use karat::{Cpu, RingContext, ring::presets::MlKem};
    /// let ring = RingContext::new(Cpu::new(), MlKem)?;
    /// let mut c = [0u16; 256];
    /// ring.mul_slices(&[1; 256], &[2; 256], &mut c)?;
    /// assert_eq!(c[255], 512);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn mul_slices(&self, a: &[R::Word], b: &[R::Word], out: &mut [R::Word]) -> Result<()> {
        let spec = self.inner.ring.spec();
        for (what, got) in [("the first factor", a.len()), ("the second factor", b.len()), ("the result", out.len())] {
            if got != spec.n() {
                return Err(Error::WrongLength { what, expected: spec.n(), got });
            }
        }
        check_reduced(a, spec.q())?;
        check_reduced(b, spec.q())?;
        let plan: &cpu::Plan = self.plan();
        plan.multiply(a, b, out);
        Ok(())
    }
}

/// Checks that all coefficients lie in `[0, q)`. All are looked at before the first bad one is searched for.
pub(crate) fn check_reduced<W: Word>(coefficients: &[W], q: u64) -> Result<()> {
    // The borrow of q - 1 - c shows c >= q for c < 2^63; the top bit of c itself shows the rest.
    let bad = coefficients.iter().fold(0, |bad, c| bad | (q - 1).wrapping_sub(c.to_u64()) | c.to_u64());
    if shown(Leak::Reduced, bad >> 63 == 0) {
        return Ok(());
    }
    let index = coefficients.iter().position(|c| c.to_u64() >= q).unwrap_or(0);
    Err(Error::Unreduced { index, q })
}

/// Zero coefficients on the host.
fn host_zeros<W: Word>(len: usize) -> Result<Vec<W>> {
    let mut out = Vec::new();
    out.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { bytes: len as u128 * size_of::<W>() as u128 })?;
    out.resize(len, W::ZERO);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unreduced_word_is_refused() {
        for q in [2u64, 3, 3329, 549_824_583_172_097, (1 << 61) + 1, (1 << 62) - 1] {
            let high = 1u64 << 63;
            let bad = [q, q + 1, 2 * q, high - 1, high, high + 1, high + q - 1, high + q, u64::MAX - 1, u64::MAX];
            for (index, c) in bad.into_iter().enumerate() {
                let mut coefficients = [q - 1; 10];
                coefficients[index] = c;
                assert_eq!(check_reduced(&coefficients, q), Err(Error::Unreduced { index, q }), "{c}");
            }
            assert_eq!(check_reduced(&[0, 1, q - 1], q), Ok(()));
        }
    }
}
