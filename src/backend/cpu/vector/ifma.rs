//! Lanes of 52 bits in words of 64, on the multiply-add instructions of AVX-512 IFMA: `q < 2^50`.
//!
//! These instructions take the low 52 bits of their factors and add the low or the high half of the product to a
//! 64-bit lane. Lanes inside a transform are therefore *modulo 2^52*: what stands above is unspecified. A product by
//! Shoup's method:
//!
//! ```text
//! h = high(y·w'), w' = floor(w·2^52/q)          y·w - h·q is in [0, 2q) for y < 2^52
//! t = low(y·w) + low(h·(2^52 - q))               = y·w - h·q modulo 2^52
//! ```
//!
//! Adding the product to the other operand by the same instructions would save an addition, but waits for that operand,
//! and its difference needs a multiplication more.
//!
//! Bit 51 decides a reduction, which tolerates unspecified upper bits: a lane with that bit gets a multiple of `q` up
//! to 2^51 subtracted. With `q <= 2^50` that multiple is at least `2q`, and what remains leaves room for a layer.

use alloc::vec::Vec;

use super::tables::Factors;
use super::{Arith, Factor};
use crate::Result;
use crate::arith::Modulus;
use crate::backend::cpu::lanes::Lanes52;
use crate::backend::cpu::schedule::{Mode, Schedule};

/// Odd moduli below 2^50.
#[derive(Clone, Copy)]
pub(in crate::backend::cpu) struct Ifma<O, const L: usize> {
    level: O,
    m: Modulus<u64>,
    /// `floor(2^52 / q)`.
    barrett: u64,
    mac_limit: usize,
}

/// Sums of both halves of products.
#[derive(Clone, Copy)]
pub(in crate::backend::cpu) struct Sum<V> {
    low: V,
    high: V,
}

/// Lanes are below this.
const END: u64 = 1 << 52;
/// The bit that decides a reduction.
const BIT: u64 = END / 2;

impl<O: Lanes52<L>, const L: usize> Ifma<O, L> {
    /// The schedules of both directions; bounds of lanes as they are, not in units of `q`.
    fn schedules(q: u64, layers: u32) -> (Schedule, Schedule) {
        let free = Mode { kind: Mode::FREE, multiple: 0 };
        // A prime so small that the multiple does not fit is never reduced.
        let most = (BIT / q).min(u32::MAX as u64) as u32;
        let mut bound = q;
        let mut forward = Vec::new();
        for _ in 0..layers {
            forward.push(if bound + 2 * q <= END {
                bound += 2 * q;
                free
            } else {
                bound = BIT.max(bound - most as u64 * q) + 2 * q;
                Mode { kind: Mode::REDUCE, multiple: most }
            });
        }
        let end = bound;
        // Sums double; a difference needs a multiple of q above the other operand added.
        let mut bound = 1;
        let mut inverse = Vec::new();
        for _ in 1..layers {
            let multiple = bound;
            inverse.push(if 4 * bound as u64 * q <= END && bound < 1 << 16 {
                bound *= 2;
                Mode { kind: Mode::FREE, multiple }
            } else {
                bound = bound.max(2);
                Mode { kind: Mode::REDUCE, multiple }
            });
        }
        let last = Mode { kind: Mode::FREE, multiple: bound };
        (
            Schedule { modes: forward, last: free, reduce_at_end: end > q, bound: end as i64 },
            Schedule { modes: inverse, last, reduce_at_end: false, bound: 1 },
        )
    }

    /// `-q` modulo 2^52.
    #[inline(always)]
    fn minus_q(&self) -> O::V {
        self.level.splat(END - self.m.value())
    }

    /// A multiple of `q`.
    #[inline(always)]
    fn multiple(&self, multiple: u32) -> O::V {
        self.level.splat(self.m.value().wrapping_mul(multiple as u64))
    }

    /// The lane itself.
    #[inline(always)]
    fn clean(&self, x: O::V) -> O::V {
        self.level.and(x, self.level.splat(END - 1))
    }

    /// A clean lane minus a multiple of `q` where it is not below it.
    #[inline(always)]
    fn csub(&self, x: O::V, multiple: u32) -> O::V {
        let o = self.level;
        o.unless_negative(o.sub(x, self.multiple(multiple)), x)
    }
}

