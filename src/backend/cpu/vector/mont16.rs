//! Signed lanes of 16 bits: Montgomery's multiplication; ranges as for the scalar word class.

use super::tables::Factors;
use super::{Arith, Factor};
use crate::Result;
use crate::arith::Modulus;
use crate::backend::cpu::lanes::Lanes16;
use crate::backend::cpu::scalar;
use crate::backend::cpu::schedule::{Schedule, signed, signed_forward, signed_inverse};

/// Odd moduli from 2^7 to 2^14.
#[derive(Clone, Copy)]
pub(in crate::backend::cpu) struct Mont16<O, const L: usize> {
    level: O,
    q: i16,
    /// `q^-1 mod 2^16`.
    q_inv: i16,
    /// `round(2^15 / q)`.
    barrett: i16,
    mac_limit: usize,
    pair_limit: usize,
}

/// Largest size of a product of a lane of size at most `m` and a constant: `(m·q/2 + 2^15·q) / 2^16`.
fn product_bound(q: i64, m: i64) -> i64 {
    ((m * (q / 2) + (q << 15)) >> 16) + 1
}

impl<O: Lanes16<L>, const L: usize> Mont16<O, L> {
    /// `x·y·2^-16`, at most `|x·y|/2^16 + q/2` in size: reduced for `|x·y| < 2^15·q`.
    #[inline(always)]
    fn mul_mont(&self, x: O::V, y: O::V) -> O::V {
        let o = self.level;
        let m = o.mul_low(o.mul_low(x, y), o.splat(self.q_inv));
        o.sub(o.mul_high(x, y), o.mul_high(m, o.splat(self.q)))
    }

    /// `(-q, q)` to `[0, q)`: as an unsigned lane a negative one is greater than itself plus `q`.
    #[inline(always)]
    fn canonical(&self, x: O::V) -> O::V {
        let o = self.level;
        o.min(x, o.add(x, o.splat(self.q)))
    }

    /// Any lane to `(-q, q)`: `|x - round(x·b/2^15)·q| <= q/2 + |x|·|1 - b·q/2^15|`, where `|b·q - 2^15| <= (q-1)/2`
    /// and `|x| <= 2^15`.
    #[inline(always)]
    fn reduce(&self, x: O::V) -> O::V {
        let o = self.level;
        let estimate = o.mul_round(x, o.splat(self.barrett));
        o.sub(x, o.mul_low(estimate, o.splat(self.q)))
    }

    /// As [`Mont16::reduce`]: the bound.
    fn reduced_bound(q: i64, barrett: i64) -> i64 {
        q / 2 + (i16::MAX as i64 + 1) * (barrett * q - (1 << 15)).abs() / (1 << 15) + 1
    }

    /// The inverse's schedule after a product of pairs of lanes within the forward schedule's last bound: two
    /// products of at most its square.
    pub(super) fn after_lazy_pairs(&self, forward: &Schedule, layers: u32) -> Option<Schedule> {
        self.after_lazy_sum(2 * forward.bound * forward.bound, layers)
    }

    /// The inverse's schedule after a reduction of sums of at most `sum`: `|x·2^-16 - m·q·2^-16| <= |x|/2^16 + q/2`.
    /// Nothing where that is too much.
    fn after_lazy_sum(&self, sum: i64, layers: u32) -> Option<Schedule> {
        let (q, most) = (self.q as i64, i16::MAX as i64);
        let start = (sum >> 16) + q / 2 + 2;
        let reduced = Self::reduced_bound(q, self.barrett as i64);
        let fits = sum <= i32::MAX as i64 && 2 * start <= most;
        fits.then(|| signed_inverse(start, most, reduced, |m| product_bound(q, m), layers))
    }

    // Pairs of ML-KEM: both coefficients of a slot are neighbours, sums of two products are 32-bit lanes.

    /// `b` of one vector as the factors of both coefficients of `a·b`: `(b0, slot·b1)` and `(b1, b0)`; `slots` holds 1
    /// and the slot in turn.
    #[inline(always)]
    pub(super) fn prepare_pairs(&self, b: O::V, slots: &Factors<i16, L>) -> [O::V; 2] {
        self.prepare_pairs_each([b], [slots])[0]
    }

    /// The same for several vectors, step by step.
    #[inline(always)]
    pub(super) fn prepare_pairs_each<const M: usize>(
        &self,
        b: [O::V; M],
        slots: [&Factors<i16, L>; M],
    ) -> [[O::V; 2]; M] {
        let wrapped = self.mul_each_loaded(b, slots);
        each!(M: |i| [wrapped[i], self.level.swap_pairs(b[i])])
    }

    /// Adds a product of pairs.
    #[inline(always)]
    pub(super) fn mac_pairs(&self, acc: [O::V; 2], a: O::V, b: [O::V; 2]) -> [O::V; 2] {
        let o = self.level;
        [o.add32(acc[0], o.mul_pairs(a, b[0])), o.add32(acc[1], o.mul_pairs(a, b[1]))]
    }

    /// The first product of a sum.
    #[inline(always)]
    pub(super) fn mul_pairs(&self, a: O::V, b: [O::V; 2]) -> [O::V; 2] {
        [self.level.mul_pairs(a, b[0]), self.level.mul_pairs(a, b[1])]
    }

