//! Which keys a computation needs.

use std::collections::BTreeSet;

use crate::ckks::Parameters;
use crate::rns::galois;

/// A list of keys to generate. Parts of a computation add what they need.
///
/// ```
/// use karat::ckks::{KeyPlan, Literal, Prime};
/// let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
/// let plan = KeyPlan::new(&parameters).relinearisation().rotations(&[1, -1, 0]).conjugation();
/// assert_eq!(plan.galois_elements().count(), 3); // a rotation by 0 needs no key
/// # Ok::<(), karat::ckks::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPlan {
    n: usize,
    relinearisation: bool,
    elements: BTreeSet<u32>,
}

impl KeyPlan {
    /// No keys.
    pub fn new(parameters: &Parameters) -> Self {
        Self { n: parameters.n(), relinearisation: false, elements: BTreeSet::new() }
    }

    /// The relinearisation key, for products of ciphertexts.
    pub fn relinearisation(mut self) -> Self {
        self.relinearisation = true;
        self
    }

    /// Rotations by these numbers of slots, to the left; negative ones to the right.
    pub fn rotations(mut self, steps: &[i64]) -> Self {
        self.elements.extend(steps.iter().map(|step| galois::rotation(*step, self.n)).filter(|g| *g != 1));
        self
    }

    /// Complex conjugation of all slots.
    pub fn conjugation(self) -> Self {
        let element = 2 * self.n as u32 - 1;
        self.element(element)
    }

    /// The automorphism `x -> x^element`.
    ///
    /// # Bounds
    /// `element` odd, in `[1, 2N)`; even ones are refused when keys are generated.
    pub fn element(mut self, element: u32) -> Self {
        self.elements.insert(element);
        self
    }

    /// What [`Evaluator::inner_sum`](crate::ckks::Evaluator::inner_sum) needs.
    pub fn inner_sum(self, stride: usize, count: usize) -> Self {
        let steps = inner_sum_steps(stride, count);
        self.rotations(&steps)
    }

    /// What another plan needs as well.
    pub fn and(mut self, other: &Self) -> Self {
        self.relinearisation |= other.relinearisation;
        self.elements.extend(&other.elements);
        self
    }

    /// Whether products are to be relinearised.
    pub fn has_relinearisation(&self) -> bool {
        self.relinearisation
    }

    /// The Galois elements.
    pub fn galois_elements(&self) -> impl Iterator<Item = u32> + '_ {
        self.elements.iter().copied()
    }
}

/// The rotations of an inner sum, by doubling: from sums of `2^i` terms to `2^(i+1)`, and one more for each bit of
/// `count` that is set.
pub(in crate::ckks) fn inner_sum_steps(stride: usize, count: usize) -> Vec<i64> {
    let mut steps = Vec::new();
    let (mut power, mut rest, mut offset) = (1usize, count, 0usize);
    while rest > 0 {
        if rest & 1 == 1 {
            steps.push((offset * stride) as i64);
            offset += power;
        }
        rest >>= 1;
        if rest > 0 {
            steps.push((power * stride) as i64);
        }
        power *= 2;
    }
    steps
}
