//! Double-precision lanes that hold integers: `q < 2^50`.
//!
//! A product `y·w` modulo `q` with `|w| <= q/2` takes its quotient `b` from one fused multiply-add: with `M = 1.5·2^52`,
//! `(y·(w/q) + M) - M` is `y·(w/q)` rounded to an integer while that is below `2^51`. Then `h = y·w` rounded, its
//! error `l = y·w - h` and `h - b·q` are exact, and so is `(h - b·q) + l = y·w - b·q`:
//!
//! - `w/q` has a relative error of at most `2^-53`, so `|y·w/q - b| <= 1/2 + |y|·2^-54`;
//! - for `|y| < 2^52` the quotient is below `2^51`, and the result at most `(1/2 + 1/4)·q < 2^50`;
//! - `h` is a multiple of its last place or an integer, `|h - b·q| <= 3q/4 + |l|` with `|l| <= 2^(101-54)`: an integer
//!   below `2^53`, hence exact.
//!
//! Sums of lanes stay below `2^52` as well. Integers meet neither subnormal numbers nor rounding, so the time of an
//! operation does not depend on its operands.

use super::tables::Factors;
use super::{Arith, Factor};
use crate::Result;
use crate::arith::Modulus;
use crate::backend::cpu::lanes::LanesF64;
use crate::backend::cpu::schedule::{Schedule, signed};

/// Odd moduli below 2^50.
#[derive(Clone, Copy)]
pub(in crate::backend::cpu) struct Float<O, const L: usize> {
    level: O,
    m: Modulus<u64>,
    q: f64,
    /// `1/q`, rounded.
    inverse: f64,
    mac_limit: usize,
}

/// `1.5·2^52`: adding and subtracting it rounds to an integer.
const ROUND: f64 = (3u64 << 51) as f64;

/// Lanes stay below this.
const MOST: i64 = 1 << 52;

impl<O: LanesF64<L>, const L: usize> Float<O, L> {
    /// Any lane to `[-q/2, q/2]` and a little more: `x/q` has an error of at most `2^52/q·2^-52 <= 1/q`.
    #[inline(always)]
    fn reduce(&self, x: O::V) -> O::V {
        let o = self.level;
        let round = o.splat(ROUND);
        let b = o.sub(o.mul_add(x, o.splat(self.inverse), round), round);
        o.sub_mul(b, o.splat(self.q), x)
    }

    /// `(-q, q)` to `[0, q)`. No lane is -0: a sum of zeros of both signs is +0.
    #[inline(always)]
    fn canonical(&self, x: O::V) -> O::V {
        let o = self.level;
        o.if_negative(x, o.add(x, o.splat(self.q)))
    }
}

impl<O: LanesF64<L>, const L: usize> Arith<L> for Float<O, L> {
    type Level = O;
    type T = f64;
    type V = O::V;
    type W = Factor<O::V>;
    type Acc = O::V;

    const WIDTH: u32 = 0;
    const RADIX: usize = if L == 8 { 8 } else { 4 };
    const TRANSPOSED: bool = L == 8;
    const ABREAST: usize = if L == 8 { 4 } else { 2 };

    fn supports(q: u64) -> bool {
        (3..1 << 50).contains(&q) && q % 2 == 1
    }

    fn new(level: O, q: u64, layers: u32) -> Result<(Self, Schedule, Schedule)> {
        let m = Modulus::<u64>::new(q)?;
        let reduced = q as i64 / 2 + 2;
        let product = |x: i64| (q as i64 / 2) + ((x as i128 * q as i128) >> 54) as i64 + 2;
        let (forward, inverse) = signed(q as i64, MOST, reduced, product, layers);
        let mac_limit = (MOST as u64 / q).min(1 << 20) as usize;
        Ok((Self { level, m, q: q as f64, inverse: 1.0 / q as f64, mac_limit }, forward, inverse))
    }

    #[inline(always)]
    fn level(&self) -> O {
        self.level
    }

    fn factor(&self, value: u64) -> [f64; 2] {
        let q = self.m.value();
        let value = if value > q / 2 { -((q - value) as f64) } else { value as f64 };
        [value, value / self.q]
    }

    #[inline(always)]
    fn broadcast(&self, factor: &[Self::T; 2]) -> Self::W {
        Factor::broadcast(self.level, factor)
    }

    #[inline(always)]
    fn factors(&self, factors: &Factors<Self::T, L>) -> Self::W {
        Factor::load(self.level, factors)
    }

    #[inline(always)]
    fn mul(&self, y: O::V, factor: Factor<O::V>) -> O::V {
        let o = self.level;
        let round = o.splat(ROUND);
        let b = o.sub(o.mul_add(y, factor.quotient, round), round);
        let h = o.mul(y, factor.value);
        let l = o.mul_sub(y, factor.value, h);
        o.add(o.sub_mul(b, o.splat(self.q), h), l)
    }

    #[inline(always)]
    fn mul_canonical(&self, x: O::V, factor: Factor<O::V>) -> O::V {
        self.canonical(self.mul(x, factor))
    }

    #[inline(always)]
    fn mul_reduced(&self, x: O::V, factor: Factor<O::V>) -> O::V {
        self.mul(x, factor)
    }

    #[inline(always)]
    fn reduce_by(&self, x: O::V, _: u32) -> O::V {
        self.reduce(x)
    }

    #[inline(always)]
    fn zero(&self) -> O::V {
        self.level.splat(0.0)
    }

    /// As [`Arith::mul`], the quotient from the rounded product: `h/q` is below `2^50` and its error below
    /// `2^50·2^-52 = 1/4`.
    #[inline(always)]
    fn mac(&self, acc: O::V, x: O::V, y: O::V) -> O::V {
        let o = self.level;
        let round = o.splat(ROUND);
        let h = o.mul(x, y);
        let l = o.mul_sub(x, y, h);
        let b = o.sub(o.mul_add(h, o.splat(self.inverse), round), round);
        o.add(acc, o.add(o.sub_mul(b, o.splat(self.q), h), l))
    }

    #[inline(always)]
    fn mac_limit(&self) -> usize {
        self.mac_limit
    }

    #[inline(always)]
    fn redc(&self, acc: O::V) -> O::V {
        self.reduce(acc)
    }
}
