//! Unsigned lanes of 32 bits: Shoup's multiplication by constants, Montgomery reduction of sums of products.

use super::Arith;
use super::tables::Factors;
use crate::Result;
use crate::arith::Modulus;
use crate::backend::cpu::lanes::Lanes32;
use crate::backend::cpu::schedule::{Schedule, unsigned};

/// Odd moduli below 2^30.
#[derive(Clone, Copy)]
pub(in crate::backend::cpu) struct Shoup32<O, const L: usize> {
    level: O,
    m: Modulus<u32>,
    mac_limit: usize,
    /// Multiples of `q` that bring a lane from the forward schedule's last bound below `q`, 0 where none is needed.
    ends: [u32; 6],
}

/// Factors and their quotients; those of odd lanes once more in even places.
#[derive(Clone, Copy)]
pub(in crate::backend::cpu) struct Factor<V> {
    value: V,
    quotient: V,
    odd_quotient: V,
}

/// Sums of products of even and odd lanes.
#[derive(Clone, Copy)]
pub(in crate::backend::cpu) struct Sum<V> {
    even: V,
    odd: V,
}

/// Multiples whose conditional subtraction in turn brings a lane below `bound·q` under `q`.
pub(super) fn ends(schedule: &Schedule, product: u32) -> [u32; 6] {
    let mut bound = 1;
    for mode in &schedule.modes {
        let start = if mode.kind == crate::backend::cpu::schedule::Mode::REDUCE { mode.multiple } else { bound };
        bound = start + product;
    }
    let mut out = [0; 6];
    for multiple in &mut out {
        if bound > 1 {
            bound = bound.div_ceil(2);
            *multiple = bound;
        }
    }
    out
}

impl<O: Lanes32<L>, const L: usize> Shoup32<O, L> {
    /// Subtracts `multiple·q` where the lane is not below it.
    #[inline(always)]
    fn csub(&self, x: O::V, multiple: u32) -> O::V {
        let o = self.level;
        o.min(x, o.sub(x, o.splat(self.m.value().wrapping_mul(multiple))))
    }
}

impl<O: Lanes32<L>, const L: usize> Arith<L> for Shoup32<O, L> {
    type Level = O;
    type T = u32;
    type V = O::V;
    type W = Factor<O::V>;
    type Acc = Sum<O::V>;

    const WIDTH: u32 = 32;
    const RADIX: usize = if L == 16 { 8 } else { 4 };
    const TRANSPOSED: bool = false;
    const ABREAST: usize = if L == 16 { 4 } else { 2 };

    fn supports(q: u64) -> bool {
        // Lanes hold 4q: every layer needs that much.
        q < 1 << 30 && q % 2 == 1
    }

    fn new(level: O, q: u64, layers: u32) -> Result<(Self, Schedule, Schedule)> {
        let m = Modulus::<u32>::new(q as u32)?;
        let limit = (1 << 32) / q;
        // 6 multiples bring 64q below q; the inverse ends with a product.
        let (forward, _) = unsigned(limit.min(64), 2, layers);
        let (_, inverse) = unsigned(limit, 2, layers);
        // k products below q² stay below q·2^32.
        let arith = Self { level, m, mac_limit: limit.min(1 << 20) as usize, ends: ends(&forward, 2) };
        Ok((arith, forward, inverse))
    }

    #[inline(always)]
    fn level(&self) -> O {
        self.level
    }

    fn factor(&self, value: u64) -> [u32; 2] {
        let shoup = self.m.shoup(value as u32);
        [shoup.quotient, shoup.value]
    }

    #[inline(always)]
    fn broadcast(&self, factor: &[u32; 2]) -> Factor<O::V> {
        let quotient = self.level.splat(factor[0]);
        Factor { value: self.level.splat(factor[1]), quotient, odd_quotient: quotient }
    }

    #[inline(always)]
    fn factors(&self, Factors(factors): &Factors<u32, L>) -> Factor<O::V> {
        let [quotient, value] = factors;
        // One lane further: odd lanes in even places without an instruction.
        let odd = factors.as_flattened()[1..].first_chunk().unwrap_or(quotient);
        let o = self.level;
        Factor { value: o.load(value), quotient: o.load(quotient), odd_quotient: o.load(odd) }
    }

    #[inline(always)]
    fn mul(&self, x: O::V, factor: Factor<O::V>) -> O::V {
        self.mul_each([x], [factor])[0]
    }

    #[inline(always)]
    fn mul_each<const M: usize>(&self, x: [O::V; M], w: [Factor<O::V>; M]) -> [O::V; M] {
        let o = self.level;
        let q = o.splat(self.m.value());
        let even = each!(M: |i| o.mul_even(x[i], w[i].quotient));
        let odd = each!(M: |i| o.mul_even(o.odd(x[i]), w[i].odd_quotient));
        let low = each!(M: |i| o.mul_low(x[i], w[i].value));
        let estimate = each!(M: |i| o.high_halves(even[i], odd[i]));
        let back = each!(M: |i| o.mul_low(estimate[i], q));
        each!(M: |i| o.sub(low[i], back[i]))
    }

    #[inline(always)]
    fn mul_canonical(&self, x: O::V, factor: Factor<O::V>) -> O::V {
        self.csub(self.mul(x, factor), 1)
    }

    #[inline(always)]
    fn forward_butterfly(&self, x: O::V, t: O::V) -> (O::V, O::V) {
        let o = self.level;
        (o.add(x, t), o.add(o.sub(x, t), o.splat(2 * self.m.value())))
    }

    #[inline(always)]
    fn inverse_butterfly(&self, x: O::V, y: O::V, multiple: u32) -> (O::V, O::V) {
        let o = self.level;
        (o.add(x, y), o.add(o.sub(x, y), o.splat(self.m.value().wrapping_mul(multiple))))
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
    fn zero(&self) -> Sum<O::V> {
        Sum { even: self.level.splat(0), odd: self.level.splat(0) }
    }

    #[inline(always)]
    fn mac(&self, acc: Sum<O::V>, x: O::V, y: O::V) -> Sum<O::V> {
        let o = self.level;
        Sum { even: o.add64(acc.even, o.mul_even(x, y)), odd: o.add64(acc.odd, o.mul_even(o.odd(x), o.odd(y))) }
    }

    #[inline(always)]
    fn mac_limit(&self) -> usize {
        self.mac_limit
    }

    /// High words below `q` minus high words below `q`: a negative difference is the greater one as unsigned lane.
    #[inline(always)]
    fn redc(&self, acc: Sum<O::V>) -> O::V {
        let o = self.level;
        let (q, q_inv) = (o.splat(self.m.value()), o.splat(self.m.q_inv()));
        let even = o.mul_even(o.mul_even(acc.even, q_inv), q);
        let odd = o.mul_even(o.mul_even(acc.odd, q_inv), q);
        let difference = o.sub(o.high_halves(acc.even, acc.odd), o.high_halves(even, odd));
        o.min(difference, o.add(difference, q))
    }

    /// A product of lanes below `k·q` is below `k²·q²`: with `k²·q < 2^32` its reduction is below `q`.
    fn whole_schedules(&self, forward: &Schedule, layers: u32) -> Option<(Schedule, Schedule)> {
        let bound = forward.bound as u64;
        let q = self.m.value() as u64;
        (bound * bound * q < 1 << 32).then(|| (forward.clone(), unsigned((1 << 32) / q, 2, layers).1))
    }
}
