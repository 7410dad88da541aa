//! Rotations, conjugation, and what is made of them.

use super::Evaluator;
use crate::arith::Word;
use crate::ckks::context::Pooled;
use crate::ckks::keys::plan_inner_sum_steps;
use crate::ckks::{Ciphertext, Error, Result};
use crate::rns::{RnsMul, galois};

impl<B: RnsMul<W>, W: Word> Evaluator<'_, B, W> {
    /// Rotates the slots by `step` to the left: slot `j` of the result is slot `j + step`. Negative steps go to the
    /// right.
    ///
    /// # Errors
    /// `MissingKey`, which names the Galois element; `Parts` for a product that was not relinearised; `Foreign`.
    pub fn rotate(&self, a: &Ciphertext<B, W>, step: i64) -> Result<Ciphertext<B, W>> {
        self.automorphism("rotate", a, self.rotation(a, step))
    }

    /// Conjugates all slots.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Complex64, KeyPlan, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let mut keygen = ckks.keygen();
    /// let secret = keygen.secret_key()?;
    /// let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).conjugation())?;
    /// let x = ckks.encrypt_secret(&ckks.encode(&[Complex64::new(1.0, 2.0)])?, &secret)?;
    /// let y = ckks.evaluator(&keys)?.conjugate(&x)?;
    /// assert!((ckks.decode(&ckks.decrypt(&y, &secret)?)?[0] - Complex64::new(1.0, -2.0)).norm() < 1e-6);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn conjugate(&self, a: &Ciphertext<B, W>) -> Result<Ciphertext<B, W>> {
        self.automorphism("conjugate", a, 2 * self.context.parameters.n() as u32 - 1)
    }

    /// The Galois element of a rotation; 1 where it moves nothing in the ciphertext's packing.
    fn rotation(&self, a: &Ciphertext<B, W>, step: i64) -> u32 {
        if step.rem_euclid(a.slots as i64) == 0 { 1 } else { galois::rotation(step, self.context.parameters.n()) }
    }

    fn automorphism(&self, operation: &'static str, a: &Ciphertext<B, W>, element: u32) -> Result<Ciphertext<B, W>> {
        self.two_parts(operation, a)?;
        if element == 1 {
            return self.dropped_to(a, a.level);
        }
        self.keys.galois(element)?;
        let digits = self.mod_up(a.level, a.view(1))?;
        self.automorphism_of_digits(a, &digits, element)
    }

    /// The automorphism of a ciphertext whose second part lies there in digits.
    fn automorphism_of_digits(
        &self,
        a: &Ciphertext<B, W>,
        digits: &Pooled<B, W>,
        element: u32,
    ) -> Result<Ciphertext<B, W>> {
        let key = self.keys.galois(element)?;
        let mut out = Ciphertext::new(&self.context, 2, a.level, a.scale.clone(), a.slots)?;
        self.switch(a, 1, digits, Some(element), key, &mut out)?;
        Ok(out)
    }

    /// Several rotations of one ciphertext; its digits are made once for all (Halevi and Shoup, *Faster homomorphic
    /// linear transformations in HElib*, 2018).
    ///
    /// # Errors
    /// As [`Evaluator::rotate`].
    ///
    /// ```
    /// # use karat::ckks::{Ckks, KeyPlan, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let mut keygen = ckks.keygen();
    /// let secret = keygen.secret_key()?;
    /// let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).rotations(&[1, 2]))?;
    /// let x = ckks.encrypt_secret(&ckks.encode_real(&[1.0, 2.0, 3.0, 4.0])?, &secret)?;
    /// let rotated = ckks.evaluator(&keys)?.rotate_hoisted(&x, &[0, 1, 2])?;
    /// assert!((ckks.decode_real(&ckks.decrypt(&rotated[2], &secret)?)?[0] - 3.0).abs() < 1e-6);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn rotate_hoisted(&self, a: &Ciphertext<B, W>, steps: &[i64]) -> Result<Vec<Ciphertext<B, W>>> {
        self.two_parts("rotate_hoisted", a)?;
        let elements: Vec<u32> = steps.iter().map(|step| self.rotation(a, *step)).collect();
        for element in elements.iter().filter(|element| **element != 1) {
            self.keys.galois(*element)?;
        }
        let digits = match elements.iter().all(|element| *element == 1) {
            true => None,
            false => Some(self.mod_up(a.level, a.view(1))?),
        };
        let rotated = |element: u32| match &digits {
            Some(digits) if element != 1 => self.automorphism_of_digits(a, digits, element),
            _ => self.dropped_to(a, a.level),
        };
        elements.into_iter().map(rotated).collect()
    }

    /// The sum of `count` rotations by `0, stride, 2·stride, ...`: with a stride of 1 each slot becomes the sum of
    /// itself and its `count - 1` neighbours to the right. [`KeyPlan::inner_sum`](crate::ckks::KeyPlan::inner_sum) says
    /// which keys it needs.
    ///
    /// # Errors
    /// As [`Evaluator::rotate`], and `Argument` where `count` is 0.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, KeyPlan, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let mut keygen = ckks.keygen();
    /// let secret = keygen.secret_key()?;
    /// let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).inner_sum(1, 3))?;
    /// let x = ckks.encrypt_secret(&ckks.encode_real(&[1.0, 2.0, 3.0, 4.0])?, &secret)?;
    /// let sums = ckks.evaluator(&keys)?.inner_sum(&x, 1, 3)?;
    /// assert!((ckks.decode_real(&ckks.decrypt(&sums, &secret)?)?[1] - 9.0).abs() < 1e-6);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn inner_sum(&self, a: &Ciphertext<B, W>, stride: usize, count: usize) -> Result<Ciphertext<B, W>> {
        self.two_parts("inner_sum", a)?;
        if count == 0 {
            return Err(Error::Argument("an inner sum has one term at least".into()));
        }
        // As plan_inner_sum_steps: `power` holds sums of 2^i terms.
        let mut steps = plan_inner_sum_steps(stride, count).into_iter();
        let mut next = || steps.next().unwrap_or(0);
        let mut power = self.dropped_to(a, a.level)?;
        let mut sum: Option<Ciphertext<B, W>> = None;
        let mut rest = count;
        while rest > 0 {
            if rest & 1 == 1 {
                let term = self.rotate(&power, next())?;
                sum = Some(match sum {
                    Some(sum) => self.add(&sum, &term)?,
                    None => term,
                });
            }
            rest >>= 1;
            if rest > 0 {
                power = self.add(&power, &self.rotate(&power, next())?)?;
            }
        }
        sum.ok_or_else(|| Error::Argument("an inner sum has one term at least".into()))
    }
}
