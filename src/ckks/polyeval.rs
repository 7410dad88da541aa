//! Evaluation of polynomials with the least depth (Paterson and Stockmeyer 1973; in the Chebyshev basis Han and Ki 2020).
//!
//! A polynomial of degree below `2^D` is split as `q·B_m + r` at `m = 2^(D-1)`; `q` and `r` are evaluated the same way.
//! What is small enough is a sum of basis elements with scalars. Every part is asked for at one level and one scale,
//! exactly: scalars are encoded at the quotient of that scale and the element's, so nothing is ever corrected, and sums
//! are made before products are relinearised and rescaled.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::evaluator::{Evaluator, Mode};
use super::polynomial::{depth, split};
use super::scale::Scale;
use super::{Basis, Ciphertext, Error, Polynomial, Result};
use crate::arith::Word;
use crate::rns::{RnsMul, Scalar};

/// The elements of a basis at an encrypted point, made when first used and kept: for several polynomials at one point.
pub struct Powers<B: RnsMul<W>, W: Word = u64> {
    basis: Basis,
    /// Level of the point.
    level: usize,
    elements: Mutex<BTreeMap<usize, Arc<Ciphertext<B, W>>>>,
}

impl<B: RnsMul<W>, W: Word> core::fmt::Debug for Powers<B, W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Powers({:?}, level {}, {} made)", self.basis, self.level, self.lock().len())
    }
}

impl<B: RnsMul<W>, W: Word> Powers<B, W> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<Ciphertext<B, W>>>> {
        self.elements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a polynomial is cut: elements below `2^log_baby` have scalars, all others are powers of two.
#[derive(Clone, Copy)]
struct Cut {
    log_baby: usize,
}

impl Cut {
    /// The cut with the fewest products of ciphertexts.
    fn best(degree: usize) -> Self {
        let cost = |log_baby: usize| {
            let babies = (1usize << log_baby) - 1 - log_baby;
            babies + Self { log_baby }.splits(degree, depth(degree))
        };
        let log_baby = (1..=depth(degree).max(1)).min_by_key(|log| cost(*log)).unwrap_or(1);
        Self { log_baby }
    }

    /// Whether a polynomial of a degree, to be ready after `budget` levels, is a sum with scalars.
    fn is_sum(self, degree: usize, budget: usize) -> bool {
        // The element of that degree is ready after depth(degree - 1) levels.
        degree < 1 << self.log_baby && (degree == 0 || depth(degree - 1) < budget)
    }

