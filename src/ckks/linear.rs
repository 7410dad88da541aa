//! Linear transforms of the slots: matrices by their diagonals, with baby and giant steps.
//!
//! With the diagonals `d_k[j] = M[j][j + k]` a product is `M·z = sum over k of d_k · rot(z, k)`. Writing `k = i·b + j`,
//! the rotations by `j < b` are hoisted, and one rotation remains for each `i` (Halevi and Shoup, *Algorithms in
//! HElib*, 2014): `sum over i of rot(sum over j of rot(d_(ib+j), -ib) · rot(z, j), ib)`.

use std::collections::{BTreeMap, BTreeSet};

use super::evaluator::Evaluator;
use super::scale::Scale;
use super::{Ciphertext, Complex64, Error, KeyPlan, Parameters, Plaintext, Result};
use crate::arith::Word;
use crate::rns::{Combine, RnsMul};

/// A matrix over the slots, as the diagonals that are not zero.
///
/// ```
/// # use karat::ckks::{Ckks, Complex64, LinearTransform, Literal, Prime};
/// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
/// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
/// let row = |a: f64, b: f64| vec![Complex64::new(a, 0.0), Complex64::new(b, 0.0)];
/// let matrix = LinearTransform::from_matrix(&[row(1.0, 2.0), row(3.0, 4.0)])?;
/// let mut keygen = ckks.keygen();
/// let secret = keygen.secret_key()?;
/// let keys = keygen.keys(&secret, &matrix.key_plan(ckks.parameters()))?;
/// let evaluator = ckks.evaluator(&keys)?;
/// let x = ckks.encrypt_secret(&ckks.encode_real(&[1.0, -1.0])?, &secret)?;
/// let y = evaluator.transform(&x, &matrix.prepare(&evaluator, x.level(), x.scale())?)?;
/// let values = ckks.decode_real(&ckks.decrypt(&y, &secret)?)?;
/// assert!((values[0] + 1.0).abs() < 1e-6 && (values[1] + 1.0).abs() < 1e-6);
/// # Ok::<(), karat::ckks::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LinearTransform {
    slots: usize,
    diagonals: BTreeMap<usize, Vec<Complex64>>,
    /// The baby steps' count, a power of two.
    baby: usize,
}

impl LinearTransform {
    /// From diagonals: their numbers, taken modulo `slots`, and `slots` values each. Repeated numbers add up.
    ///
    /// # Errors
    /// `Slots` unless `slots` is a power of two; `Argument` without a diagonal, or for one of another length.
    pub fn from_diagonals(slots: usize, diagonals: impl IntoIterator<Item = (i64, Vec<Complex64>)>) -> Result<Self> {
        if !slots.is_power_of_two() {
            return Err(Error::Slots { got: slots, most: slots.next_power_of_two() });
        }
        let mut all: BTreeMap<usize, Vec<Complex64>> = BTreeMap::new();
        for (index, values) in diagonals {
            if values.len() != slots {
                return Err(Error::Argument(format!(
                    "diagonal {index} has {} values where there are {slots} slots",
                    values.len()
                )));
            }
            let sum =
                all.entry(index.rem_euclid(slots as i64) as usize).or_insert_with(|| vec![Complex64::default(); slots]);
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        if all.is_empty() {
            return Err(Error::Argument("a linear transform needs a diagonal".into()));
        }
        let rotations = |baby: usize| {
            let count = |part: &dyn Fn(&usize) -> usize| {
                all.keys().map(part).filter(|step| *step != 0).collect::<BTreeSet<_>>().len()
            };
            count(&|k| k % baby) + count(&|k| k / baby)
        };
        let powers = (0..=slots.trailing_zeros()).map(|log| 1usize << log);
        let baby = powers.min_by_key(|baby| rotations(*baby)).unwrap_or(1);
        Ok(Self { slots, diagonals: all, baby })
    }

    /// From the rows of a square matrix; diagonals of zeros are left out.
    ///
    /// # Errors
    /// `Slots` unless there are a power of two of rows, `Argument` unless all are as long, or for the zero matrix.
    pub fn from_matrix(rows: &[Vec<Complex64>]) -> Result<Self> {
        let slots = rows.len();
        if let Some(row) = rows.iter().find(|row| row.len() != slots) {
            return Err(Error::Argument(format!("a row of {} values in a matrix of {slots} rows", row.len())));
        }
        let diagonal = |k: usize| (0..slots).map(|j| rows[j][(j + k) % slots]).collect::<Vec<_>>();
        let diagonals = (0..slots).map(|k| (k as i64, diagonal(k)));
        Self::from_diagonals(slots, diagonals.filter(|(_, values)| values.iter().any(|v| *v != Complex64::default())))
    }

    /// Slots that it maps.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The rotations that it takes: hoisted ones, and one behind the other.
    ///
    /// ```
    /// use karat::ckks::{Complex64, LinearTransform};
    /// let ones = vec![Complex64::new(1.0, 0.0); 16];
    /// let all = LinearTransform::from_diagonals(16, (0..16).map(|k| (k, ones.clone())))?;
    /// assert_eq!(all.rotations(), (vec![1, 2, 3], vec![4, 8, 12]));
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn rotations(&self) -> (Vec<i64>, Vec<i64>) {
        let steps = |part: &dyn Fn(&usize) -> usize| {
            let steps: BTreeSet<usize> = self.diagonals.keys().map(part).filter(|step| *step != 0).collect();
            steps.into_iter().map(|step| step as i64).collect::<Vec<_>>()
        };
        (steps(&|k| k % self.baby), steps(&|k| k - k % self.baby))
    }

    /// The keys that it needs.
    pub fn key_plan(&self, parameters: &Parameters) -> KeyPlan {
        let (baby, giant) = self.rotations();
        KeyPlan::new(parameters).rotations(&baby).rotations(&giant)
    }

    /// Encodes the diagonals for ciphertexts of a level and scale.
    ///
    /// # Errors
    /// `LevelExhausted` at level 0, and those of encoding.
    pub fn prepare<B: RnsMul<W>, W: Word>(
        &self,
        evaluator: &Evaluator<'_, B, W>,
        level: usize,
        scale: &Scale,
    ) -> Result<PreparedTransform<B, W>> {
        let context = evaluator.context();
        context.check_level("prepare", level)?;
        let factor = evaluator.factor_scale("prepare", level, scale)?;
        let mut giants: Giants<B, W> = BTreeMap::new();
        for (k, values) in &self.diagonals {
            let (giant, baby) = (k - k % self.baby, k % self.baby);
            // Rotated back, so that the giant step puts it into its place.
            let values: Vec<_> = (0..self.slots).map(|j| values[(j + self.slots - giant) % self.slots]).collect();
            let plaintext = context.encode_at(&values, level, &factor)?;
            giants.entry(giant).or_default().push((baby as i64, plaintext));
        }
        Ok(PreparedTransform { slots: self.slots, level, giants })
    }
}

/// For each giant step the baby steps with their diagonals.
type Giants<B, W> = BTreeMap<usize, Vec<(i64, Plaintext<B, W>)>>;

/// A linear transform whose diagonals are encoded for one level.
pub struct PreparedTransform<B: RnsMul<W>, W: Word = u64> {
    slots: usize,
    level: usize,
    giants: Giants<B, W>,
}

impl<B: RnsMul<W>, W: Word> core::fmt::Debug for PreparedTransform<B, W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "PreparedTransform({} slots, level {})", self.slots, self.level)
    }
}

