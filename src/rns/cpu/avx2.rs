//! Vectors of four 64-bit lanes: AVX2 and FMA.

use core::arch::x86_64::*;
use core::marker::PhantomData;

use super::arith::Arith;
use crate::arith::{Modulus, Word};
use crate::backend::cpu::avx2::{Avx2, blend};

type V = __m256i;

/// `2^52`: its bits joined with those of an integer below `2^52` are the number `2^52` plus that integer.
const TWO_52: f64 = (1u64 << 52) as f64;
/// `1.5·2^52`: adding and subtracting it rounds to an integer.
const ROUND: f64 = (3u64 << 51) as f64;
/// The low half of a word of 52 bits.
const LOW_26: i64 = (1 << 26) - 1;

/// An integer below `2^52` to double precision.
#[inline(always)]
fn to_float(_: Avx2, x: V) -> __m256d {
    // SAFETY: the token proves the CPU's features; no pointer is involved.
    unsafe {
        let two_52 = _mm256_set1_pd(TWO_52);
        _mm256_sub_pd(_mm256_or_pd(_mm256_castsi256_pd(x), two_52), two_52)
    }
}

/// An integer in `[0, 2^52)` from double precision.
#[inline(always)]
fn to_integer(_: Avx2, x: __m256d) -> V {
    // SAFETY: as above.
    unsafe {
        let two_52 = _mm256_set1_pd(TWO_52);
        _mm256_castpd_si256(_mm256_xor_pd(_mm256_add_pd(x, two_52), two_52))
    }
}

/// `floor(sum + 0.5)` for `sum` in `[0, 2^51)`.
#[inline(always)]
fn nearest(token: Avx2, sum: __m256d) -> V {
    // SAFETY: as above.
    let floor = unsafe { _mm256_floor_pd(_mm256_add_pd(sum, _mm256_set1_pd(0.5))) };
    to_integer(token, floor)
}

/// `sum + y · reciprocal`, two roundings, `y` below `2^52`.
#[inline(always)]
fn fraction(token: Avx2, sum: __m256d, y: V, reciprocal: f64) -> __m256d {
    let y = to_float(token, y);
    // SAFETY: as above.
    unsafe { _mm256_add_pd(sum, _mm256_mul_pd(y, _mm256_set1_pd(reciprocal))) }
}

/// Odd moduli in `[17, 2^50)`, words of 64 bits.
///
/// Products are sums of three products of halves of 26 bits (Karatsuba): `x = x1·2^26 + x0` is below `2^52` and a
/// factor below `2^50`, so that the middle product is below `2^27 · 1.25·2^26` and 1,024 of them fit a lane. A sum of
/// products below `2^104` becomes `h·2^52 + l` with both below `2^52`, which double precision holds. With
/// `c = 2^52 mod q`, centred, `h·c - b·q` for the rounded quotient `b` of one fused multiply-add is at most `3q/4`,
/// as in the transform's double-precision lanes; adding `l` stays below `2^53`; one more quotient, whose error is below
/// `2/q`, leaves at most `q/2 + 2 < q`.
#[derive(Clone, Copy)]
pub(super) struct Wide<W> {
    token: Avx2,
    q: u64,
    inverse: f64,
    /// `2^52 mod q`, centred, and its quotient by `q`.
    carry: [f64; 2],
    word: PhantomData<W>,
}

/// Sums of products of low halves, of sums of halves, of high halves.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    low: V,
    both: V,
    high: V,
}

/// Low half, sum of halves, high half.
#[derive(Clone, Copy)]
pub(super) struct Halves {
    low: V,
    both: V,
    high: V,
}

impl<W: Word> Wide<W> {
    pub(super) fn new(token: Avx2, m: Modulus<u64>) -> Self {
        let q = m.value();
        Self { token, q, inverse: 1.0 / q as f64, carry: centred(m.reduce(1 << 52), q), word: PhantomData }
    }

