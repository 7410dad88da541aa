//! Bringing operands together.

use std::ops::Deref;

use super::{Evaluator, Mode};
use crate::arith::Word;
use crate::ckks::encoder::quantise;
use crate::ckks::scale::Scale;
use crate::ckks::{Ciphertext, Error, Result};
use crate::rns::{RnsMul, Scalar, View};

/// A ciphertext as it is, or made to fit.
pub(in crate::ckks) enum Aligned<'a, B: RnsMul<W>, W: Word> {
    /// As it is, seen at a level.
    AsIs(&'a Ciphertext<B, W>),
    /// A new one.
    Made(Box<Ciphertext<B, W>>),
}

impl<B: RnsMul<W>, W: Word> Deref for Aligned<'_, B, W> {
    type Target = Ciphertext<B, W>;

    fn deref(&self) -> &Ciphertext<B, W> {
        match self {
            Self::AsIs(ciphertext) => ciphertext,
            Self::Made(ciphertext) => ciphertext,
        }
    }
}

/// A corrected scale must be this many bits at least: its rounding is part of the result's error.
const LEAST_CORRECTION: f64 = 10.0;

impl<B: RnsMul<W>, W: Word> Evaluator<'_, B, W> {
    /// Both operands at one level with scales that can be added. In manual mode they must have them.
    #[allow(clippy::type_complexity)]
    pub(super) fn align<'c>(
        &self,
        operation: &'static str,
        a: &'c Ciphertext<B, W>,
        b: &'c Ciphertext<B, W>,
    ) -> Result<(Aligned<'c, B, W>, Aligned<'c, B, W>)> {
        self.own(a)?;
        self.own(b)?;
        self.same_packing(operation, a.slots, b.slots)?;
        if self.mode == Mode::Automatic {
            let (higher, lower) = if a.level >= b.level { (a, b) } else { (b, a) };
            if higher.level > lower.level {
                let moved = self.brought_to(operation, higher, lower.level, &lower.scale)?;
                return Ok(match a.level >= b.level {
                    true => (moved, Aligned::AsIs(b)),
                    false => (Aligned::AsIs(a), moved),
                });
            }
        } else if a.level != b.level {
            let (expected, got) = (a.level.min(b.level), a.level.max(b.level));
            return Err(Error::LevelMismatch { operation, expected, got });
        }
        Ok((Aligned::AsIs(a), Aligned::AsIs(b)))
    }

    /// A ciphertext at a lower level with a given scale, exactly: dropped, or multiplied by an integer next to the
    /// quotient of scales and rescaled. The level it costs is one that it has anyway.
    pub(in crate::ckks) fn brought_to<'c>(
        &self,
        operation: &'static str,
        ciphertext: &'c Ciphertext<B, W>,
        level: usize,
        scale: &Scale,
    ) -> Result<Aligned<'c, B, W>> {
        if ciphertext.level == level && ciphertext.scale == *scale {
            return Ok(Aligned::AsIs(ciphertext));
        }
        let mismatch = || Error::ScaleMismatch { operation, left: ciphertext.scale.log2(), right: scale.log2() };
        if ciphertext.scale == *scale {
            return Ok(Aligned::Made(Box::new(self.dropped_to(ciphertext, level)?)));
        }
        if ciphertext.level <= level {
            return Err(mismatch());
        }
        let dropped = self.context.parameters.dropped(level + 1);
        let factor = scale.shifted(dropped, 1).and_then(|product| product.over(&ciphertext.scale));
        let factor = factor.filter(|factor| factor.log2() >= LEAST_CORRECTION).ok_or_else(mismatch)?;
        let raised = self.scaled(operation, ciphertext, level + 1, 1.0, &factor)?;
        Ok(Aligned::Made(Box::new(self.rescale(&raised)?)))
    }

    /// A copy at a lower level.
    pub(in crate::ckks) fn dropped_to(&self, ciphertext: &Ciphertext<B, W>, level: usize) -> Result<Ciphertext<B, W>> {
        let Ciphertext { parts, scale, slots, .. } = ciphertext;
        let mut out = Ciphertext::new(&self.context, *parts, level, scale.clone(), *slots)?;
        let limbs = self.context.limbs(level);
        self.context.backend.rns_copy(&self.context.plan, limbs, *parts, ciphertext.view(0), out.view_mut(0))?;
        Ok(out)
    }

    /// The product with a real number encoded at `factor`, at a level that the ciphertext has; not rescaled.
    pub(in crate::ckks) fn scaled(
        &self,
        operation: &'static str,
        ciphertext: &Ciphertext<B, W>,
        level: usize,
        value: f64,
        factor: &Scale,
    ) -> Result<Ciphertext<B, W>> {
        let scale = self.context.check_scale(operation, ciphertext.scale.times(factor), level)?;
        let scalars = self.scalar(value, factor, level)?;
        let mut out = Ciphertext::new(&self.context, ciphertext.parts, level, scale, ciphertext.slots)?;
        let (limbs, parts) = (self.context.limbs(level), ciphertext.parts);
        let (backend, plan) = (&self.context.backend, &self.context.plan);
        backend.rns_scalar(plan, limbs, parts, Scalar::Mul, &scalars, ciphertext.view(0), out.view_mut(0))?;
        Ok(out)
    }

    /// A real number at a scale, as one residue for each limb of a level.
    ///
    /// # Errors
    /// `NotFinite`, `TooLarge`.
    pub(in crate::ckks) fn scalar(&self, value: f64, scale: &Scale, level: usize) -> Result<Vec<W>> {
        if !value.is_finite() {
            return Err(Error::NotFinite { index: 0 });
        }
        let integer = quantise(&[value], scale, self.context.parameters.log_q(level))?;
        Ok(self.context.scalars(&integer, self.context.limbs(level)))
    }

    /// Adds a real number, encoded at the ciphertext's scale, to all slots in place.
    pub(in crate::ckks) fn add_real_in_place(&self, ciphertext: &mut Ciphertext<B, W>, value: f64) -> Result<()> {
        let scalars = self.scalar(value, &ciphertext.scale, ciphertext.level)?;
        let limbs = self.context.limbs(ciphertext.level);
        let (backend, plan) = (&self.context.backend, &self.context.plan);
        let mut sum = self.context.pooled(limbs.count())?;
        let count = limbs.count();
        backend.rns_scalar(plan, limbs, 1, Scalar::Add, &scalars, ciphertext.view(0), sum.view_mut(0, count))?;
        backend.rns_copy(plan, limbs, 1, sum.view(0, count), ciphertext.view_mut(0))?;
        Ok(())
    }

    /// A plain polynomial seen at a level.
    pub(super) fn shared<'p>(&self, words: &'p B::Buffer<W>) -> View<'p, B::Buffer<W>> {
        View::new(words).every(0)
    }
}
