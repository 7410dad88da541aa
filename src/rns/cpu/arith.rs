//! Arithmetic modulo one prime on vectors of words, and the portable one.

use core::marker::PhantomData;

use crate::arith::{Modulus, Shoup, Word};

/// Arithmetic modulo one prime on vectors of `LANES` words. Vectors are canonical.
pub(super) trait Arith: Copy + Send + Sync + 'static {
    /// Words in memory.
    type W: Word;
    /// A vector.
    type V: Copy;
    /// A constant factor.
    type C: Copy;
    /// A vector as a first factor of many products.
    type Split: Copy;
    /// A second factor of many products, the same in all lanes.
    type Factor: Copy + Send + Sync;
    /// A vector of sums of products.
    type Acc: Copy;
    /// A vector of fractions in double precision.
    type Fraction: Copy;

    const LANES: usize;

    /// The prime.
    fn modulus(&self) -> u64;
    fn load(&self, words: &[Self::W]) -> Self::V;
    fn store(&self, x: Self::V, words: &mut [Self::W]);
    fn splat(&self, x: u64) -> Self::V;
    fn add(&self, x: Self::V, y: Self::V) -> Self::V;
    fn sub(&self, x: Self::V, y: Self::V) -> Self::V;

    /// A constant factor from a canonical residue.
    fn constant(&self, value: u64) -> Self::C;
    fn mul_by(&self, x: Self::V, factor: Self::C) -> Self::V;

    /// `x` canonical modulo this or another prime.
    fn split(&self, x: Self::V) -> Self::Split;
    /// A factor from a canonical residue.
    fn factor(value: u64) -> Self::Factor;
    /// The same factor for all lanes.
    fn spread(&self, factor: &Self::Factor) -> Self::Split;

    fn zero(&self) -> Self::Acc;
    /// Adds `x · y`.
    fn mac(&self, acc: Self::Acc, x: Self::Split, y: Self::Split) -> Self::Acc;
    /// How many products a sum may hold whose first factors are below `bound` and second ones below the prime; 0 where
    /// there is no room for one.
    fn terms(&self, bound: u64) -> usize;
    fn reduce(&self, acc: Self::Acc) -> Self::V;

    fn no_fraction(&self) -> Self::Fraction;
    /// `sum + y · reciprocal`, two roundings.
    fn add_fraction(&self, sum: Self::Fraction, y: Self::V, reciprocal: f64) -> Self::Fraction;
    /// `floor(sum + 0.5)`.
    fn round(&self, sum: Self::Fraction) -> Self::V;

    #[inline(always)]
    fn mul(&self, x: Self::V, y: Self::V) -> Self::V {
        self.reduce(self.mac(self.zero(), self.split(x), self.split(y)))
    }
}

/// Portable arithmetic, one word at a time.
#[derive(Clone, Copy)]
pub(super) struct Portable<W> {
    m: Modulus<u64>,
    word: PhantomData<W>,
}

impl<W> Portable<W> {
    pub(super) fn new(m: Modulus<u64>) -> Self {
        Self { m, word: PhantomData }
    }
}

impl<W: Word> Arith for Portable<W> {
    type W = W;
    type V = u64;
    type C = Shoup<u64>;
    type Split = u64;
    type Factor = u64;
    type Acc = u128;
    type Fraction = f64;

    const LANES: usize = 1;

    fn modulus(&self) -> u64 {
        self.m.value()
    }

    #[inline(always)]
    fn load(&self, words: &[W]) -> u64 {
        words[0].to_u64()
    }

    #[inline(always)]
    fn store(&self, x: u64, words: &mut [W]) {
        words[0] = W::from_u64(x);
    }

    #[inline(always)]
    fn splat(&self, x: u64) -> u64 {
        x
    }

    #[inline(always)]
    fn add(&self, x: u64, y: u64) -> u64 {
        self.m.add(x, y)
    }

    #[inline(always)]
    fn sub(&self, x: u64, y: u64) -> u64 {
        self.m.sub(x, y)
    }

    fn constant(&self, value: u64) -> Shoup<u64> {
        self.m.shoup(value)
    }

    #[inline(always)]
    fn mul_by(&self, x: u64, factor: Shoup<u64>) -> u64 {
        self.m.mul_shoup(x, factor)
    }

    #[inline(always)]
    fn split(&self, x: u64) -> u64 {
        x
    }

    fn factor(value: u64) -> u64 {
        value
    }

    #[inline(always)]
    fn spread(&self, factor: &u64) -> u64 {
        *factor
    }

    #[inline(always)]
    fn zero(&self) -> u128 {
        0
    }

    #[inline(always)]
    fn mac(&self, acc: u128, x: u64, y: u64) -> u128 {
        acc + x as u128 * y as u128
    }

    fn terms(&self, bound: u64) -> usize {
        (u128::MAX / (bound as u128 * self.m.value() as u128)).min(1 << 20) as usize
    }

    #[inline(always)]
    fn reduce(&self, acc: u128) -> u64 {
        self.m.reduce_wide(acc)
    }

    #[inline(always)]
    fn mul(&self, x: u64, y: u64) -> u64 {
        self.m.mul(x, y)
    }

    #[inline(always)]
    fn no_fraction(&self) -> f64 {
        0.0
    }

    #[inline(always)]
    fn add_fraction(&self, sum: f64, y: u64, reciprocal: f64) -> f64 {
        sum + y as f64 * reciprocal
    }

    #[inline(always)]
    fn round(&self, sum: f64) -> u64 {
        (sum + 0.5) as u64
    }
}
