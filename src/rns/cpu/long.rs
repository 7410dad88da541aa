//! Vectors of 64-bit lanes for odd moduli below `2^61`, over the lanes of any level.
//!
//! Factors are split into a low half of 30 bits and a high one of at most 31, so that sums of a few products of halves
//! fit a lane: `low`, `middle` and `high` stand for `low + middle·2^30 + high·2^60`.
//!
//! With `k` the bits of `q`, `s = k - 1` and `mu = floor(2^(s + 64) / q)`, below `2^64`, a sum `x` below `2^(s + 64)`
//! has the quotient
//!
//! ```text
//! X = floor(x / 2^s),  e = floor(X·mu / 2^64)          x/q - X·mu/2^64 < 1 + mu/2^64 + 2^-64 < 2 + 2^-64
//! ```
//!
//! The high half of `X·mu` is taken from three of its four products of 32 bits, which makes it at most 2 smaller, as in
//! the transforms of these lanes. So `x - e·q` is below `6q < 2^64`, and its low word alone is needed.

use core::marker::PhantomData;

use super::arith::Arith;
use super::kernels::LONG;
use crate::arith::{Modulus, Word};
use crate::backend::cpu::lanes::LanesMixed;

/// Bits of a low half.
const HALF: u32 = 30;
/// All ones in a low half.
const LOW: u64 = (1 << HALF) - 1;

/// Odd moduli below [`LONG`], words of 64 bits.
#[derive(Clone, Copy)]
pub(super) struct Long<O, const L: usize, W> {
    level: O,
    m: Modulus<u64>,
    /// `s`.
    shift: u32,
    /// `mu`.
    reciprocal: u64,
    word: PhantomData<W>,
}

/// Low and high half.
#[derive(Clone, Copy)]
pub(super) struct Halves<V> {
    low: V,
    high: V,
}

/// Sums of products of low halves, of both, of high halves.
#[derive(Clone, Copy)]
pub(super) struct Sums<V> {
    low: V,
    middle: V,
    high: V,
}

impl<O: LanesMixed<L>, const L: usize, W: Word> Long<O, L, W> {
    pub(super) fn new(level: O, m: Modulus<u64>) -> Self {
        let shift = m.bits() - 1;
        let reciprocal = ((1u128 << (shift + 64)) / m.value() as u128) as u64;
        Self { level, m, shift, reciprocal, word: PhantomData }
    }

    /// Subtracts `multiple · q` once where that leaves no negative number. Bounds: up to 4 times, from `[0, 6q)`.
    #[inline(always)]
    fn csub(&self, x: O::V, multiple: u64) -> O::V {
        let o = self.level;
        o.unless_negative(o.sub(x, o.splat(multiple * self.m.value())), x)
    }

    /// The high half of `x · y`, at most 2 too small.
    #[inline(always)]
    fn mul_high(&self, x: O::V, y: u64) -> O::V {
        let o = self.level;
        let (high, y_high, y) = (o.high(x), o.splat(y >> 32), o.splat(y));
        let cross = o.add(o.high(o.mul_half(high, y)), o.high(o.mul_half(x, y_high)));
        o.add(o.mul_half(high, y_high), cross)
    }
}

impl<O: LanesMixed<L>, const L: usize, W: Word> Arith for Long<O, L, W> {
    type W = W;
    type V = O::V;
    type C = [u64; 2];
    type Split = Halves<O::V>;
    type Factor = u64;
    type Acc = Sums<O::V>;
    type Fraction = O::Float;

    const LANES: usize = L;

    fn modulus(&self) -> u64 {
        self.m.value()
    }

    #[inline(always)]
    fn load(&self, words: &[W]) -> O::V {
        let words: &[u64] = bytemuck::cast_slice(&words[..L]);
        self.level.load(&words.as_chunks().0[0])
    }

    #[inline(always)]
    fn store(&self, x: O::V, words: &mut [W]) {
        let words: &mut [u64] = bytemuck::cast_slice_mut(&mut words[..L]);
        self.level.store(x, &mut words.as_chunks_mut().0[0]);
    }

