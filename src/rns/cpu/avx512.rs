//! Vectors of eight 64-bit lanes: AVX-512 with IFMA.

use core::arch::x86_64::*;
use core::marker::PhantomData;

use super::arith::Arith;
use crate::arith::{Modulus, Word};
use crate::backend::cpu::avx512::Avx512;

type V = __m512i;

/// `2^52 - 1`.
const LOW_52: i64 = (1 << 52) - 1;

/// `floor(sum + 0.5)` for `sum` that is not negative.
#[inline(always)]
fn nearest(_: Avx512, sum: __m512d) -> V {
    // SAFETY: the token proves the CPU's features; no pointer is involved.
    unsafe { _mm512_cvttpd_epu64(_mm512_add_pd(sum, _mm512_set1_pd(0.5))) }
}

/// `sum + y · reciprocal`, two roundings, `y` below `2^53`.
#[inline(always)]
fn fraction(_: Avx512, sum: __m512d, y: V, reciprocal: f64) -> __m512d {
    // SAFETY: as above.
    unsafe { _mm512_add_pd(sum, _mm512_mul_pd(_mm512_cvtepu64_pd(y), _mm512_set1_pd(reciprocal))) }
}

/// Moduli below 2^50, words of 64 bits.
///
/// IFMA gives the low and high 52 bits of products of 52 bits. A sum of products below `2^104` becomes `h·2^52 + l`
/// with both below `2^52`. `h·c` with `c = 2^52 mod q` takes Shoup's quotient in words of 52 bits, `l` Barrett's; both
/// leave `[0, 2q)`.
#[derive(Clone, Copy)]
pub(super) struct Wide<W> {
    token: Avx512,
    q: u64,
    /// `floor(2^52 / q)`.
    barrett: u64,
    /// `2^52 mod q` and its quotient.
    carry: [u64; 2],
    word: PhantomData<W>,
}

/// Sums of low and of high halves of products.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    low: V,
    high: V,
}

impl<W: Word> Wide<W> {
    pub(super) fn new(token: Avx512, m: Modulus<u64>) -> Self {
        let q = m.value();
        Self { token, q, barrett: (1 << 52) / q, carry: quotient52(m.reduce(1 << 52), q), word: PhantomData }
    }

    /// Subtracts `multiple · q` once where that leaves no negative number.
    #[inline(always)]
    fn csub(&self, x: V, multiple: u64) -> V {
        let _ = self.token;
        // SAFETY: the token proves the CPU's features; no pointer is involved.
        unsafe {
            let m = _mm512_set1_epi64((multiple * self.q) as i64);
            _mm512_min_epu64(x, _mm512_sub_epi64(x, m))
        }
    }

    /// `x · factor` in `[0, 2q)` for any `x` below `2^52`.
    #[inline(always)]
    fn mul_lazy(&self, x: V, [value, quotient]: [u64; 2]) -> V {
        // SAFETY: as above.
        unsafe {
            let zero = _mm512_setzero_si512();
            let estimate = _mm512_madd52hi_epu64(zero, x, _mm512_set1_epi64(quotient as i64));
            let product = _mm512_madd52lo_epu64(zero, x, _mm512_set1_epi64(value as i64));
            let multiple = _mm512_madd52lo_epu64(zero, estimate, _mm512_set1_epi64(self.q as i64));
            _mm512_and_si512(_mm512_sub_epi64(product, multiple), _mm512_set1_epi64(LOW_52))
        }
    }
}

/// A factor and Shoup's quotient for words of 52 bits.
fn quotient52(value: u64, q: u64) -> [u64; 2] {
    [value, (((value as u128) << 52) / q as u128) as u64]
}

impl<W: Word> Arith for Wide<W> {
    type W = W;
    type V = V;
    type C = [u64; 2];
    type Split = V;
    type Factor = u64;
    type Acc = Sums;
    type Fraction = __m512d;

    const LANES: usize = 8;

    fn modulus(&self) -> u64 {
        self.q
    }

    #[inline(always)]
    fn load(&self, words: &[W]) -> V {
        let words: &[u64] = bytemuck::cast_slice(&words[..8]);
        // SAFETY: the token proves the CPU's features; the slice has the vector's size; no alignment is needed.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(&self, x: V, words: &mut [W]) {
        let words: &mut [u64] = bytemuck::cast_slice_mut(&mut words[..8]);
        // SAFETY: as for `load`.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), x) }
    }

    #[inline(always)]
    fn splat(&self, x: u64) -> V {
        // SAFETY: the token proves the CPU's features; no pointer is involved.
        unsafe { _mm512_set1_epi64(x as i64) }
    }

    #[inline(always)]
    fn add(&self, x: V, y: V) -> V {
        // SAFETY: as above.
        self.csub(unsafe { _mm512_add_epi64(x, y) }, 1)
    }

    #[inline(always)]
    fn sub(&self, x: V, y: V) -> V {
        // SAFETY: as above.
        unsafe {
            let difference = _mm512_sub_epi64(x, y);
            _mm512_min_epu64(difference, _mm512_add_epi64(difference, self.splat(self.q)))
        }
    }

    fn constant(&self, value: u64) -> [u64; 2] {
        quotient52(value, self.q)
    }

