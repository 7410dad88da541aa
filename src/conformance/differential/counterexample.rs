//! A wrong product, told.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::arith::Word;
use crate::backend::ReferencePlan;
use crate::ring::RingSpec;

/// What a function under test did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// A coefficient is wrong, the first such one.
    Wrong {
        /// Its index.
        coefficient: usize,
        /// The function's value.
        got: u64,
        /// The right value in `[0, q)`.
        expected: u64,
    },
    /// The result has the wrong number of coefficients.
    Length {
        /// The function's number.
        got: usize,
        /// `N`.
        expected: usize,
    },
    /// The function panicked, with this message.
    Panicked(String),
}

/// Two factors whose product is wrong, as small as a search could make them. `Debug` prints the message too, because
/// that is what a test shows.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct Counterexample<W: Word> {
    /// The ring.
    pub ring: String,
    /// The modulus.
    pub q: u64,
    /// The first factor.
    pub a: Vec<W>,
    /// The second factor.
    pub b: Vec<W>,
    /// What the function made of them.
    pub outcome: Outcome,
    /// Products that the search took.
    pub products: u64,
}

impl<W: Word> Counterexample<W> {
    pub(super) fn new(a: Vec<W>, b: Vec<W>, outcome: Outcome, products: u64) -> Self {
        Self { ring: String::new(), q: 0, a, b, outcome, products }
    }

    /// Names the ring, and makes sure by definition that not karat is wrong.
    pub(super) fn confirmed(mut self, ring: &RingSpec, oracle: &ReferencePlan) -> Self {
        (self.ring, self.q) = (alloc::format!("{ring}"), ring.q());
        if let Outcome::Wrong { coefficient, expected, .. } = self.outcome {
            let widen = |words: &[W]| words.iter().map(|word| word.to_u64()).collect::<Vec<_>>();
            let by_definition = oracle.coefficient(&widen(&self.a), &widen(&self.b), coefficient);
            assert_eq!(by_definition, Ok(expected), "karat itself is wrong here, please report it: {self}");
        }
        self
    }
}

impl<W: Word> fmt::Display for Counterexample<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.ring)?;
        match &self.outcome {
            Outcome::Wrong { coefficient, got, expected } => {
                write!(f, "coefficient {coefficient} is {got}, should be {expected}")?;
                if *got >= self.q && got % self.q == *expected {
                    write!(f, " (equal modulo q: a final reduction is missing)")?;
                }
            }
            Outcome::Length { got, expected } => {
                write!(f, "the result has {got} coefficients, should have {expected}")?
            }
            Outcome::Panicked(message) => write!(f, "the function panicked: {message}")?,
        }
        write!(f, "\n  a = {}\n  b = {}", Polynomial(&self.a), Polynomial(&self.b))?;
        write!(f, "\n  (the smallest that {} products found)", self.products)
    }
}

impl<W: Word> fmt::Debug for Counterexample<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A polynomial by its terms, lowest degree first; long ones are cut.
struct Polynomial<'a, W>(&'a [W]);

impl<W: Word> fmt::Display for Polynomial<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 16;
        let terms = || self.0.iter().enumerate().filter(|(_, c)| **c != W::ZERO);
        for (count, (exponent, c)) in terms().take(SHOWN).enumerate() {
            let plus = if count > 0 { " + " } else { "" };
            match exponent {
                0 => write!(f, "{plus}{c}")?,
                1 => write!(f, "{plus}{c}x")?,
                _ => write!(f, "{plus}{c}x^{exponent}")?,
            }
        }
        match terms().count() {
            0 => write!(f, "0"),
            count if count > SHOWN => write!(f, " + ... ({count} terms)"),
            _ => Ok(()),
        }
    }
}