impl<O: Lanes52<L>, const L: usize> Arith<L> for Ifma<O, L> {
    type Level = O;
    type T = u64;
    type V = O::V;
    type W = Factor<O::V>;
    type Acc = Sum<O::V>;

    const WIDTH: u32 = 52;
    const RADIX: usize = 8;
    const TRANSPOSED: bool = true;
    const ABREAST: usize = 4;

    fn supports(q: u64) -> bool {
        (3..1 << 50).contains(&q) && q % 2 == 1
    }

    fn new(level: O, q: u64, layers: u32) -> Result<(Self, Schedule, Schedule)> {
        let (forward, inverse) = Self::schedules(q, layers);
        // Sums of k products below q² stay below q·2^52, and those of low halves below 2^64.
        let mac_limit = (END / q).min(1 << 12) as usize;
        Ok((Self { level, m: Modulus::<u64>::new(q)?, barrett: END / q, mac_limit }, forward, inverse))
    }

    #[inline(always)]
    fn level(&self) -> O {
        self.level
    }

    fn factor(&self, value: u64) -> [u64; 2] {
        [value, (((value as u128) << 52) / self.m.value() as u128) as u64]
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
        let h = each!(M: |i| o.add_high(o.splat(0), x[i], w[i].quotient));
        let low = each!(M: |i| o.add_low(o.splat(0), x[i], w[i].value));
        each!(M: |i| o.add_low(low[i], h[i], self.minus_q()))
    }

    #[inline(always)]
    fn mul_canonical(&self, x: O::V, factor: Factor<O::V>) -> O::V {
        self.csub(self.clean(self.mul(x, factor)), 1)
    }

    #[inline(always)]
    fn forward_butterfly(&self, x: O::V, t: O::V) -> (O::V, O::V) {
        let o = self.level;
        (o.add(x, t), o.add(o.sub(x, t), self.multiple(2)))
    }

    #[inline(always)]
    fn inverse_butterfly(&self, x: O::V, y: O::V, multiple: u32) -> (O::V, O::V) {
        let o = self.level;
        (o.add(x, y), o.add(o.sub(x, y), self.multiple(multiple)))
    }

    #[inline(always)]
    fn reduce_by(&self, x: O::V, multiple: u32) -> O::V {
        self.level.sub_where(x, self.level.splat(BIT), self.multiple(multiple))
    }

    #[inline(always)]
    fn reduce_sum(&self, x: O::V, multiple: u32) -> O::V {
        self.csub(self.clean(x), multiple)
    }

    /// `h = floor(x·floor(2^52/q)/2^52)` is at most one too small for `x < 2^52`.
    #[inline(always)]
    fn reduce_end<const R: usize>(&self, x: &mut [O::V; R]) {
        let o = self.level;
        let barrett = o.splat(self.barrett);
        for x in x.iter_mut() {
            let h = o.add_high(o.splat(0), *x, barrett);
            *x = self.csub(self.clean(o.add_low(*x, h, self.minus_q())), 1);
        }
    }

    #[inline(always)]
    fn zero(&self) -> Sum<O::V> {
        Sum { low: self.level.splat(0), high: self.level.splat(0) }
    }

    #[inline(always)]
    fn mac(&self, acc: Sum<O::V>, x: O::V, y: O::V) -> Sum<O::V> {
        let o = self.level;
        Sum { low: o.add_low(acc.low, x, y), high: o.add_high(acc.high, x, y) }
    }

    #[inline(always)]
    fn mac_limit(&self) -> usize {
        self.mac_limit
    }

    /// Montgomery's reduction: both numbers have the same low half, and the difference of the high ones is above `-q`.
    #[inline(always)]
    fn redc(&self, acc: Sum<O::V>) -> O::V {
        let o = self.level;
        let high = o.add(acc.high, o.carry(acc.low));
        let m = o.add_low(o.splat(0), acc.low, o.splat(self.m.q_inv()));
        let difference = o.sub(high, o.add_high(o.splat(0), m, self.multiple(1)));
        o.unless_negative(difference, o.add(difference, self.multiple(1)))
    }

    #[inline(always)]
    fn add_reduced(&self, x: O::V, y: O::V) -> O::V {
        self.csub(self.level.add(x, y), 1)
    }
}