    #[inline(always)]
    fn mul_by(&self, x: V, factor: [u64; 2]) -> V {
        self.csub(self.mul_lazy(x, factor), 1)
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
    fn zero(&self) -> Sums {
        let zero = self.splat(0);
        Sums { low: zero, high: zero }
    }

    #[inline(always)]
    fn mac(&self, acc: Sums, x: V, y: V) -> Sums {
        // SAFETY: as above.
        unsafe { Sums { low: _mm512_madd52lo_epu64(acc.low, x, y), high: _mm512_madd52hi_epu64(acc.high, x, y) } }
    }

    fn terms(&self, bound: u64) -> usize {
        ((1u128 << 104) / (bound as u128 * self.q as u128)).min(1 << 12) as usize
    }

    #[inline(always)]
    fn reduce(&self, acc: Sums) -> V {
        // SAFETY: as above.
        unsafe {
            let high = _mm512_add_epi64(acc.high, _mm512_srli_epi64::<52>(acc.low));
            let low = _mm512_and_si512(acc.low, _mm512_set1_epi64(LOW_52));
            let sum = _mm512_add_epi64(self.mul_lazy(high, self.carry), self.mul_lazy(low, [1, self.barrett]));
            self.csub(self.csub(sum, 2), 1)
        }
    }

    #[inline(always)]
    fn no_fraction(&self) -> __m512d {
        // SAFETY: as above.
        unsafe { _mm512_setzero_pd() }
    }

    #[inline(always)]
    fn add_fraction(&self, sum: __m512d, y: V, reciprocal: f64) -> __m512d {
        fraction(self.token, sum, y, reciprocal)
    }

    #[inline(always)]
    fn round(&self, sum: __m512d) -> V {
        nearest(self.token, sum)
    }
}

/// Moduli below 2^31, words of 32 bits in lanes of 64; as on AVX2.
#[derive(Clone, Copy)]
pub(super) struct Narrow<W> {
    token: Avx512,
    q: u64,
    /// `floor(2^32 / q)`.
    barrett: u64,
    /// `2^32 mod q` and its quotient.
    carry: [u64; 2],
    word: PhantomData<W>,
}

impl<W: Word> Narrow<W> {
    pub(super) fn new(token: Avx512, m: Modulus<u64>) -> Self {
        let q = m.value();
        Self { token, q, barrett: (1 << 32) / q, carry: quotient32(m.reduce(1 << 32), q), word: PhantomData }
    }

    /// `[0, 2q)` to `[0, q)`.
    #[inline(always)]
    fn csub(&self, x: V) -> V {
        // SAFETY: the token proves the CPU's features; no pointer is involved.
        unsafe { _mm512_min_epu64(x, _mm512_sub_epi64(x, self.splat(self.q))) }
    }

    /// `x · factor` in `[0, 2q)` for any `x` below `2^32`.
    #[inline(always)]
    fn mul_lazy(&self, x: V, [value, quotient]: [u64; 2]) -> V {
        // SAFETY: as above.
        unsafe {
            let estimate = _mm512_srli_epi64::<32>(_mm512_mul_epu32(x, self.splat(quotient)));
            let product = _mm512_mul_epu32(x, self.splat(value));
            _mm512_sub_epi64(product, _mm512_mul_epu32(estimate, self.splat(self.q)))
        }
    }
}

/// A factor and Shoup's quotient for words of 32 bits.
fn quotient32(value: u64, q: u64) -> [u64; 2] {
    [value, (value << 32) / q]
}

impl<W: Word> Arith for Narrow<W> {
    type W = W;
    type V = V;
    type C = [u64; 2];
    type Split = V;
    type Factor = u64;
    type Acc = V;
    type Fraction = __m512d;

    const LANES: usize = 8;

    fn modulus(&self) -> u64 {
        self.q
    }

    #[inline(always)]
    fn load(&self, words: &[W]) -> V {
        let words: &[u32] = bytemuck::cast_slice(&words[..8]);
        // SAFETY: the token proves the CPU's features; the slice has the size that is read; no alignment is needed.
        unsafe { _mm512_cvtepu32_epi64(_mm256_loadu_si256(words.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store(&self, x: V, words: &mut [W]) {
        let words: &mut [u32] = bytemuck::cast_slice_mut(&mut words[..8]);
        // SAFETY: as for `load`.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(x)) }
    }

    #[inline(always)]
    fn splat(&self, x: u64) -> V {
        // SAFETY: the token proves the CPU's features; no pointer is involved.
        unsafe { _mm512_set1_epi64(x as i64) }
    }

    #[inline(always)]
    fn add(&self, x: V, y: V) -> V {
        // SAFETY: as above.
        self.csub(unsafe { _mm512_add_epi64(x, y) })
    }

    #[inline(always)]
    fn sub(&self, x: V, y: V) -> V {
        // SAFETY: as above.
        unsafe {
            let difference = _mm512_sub_epi64(x, y);
            _mm512_min_epu64(difference, _mm512_add_epi64(difference, self.splat(self.q)))
        }
    }

    fn constant(&self, value: u64) -> [u64; 2] {
        quotient32(value, self.q)
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
        unsafe { _mm512_add_epi64(acc, _mm512_mul_epu32(x, y)) }
    }

    fn terms(&self, bound: u64) -> usize {
        ((1u128 << 64) / (bound as u128 * self.q as u128)).min(1 << 20) as usize
    }

    #[inline(always)]
    fn reduce(&self, acc: V) -> V {
        // SAFETY: as above.
        unsafe {
            let high = self.csub(self.mul_lazy(_mm512_srli_epi64::<32>(acc), self.carry));
            let low = _mm512_and_si512(acc, self.splat(u32::MAX as u64));
            self.add(high, self.csub(self.mul_lazy(low, [1, self.barrett])))
        }
    }

    #[inline(always)]
    fn no_fraction(&self) -> __m512d {
        // SAFETY: as above.
        unsafe { _mm512_setzero_pd() }
    }

    #[inline(always)]
    fn add_fraction(&self, sum: __m512d, y: V, reciprocal: f64) -> __m512d {
        fraction(self.token, sum, y, reciprocal)
    }

    #[inline(always)]
    fn round(&self, sum: __m512d) -> V {
        nearest(self.token, sum)
    }
}
