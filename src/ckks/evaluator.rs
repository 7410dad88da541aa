//! Computing with ciphertexts.

mod align;
mod linear_ops;
mod multiply;
mod plain;
mod rotate;

use super::keys::KeySet;
use super::scale::Scale;
use super::{Ciphertext, Ckks, Error, Result};
use crate::arith::Word;
use crate::rns::RnsMul;

/// Who looks after levels and scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The evaluator. Products are relinearised and rescaled at once, and operands of different levels are brought
    /// together. Every level has one scale, `S_(l-1) = S_l^2 / q_l` exactly, so that whatever came out of automatic
    /// operations can be added.
    Automatic,
    /// The caller. Nothing is relinearised, rescaled or dropped unless asked for; operands that do not fit are errors.
    Manual,
}

/// Computes with the ciphertexts of a context. Results are new ciphertexts, operands stay as they are, and both operands
/// may be the same.
///
/// ```
/// # use karat::ckks::{Ckks, KeyPlan, Literal, Prime};
/// # let parameters = Literal::preset(Prime::Bits60, 2)?.validate()?;
/// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
/// let mut keygen = ckks.keygen();
/// let secret = keygen.secret_key()?;
/// let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).relinearisation().rotations(&[1]))?;
/// let evaluator = ckks.evaluator(&keys)?;
/// let x = ckks.encrypt_secret(&ckks.encode_real(&[1.0, 2.0, 3.0, 4.0])?, &secret)?;
/// // x·rot(x) + x
/// let y = evaluator.add(&evaluator.multiply(&x, &evaluator.rotate(&x, 1)?)?, &x)?;
/// let values = ckks.decode_real(&ckks.decrypt(&y, &secret)?)?;
/// assert!(values.iter().zip([3.0, 8.0, 15.0, 8.0]).all(|(a, b)| (a - b).abs() < 1e-6));
/// # Ok::<(), karat::ckks::Error>(())
/// ```
pub struct Evaluator<'a, B: RnsMul<W>, W: Word = u64> {
    pub(super) context: Ckks<B, W>,
    pub(super) keys: &'a KeySet<B, W>,
    mode: Mode,
}

impl<B: RnsMul<W>, W: Word> core::fmt::Debug for Evaluator<'_, B, W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Evaluator({:?}, {:?})", self.mode, self.context)
    }
}

impl<B: RnsMul<W>, W: Word> Ckks<B, W> {
    /// An evaluator in automatic mode.
    ///
    /// # Errors
    /// `Drift` where the primes are too far from the scale for automatic mode; `Foreign`.
    pub fn evaluator<'a>(&self, keys: &'a KeySet<B, W>) -> Result<Evaluator<'a, B, W>> {
        self.own("key set", &keys.context)?;
        self.automatic.as_ref().map_err(Clone::clone)?;
        Ok(Evaluator { context: self.clone(), keys, mode: Mode::Automatic })
    }

    /// An evaluator in manual mode.
    ///
    /// # Errors
    /// `Foreign`.
    pub fn manual_evaluator<'a>(&self, keys: &'a KeySet<B, W>) -> Result<Evaluator<'a, B, W>> {
        self.own("key set", &keys.context)?;
        Ok(Evaluator { context: self.clone(), keys, mode: Mode::Manual })
    }

    /// The scale of a level in automatic mode.
    ///
    /// # Errors
    /// `LevelMismatch` for a level that does not exist, `Drift` where there is no automatic mode.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 2)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// assert!((ckks.automatic_scale(0)?.log2() - ckks.automatic_scale(2)?.log2()).abs() < 0.01);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn automatic_scale(&self, level: usize) -> Result<Scale> {
        self.check_level("automatic_scale", level)?;
        Ok(self.automatic.as_ref().map_err(Clone::clone)?[level].clone())
    }
}

impl<B: RnsMul<W>, W: Word> Evaluator<'_, B, W> {
    /// The context.
    pub fn context(&self) -> &Ckks<B, W> {
        &self.context
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Checks that a ciphertext was made by the same context.
    pub(super) fn own(&self, ciphertext: &Ciphertext<B, W>) -> Result<()> {
        self.context.own("ciphertext", &ciphertext.context)
    }

    /// Checks that a ciphertext is ours and has two parts.
    pub(super) fn two_parts(&self, operation: &'static str, ciphertext: &Ciphertext<B, W>) -> Result<()> {
        self.own(ciphertext)?;
        match ciphertext.parts {
            2 => Ok(()),
            got => Err(Error::Parts { operation, expected: 2, got }),
        }
    }

    /// Checks that two operands have one packing.
    pub(super) fn same_packing(&self, operation: &'static str, left: usize, right: usize) -> Result<()> {
        if left == right { Ok(()) } else { Err(Error::Packing { operation, left, right }) }
    }

    /// Checks that a level can be rescaled.
    pub(super) fn can_rescale(&self, operation: &'static str, level: usize) -> Result<()> {
        if level > 0 { Ok(()) } else { Err(Error::LevelExhausted { operation, needed: 1, level }) }
    }

    /// The scale of a plain factor at a level after which a rescale gives the scale of automatic mode below, or in
    /// manual mode the same scale again.
    pub(super) fn factor_scale(&self, operation: &'static str, level: usize, scale: &Scale) -> Result<Scale> {
        self.can_rescale(operation, level)?;
        let wanted = match self.mode {
            Mode::Automatic => self.context.automatic_scale(level - 1)?,
            Mode::Manual => scale.clone(),
        };
        let factor = wanted.shifted(self.context.parameters.dropped(level), 1).and_then(|product| product.over(scale));
        self.context.check_scale(operation, factor, level)
    }
}