    /// `(-q, q)` to `[0, q)`; no lane is -0, because sums of zeros of both signs are +0.
    #[inline(always)]
    fn canonical(&self, x: __m256d) -> V {
        // SAFETY: the token proves the CPU's features; no pointer is involved.
        let x = unsafe { blend(x, _mm256_add_pd(x, _mm256_set1_pd(self.q as f64)), x) };
        to_integer(self.token, x)
    }

    /// `x · factor` for an integer `x` below `2^52`, at most `3q/4` either way.
    #[inline(always)]
    fn mul_float(&self, x: __m256d, [value, quotient]: [f64; 2]) -> __m256d {
        // SAFETY: as above.
        unsafe {
            let (value, round) = (_mm256_set1_pd(value), _mm256_set1_pd(ROUND));
            let b = _mm256_sub_pd(_mm256_fmadd_pd(x, _mm256_set1_pd(quotient), round), round);
            let high = _mm256_mul_pd(x, value);
            let low = _mm256_fmsub_pd(x, value, high);
            _mm256_add_pd(_mm256_fnmadd_pd(b, _mm256_set1_pd(self.q as f64), high), low)
        }
    }
}

/// A residue in `(-q/2, q/2]`, and its quotient by `q`.
fn centred(value: u64, q: u64) -> [f64; 2] {
    let value = if value > q / 2 { -((q - value) as f64) } else { value as f64 };
    [value, value / q as f64]
}

impl<W: Word> Arith for Wide<W> {
    type W = W;
    type V = V;
    type C = [f64; 2];
    type Split = Halves;
    type Factor = [u64; 3];
    type Acc = Sums;
    type Fraction = __m256d;

    const LANES: usize = 4;

    fn modulus(&self) -> u64 {
        self.q
    }

    #[inline(always)]
    fn load(&self, words: &[W]) -> V {
        let words: &[u64] = bytemuck::cast_slice(&words[..4]);
        // SAFETY: the token proves the CPU's features; the slice has the vector's size; no alignment is needed.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(&self, x: V, words: &mut [W]) {
        let words: &mut [u64] = bytemuck::cast_slice_mut(&mut words[..4]);
        // SAFETY: as for `load`.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), x) }
    }

    #[inline(always)]
    fn splat(&self, x: u64) -> V {
        // SAFETY: the token proves the CPU's features; no pointer is involved.
        unsafe { _mm256_set1_epi64x(x as i64) }
    }

    #[inline(always)]
    fn add(&self, x: V, y: V) -> V {
        // SAFETY: as above.
        unsafe {
            let sum = _mm256_add_epi64(x, y);
            let less = _mm256_castsi256_pd(_mm256_sub_epi64(sum, self.splat(self.q)));
            _mm256_castpd_si256(blend(less, _mm256_castsi256_pd(sum), less))
        }
    }

    #[inline(always)]
    fn sub(&self, x: V, y: V) -> V {
        // SAFETY: as above.
        unsafe {
            let difference = _mm256_sub_epi64(x, y);
            let more = _mm256_castsi256_pd(_mm256_add_epi64(difference, self.splat(self.q)));
            let difference = _mm256_castsi256_pd(difference);
            _mm256_castpd_si256(blend(difference, more, difference))
        }
    }

    fn constant(&self, value: u64) -> [f64; 2] {
        centred(value, self.q)
    }

    #[inline(always)]
    fn mul_by(&self, x: V, factor: [f64; 2]) -> V {
        self.canonical(self.mul_float(to_float(self.token, x), factor))
    }

    #[inline(always)]
    fn split(&self, x: V) -> Halves {
        // SAFETY: as above.
        unsafe {
            let low = _mm256_and_si256(x, _mm256_set1_epi64x(LOW_26));
            let high = _mm256_srli_epi64::<26>(x);
            Halves { low, both: _mm256_add_epi64(low, high), high }
        }
    }

    fn factor(value: u64) -> [u64; 3] {
        let (low, high) = (value & LOW_26 as u64, value >> 26);
        [low, low + high, high]
    }

    #[inline(always)]
    fn spread(&self, factor: &[u64; 3]) -> Halves {
        let [low, both, high] = factor.map(|x| self.splat(x));
        Halves { low, both, high }
    }