    /// Products that splitting takes.
    fn splits(self, degree: usize, budget: usize) -> usize {
        if self.is_sum(degree, budget) {
            return 0;
        }
        let m = 1 << degree.ilog2();
        1 + self.splits(degree - m, budget - 1) + self.splits(m - 1, budget)
    }
}

impl<B: RnsMul<W>, W: Word> Evaluator<'_, B, W> {
    /// `p(a)` in every slot, relinearised and rescaled in both modes, [`Polynomial::depth`] levels lower. In automatic
    /// mode the result has its level's scale, in manual mode that of the operand.
    ///
    /// # Errors
    /// `LevelExhausted` where the depth is more than the level, before anything is computed; `MissingKey`, `Parts`,
    /// `TooLarge`, `ScaleExhausted`, `Foreign`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, KeyPlan, Literal, Polynomial, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 2)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let mut keygen = ckks.keygen();
    /// let secret = keygen.secret_key()?;
    /// let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).relinearisation())?;
    /// let x = ckks.encrypt_secret(&ckks.encode_real(&[0.5])?, &secret)?;
    /// let p = Polynomial::monomial(vec![1.0, -0.5, 0.25, 2.0])?;
    /// let y = ckks.evaluator(&keys)?.polynomial(&x, &p)?;
    /// assert!((ckks.decode_real(&ckks.decrypt(&y, &secret)?)?[0] - p.value(0.5)).abs() < 1e-6);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn polynomial(&self, a: &Ciphertext<B, W>, p: &Polynomial) -> Result<Ciphertext<B, W>> {
        self.two_parts("polynomial", a)?;
        let needed = p.depth();
        if needed > a.level {
            return Err(Error::LevelExhausted { operation: "polynomial", needed, level: a.level });
        }
        let (factor, summand) = p.map();
        if p.degree() == 0 || (factor, summand) == (1.0, 0.0) {
            return self.polynomial_of(&self.powers(a, p.basis())?, p);
        }
        let mut mapped = self.multiply_scalar(a, factor)?;
        if self.mode() == Mode::Manual && factor.fract() != 0.0 {
            mapped = self.rescale(&mapped)?;
        }
        let mapped = self.add_scalar(&mapped, summand)?;
        self.polynomial_of(&self.powers(&mapped, p.basis())?, p)
    }

    /// The elements of a basis at a point, in Chebyshev's basis a point of `[-1, 1]`.
    ///
    /// # Errors
    /// `Parts`, `Foreign`, or what the backend reports.
    pub fn powers(&self, a: &Ciphertext<B, W>, basis: Basis) -> Result<Powers<B, W>> {
        self.two_parts("powers", a)?;
        let elements = BTreeMap::from([(1, Arc::new(a.copy()?))]);
        Ok(Powers { basis, level: a.level, elements: Mutex::new(elements) })
    }

    /// As [`Evaluator::polynomial`], at a point whose powers are kept; an interval is not mapped.
    ///
    /// # Errors
    /// As [`Evaluator::polynomial`], and `Argument` for another basis.
    ///
    /// ```
    /// # use karat::ckks::{Basis, Ckks, KeyPlan, Literal, Polynomial, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 2)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let mut keygen = ckks.keygen();
    /// let secret = keygen.secret_key()?;
    /// let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).relinearisation())?;
    /// let evaluator = ckks.evaluator(&keys)?;
    /// let x = ckks.encrypt_secret(&ckks.encode_real(&[0.5])?, &secret)?;
    /// let powers = evaluator.powers(&x, Basis::Monomial)?;
    /// for coefficients in [vec![0.0, 1.0, 1.0], vec![1.0, 0.0, 0.0, 1.0]] {
    ///     let p = Polynomial::monomial(coefficients)?;
    ///     let y = evaluator.polynomial_of(&powers, &p)?;
    ///     assert!((ckks.decode_real(&ckks.decrypt(&y, &secret)?)?[0] - p.value(0.5)).abs() < 1e-6);
    /// }
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn polynomial_of(&self, powers: &Powers<B, W>, p: &Polynomial) -> Result<Ciphertext<B, W>> {
        if powers.basis != p.basis() {
            return Err(Error::Argument(format!("a polynomial in {:?} at {powers:?}", p.basis())));
        }
        let needed = depth(p.degree());
        if needed > powers.level {
            return Err(Error::LevelExhausted { operation: "polynomial", needed, level: powers.level });
        }
        let point = self.element(powers, 1)?;
        if needed == 0 {
            let zero = self.scaled("polynomial", &point, point.level, 0.0, &self.context().parameters().scale(0))?;
            return self.add_scalar(&zero, p.coefficients()[0]);
        }
        let level = powers.level - needed;
        let wanted = match self.mode() {
            Mode::Automatic => self.context().automatic_scale(level)?,
            Mode::Manual => point.scale.clone(),
        };
        let cut = Cut::best(p.degree());
        self.part(powers, cut, p.coefficients(), level, &wanted)
    }

    /// A part at exactly a level and a scale.
    fn part(
        &self,
        powers: &Powers<B, W>,
        cut: Cut,
        p: &[f64],
        level: usize,
        scale: &Scale,
    ) -> Result<Ciphertext<B, W>> {
        let above = scale.shifted(self.context().parameters().dropped(level + 1), 1);
        let above = self.context().check_scale("polynomial", above, level + 1)?;
        let sum = self.raised(powers, cut, p, level + 1, &above)?;
        let sum = if sum.parts == 3 { self.relinearise(&sum)? } else { sum };
        self.rescale(&sum)
    }

    /// A part at a scale that is to be rescaled yet; a product is not relinearised.
    fn raised(
        &self,
        powers: &Powers<B, W>,
        cut: Cut,
        p: &[f64],
        level: usize,
        scale: &Scale,
    ) -> Result<Ciphertext<B, W>> {
        let degree = p.len() - 1;
        let budget = powers.level + 1 - level;
        if cut.is_sum(degree, budget) {
            return self.weighted(powers, p, level, scale);
        }
        let m = 1 << degree.ilog2();
        let (q, r) = split(powers.basis, p, m);
        let element = self.element(powers, m)?;
        let factor = scale.over(&element.scale);
        let factor = self.context().check_scale("polynomial", factor, level)?;
        if q.len() == 1 {
            // A number times the element: one more term of the sum.
            let mut terms = r;
            terms.resize(m + 1, 0.0);
            terms[m] = q[0];
            if cut.is_sum(m - 1, budget) {
                return self.weighted(powers, &terms, level, scale);
            }
            let product = self.scaled("polynomial", &element, level, q[0], &factor)?;
            terms.pop();
            let rest = self.raised(powers, cut, &trimmed(terms), level, scale)?;
            return self.add_parts(&product, &rest);
        }
        let quotient = self.part(powers, cut, &q, level, &factor)?;
        let product = self.tensor("polynomial", &quotient, &element)?;
        let rest = self.raised(powers, cut, &r, level, scale)?;
        self.add_parts(&product, &rest)
    }

    /// The sum of two parts of one level and scale.
    fn add_parts(&self, a: &Ciphertext<B, W>, b: &Ciphertext<B, W>) -> Result<Ciphertext<B, W>> {
        debug_assert!(a.level == b.level && a.scale == b.scale);
        self.add(a, b)
    }

    /// The sum of elements with scalars, at a level and a scale that is to be rescaled yet.
    fn weighted(&self, powers: &Powers<B, W>, p: &[f64], level: usize, scale: &Scale) -> Result<Ciphertext<B, W>> {
        let context = self.context();
        let (backend, plan, limbs) = (&context.backend, &context.plan, context.limbs(level));
        let point = self.element(powers, 1)?;
        let mut sum = Ciphertext::new(context, 2, level, scale.clone(), point.slots)?;
        let mut op = Scalar::Mul;
        let terms = p.iter().enumerate().skip(1).filter(|(_, c)| **c != 0.0);
        // Without a term, zero times the point.
        let none = p[1..].iter().all(|c| *c == 0.0).then_some((1, &0.0));
        for (i, c) in terms.chain(none) {
            let element = self.element(powers, i)?;
            let factor = context.check_scale("polynomial", scale.over(&element.scale), level)?;
            let scalars = self.scalar(*c, &factor, level)?;
            backend.rns_scalar(plan, limbs, 2, op, &scalars, element.view(0), sum.view_mut(0))?;
            op = Scalar::MulAdd;
        }
        if p[0] != 0.0 {
            self.add_real_in_place(&mut sum, p[0])?;
        }
        Ok(sum)
    }

    /// An element of the basis: the product of two of half its degree.
    fn element(&self, powers: &Powers<B, W>, degree: usize) -> Result<Arc<Ciphertext<B, W>>> {
        if let Some(element) = powers.lock().get(&degree) {
            return Ok(Arc::clone(element));
        }
        let (a, b) = (degree.div_ceil(2), degree / 2);
        let (low, high) = (self.element(powers, b)?, self.element(powers, a)?);
        let mut product = self.tensor("polynomial", &high, &low)?;
        if powers.basis == Basis::Chebyshev {
            // T_(a+b) = 2·T_a·T_b - T_(a-b), a - b being 0 or 1.
            product = self.add(&product, &product)?;
            if a == b {
                self.add_real_in_place(&mut product, -1.0)?;
            } else {
                let point = self.element(powers, 1)?;
                let factor = product.scale.over(&point.scale);
                let factor = self.context().check_scale("polynomial", factor, product.level)?;
                let point = self.scaled("polynomial", &point, product.level, -1.0, &factor)?;
                product = self.add(&product, &point)?;
            }
        }
        let element = Arc::new(self.rescale(&self.relinearise(&product)?)?);
        powers.lock().insert(degree, Arc::clone(&element));
        Ok(element)
    }
}

/// Without leading zeros.
fn trimmed(mut p: Vec<f64>) -> Vec<f64> {
    while p.len() > 1 && p.last() == Some(&0.0) {
        p.pop();
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_take_few_products() {
        // Products of ciphertexts: baby steps, powers of two beyond them, splits. The least depth, with the level that
        // the scalars take, costs one or two more than the fewest products at any depth.
        for (degree, most) in [(3, 2), (7, 5), (15, 8), (31, 13), (63, 18), (127, 27)] {
            let cut = Cut::best(degree);
            let babies = (1usize << cut.log_baby) - 1 - cut.log_baby;
            let products = babies + depth(degree) - 1 + cut.splits(degree, depth(degree));
            assert!(products <= most, "degree {degree}: {products}");
        }
    }
}