    #[inline(always)]
    fn splat(&self, x: u64) -> O::V {
        self.level.splat(x)
    }

    #[inline(always)]
    fn add(&self, x: O::V, y: O::V) -> O::V {
        self.csub(self.level.add(x, y), 1)
    }

    #[inline(always)]
    fn sub(&self, x: O::V, y: O::V) -> O::V {
        let o = self.level;
        let difference = o.sub(x, y);
        o.unless_negative(difference, o.add(difference, o.splat(self.m.value())))
    }

    fn constant(&self, value: u64) -> [u64; 2] {
        let shoup = self.m.shoup(value);
        [shoup.value, shoup.quotient]
    }

    /// Shoup's product, below `4q`.
    #[inline(always)]
    fn mul_by(&self, x: O::V, [value, quotient]: [u64; 2]) -> O::V {
        let o = self.level;
        let estimate = self.mul_high(x, quotient);
        let product = o.mul_low_difference(x, o.splat(value), estimate, o.splat(self.m.value()));
        self.csub(self.csub(product, 2), 1)
    }

    #[inline(always)]
    fn split(&self, x: O::V) -> Halves<O::V> {
        let o = self.level;
        Halves { low: o.and(x, o.splat(LOW)), high: o.shift_right(x, HALF) }
    }

    fn factor(value: u64) -> u64 {
        value
    }

    #[inline(always)]
    fn spread(&self, factor: &u64) -> Halves<O::V> {
        let o = self.level;
        Halves { low: o.splat(factor & LOW), high: o.splat(factor >> HALF) }
    }

    #[inline(always)]
    fn zero(&self) -> Sums<O::V> {
        let zero = self.level.splat(0);
        Sums { low: zero, middle: zero, high: zero }
    }

    #[inline(always)]
    fn mac(&self, acc: Sums<O::V>, x: Halves<O::V>, y: Halves<O::V>) -> Sums<O::V> {
        let o = self.level;
        let middle = o.add(o.mul_half(x.low, y.high), o.mul_half(x.high, y.low));
        Sums {
            low: o.add(acc.low, o.mul_half(x.low, y.low)),
            middle: o.add(acc.middle, middle),
            high: o.add(acc.high, o.mul_half(x.high, y.high)),
        }
    }

    /// With the carries of [`Arith::reduce`], each column stays below `2^64`, and the sum below `2^(s + 64)`.
    fn terms(&self, bound: u64) -> usize {
        let (x, y) = (bound.saturating_sub(1), self.m.value() - 1);
        let (x_high, y_high) = ((x >> HALF) as u128, (y >> HALF) as u128);
        if bound > LONG {
            return 0;
        }
        let column = |most: u128, product: u128| most / product.max(1);
        let sum = (1u128 << (self.shift + 64)) / (x as u128 * y as u128).max(1);
        let low = column(1 << 63, (LOW as u128) * LOW as u128);
        let middle = column((1 << 64) - (1 << 34), LOW as u128 * (x_high + y_high));
        let high = column(1 << 63, x_high * y_high);
        sum.min(low).min(middle).min(high) as usize
    }

    #[inline(always)]
    fn reduce(&self, acc: Sums<O::V>) -> O::V {
        let o = self.level;
        let mask = o.splat(LOW);
        let middle = o.add(acc.middle, o.shift_right(acc.low, HALF));
        let high = o.add(acc.high, o.shift_right(middle, HALF));
        let (low, middle) = (o.and(acc.low, mask), o.and(middle, mask));
        // Both lower halves, below 2^60.
        let low = o.add(low, o.shift_left(middle, HALF));
        let top = o.add(o.shift_right(low, self.shift), o.shift_left(high, 2 * HALF - self.shift));
        let word = o.add(low, o.shift_left(high, 2 * HALF));
        let estimate = self.mul_high(top, self.reciprocal);
        let rest = o.sub(word, o.mul_low(estimate, o.splat(self.m.value())));
        self.csub(self.csub(self.csub(rest, 4), 2), 1)
    }

