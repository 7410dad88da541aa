//! Unsigned lanes of 64 bits: Shoup's multiplication with an estimated quotient.
//!
//! The high half of `y·w'` is taken from three of its four 32-bit products. What is dropped (the low product and two
//! low halves) amounts to less than 3, so the quotient is at most 2 too small and a product below `4q` instead of `2q`.

use super::Arith;
use super::shoup32::ends;
use super::tables::Factors;
use crate::Result;
use crate::arith::Modulus;
use crate::backend::cpu::lanes::Lanes64;
use crate::backend::cpu::schedule::{Schedule, unsigned};

/// Odd moduli below 2^62. `TIGHT` brings products below `2q`: for moduli whose lanes do not hold `8q`.
#[derive(Clone, Copy)]
pub(in crate::backend::cpu) struct Shoup64<O, const L: usize, const TIGHT: bool> {
    level: O,
    m: Modulus<u64>,
    ends: [u32; 6],
    /// `2^32 - 1`. A field, because a compiler that knows it recognises the high half of a 64-bit product, for which
    /// vectors have no instruction, and computes lane after lane.
    low_half: u64,
}

/// Factors and their quotients; the high halves of these once more.
#[derive(Clone, Copy)]
pub(in crate::backend::cpu) struct Factor<V> {
    value: V,
    quotient: V,
    quotient_high: V,
}

impl<O: Lanes64<L>, const L: usize, const TIGHT: bool> Shoup64<O, L, TIGHT> {
    /// A product is below this multiple of `q`.
    const PRODUCT: u32 = if TIGHT { 2 } else { 4 };

    #[inline(always)]
    fn csub(&self, x: O::V, multiple: u32) -> O::V {
        let o = self.level;
        o.unless_negative(o.sub(x, o.splat(self.m.value().wrapping_mul(multiple as u64))), x)
    }

    /// High halves of products.
    #[inline(always)]
    fn mul_high(&self, x: O::V, y: O::V) -> O::V {
        let o = self.level;
        let mask = o.splat(self.low_half);
        let (x1, y1) = (o.high(x), o.high(y));
        let low = o.high(o.mul_half(x, y));
        let cross = o.mul_half(x1, y);
        let middle = o.add(o.add(o.mul_half(x, y1), low), o.and(cross, mask));
        o.add(o.add(o.mul_half(x1, y1), o.high(cross)), o.high(middle))
    }
}

impl<O: Lanes64<L>, const L: usize, const TIGHT: bool> Arith<L> for Shoup64<O, L, TIGHT> {
    type Level = O;
    type T = u64;
    type V = O::V;
    type W = Factor<O::V>;
    type Acc = O::V;

    const WIDTH: u32 = 64;
    const RADIX: usize = if L == 8 { 8 } else { 4 };
    const TRANSPOSED: bool = L == 8;
    const ABREAST: usize = if L == 8 { 4 } else { 2 };

    fn supports(q: u64) -> bool {
        q % 2 == 1 && q > 2 && if TIGHT { q < 1 << 62 } else { q < 1 << 61 }
    }

    fn new(level: O, q: u64, layers: u32) -> Result<(Self, Schedule, Schedule)> {
        let m = Modulus::<u64>::new(q)?;
        let limit = ((1u128 << 64) / q as u128).min(64) as u64;
        let (forward, inverse) = unsigned(limit, Self::PRODUCT, layers);
        Ok((Self { level, m, ends: ends(&forward, Self::PRODUCT), low_half: u32::MAX as u64 }, forward, inverse))
    }

    #[inline(always)]
    fn level(&self) -> O {
        self.level
    }

    fn factor(&self, value: u64) -> [u64; 2] {
        let shoup = self.m.shoup(value);
        [shoup.value, shoup.quotient]
    }

    #[inline(always)]
    fn broadcast(&self, factor: &[u64; 2]) -> Factor<O::V> {
        let o = self.level;
        let quotient = o.splat(factor[1]);
        Factor { value: o.splat(factor[0]), quotient, quotient_high: o.splat_half((factor[1] >> 32) as u32) }
    }

    #[inline(always)]
    fn factors(&self, Factors(factors): &Factors<u64, L>) -> Factor<O::V> {
        let o = self.level;
        let quotient = o.load(&factors[1]);
        Factor { value: o.load(&factors[0]), quotient, quotient_high: o.high(quotient) }
    }

    #[inline(always)]
    fn mul(&self, x: O::V, factor: Factor<O::V>) -> O::V {
        self.mul_each([x], [factor])[0]
    }

    #[inline(always)]
    fn mul_each<const M: usize>(&self, x: [O::V; M], w: [Factor<O::V>; M]) -> [O::V; M] {
        let o = self.level;
        let q = o.splat(self.m.value());
        let high = each!(M: |i| o.high(x[i]));
        let first = each!(M: |i| o.high(o.mul_half(high[i], w[i].quotient)));
        let second = each!(M: |i| o.high(o.mul_half(x[i], w[i].quotient_high)));
        let estimate = each!(M: |i| o.mul_half(high[i], w[i].quotient_high));
        let estimate = each!(M: |i| o.add(estimate[i], o.add(first[i], second[i])));
        let t = each!(M: |i| o.mul_low_difference(x[i], w[i].value, estimate[i], q));
        if TIGHT { each!(M: |i| self.csub(t[i], 2)) } else { t }
    }

    #[inline(always)]
    fn mul_canonical(&self, x: O::V, factor: Factor<O::V>) -> O::V {
        let t = self.mul(x, factor);
        self.csub(if TIGHT { t } else { self.csub(t, 2) }, 1)
    }

    #[inline(always)]
    fn forward_butterfly(&self, x: O::V, t: O::V) -> (O::V, O::V) {
        let o = self.level;
        (o.add(x, t), o.add(o.sub(x, t), o.splat(self.m.value().wrapping_mul(Self::PRODUCT as u64))))
    }

    #[inline(always)]
    fn inverse_butterfly(&self, x: O::V, y: O::V, multiple: u32) -> (O::V, O::V) {
        let o = self.level;
        (o.add(x, y), o.add(o.sub(x, y), o.splat(self.m.value().wrapping_mul(multiple as u64))))
    }

    #[inline(always)]
    fn reduce_by(&self, x: O::V, multiple: u32) -> O::V {
        self.csub(x, multiple)
    }

    #[inline(always)]
    fn ends(&self) -> [u32; 6] {
        self.ends
    }

    #[inline(always)]
    fn zero(&self) -> O::V {
        self.level.splat(0)
    }

    /// Montgomery's multiplication: both products have the same low half.
    #[inline(always)]
    fn mac(&self, acc: O::V, x: O::V, y: O::V) -> O::V {
        let o = self.level;
        let q = o.splat(self.m.value());
        let m = o.mul_low(o.mul_low(x, y), o.splat(self.m.q_inv()));
        let difference = o.sub(self.mul_high(x, y), self.mul_high(m, q));
        o.add(acc, o.unless_negative(difference, o.add(difference, q)))
    }

    #[inline(always)]
    fn mac_limit(&self) -> usize {
        // The lanes of both variants hold 4q.
        4
    }

    #[inline(always)]
    fn redc(&self, acc: O::V) -> O::V {
        self.csub(self.csub(acc, 2), 1)
    }
}
