//! A backend in one ring, beside the oracle.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::inputs::{Pattern, SplitMix64};
use super::{Failure, Place, Report};
use crate::arith::{Modulus, Word};
use crate::backend::{Reference, ReferencePlan, RingMul};
use crate::context::{Coeff, Public};
use crate::ring::Ring;
use crate::{Error, PolyBatch, Result, RingContext};

/// Products up to this `N` are compared in whole.
pub(super) const WHOLE: usize = 1 << 12;
/// Coefficients of longer ones that are, beside both ends.
const SAMPLES: usize = 64;

/// A batch of public coefficients.
pub(super) type Batch<B, R> = PolyBatch<B, R, Coeff, Public>;

pub(super) struct Subject<B: RingMul<R>, R: Ring> {
    pub ring: RingContext<B, R>,
    pub n: usize,
    pub q: u64,
    pub modulus: Modulus<u64>,
    pub random: SplitMix64,
    place: Box<Place>,
    oracle: RingContext<Reference, R>,
    /// The coefficients that are compared.
    indices: Vec<usize>,
    compared: u64,
}

impl<B: RingMul<R>, R: Ring> Subject<B, R> {
    pub fn new(backend: &B, ring: &R) -> core::result::Result<Self, Failure> {
        let spec = ring.spec();
        let place = Box::new(Place {
            backend: backend.name().to_string(),
            ring: alloc::format!("{spec} in {}-bit words ({})", R::Word::WIDTH, spec.method()),
        });
        let refused =
            |error| Failure::Refused { place: place.clone(), operation: "preparing the ring".to_string(), error };
        let context = RingContext::new(backend.clone(), ring.clone()).map_err(refused)?;
        let oracle = RingContext::new(Reference, ring.clone()).map_err(refused)?;
        let (n, q) = (spec.n(), spec.q());
        let modulus = Modulus::<u64>::new(q).map_err(refused)?;
        let mut random = SplitMix64::new(q ^ (n as u64).rotate_left(32));
        let mut indices: Vec<usize> = if n <= WHOLE {
            (0..n).collect()
        } else {
            (0..SAMPLES).map(|_| random.below(n as u64) as usize).chain([0, n - 1]).collect()
        };
        indices.sort_unstable();
        Ok(Self { ring: context, n, q, modulus, random, place, oracle, indices, compared: 0 })
    }

    pub fn report(&self) -> Report {
        Report { compared: self.compared }
    }

    /// Polynomials of these patterns, one behind the other.
    pub fn fill(&mut self, patterns: impl IntoIterator<Item = Pattern>) -> Vec<R::Word> {
        patterns.into_iter().flat_map(|p| p.coefficients::<R::Word>(self.n, self.q, &mut self.random)).collect()
    }

    pub fn random(&mut self, batch: usize) -> Vec<R::Word> {
        self.fill(core::iter::repeat_n(Pattern::Random, batch))
    }

    pub fn upload(&self, coefficients: &[R::Word]) -> core::result::Result<Batch<B, R>, Failure> {
        self.done("upload", self.ring.upload(coefficients))
    }

    /// The value of an operation that must not fail.
    pub fn done<T>(&self, operation: &str, result: Result<T>) -> core::result::Result<T, Failure> {
        result.map_err(|error| Failure::Refused { place: self.place.clone(), operation: operation.to_string(), error })
    }

    /// Checks that an operation fails with the right error.
    pub fn refuses<T>(
        &mut self,
        operation: &str,
        expected: &'static str,
        result: Result<T>,
        right: impl Fn(&Error) -> bool,
    ) -> core::result::Result<(), Failure> {
        let got = match result {
            Err(error) if right(&error) => {
                self.compared += 1;
                return Ok(());
            }
            Err(error) => alloc::format!("gave: {error}"),
            Ok(_) => "worked".to_string(),
        };
        Err(Failure::Accepted { place: self.place.clone(), operation: operation.to_string(), expected, got })
    }

    /// Sums of `terms` products each, from the oracle, at the compared coefficients: `[batch][indices]`.
    pub fn sums(&self, terms: usize, a: &[R::Word], b: &[R::Word]) -> core::result::Result<Vec<Vec<u64>>, Failure> {
        let mut sums = Vec::new();
        // The worst sums are of one product over and over: what was multiplied last is not multiplied again.
        let (mut last, mut product) = (None, Vec::new());
        for (i, pair) in a.chunks_exact(self.n).zip(b.chunks_exact(self.n)).enumerate() {
            if last != Some(pair) {
                product = self.done("the oracle", self.product(pair.0, pair.1))?;
                last = Some(pair);
            }
            if i % terms == 0 {
                sums.push(product.clone());
            } else if let Some(sums) = sums.last_mut() {
                for (sum, product) in sums.iter_mut().zip(&product) {
                    *sum = self.modulus.add(*sum, *product);
                }
            }
        }
        Ok(sums)
    }

    /// The compared coefficients of a product.
    fn product(&self, a: &[R::Word], b: &[R::Word]) -> Result<Vec<u64>> {
        if self.n <= WHOLE {
            let oracle = &self.oracle;
            return Ok(widen(&oracle.mul(&oracle.upload(a)?, &oracle.upload(b)?)?.download()?));
        }
        let (plan, a, b): (&ReferencePlan, _, _) = (self.oracle.plan(), widen(a), widen(b));
        self.indices.iter().map(|index| plan.coefficient(&a, &b, *index)).collect()
    }

    /// Compares the first results with the oracle's; `label` says what an item is.
    pub fn expect(
        &mut self,
        label: impl Fn(usize) -> String,
        got: &Batch<B, R>,
        expected: &[Vec<u64>],
    ) -> core::result::Result<(), Failure> {
        let words = self.done("download", got.download())?;
        for (item, (words, expected)) in words.chunks_exact(self.n).zip(expected).enumerate() {
            for (index, value) in self.indices.iter().zip(expected) {
                self.equal(&label, (got.batch(), item, *index), words[*index].to_u64(), *value)?;
            }
            self.compared += 1;
        }
        Ok(())
    }

    /// Compares whole results with known coefficients.
    pub fn same(
        &mut self,
        label: impl Fn(usize) -> String,
        got: &Batch<B, R>,
        expected: &[R::Word],
    ) -> core::result::Result<(), Failure> {
        let words = self.done("download", got.download())?;
        if words.len() != expected.len() {
            let error = Error::WrongLength { what: "the result", expected: expected.len(), got: words.len() };
            return self.done(&label(0), Err(error));
        }
        let items = words.chunks_exact(self.n).zip(expected.chunks_exact(self.n));
        for (item, (words, expected)) in items.enumerate() {
            for (index, (word, value)) in words.iter().zip(expected).enumerate() {
                self.equal(&label, (got.batch(), item, index), word.to_u64(), value.to_u64())?;
            }
            self.compared += 1;
        }
        Ok(())
    }

    /// Compares one coefficient of one item of a batch.
    pub fn equal(
        &self,
        label: &impl Fn(usize) -> String,
        (batch, item, coefficient): (usize, usize, usize),
        got: u64,
        expected: u64,
    ) -> core::result::Result<(), Failure> {
        if got == expected {
            return Ok(());
        }
        let (place, operation) = (self.place.clone(), label(item));
        Err(Failure::Wrong { place, operation, batch, item, coefficient, got, expected })
    }
}

pub(super) fn widen<W: Word>(words: &[W]) -> Vec<u64> {
    words.iter().map(|word| word.to_u64()).collect()
}
