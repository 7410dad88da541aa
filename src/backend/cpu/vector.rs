//! Vector kernels, generic over the arithmetic of a word class on the vectors of a level.
//!
//! A polynomial of `width` coefficients a point lies as `width` planes, the sub-polynomials of the k-NTT, so that all
//! lanes of a vector always do the same (ML-KEM's pairs stay together instead: [`pairs`]). A plane is transformed in
//! passes: several layers are done while its vectors are in registers, and the last pass, the *tail*, also does the
//! layers inside a vector. These exchange blocks of lanes between two vectors before each layer, or lanes and vectors for
//! several layers at once, and never exchange them back, which leaves the slots of a tail in an order of their own
//! ([`Kernels::order`](super::kernels::Kernels)).

/// An array of `$M` values, unrolled; a closure might become a function of its own, without the level's features.
macro_rules! each {
    ($M:ident: |$i:ident| $value:expr) => {{
        let $i = 0;
        let mut out = [$value; $M];
        for $i in 1..$M {
            out[$i] = $value;
        }
        out
    }};
}

pub(super) mod choose;
mod entry;
mod float;
mod ifma;
mod layers;
pub(super) mod lift;
#[cfg(test)]
mod model;
mod mont16;
mod pairs;
mod passes;
mod pointwise;
mod shoup32;
mod shoup64;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod watched;
mod whole;

use float::Float;
use ifma::Ifma;
use mont16::Mont16;
use pairs::PairTransform;
use shoup32::Shoup32;
use shoup64::Shoup64;
use tables::{Factors, Transform};

use super::kernels::Lane;
use super::lanes::Lanes;
use super::schedule::Schedule;
use crate::Result;

