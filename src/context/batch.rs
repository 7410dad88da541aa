//! Batches of polynomials.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use super::domain::Buffer;
use super::{Coeff, Domain, Public, RingContext, Secrecy, Secret, check_reduced, host_zeros};
use crate::backend::RingMul;
use crate::ring::Ring;
use crate::{Error, Result, SecretVec};

/// Polynomials of one context, resident on its backend.
///
/// `D` is the domain ([`Coeff`], [`Ntt`](super::Ntt), [`Prepared`](super::Prepared)) and `S` the secrecy
/// ([`Public`], [`Secret`]). What the type forbids does not compile: a plain download of a secret,
///
/// ```compile_fail
/// # use karat::{Cpu, RingContext, ring::presets::MlKem};
/// let ring = RingContext::new(Cpu::new(), MlKem).unwrap();
/// ring.upload_secret(&[1u16; 256]).unwrap().download();
/// ```
///
/// or a pointwise product of coefficients:
///
/// ```compile_fail
/// # use karat::{Cpu, RingContext, ring::presets::MlKem};
/// let ring = RingContext::new(Cpu::new(), MlKem).unwrap();
/// let a = ring.upload(&[1u16; 256]).unwrap();
/// ring.pointwise(&a, &a);
/// ```
pub struct PolyBatch<B: RingMul<R>, R: Ring, D: Domain, S: Secrecy> {
    context: RingContext<B, R>,
    batch: usize,
    buffer: Buffer<B, R, D>,
    /// Products summed in a lifted ring's transform domain; 0 for a factor.
    terms: u64,
    secrecy: PhantomData<S>,
}

impl<B: RingMul<R>, R: Ring, D: Domain, S: Secrecy> PolyBatch<B, R, D, S> {
    pub(super) fn zeros(context: &RingContext<B, R>, batch: usize) -> Result<Self> {
        if batch == 0 {
            return Err(Error::WrongLength { what: "the batch", expected: 1, got: 0 });
        }
        let words = D::words(context.backend(), context.plan(), context.ring());
        let len = words.checked_mul(batch).ok_or(Error::OutOfMemory { bytes: words as u128 * batch as u128 * 8 })?;
        let buffer = context.backend().alloc(len, S::ERASE)?;
        Ok(Self { context: context.clone(), batch, buffer, terms: 0, secrecy: PhantomData })
    }

    /// Number of polynomials.
    ///
    /// ```
    /// # use karat::{Cpu, RingContext, ring::presets::MlKem};
    /// let ring = RingContext::new(Cpu::new(), MlKem)?;
    /// assert_eq!(ring.upload(&[1u16; 512])?.batch(), 2);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// The context that made it.
    pub fn context(&self) -> &RingContext<B, R> {
        &self.context
    }

    pub(super) fn buffer(&self) -> &Buffer<B, R, D> {
        &self.buffer
    }

    pub(super) fn buffer_mut(&mut self) -> &mut Buffer<B, R, D> {
        &mut self.buffer
    }

    pub(super) fn terms(&self) -> u64 {
        self.terms
    }

    pub(super) fn set_terms(&mut self, terms: u64) {
        self.terms = terms;
    }

    pub(super) fn check(&self, context: &RingContext<B, R>, what: &'static str, batch: usize) -> Result<()> {
        if !self.context.is(context) {
            return Err(Error::Foreign("contexts"));
        }
        if self.batch != batch {
            return Err(Error::WrongLength { what, expected: batch, got: self.batch });
        }
        Ok(())
    }
}

impl<B: RingMul<R>, R: Ring, S: Secrecy> PolyBatch<B, R, Coeff, S> {
    pub(super) fn upload(context: &RingContext<B, R>, coefficients: &[R::Word]) -> Result<Self> {
        let n = context.n();
        if coefficients.is_empty() || !coefficients.len().is_multiple_of(n) {
            let expected = coefficients.len().div_ceil(n).max(1) * n;
            return Err(Error::WrongLength { what: "the batch", expected, got: coefficients.len() });
        }
        check_reduced(coefficients, context.ring().spec().q())?;
        let mut out = Self::zeros(context, coefficients.len() / n)?;
        context.backend().upload(coefficients, &mut out.buffer)?;
        Ok(out)
    }

    fn fetch(&self) -> Result<Vec<R::Word>> {
        let mut out = host_zeros(self.batch * self.context.n())?;
        self.context.backend().download(&self.buffer, &mut out)?;
        Ok(out)
    }
}

impl<B: RingMul<R>, R: Ring> PolyBatch<B, R, Coeff, Public> {
    /// The coefficients, `[batch][N]`.
    ///
    /// # Errors
    /// `OutOfMemory`, or what a device reports.
    pub fn download(&self) -> Result<Vec<R::Word>> {
        self.fetch()
    }

    /// Copies the coefficients out, `[batch][N]`.
    ///
    /// # Errors
    /// `WrongLength` unless `out` holds exactly the batch.
    ///
    /// ```
    /// # use karat::{Cpu, RingContext, ring::presets::MlKem};
    /// let ring = RingContext::new(Cpu::new(), MlKem)?;
    /// let mut out = [0u16; 256];
    /// ring.upload(&[5u16; 256])?.download_into(&mut out)?;
    /// assert_eq!(out, [5; 256]);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn download_into(&self, out: &mut [R::Word]) -> Result<()> {
        let expected = self.batch * self.context.n();
        if out.len() != expected {
            return Err(Error::WrongLength { what: "the result", expected, got: out.len() });
        }
        self.context.backend().download(&self.buffer, out)
    }
}

impl<B: RingMul<R>, R: Ring> PolyBatch<B, R, Coeff, Secret> {
    /// The coefficients, still secret: erased when dropped.
    ///
    /// # Errors
    /// `OutOfMemory`, or what a device reports.
    ///
    /// ```
    /// # use karat::{Cpu, RingContext, ring::presets::MlKem};
    /// let ring = RingContext::new(Cpu::new(), MlKem)?;
    /// let secret = ring.upload_secret(&[5u16; 256])?.download_secret()?;
    /// assert_eq!(secret.len(), 256);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn download_secret(&self) -> Result<SecretVec<R::Word>> {
        self.fetch().map(SecretVec::from)
    }
}

impl<B: RingMul<R>, R: Ring, D: Domain> PolyBatch<B, R, D, Secret> {
    /// Calls the batch public. `why` documents the call: this is the only way out of [`Secret`].
    ///
    /// The memory itself is still erased on drop.
    ///
    /// ```
    /// # use karat::{Cpu, RingContext, ring::presets::MlKem};
    /// let ring = RingContext::new(Cpu::new(), MlKem)?;
    /// let a = ring.upload_secret(&[5u16; 256])?;
    /// assert_eq!(a.declassify("an example").download()?, [5; 256]);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn declassify(self, why: &'static str) -> PolyBatch<B, R, D, Public> {
        let _ = why;
        let Self { context, batch, buffer, terms, .. } = self;
        PolyBatch { context, batch, buffer, terms, secrecy: PhantomData }
    }
}

impl<B: RingMul<R>, R: Ring, D: Domain, S: Secrecy> fmt::Debug for PolyBatch<B, R, D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolyBatch({} {} polynomials, {})", self.batch, S::NAME, D::NAME)
    }
}
