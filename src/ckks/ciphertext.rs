//! Ciphertexts and plaintexts: words on the backend with their level, scale and packing.

use super::context::Pooled;
use super::scale::Scale;
use super::{Ckks, Result};
use crate::arith::Word;
use crate::rns::{RnsMul, View, ViewMut};

/// An encrypted vector. `Debug` prints its shape.
///
/// It has two parts `(c0, c1)` with `c0 + c1·s` the message, or three (`+ c2·s²`) as a product that was not
/// relinearised yet; all lie in the NTT domain on the backend, `[part][limb][N]`.
pub struct Ciphertext<B: RnsMul<W>, W: Word = u64> {
    pub(super) context: Ckks<B, W>,
    pub(super) words: Pooled<B, W>,
    pub(super) parts: usize,
    /// Limbs from one part to the next: those of the level at which it was made.
    pub(super) stride: usize,
    pub(super) level: usize,
    pub(super) scale: Scale,
    pub(super) slots: usize,
    /// From which the second part can be made again.
    pub(super) seed: Option<[u8; 32]>,
}

/// An encoded vector: one polynomial in the NTT domain on the backend. Erased when it is dropped; `Debug` prints no
/// contents.
pub struct Plaintext<B: RnsMul<W>, W: Word = u64> {
    pub(super) context: Ckks<B, W>,
    pub(super) words: B::Buffer<W>,
    pub(super) level: usize,
    pub(super) scale: Scale,
    pub(super) slots: usize,
}

impl<B: RnsMul<W>, W: Word> core::fmt::Debug for Ciphertext<B, W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { parts, level, scale, slots, .. } = self;
        write!(f, "Ciphertext({parts} parts, level {level}, scale {scale:?}, {slots} slots)")
    }
}

impl<B: RnsMul<W>, W: Word> core::fmt::Debug for Plaintext<B, W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { level, scale, slots, .. } = self;
        write!(f, "Plaintext(level {level}, scale {scale:?}, {slots} slots)")
    }
}

impl<B: RnsMul<W>, W: Word> Ciphertext<B, W> {
    /// Rescales that it still allows.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Its scale.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// Slots of its packing.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// 2, or 3 for a product that was not relinearised.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Memory for a result: contents are arbitrary.
    pub(super) fn new(context: &Ckks<B, W>, parts: usize, level: usize, scale: Scale, slots: usize) -> Result<Self> {
        let stride = context.limbs(level).count();
        let words = context.pooled(parts * stride)?;
        Ok(Self { context: context.clone(), words, parts, stride, level, scale, slots, seed: None })
    }

    /// The parts from one on.
    pub(super) fn view(&self, part: usize) -> View<'_, B::Buffer<W>> {
        self.words.view(part * self.stride, self.stride)
    }

    /// The parts from one on, to be written.
    pub(super) fn view_mut(&mut self, part: usize) -> ViewMut<'_, B::Buffer<W>> {
        self.seed = None;
        self.words.view_mut(part * self.stride, self.stride)
    }

    /// A copy with memory of its own.
    ///
    /// # Errors
    /// What the backend reports.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let secret = ckks.keygen().secret_key()?;
    /// let ciphertext = ckks.encrypt_secret(&ckks.encode_real(&[1.0])?, &secret)?;
    /// assert_eq!(ciphertext.copy()?.level(), 1);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn copy(&self) -> Result<Self> {
        let mut out = Self::new(&self.context, self.parts, self.level, self.scale.clone(), self.slots)?;
        let context = &self.context;
        let limbs = context.limbs(self.level);
        context.backend.rns_copy(&context.plan, limbs, self.parts, self.view(0), out.view_mut(0))?;
        out.seed = self.seed;
        Ok(out)
    }

    /// The same at a lower level: primes are left out, nothing is computed or copied, and the scale stays.
    ///
    /// # Errors
    /// `LevelMismatch` where the level is higher than the ciphertext's.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 2)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let secret = ckks.keygen().secret_key()?;
    /// let mut ciphertext = ckks.encrypt_secret(&ckks.encode_real(&[1.0])?, &secret)?;
    /// ciphertext.drop_to_level(0)?;
    /// assert!(ciphertext.drop_to_level(1).is_err());
    /// assert!((ckks.decode_real(&ckks.decrypt(&ciphertext, &secret)?)?[0] - 1.0).abs() < 1e-6);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn drop_to_level(&mut self, level: usize) -> Result<()> {
        if level > self.level {
            let (expected, got) = (self.level, level);
            return Err(super::Error::LevelMismatch { operation: "drop_to_level", expected, got });
        }
        self.context.check_scale("drop_to_level", Some(self.scale.clone()), level)?;
        self.level = level;
        Ok(())
    }
}

impl<B: RnsMul<W>, W: Word> Plaintext<B, W> {
    /// Its level.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Its scale.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// Slots of its packing.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Its polynomial, as often as wanted.
    pub(super) fn view(&self) -> View<'_, B::Buffer<W>> {
        View::new(&self.words).every(0)
    }
}