    /// Products of pairs of reduced lanes that one sum may hold: 32 bits, less what a reduction adds.
    pub(super) fn pair_limit(&self) -> usize {
        self.pair_limit
    }

    /// Sums times `2^-16` as pairs again: at most `|sum|·2^-16 + q/2` in size.
    #[inline(always)]
    pub(super) fn redc_pairs(&self, acc: [O::V; 2]) -> O::V {
        self.redc_pairs_each([acc])[0]
    }

    /// The same for several vectors, step by step.
    #[inline(always)]
    pub(super) fn redc_pairs_each<const M: usize>(&self, acc: [[O::V; 2]; M]) -> [O::V; M] {
        let o = self.level;
        let m = each!(M: |i| o.mul_low(o.low_halves(acc[i][0], acc[i][1]), o.splat(self.q_inv)));
        let high = each!(M: |i| o.high_halves(acc[i][0], acc[i][1]));
        let back = each!(M: |i| o.mul_high(m[i], o.splat(self.q)));
        each!(M: |i| o.sub(high[i], back[i]))
    }
}

impl<O: Lanes16<L>, const L: usize> Arith<L> for Mont16<O, L> {
    type Level = O;
    type T = i16;
    type V = O::V;
    type W = Factor<O::V>;
    type Acc = O::V;

    const WIDTH: u32 = 16;
    const RADIX: usize = if L == 32 { 8 } else { 4 };
    const TRANSPOSED: bool = L == 32;
    const ABREAST: usize = if L == 32 { 1 } else { 2 };

    fn supports(q: u64) -> bool {
        <scalar::Mont16 as scalar::Arith>::supports(q)
    }

    fn new(level: O, q: u64, layers: u32) -> Result<(Self, Schedule, Schedule)> {
        let m = Modulus::<u16>::new(q as u16)?;
        let signed_q = q as i64;
        let barrett = ((1 << 15) + signed_q / 2) / signed_q;
        let reduced = Self::reduced_bound(signed_q, barrett);
        let product = |m| product_bound(signed_q, m);
        let (forward, inverse) = signed(signed_q, i16::MAX as i64, reduced, product, layers);
        let q_inv = m.q_inv() as i16;
        // A product of reduced lanes is below q; so is a prepared lane.
        let mac_limit = (i16::MAX as i64 / signed_q) as usize;
        // Two products of reduced lanes each; |sum|·2^-16 + q/2 is a lane.
        let pair_limit = ((((1i64 << 15) - signed_q) << 16) / (2 * signed_q * signed_q)) as usize;
        let arith = Self { level, q: q as i16, q_inv, barrett: barrett as i16, mac_limit, pair_limit };
        Ok((arith, forward, inverse))
    }

    #[inline(always)]
    fn level(&self) -> O {
        self.level
    }

    fn factor(&self, value: u64) -> [i16; 2] {
        let q = self.q as i64;
        let mont = ((value as i64) << 16) % q;
        let value = if mont > q / 2 { mont - q } else { mont } as i16;
        [value, value.wrapping_mul(self.q_inv)]
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
    fn mul(&self, x: O::V, factor: Factor<O::V>) -> O::V {
        self.mul_each([x], [factor])[0]
    }

    #[inline(always)]
    fn mul_each<const M: usize>(&self, x: [O::V; M], w: [Factor<O::V>; M]) -> [O::V; M] {
        let o = self.level;
        let m = each!(M: |i| o.mul_low(x[i], w[i].quotient));
        let high = each!(M: |i| o.mul_high(x[i], w[i].value));
        let back = each!(M: |i| o.mul_high(m[i], o.splat(self.q)));
        each!(M: |i| o.sub(high[i], back[i]))
    }

    #[inline(always)]
    fn mul_each_loaded<const M: usize>(&self, x: [O::V; M], w: [&Factors<i16, L>; M]) -> [O::V; M] {
        let o = self.level;
        let m = each!(M: |i| o.mul_low(x[i], o.load(&w[i].0[1])));
        let high = each!(M: |i| o.mul_high_loaded(x[i], &w[i].0[0]));
        let back = each!(M: |i| o.mul_high(m[i], o.splat(self.q)));
        each!(M: |i| o.sub(high[i], back[i]))
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
        self.level.splat(0)
    }

    #[inline(always)]
    fn mac(&self, acc: O::V, x: O::V, y: O::V) -> O::V {
        self.level.add(acc, self.mul_mont(x, y))
    }

    #[inline(always)]
    fn mac_limit(&self) -> usize {
        self.mac_limit
    }

    #[inline(always)]
    fn mul_lazy(&self, x: O::V, y: O::V) -> O::V {
        self.mul_mont(x, y)
    }

    /// The forward schedule as it is, or its last layer reduced as well where products need the room.
    fn whole_schedules(&self, forward: &Schedule, layers: u32) -> Option<(Schedule, Schedule)> {
        let q = self.q as i64;
        let reduced = Self::reduced_bound(q, self.barrett as i64);
        let product = |m| product_bound(q, m);
        let last = signed_forward(q, i16::MAX as i64, reduced, product, layers, true);
        [forward.clone(), last].into_iter().find_map(|forward| {
            let inverse = self.after_lazy_sum(forward.bound * forward.bound, layers)?;
            Some((forward, inverse))
        })
    }

    #[inline(always)]
    fn redc(&self, acc: O::V) -> O::V {
        self.reduce(acc)
    }
}