/// The arithmetic of a word class on vectors of `L` lanes. Ranges as for the scalar word classes.
pub(super) trait Arith<const L: usize>: Copy + Send + Sync + 'static {
    /// The level's token.
    type Level: Lanes<Self::T, L, V = Self::V>;
    /// Lanes.
    type T: Lane;
    /// A vector.
    type V: Copy;
    /// A vector of constant factors.
    type W: Copy;
    /// Vectors of sums of products.
    type Acc: Copy;

    /// Products leave the factor `2^-WIDTH`.
    const WIDTH: u32;
    /// Vectors that a pass holds in registers: 4 or 8.
    const RADIX: usize;
    /// Whether tails transpose the last layers inside vectors: tables are shorter, but all vectors are in use at once.
    const TRANSPOSED: bool;

    /// Butterflies that are computed step by step beside each other: 1, 2 or 4.
    const ABREAST: usize;

    /// Whether this class holds the lazy ranges of a modulus.
    fn supports(q: u64) -> bool;

    /// The arithmetic for a modulus that it supports, and the schedules of its layers.
    fn new(level: Self::Level, q: u64, layers: u32) -> Result<(Self, Schedule, Schedule)>;

    /// The level.
    fn level(&self) -> Self::Level;

    /// A constant factor as two lanes, from a canonical residue.
    fn factor(&self, value: u64) -> [Self::T; 2];

    /// One factor in all lanes.
    fn broadcast(&self, factor: &[Self::T; 2]) -> Self::W;

    /// A vector of factors: first lanes of each, then second ones.
    fn factors(&self, factors: &Factors<Self::T, L>) -> Self::W;

    #[inline(always)]
    fn load(&self, a: &[Self::T; L]) -> Self::V {
        self.level().load(a)
    }

    #[inline(always)]
    fn store(&self, x: Self::V, a: &mut [Self::T; L]) {
        self.level().store(x, a);
    }

    /// Brings lanes that are `H` apart to the same places of two vectors.
    #[inline(always)]
    fn split<const H: usize>(&self, x: Self::V, y: Self::V) -> (Self::V, Self::V) {
        self.level().split::<H>(x, y)
    }

    /// The inverse of `split`.
    #[inline(always)]
    fn join<const H: usize>(&self, x: Self::V, y: Self::V) -> (Self::V, Self::V) {
        self.level().join::<H>(x, y)
    }

    /// `x · factor`. Any lane in; lazily reduced out.
    fn mul(&self, x: Self::V, factor: Self::W) -> Self::V;

    /// `x · factor`, any lane in, canonical out.
    fn mul_canonical(&self, x: Self::V, factor: Self::W) -> Self::V;

    /// `x · factor`, any lane in, reduced out.
    #[inline(always)]
    fn mul_reduced(&self, x: Self::V, factor: Self::W) -> Self::V {
        self.mul_canonical(x, factor)
    }

    /// `(x + t, x - t)`, `t` a product; as it stands for signed lanes.
    #[inline(always)]
    fn forward_butterfly(&self, x: Self::V, t: Self::V) -> (Self::V, Self::V) {
        (self.level().add(x, t), self.level().sub(x, t))
    }

    /// [`Arith::mul`] of several vectors, step by step.
    #[inline(always)]
    fn mul_each<const M: usize>(&self, x: [Self::V; M], w: [Self::W; M]) -> [Self::V; M] {
        each!(M: |i| self.mul(x[i], w[i]))
    }

    /// The same with factors from memory.
    #[inline(always)]
    fn mul_each_loaded<const M: usize>(&self, x: [Self::V; M], w: [&Factors<Self::T, L>; M]) -> [Self::V; M] {
        self.mul_each(x, each!(M: |i| self.factors(w[i])))
    }

    /// `(x + y·w, x - y·w)` of several vectors.
    #[inline(always)]
    fn forward_each<const M: usize>(
        &self,
        x: [Self::V; M],
        y: [Self::V; M],
        w: [Self::W; M],
    ) -> ([Self::V; M], [Self::V; M]) {
        let t = self.mul_each(y, w);
        let both = each!(M: |i| self.forward_butterfly(x[i], t[i]));
        (each!(M: |i| both[i].0), each!(M: |i| both[i].1))
    }

    /// As [`Arith::forward_each`], with factors from memory.
    #[inline(always)]
    fn forward_each_loaded<const M: usize>(
        &self,
        x: [Self::V; M],
        y: [Self::V; M],
        w: [&Factors<Self::T, L>; M],
    ) -> ([Self::V; M], [Self::V; M]) {
        let t = self.mul_each_loaded(y, w);
        let both = each!(M: |i| self.forward_butterfly(x[i], t[i]));
        (each!(M: |i| both[i].0), each!(M: |i| both[i].1))
    }

    /// `(x + y, x - y)` before the multiplication, `multiple` the bound of both; as it stands for signed lanes.
    #[inline(always)]
    fn inverse_butterfly(&self, x: Self::V, y: Self::V, _multiple: u32) -> (Self::V, Self::V) {
        (self.level().add(x, y), self.level().sub(x, y))
    }

    /// Halves the bound of the operand that is not multiplied, or reduces it.
    fn reduce_by(&self, x: Self::V, multiple: u32) -> Self::V;

    /// The same for sums of the inverse.
    #[inline(always)]
    fn reduce_sum(&self, x: Self::V, multiple: u32) -> Self::V {
        self.reduce_by(x, multiple)
    }

    /// What [`Arith::reduce_by`] needs in turn for lanes within the forward schedule's last bound, up to a 0.
    #[inline(always)]
    fn ends(&self) -> [u32; 6] {
        [1, 0, 0, 0, 0, 0]
    }

    /// Lanes within the forward schedule's last bound to reduced ones.
    #[inline(always)]
    fn reduce_end<const R: usize>(&self, x: &mut [Self::V; R]) {
        for multiple in self.ends() {
            if multiple == 0 {
                break;
            }
            for x in x.iter_mut() {
                *x = self.reduce_by(*x, multiple);
            }
        }
    }

    /// No products.
    fn zero(&self) -> Self::Acc;

    /// Adds a product of reduced lanes.
    fn mac(&self, acc: Self::Acc, x: Self::V, y: Self::V) -> Self::Acc;

    /// Products of reduced lanes that one sum may hold.
    fn mac_limit(&self) -> usize;

    /// A sum of products, times `2^-WIDTH`, reduced.
    fn redc(&self, acc: Self::Acc) -> Self::V;

    /// A product of lanes as the forward layers of a whole product leave them, times `2^-WIDTH`.
    #[inline(always)]
    fn mul_lazy(&self, x: Self::V, y: Self::V) -> Self::V {
        self.redc(self.mac(self.zero(), x, y))
    }

    /// The schedules of a whole product, whose inverse follows [`Arith::mul_lazy`], where lanes keep their range.
    fn whole_schedules(&self, _forward: &Schedule, _layers: u32) -> Option<(Schedule, Schedule)> {
        None
    }

    /// Sum of reduced lanes, reduced.
    #[inline(always)]
    fn add_reduced(&self, x: Self::V, y: Self::V) -> Self::V {
        self.reduce_by(self.level().add(x, y), 1)
    }
}

/// Constant factors, and with them what yields the quotient of a product.
#[derive(Clone, Copy)]
pub(super) struct Factor<V> {
    value: V,
    quotient: V,
}

impl<V> Factor<V> {
    /// One factor in all lanes.
    #[inline(always)]
    fn broadcast<T: Lane, O: Lanes<T, L, V = V>, const L: usize>(level: O, factor: &[T; 2]) -> Self {
        Self { value: level.splat(factor[0]), quotient: level.splat(factor[1]) }
    }

    /// A factor in each lane.
    #[inline(always)]
    fn load<T: Lane, O: Lanes<T, L, V = V>, const L: usize>(level: O, Factors(factors): &Factors<T, L>) -> Self {
        Self { value: level.load(&factors[0]), quotient: level.load(&factors[1]) }
    }
}