    #[inline(always)]
    fn zero(&self) -> Sums {
        let zero = self.splat(0);
        Sums { low: zero, both: zero, high: zero }
    }

    #[inline(always)]
    fn mac(&self, acc: Sums, x: Halves, y: Halves) -> Sums {
        // SAFETY: as above.
        unsafe {
            Sums {
                low: _mm256_add_epi64(acc.low, _mm256_mul_epu32(x.low, y.low)),
                both: _mm256_add_epi64(acc.both, _mm256_mul_epu32(x.both, y.both)),
                high: _mm256_add_epi64(acc.high, _mm256_mul_epu32(x.high, y.high)),
            }
        }
    }

    fn terms(&self, bound: u64) -> usize {
        ((1u128 << 104) / (bound as u128 * self.q as u128)).min(1 << 10) as usize
    }

    #[inline(always)]
    fn reduce(&self, acc: Sums) -> V {
        // SAFETY: as above.
        unsafe {
            let mask = _mm256_set1_epi64x(LOW_26);
            let middle = _mm256_sub_epi64(_mm256_sub_epi64(acc.both, acc.low), acc.high);
            let middle = _mm256_add_epi64(middle, _mm256_srli_epi64::<26>(acc.low));
            let high = _mm256_add_epi64(acc.high, _mm256_srli_epi64::<26>(middle));
            let middle = _mm256_slli_epi64::<26>(_mm256_and_si256(middle, mask));
            let low = _mm256_or_si256(middle, _mm256_and_si256(acc.low, mask));
            let (high, low) = (to_float(self.token, high), to_float(self.token, low));
            let x = _mm256_add_pd(self.mul_float(high, self.carry), low);
            let round = _mm256_set1_pd(ROUND);
            let b = _mm256_sub_pd(_mm256_fmadd_pd(x, _mm256_set1_pd(self.inverse), round), round);
            self.canonical(_mm256_fnmadd_pd(b, _mm256_set1_pd(self.q as f64), x))
        }
    }

    #[inline(always)]
    fn no_fraction(&self) -> __m256d {
        // SAFETY: as above.
        unsafe { _mm256_setzero_pd() }
    }

    #[inline(always)]
    fn add_fraction(&self, sum: __m256d, y: V, reciprocal: f64) -> __m256d {
        fraction(self.token, sum, y, reciprocal)
    }

    #[inline(always)]
    fn round(&self, sum: __m256d) -> V {
        nearest(self.token, sum)
    }
}

/// Moduli below 2^31, words of 32 bits in lanes of 64.
///
/// A sum of products below `2^64` is `h·2^32 + l`. `h·c` with `c = 2^32 mod q` takes Shoup's quotient, `l` Barrett's;
/// both leave `[0, 2q)`, below `2^32`.
#[derive(Clone, Copy)]
pub(super) struct Narrow<W> {
    token: Avx2,
    q: u64,
    /// `floor(2^32 / q)`.
    barrett: u64,
    /// `2^32 mod q` and its quotient.
    carry: [u64; 2],
    word: PhantomData<W>,
}

impl<W: Word> Narrow<W> {
    pub(super) fn new(token: Avx2, m: Modulus<u64>) -> Self {
        let q = m.value();
        Self { token, q, barrett: (1 << 32) / q, carry: quotient(m.reduce(1 << 32), q), word: PhantomData }
    }

    /// `[0, 2q)` to `[0, q)`: the high halves of lanes are 0 and stay so.
    #[inline(always)]
    fn csub(&self, x: V) -> V {
        // SAFETY: the token proves the CPU's features; no pointer is involved.
        unsafe { _mm256_min_epu32(x, _mm256_sub_epi32(x, self.splat(self.q))) }
    }

    /// `x · factor - estimate · q` in `[0, 2q)`, `estimate` the high half of `x · quotient`.
    #[inline(always)]
    fn mul_lazy(&self, x: V, [value, quotient]: [u64; 2]) -> V {
        // SAFETY: as above.
        unsafe {
            let estimate = _mm256_srli_epi64::<32>(_mm256_mul_epu32(x, self.splat(quotient)));
            let product = _mm256_mul_epu32(x, self.splat(value));
            _mm256_sub_epi64(product, _mm256_mul_epu32(estimate, self.splat(self.q)))
        }
    }
}

