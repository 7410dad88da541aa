//! Products with plain operands.

use super::{Evaluator, Mode};
use crate::arith::Word;
use crate::ckks::{Ciphertext, Complex64, Plaintext, Result};
use crate::rns::{Combine, RnsMul, Scalar};

/// Whole numbers up to this size are factors without a scale.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Whether a number multiplies exactly, at no level.
fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() <= WHOLE
}

impl<B: RnsMul<W>, W: Word> Evaluator<'_, B, W> {
    /// `a · p`, slot by slot: in automatic mode rescaled, one level lower. A plaintext that
    /// [`Evaluator::encode_factor`] made gives the level's own scale.
    ///
    /// # Errors
    /// `LevelExhausted`, `ScaleExhausted`, `LevelMismatch` where the plaintext is at a lower level, `Packing`,
    /// `Foreign`.
    pub fn multiply_plain(&self, a: &Ciphertext<B, W>, p: &Plaintext<B, W>) -> Result<Ciphertext<B, W>> {
        self.plain_fits("multiply_plain", a, p)?;
        if self.mode == Mode::Automatic {
            self.can_rescale("multiply_plain", a.level)?;
        }
        let scale = self.context.check_scale("multiply_plain", a.scale.times(&p.scale), a.level)?;
        let mut out = Ciphertext::new(&self.context, a.parts, a.level, scale, a.slots)?;
        let limbs = self.context.limbs(a.level);
        let (backend, plan) = (&self.context.backend, &self.context.plan);
        backend.rns_combine(plan, limbs, a.parts, Combine::Mul, a.view(0), p.view(), out.view_mut(0))?;
        match self.mode {
            Mode::Automatic => self.rescale(&out),
            Mode::Manual => Ok(out),
        }
    }

    /// `a · c` for one number in all slots. A Gaussian integer (both parts whole, below `2^53`) multiplies exactly and
    /// costs no level; any other number is encoded at the scale of [`Evaluator::encode_factor`], and the product is
    /// rescaled in automatic mode.
    ///
    /// # Errors
    /// `NotFinite`, `TooLarge`, `LevelExhausted`, `ScaleExhausted`, `Foreign`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Complex64, Error, KeySet, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let (secret, keys) = (ckks.keygen().secret_key()?, KeySet::empty(&ckks));
    /// let x = ckks.encrypt_secret(&ckks.encode_real(&[2.0])?, &secret)?;
    /// let evaluator = ckks.evaluator(&keys)?;
    /// assert_eq!(evaluator.multiply_scalar(&x, -3.0)?.level(), 1);
    /// let y = evaluator.multiply_scalar(&x, Complex64::new(0.25, -0.5))?;
    /// assert_eq!(y.level(), 0);
    /// let value = ckks.decode(&ckks.decrypt(&y, &secret)?)?[0];
    /// assert!((value - Complex64::new(0.5, -1.0)).norm() < 1e-6);
    /// assert!(matches!(evaluator.multiply_scalar(&y, 0.5), Err(Error::LevelExhausted { .. })));
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn multiply_scalar(&self, a: &Ciphertext<B, W>, c: impl Into<Complex64>) -> Result<Ciphertext<B, W>> {
        self.own(a)?;
        let c = c.into();
        let whole = is_whole(c.re) && is_whole(c.im);
        let factor = match whole {
            true => self.context.parameters.scale(0),
            false => self.factor_scale("multiply_scalar", a.level, &a.scale)?,
        };
        let mut out = self.scaled("multiply_scalar", a, a.level, c.re, &factor)?;
        if c.im != 0.0 {
            let scalars = self.scalar(c.im, &factor, a.level)?;
            let (limbs, turned) = (self.context.limbs(a.level), self.multiply_i(a)?);
            let (backend, plan) = (&self.context.backend, &self.context.plan);
            backend.rns_scalar(plan, limbs, a.parts, Scalar::MulAdd, &scalars, turned.view(0), out.view_mut(0))?;
        }
        match self.mode {
            Mode::Automatic if !whole => self.rescale(&out),
            _ => Ok(out),
        }
    }
}