    #[inline(always)]
    fn no_fraction(&self) -> O::Float {
        self.level.float(0.0)
    }

    #[inline(always)]
    fn add_fraction(&self, sum: O::Float, y: O::V, reciprocal: f64) -> O::Float {
        let o = self.level;
        o.float_add(sum, o.float_mul(o.to_float(y), o.float(reciprocal)))
    }

    #[inline(always)]
    fn round(&self, sum: O::Float) -> O::V {
        let o = self.level;
        o.floor(o.float_add(sum, o.float(0.5)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::{avx2::Avx2, avx512::Avx512};

    /// Moduli of every size, at both ends of their bits.
    fn moduli() -> impl Iterator<Item = Modulus<u64>> {
        let ends = |bits: u32| [(1u64 << bits) - 1, (1 << (bits - 1)) + 1, (3 << (bits - 2)) | 1];
        (4..=61).flat_map(ends).map(|q| Modulus::<u64>::new(q).unwrap())
    }

    fn lanes<O: LanesMixed<L>, const L: usize>(level: O) {
        for m in moduli() {
            let (t, q) = (Long::<O, L, u64>::new(level, m), m.value());
            let all = |x: u64| t.load(&[x; L]);
            let check = |what: &str, got: O::V, expected: u128| {
                let mut words = [0; L];
                t.store(got, &mut words);
                assert_eq!(words, [(expected % q as u128) as u64; L], "{what} modulo {q}");
            };
            let ends = [0, 1, 2, q / 3, q / 2, q / 2 + 1, q - 2, q - 1];
            for x in ends {
                for y in ends {
                    let (x128, y128) = (x as u128, y as u128);
                    check("sum", t.add(all(x), all(y)), x128 + y128);
                    check("difference", t.sub(all(x), all(y)), x128 + q as u128 - y128);
                    check("product", t.mul(all(x), all(y)), x128 * y128);
                    check("constant", t.mul_by(all(x), t.constant(y)), x128 * y128);
                }
            }
            // Sums of as many products as there may be, from factors of this and of larger primes.
            for bound in [q, 1 << 20, 1 << 40, 1 << 50, 1 << 60, LONG] {
                let terms = t.terms(bound);
                for (x, y) in [(bound - 1, q - 1), (bound - 1, q / 2), (bound / 2, q - 1), (LOW.min(bound - 1), q - 1)]
                {
                    let add = |acc, _| t.mac(acc, t.split(all(x)), t.spread(&y));
                    let sum = (0..terms).fold(t.zero(), add);
                    if terms > 0 {
                        check("sum of products", t.reduce(sum), terms as u128 * x as u128 * y as u128);
                    }
                }
            }
            // Tensor products add two.
            assert!(t.terms(q) >= 2, "{q}");
        }
        let t = Long::<O, L, u64>::new(level, Modulus::<u64>::new(17).unwrap());
        for y in [0, 1, (1 << 53) + 1, (1 << 60) - 1, (1 << 60) + 129, (1 << 61) - 1] {
            for reciprocal in [2f64.powi(-11), 2f64.powi(-12), 0.3 / 1e6, 1.0 / 1e18] {
                let sum = t.add_fraction(t.add_fraction(t.no_fraction(), t.splat(y), reciprocal), t.splat(3), 0.5);
                let mut words = [0; L];
                t.store(t.round(sum), &mut words);
                assert_eq!(words, [((y as f64 * reciprocal + 1.5) + 0.5) as u64; L], "{y} · {reciprocal}");
            }
        }
    }

    #[test]
    fn every_operation_at_its_ends() {
        if let Some(level) = Avx2::detect() {
            lanes::<_, 4>(level);
        }
        if let Some(level) = Avx512::detect() {
            lanes::<_, 8>(level);
        }
    }
}
