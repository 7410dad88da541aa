//! Sums, differences, negation, conjugates of constants: what costs no level.

use super::Evaluator;
use crate::arith::Word;
use crate::ckks::scale::Scale;
use crate::ckks::{Ciphertext, Complex64, Error, Plaintext, Result};
use crate::rns::{Assign, Combine, RnsMul, View};

impl<B: RnsMul<W>, W: Word> Evaluator<'_, B, W> {
    /// `a + b`.
    ///
    /// # Errors
    /// `Packing`, `Foreign`; `ScaleMismatch` where scales differ and cannot be brought together; in manual mode
    /// `LevelMismatch`.
    pub fn add(&self, a: &Ciphertext<B, W>, b: &Ciphertext<B, W>) -> Result<Ciphertext<B, W>> {
        self.sum("add", Combine::Add, a, b)
    }

    /// `a - b`.
    ///
    /// # Errors
    /// As [`Evaluator::add`].
    pub fn sub(&self, a: &Ciphertext<B, W>, b: &Ciphertext<B, W>) -> Result<Ciphertext<B, W>> {
        self.sum("sub", Combine::Sub, a, b)
    }

    fn sum(
        &self,
        operation: &'static str,
        op: Combine,
        a: &Ciphertext<B, W>,
        b: &Ciphertext<B, W>,
    ) -> Result<Ciphertext<B, W>> {
        let (a, b) = self.align(operation, a, b)?;
        if a.scale != b.scale {
            return Err(Error::ScaleMismatch { operation, left: a.scale.log2(), right: b.scale.log2() });
        }
        let (backend, plan) = (&self.context.backend, &self.context.plan);
        let level = a.level.min(b.level);
        let (limbs, both, parts) = (self.context.limbs(level), a.parts.min(b.parts), a.parts.max(b.parts));
        let mut out = Ciphertext::new(&self.context, parts, level, a.scale.clone(), a.slots)?;
        backend.rns_combine(plan, limbs, both, op, a.view(0), b.view(0), out.view_mut(0))?;
        // The part that only one of them has.
        if a.parts > both {
            backend.rns_copy(plan, limbs, 1, a.view(both), out.view_mut(both))?;
        } else if b.parts > both && op == Combine::Sub {
            backend.rns_neg(plan, limbs, 1, b.view(both), out.view_mut(both))?;
        } else if b.parts > both {
            backend.rns_copy(plan, limbs, 1, b.view(both), out.view_mut(both))?;
        }
        Ok(out)
    }

    /// `-a`.
    ///
    /// # Errors
    /// `Foreign`.
    pub fn neg(&self, a: &Ciphertext<B, W>) -> Result<Ciphertext<B, W>> {
        self.own(a)?;
        let limbs = self.context.limbs(a.level);
        let mut out = Ciphertext::new(&self.context, a.parts, a.level, a.scale.clone(), a.slots)?;
        self.context.backend.rns_neg(&self.context.plan, limbs, a.parts, a.view(0), out.view_mut(0))?;
        Ok(out)
    }

    /// `a + p` with a plaintext of the same scale and at least the same level;
    /// [`Evaluator::encode_addend`] makes one.
    ///
    /// # Errors
    /// `ScaleMismatch`, `LevelMismatch`, `Packing`, `Foreign`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Complex64, KeySet, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let (secret, keys) = (ckks.keygen().secret_key()?, KeySet::empty(&ckks));
    /// let x = ckks.encrypt_secret(&ckks.encode_real(&[1.0])?, &secret)?;
    /// let evaluator = ckks.evaluator(&keys)?;
    /// let p = evaluator.encode_addend(&[Complex64::new(0.5, 0.0)], &x)?;
    /// let y = evaluator.sub_plain(&evaluator.add_plain(&evaluator.add_plain(&x, &p)?, &p)?, &p)?;
    /// assert!((ckks.decode_real(&ckks.decrypt(&y, &secret)?)?[0] - 1.5).abs() < 1e-6);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn add_plain(&self, a: &Ciphertext<B, W>, p: &Plaintext<B, W>) -> Result<Ciphertext<B, W>> {
        self.sum_plain("add_plain", Assign::Add, a, p)
    }

    /// `a - p`, as [`Evaluator::add_plain`].
    ///
    /// # Errors
    /// As [`Evaluator::add_plain`].
    pub fn sub_plain(&self, a: &Ciphertext<B, W>, p: &Plaintext<B, W>) -> Result<Ciphertext<B, W>> {
        self.sum_plain("sub_plain", Assign::Sub, a, p)
    }

    fn sum_plain(
        &self,
        operation: &'static str,
        op: Assign,
        a: &Ciphertext<B, W>,
        p: &Plaintext<B, W>,
    ) -> Result<Ciphertext<B, W>> {
        self.plain_fits(operation, a, p)?;
        if a.scale != p.scale {
            return Err(Error::ScaleMismatch { operation, left: a.scale.log2(), right: p.scale.log2() });
        }
        let mut out = self.dropped_to(a, a.level)?;
        let limbs = self.context.limbs(a.level);
        self.context.backend.rns_assign(&self.context.plan, limbs, 1, op, p.view(), out.view_mut(0))?;
        Ok(out)
    }

    /// Checks a plain operand.
    pub(in crate::ckks) fn plain_fits(
        &self,
        operation: &'static str,
        a: &Ciphertext<B, W>,
        p: &Plaintext<B, W>,
    ) -> Result<()> {
        self.own(a)?;
        self.context.own("plaintext", &p.context)?;
        self.same_packing(operation, a.slots, p.slots)?;
        if p.level < a.level {
            return Err(Error::LevelMismatch { operation, expected: p.level, got: a.level });
        }
        Ok(())
    }

    /// Encodes values that are to be added to a ciphertext: at its level and scale.
    ///
    /// # Errors
    /// As [`Ckks::encode`](crate::ckks::Ckks::encode).
    pub fn encode_addend(&self, values: &[Complex64], a: &Ciphertext<B, W>) -> Result<Plaintext<B, W>> {
        self.encode_like(values, a, &a.scale)
    }

    /// Encodes values that a ciphertext is to be multiplied by: at its level, and at the scale that gives the product's
    /// rescale the scale of automatic mode, in manual mode the ciphertext's own.
    ///
    /// # Errors
    /// As [`Ckks::encode`](crate::ckks::Ckks::encode), and `LevelExhausted` at level 0.
    pub fn encode_factor(&self, values: &[Complex64], a: &Ciphertext<B, W>) -> Result<Plaintext<B, W>> {
        let scale = self.factor_scale("encode_factor", a.level, &a.scale)?;
        self.encode_like(values, a, &scale)
    }

    /// Encodes values for the packing of a ciphertext, with zeros.
    fn encode_like(&self, values: &[Complex64], a: &Ciphertext<B, W>, scale: &Scale) -> Result<Plaintext<B, W>> {
        if values.len() > a.slots {
            return Err(Error::Slots { got: values.len(), most: a.slots });
        }
        let mut padded = values.to_vec();
        padded.resize(a.slots, Complex64::default());
        self.context.encode_at(&padded, a.level, scale)
    }

    /// `a + c` for one complex number in all slots.
    ///
    /// # Errors
    /// `NotFinite`, `TooLarge`, `Foreign`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Complex64, Error, KeySet, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let (secret, keys) = (ckks.keygen().secret_key()?, KeySet::empty(&ckks));
    /// let x = ckks.encrypt_secret(&ckks.encode_real(&[1.0])?, &secret)?;
    /// let evaluator = ckks.evaluator(&keys)?;
    /// let y = evaluator.add_scalar(&x, Complex64::new(0.5, 2.0))?;
    /// let y = ckks.decode(&ckks.decrypt(&y, &secret)?)?[0];
    /// assert!((y - Complex64::new(1.5, 2.0)).norm() < 1e-6);
    /// assert!(matches!(evaluator.add_scalar(&x, Complex64::new(f64::NAN, 0.0)), Err(Error::NotFinite { .. })));
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn add_scalar(&self, a: &Ciphertext<B, W>, c: impl Into<Complex64>) -> Result<Ciphertext<B, W>> {
        self.own(a)?;
        let c = c.into();
        let mut out = self.dropped_to(a, a.level)?;
        if c.re != 0.0 {
            self.add_real_in_place(&mut out, c.re)?;
        }
        if c.im != 0.0 {
            let limbs = self.context.limbs(a.level);
            let scalars = self.scalar(c.im, &a.scale, a.level)?;
            let imaginary = View::new(&self.context.imaginary);
            let (backend, plan) = (&self.context.backend, &self.context.plan);
            let op = crate::rns::Scalar::MulAdd;
            backend.rns_scalar(plan, limbs, 1, op, &scalars, imaginary, out.view_mut(0))?;
        }
        Ok(out)
    }

    /// `i·a`, exactly and at no cost in level or precision.
    ///
    /// # Errors
    /// `Foreign`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Complex64, KeySet, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let (secret, keys) = (ckks.keygen().secret_key()?, KeySet::empty(&ckks));
    /// let x = ckks.encrypt_secret(&ckks.encode(&[Complex64::new(1.0, 2.0)])?, &secret)?;
    /// let y = ckks.evaluator(&keys)?.multiply_i(&x)?;
    /// assert!((ckks.decode(&ckks.decrypt(&y, &secret)?)?[0] - Complex64::new(-2.0, 1.0)).norm() < 1e-6);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn multiply_i(&self, a: &Ciphertext<B, W>) -> Result<Ciphertext<B, W>> {
        self.own(a)?;
        let limbs = self.context.limbs(a.level);
        let mut out = Ciphertext::new(&self.context, a.parts, a.level, a.scale.clone(), a.slots)?;
        let imaginary = self.shared(&self.context.imaginary);
        let (backend, plan) = (&self.context.backend, &self.context.plan);
        backend.rns_combine(plan, limbs, a.parts, Combine::Mul, a.view(0), imaginary, out.view_mut(0))?;
        Ok(out)
    }
}