/// A factor and Shoup's quotient for words of 32 bits.
fn quotient(value: u64, q: u64) -> [u64; 2] {
    [value, (value << 32) / q]
}

impl<W: Word> Arith for Narrow<W> {
    type W = W;
    type V = V;
    type C = [u64; 2];
    type Split = V;
    type Factor = u64;
    type Acc = V;
    type Fraction = __m256d;

    const LANES: usize = 4;

    fn modulus(&self) -> u64 {
        self.q
    }

    #[inline(always)]
    fn load(&self, words: &[W]) -> V {
        let words: &[u32] = bytemuck::cast_slice(&words[..4]);
        // SAFETY: the token proves the CPU's features; the slice has the size that is read; no alignment is needed.
        unsafe { _mm256_cvtepu32_epi64(_mm_loadu_si128(words.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store(&self, x: V, words: &mut [W]) {
        let words: &mut [u32] = bytemuck::cast_slice_mut(&mut words[..4]);
        // SAFETY: as for `load`.
        unsafe {
            let even = _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
            _mm_storeu_si128(words.as_mut_ptr().cast(), _mm256_castsi256_si128(even));
        }
    }

    #[inline(always)]
    fn splat(&self, x: u64) -> V {
        // SAFETY: the token proves the CPU's features; no pointer is involved.
        unsafe { _mm256_set1_epi64x(x as i64) }
    }

    #[inline(always)]
    fn add(&self, x: V, y: V) -> V {
        // SAFETY: as above.
        self.csub(unsafe { _mm256_add_epi32(x, y) })
    }

    #[inline(always)]
    fn sub(&self, x: V, y: V) -> V {
        // SAFETY: as above.
        unsafe {
            let difference = _mm256_sub_epi32(x, y);
            _mm256_min_epu32(difference, _mm256_add_epi32(difference, self.splat(self.q)))
        }
    }

    fn constant(&self, value: u64) -> [u64; 2] {
        quotient(value, self.q)
    }

    #[inline(always)]
    fn mul_by(&self, x: V, factor: [u64; 2]) -> V {
        self.csub(self.mul_lazy(x, factor))
    }

    #[inline(always)]
    fn split(&self, x: V) -> V {
        x
    }

    fn factor(value: u64) -> u64 {
        value
    }

    #[inline(always)]
    fn spread(&self, factor: &u64) -> V {
        self.splat(*factor)
    }

    #[inline(always)]
    fn zero(&self) -> V {
        self.splat(0)
    }

    #[inline(always)]
    fn mac(&self, acc: V, x: V, y: V) -> V {
        // SAFETY: as above.
        unsafe { _mm256_add_epi64(acc, _mm256_mul_epu32(x, y)) }
    }

    fn terms(&self, bound: u64) -> usize {
        ((1u128 << 64) / (bound as u128 * self.q as u128)).min(1 << 20) as usize
    }

    #[inline(always)]
    fn reduce(&self, acc: V) -> V {
        // SAFETY: as above.
        unsafe {
            let high = self.csub(self.mul_lazy(_mm256_srli_epi64::<32>(acc), self.carry));
            let low = _mm256_and_si256(acc, _mm256_set1_epi64x(u32::MAX as i64));
            let low = self.csub(self.mul_lazy(low, [1, self.barrett]));
            self.add(high, low)
        }
    }

    #[inline(always)]
    fn no_fraction(&self) -> __m256d {
        // SAFETY: as above.
        unsafe { _mm256_setzero_pd() }
    }

    #[inline(always)]
    fn add_fraction(&self, sum: __m256d, y: V, reciprocal: f64) -> __m256d {
        fraction(self.token, sum, y, reciprocal)
    }

    #[inline(always)]
    fn round(&self, sum: __m256d) -> V {
        nearest(self.token, sum)
    }
}
