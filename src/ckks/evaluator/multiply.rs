//! Products of ciphertexts, relinearisation, rescaling.

use super::{Evaluator, Mode};
use crate::arith::Word;
use crate::ckks::context::Pooled;
use crate::ckks::keys::SwitchKey;
use crate::ckks::scale::Scale;
use crate::ckks::{Ciphertext, Error, Result};
use crate::rns::{Addend, RnsMul, View};

impl<B: RnsMul<W>, W: Word> Evaluator<'_, B, W> {
    /// `a · b`: in automatic mode relinearised and rescaled, one level lower; in manual mode in three parts, unless one
    /// operand is all that is known, at the product of scales.
    ///
    /// # Errors
    /// `LevelExhausted` at level 0 in automatic mode, `ScaleExhausted` where the product has no room, `Parts` for
    /// operands that were not relinearised, `MissingKey`, `Packing`, `Foreign`; in manual mode `LevelMismatch`.
    pub fn multiply(&self, a: &Ciphertext<B, W>, b: &Ciphertext<B, W>) -> Result<Ciphertext<B, W>> {
        self.two_parts("multiply", a)?;
        self.two_parts("multiply", b)?;
        if self.mode == Mode::Automatic {
            self.can_rescale("multiply", a.level.min(b.level))?;
            self.keys.relinearisation()?;
        }
        let (a, b) = self.align("multiply", a, b)?;
        let product = self.tensor("multiply", &a, &b)?;
        self.finish_product(product)
    }

    /// `a²`, as [`Evaluator::multiply`].
    ///
    /// # Errors
    /// As [`Evaluator::multiply`].
    ///
    /// ```
    /// # use karat::ckks::{Ckks, KeyPlan, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let mut keygen = ckks.keygen();
    /// let secret = keygen.secret_key()?;
    /// let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).relinearisation())?;
    /// let x = ckks.encrypt_secret(&ckks.encode_real(&[-1.5])?, &secret)?;
    /// let y = ckks.evaluator(&keys)?.square(&x)?;
    /// assert!((ckks.decode_real(&ckks.decrypt(&y, &secret)?)?[0] - 2.25).abs() < 1e-6);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn square(&self, a: &Ciphertext<B, W>) -> Result<Ciphertext<B, W>> {
        self.two_parts("square", a)?;
        if self.mode == Mode::Automatic {
            self.can_rescale("square", a.level)?;
            self.keys.relinearisation()?;
        }
        let scale = self.context.check_scale("square", a.scale.times(&a.scale), a.level)?;
        let mut out = Ciphertext::new(&self.context, 3, a.level, scale, a.slots)?;
        let limbs = self.context.limbs(a.level);
        self.context.backend.rns_square(&self.context.plan, limbs, a.view(0), out.view_mut(0))?;
        self.finish_product(out)
    }

    fn finish_product(&self, product: Ciphertext<B, W>) -> Result<Ciphertext<B, W>> {
        match self.mode {
            Mode::Automatic => self.in_two_parts(&product, product.level - 1, self.rescaled("rescale", &product)?),
            Mode::Manual => Ok(product),
        }
    }

    /// The product in three parts, at the lower level of both.
    pub(in crate::ckks) fn tensor(
        &self,
        operation: &'static str,
        a: &Ciphertext<B, W>,
        b: &Ciphertext<B, W>,
    ) -> Result<Ciphertext<B, W>> {
        let level = a.level.min(b.level);
        let scale = self.context.check_scale(operation, a.scale.times(&b.scale), level)?;
        let mut out = Ciphertext::new(&self.context, 3, level, scale, a.slots)?;
        let limbs = self.context.limbs(level);
        self.context.backend.rns_tensor(&self.context.plan, limbs, a.view(0), b.view(0), out.view_mut(0))?;
        Ok(out)
    }

    /// A product in two parts again.
    ///
    /// # Errors
    /// `Parts` unless it has three, `MissingKey`, `Foreign`.
    pub fn relinearise(&self, a: &Ciphertext<B, W>) -> Result<Ciphertext<B, W>> {
        self.own(a)?;
        if a.parts != 3 {
            return Err(Error::Parts { operation: "relinearise", expected: 3, got: a.parts });
        }
        self.in_two_parts(a, a.level, a.scale.clone())
    }

    /// A product of three parts in two again, at its level or at the one below: then one division by the special primes
    /// and the level's together, which rounds once.
    fn in_two_parts(&self, a: &Ciphertext<B, W>, level: usize, scale: Scale) -> Result<Ciphertext<B, W>> {
        let key = self.keys.relinearisation()?;
        let digits = self.mod_up(a.level, a.view(2))?;
        let mut out = Ciphertext::new(&self.context, 2, level, scale, a.slots)?;
        self.switch(a, 2, &digits, None, key, &mut out)?;
        Ok(out)
    }

    /// The digits of a polynomial, extended to all primes.
    pub(super) fn mod_up(&self, level: usize, source: View<'_, B::Buffer<W>>) -> Result<Pooled<B, W>> {
        let context = &self.context;
        let tables = context.levels[level].switch.as_ref().ok_or_else(no_special_primes)?;
        let (limbs, count) = (context.extended(level), context.backend.rns_digits(&tables.digits));
        let mut digits = context.pooled(count * limbs.count())?;
        let out = digits.view_mut(0, limbs.count());
        context.backend.rns_mod_up(&context.plan, &tables.digits, source, out)?;
        Ok(digits)
    }

    /// Digits times a key, divided by the special primes, and the first `parts` parts of `a` (of their images, as of
    /// the digits): the two parts of `out`. At the level below they are divided by that level's primes too.
    pub(super) fn switch(
        &self,
        a: &Ciphertext<B, W>,
        parts: usize,
        digits: &Pooled<B, W>,
        element: Option<u32>,
        key: &SwitchKey<B, W>,
        out: &mut Ciphertext<B, W>,
    ) -> Result<()> {
        let context = &self.context;
        let (backend, plan) = (&context.backend, &context.plan);
        let tables = context.levels[a.level].switch.as_ref().ok_or_else(no_special_primes)?;
        let down = match (&tables.down_and_rescale, out.level < a.level) {
            (_, false) => &tables.down,
            (Some(tables), true) => tables,
            (None, true) => return Err(Error::LevelExhausted { operation: "rescale", needed: 1, level: a.level }),
        };
        let count = context.extended(a.level).count();
        let mut sum = context.pooled(2 * count)?;
        let (digits, keys) = (digits.view(0, count), key.view(context));
        let addend = Some(Addend { view: a.view(0), polys: parts });
        backend.rns_key_product(plan, &tables.digits, element, digits, keys, addend, sum.view_mut(0, count))?;
        backend.rns_mod_down(plan, down, 2, sum.view(0, count), out.view_mut(0))?;
        Ok(())
    }

    /// Divides by the last primes: one level lower, the scale smaller by them.
    ///
    /// # Errors
    /// `LevelExhausted` at level 0, `Foreign`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, KeySet, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let (secret, keys) = (ckks.keygen().secret_key()?, KeySet::empty(&ckks));
    /// let evaluator = ckks.manual_evaluator(&keys)?;
    /// let x = ckks.encrypt_secret(&ckks.encode_real(&[1.0])?, &secret)?;
    /// let y = evaluator.multiply_plain(&x, &ckks.encode_real(&[3.0])?)?; // scale 2^100
    /// let y = evaluator.rescale(&y)?;
    /// assert!((y.scale().log2() - 50.0).abs() < 0.01);
    /// assert!(evaluator.rescale(&y).is_err());
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn rescale(&self, a: &Ciphertext<B, W>) -> Result<Ciphertext<B, W>> {
        self.own(a)?;
        self.can_rescale("rescale", a.level)?;
        let context = &self.context;
        let tables = context.levels[a.level].rescale.as_ref();
        let tables = tables.ok_or(Error::LevelExhausted { operation: "rescale", needed: 1, level: a.level })?;
        let scale = self.rescaled("rescale", a)?;
        let mut out = Ciphertext::new(context, a.parts, a.level - 1, scale, a.slots)?;
        context.backend.rns_mod_down(&context.plan, tables, a.parts, a.view(0), out.view_mut(0))?;
        Ok(out)
    }

    /// The scale one level lower. Bounds: a level above 0.
    fn rescaled(&self, operation: &'static str, a: &Ciphertext<B, W>) -> Result<Scale> {
        let scale = a.scale.shifted(self.context.parameters.dropped(a.level), -1);
        self.context.check_scale(operation, scale, a.level - 1)
    }
}

fn no_special_primes() -> Error {
    Error::Parameters("there are no special primes to switch keys with: add some".into())
}
