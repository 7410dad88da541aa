//! Encoding and decoding with a context.

use zeroize::Zeroizing;

use super::encoder::{Integers, Work, quantise, to_values};
use super::scale::Scale;
use super::{Ckks, Complex64, Error, Plaintext, Result};
use crate::arith::Word;
use crate::rns::{RnsMul, View, ViewMut};

impl<B: RnsMul<W>, W: Word> Ckks<B, W> {
    /// Encodes complex numbers, one a slot, at the highest level and the default scale. Their number is rounded up to
    /// a power of two with zeros.
    ///
    /// # Errors
    /// `Slots` for more than N/2 values or none, `NotFinite`, `TooLarge`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Complex64, Error, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let plaintext = ckks.encode(&[Complex64::new(0.5, -2.0); 3])?;
    /// assert_eq!(plaintext.slots(), 4);
    /// assert!((ckks.decode(&plaintext)?[2] - Complex64::new(0.5, -2.0)).norm() < 1e-9);
    /// assert!(matches!(ckks.encode(&[Complex64::new(1e308, 0.0)]), Err(Error::TooLarge { .. })));
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn encode(&self, values: &[Complex64]) -> Result<Plaintext<B, W>> {
        self.encode_at(values, self.parameters.max_level(), &self.parameters.default_scale())
    }

    /// As [`Ckks::encode`], for real numbers.
    pub fn encode_real(&self, values: &[f64]) -> Result<Plaintext<B, W>> {
        let values = Work(values.iter().map(|value| Complex64::new(*value, 0.0)).collect());
        self.encode(&values.0)
    }

    /// As [`Ckks::encode`], at a level and a scale.
    ///
    /// # Errors
    /// As [`Ckks::encode`], and `LevelMismatch` for a level that does not exist.
    pub fn encode_at(&self, values: &[Complex64], level: usize, scale: &Scale) -> Result<Plaintext<B, W>> {
        let most = self.parameters.slots();
        if values.is_empty() || values.len() > most {
            return Err(Error::Slots { got: values.len(), most });
        }
        let slots = values.len().next_power_of_two();
        let coefficients = Zeroizing::new(self.encoder.embed(values, slots)?);
        self.encode_polynomial(&coefficients, slots, level, scale)
    }

    /// Encodes real numbers as the coefficients of a polynomial, lowest degree first, with zeros up to N.
    ///
    /// # Errors
    /// `Slots` for more than N values, `NotFinite`, `TooLarge`, `LevelMismatch`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let plaintext = ckks.encode_coefficients(&[0.25, -3.0], 1, &ckks.parameters().scale(40))?;
    /// assert_eq!(ckks.decode_coefficients(&plaintext)?[..3], [0.25, -3.0, 0.0]);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn encode_coefficients(&self, values: &[f64], level: usize, scale: &Scale) -> Result<Plaintext<B, W>> {
        let n = self.parameters.n();
        if values.len() > n {
            return Err(Error::Slots { got: values.len(), most: n });
        }
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { index });
        }
        let mut coefficients = Zeroizing::new(vec![0.0; n]);
        coefficients[..values.len()].copy_from_slice(values);
        self.encode_polynomial(&coefficients, n / 2, level, scale)
    }

    fn encode_polynomial(
        &self,
        coefficients: &[f64],
        slots: usize,
        level: usize,
        scale: &Scale,
    ) -> Result<Plaintext<B, W>> {
        self.check_level("encode", level)?;
        let scale = self.check_scale("encode", Some(scale.clone()), level)?;
        let integers = quantise(coefficients, &scale, self.parameters.log_q(level))?;
        let words = self.upload_integers(&[integers], self.limbs(level))?;
        Ok(Plaintext { context: self.clone(), words, level, scale, slots })
    }

    /// Polynomials with these coefficients, in the NTT domain, in memory that is erased.
    pub(super) fn upload_integers(&self, polynomials: &[Integers], limbs: crate::rns::Limbs) -> Result<B::Buffer<W>> {
        let primes = self.primes(limbs);
        let len = primes.len() * self.parameters.n();
        let mut residues = Zeroizing::new(vec![W::ZERO; polynomials.len() * len]);
        for (integers, residues) in polynomials.iter().zip(residues.chunks_exact_mut(len)) {
            integers.residues_to(&primes, residues);
        }
        let mut words = self.secret_memory(polynomials.len() * limbs.count())?;
        self.backend.upload(&residues, &mut words)?;
        self.backend.rns_ntt(&self.plan, limbs, polynomials.len(), ViewMut::new(&mut words))?;
        Ok(words)
    }

    /// The slots of a plaintext. Values to be published need [`Ckks::decode_to_publish`] instead.
    ///
    /// # Errors
    /// `Foreign`, or what the backend reports.
    pub fn decode(&self, plaintext: &Plaintext<B, W>) -> Result<Vec<Complex64>> {
        let coefficients = Zeroizing::new(self.decode_coefficients(plaintext)?);
        self.encoder.to_slots(&coefficients, plaintext.slots)
    }

    /// The real parts of the slots.
    pub fn decode_real(&self, plaintext: &Plaintext<B, W>) -> Result<Vec<f64>> {
        let values = Work(self.decode(plaintext)?);
        Ok(values.0.iter().map(|value| value.re).collect())
    }

    /// The coefficients of a plaintext's polynomial over its scale, `[N]`.
    ///
    /// # Errors
    /// `Foreign`, or what the backend reports.
    pub fn decode_coefficients(&self, plaintext: &Plaintext<B, W>) -> Result<Vec<f64>> {
        self.own("plaintext", &plaintext.context)?;
        let limbs = self.limbs(plaintext.level);
        let mut scratch = self.secret_memory(limbs.count())?;
        let source = View::new(&plaintext.words);
        self.backend.rns_intt_from(&self.plan, limbs, 1, source, ViewMut::new(&mut scratch))?;
        let mut words = Zeroizing::new(vec![W::ZERO; limbs.count() * self.parameters.n()]);
        self.backend.download(&scratch, &mut words)?;
        Ok(to_values(&words, &self.primes(limbs), &plaintext.scale))
    }
}