impl<B: RnsMul<W>, W: Word> Evaluator<'_, B, W> {
    /// Applies a linear transform and rescales, in both modes: one level.
    ///
    /// # Errors
    /// `LevelMismatch` unless it was prepared for the ciphertext's level, `LevelExhausted`, `Packing`, `MissingKey`,
    /// `Parts`, `Foreign`.
    pub fn transform(&self, a: &Ciphertext<B, W>, transform: &PreparedTransform<B, W>) -> Result<Ciphertext<B, W>> {
        let operation = "transform";
        self.two_parts(operation, a)?;
        self.same_packing(operation, a.slots, transform.slots)?;
        self.can_rescale(operation, a.level)?;
        if a.level != transform.level {
            return Err(Error::LevelMismatch { operation, expected: transform.level, got: a.level });
        }
        let steps: BTreeSet<i64> = transform.giants.values().flatten().map(|(baby, _)| *baby).collect();
        let steps: Vec<i64> = steps.into_iter().collect();
        let rotated = self.rotate_hoisted(a, &steps)?;
        let rotated: BTreeMap<i64, &Ciphertext<B, W>> = steps.iter().copied().zip(&rotated).collect();
        let mut sum: Option<Ciphertext<B, W>> = None;
        for (giant, terms) in &transform.giants {
            let inner = self.weighted_sum(operation, terms.iter().map(|(baby, p)| (rotated[baby], p)))?;
            let inner = self.rotate(&inner, *giant as i64)?;
            sum = Some(match sum {
                None => inner,
                Some(sum) => self.add(&sum, &inner)?,
            });
        }
        self.rescale(&sum.ok_or_else(|| Error::Argument("a linear transform needs a diagonal".into()))?)
    }

    /// The sum of products of ciphertexts and plaintexts, not rescaled; all of one level and scale.
    fn weighted_sum<'c>(
        &self,
        operation: &'static str,
        terms: impl Iterator<Item = (&'c Ciphertext<B, W>, &'c Plaintext<B, W>)>,
    ) -> Result<Ciphertext<B, W>> {
        let context = self.context();
        let (backend, plan) = (&context.backend, &context.plan);
        let mut sum: Option<Ciphertext<B, W>> = None;
        for (a, p) in terms {
            self.plain_fits(operation, a, p)?;
            let limbs = context.limbs(a.level);
            let scale = context.check_scale(operation, a.scale.times(&p.scale), a.level)?;
            let (mut out, op) = match sum {
                None => (Ciphertext::new(context, 2, a.level, scale, a.slots)?, Combine::Mul),
                Some(out) => (out, Combine::MulAdd),
            };
            backend.rns_combine(plan, limbs, 2, op, a.view(0), p.view(), out.view_mut(0))?;
            sum = Some(out);
        }
        sum.ok_or_else(|| Error::Argument("a sum has one term at least".into()))
    }
}
