//! AVX2 and FMA: 16 registers of 256 bits.

use core::arch::x86_64::*;

use super::Level;
use super::lanes::{Lanes, Lanes16, Lanes32, Lanes64, LanesF64, LanesMixed};

/// Proof that this CPU has AVX2 and FMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// The proof, where this CPU has the features.
    pub(crate) fn detect() -> Option<Self> {
        Level::Avx2.missing().is_empty().then_some(Self(()))
    }
}

/// High halves of signed 16-bit products, by the instruction itself: a compiler that is told what it computes hoists
/// the widening of a constant factor out of loops and then multiplies in 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn mul_high(x: V, y: V) -> V {
    let out;
    // SAFETY: one instruction between registers.
    unsafe {
        core::arch::asm!("vpmulhw {}, {}, {}", out(ymm_reg) out, in(ymm_reg) x, in(ymm_reg) y,
            options(pure, nomem, nostack, preserves_flags));
    }
    out
}

/// `y` where the sign of `sign` is set, else `x`, by the instruction itself: a compiler that is told what it computes
/// stores under a mask where `x` came from the same place, and what that takes may depend on the mask.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn blend(x: __m256d, y: __m256d, sign: __m256d) -> __m256d {
    let out;
    // SAFETY: one instruction between registers.
    unsafe {
        core::arch::asm!("vblendvpd {}, {}, {}, {}", out(ymm_reg) out, in(ymm_reg) x, in(ymm_reg) y, in(ymm_reg) sign,
            options(pure, nomem, nostack, preserves_flags));
    }
    out
}

/// Methods that are one expression of intrinsics each.
macro_rules! methods {
    ($V:ty; $($(#[$doc:meta])* fn $name:ident($($x:ident: $X:ty),*) $body:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        fn $name(self $(, $x: $X)*) -> $V {
            // SAFETY: the token proves the CPU's features; no pointer is involved.
            unsafe { $body }
        }
    )*};
}

/// Loads and stores through arrays of one vector's size.
macro_rules! memory {
    ($V:ty, $T:ty, $L:literal, $load:ident, $store:ident) => {
        #[inline(always)]
        fn load(self, a: &[$T; $L]) -> $V {
            // SAFETY: the token proves the CPU's features; the array has the vector's size; no alignment is needed.
            unsafe { $load(a.as_ptr().cast()) }
        }

        #[inline(always)]
        fn store(self, x: $V, a: &mut [$T; $L]) {
            // SAFETY: as for `load`.
            unsafe { $store(a.as_mut_ptr().cast(), x) }
        }

        #[inline(always)]
        fn prefetch(self, place: *const [$T; $L]) {
            // SAFETY: a hint, which reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) }
        }
    };
}

type V = __m256i;

/// Places of bytes with neighbours of 16 bits exchanged, of which the shuffle takes the low four bits.
const SWAPPED_PAIRS: [u8; 32] = {
    let mut places = [0; 32];
    let mut i = 0;
    while i < 32 {
        places[i] = i as u8 ^ 2;
        i += 1;
    }
    places
};

/// Blocks of 128 bits.
#[inline(always)]
fn split128(_: Avx2, x: V, y: V) -> (V, V) {
    // SAFETY: the token proves the CPU's features.
    unsafe { (_mm256_permute2x128_si256::<0x20>(x, y), _mm256_permute2x128_si256::<0x31>(x, y)) }
}

/// Blocks of 64 bits.
#[inline(always)]
fn split64(_: Avx2, x: V, y: V) -> (V, V) {
    // SAFETY: the token proves the CPU's features.
    unsafe { (_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y)) }
}

/// Blocks of 32 bits: even ones of both, odd ones of both.
#[inline(always)]
fn split32(_: Avx2, x: V, y: V) -> (V, V) {
    // SAFETY: the token proves the CPU's features.
    unsafe {
        let (x, y) = (_mm256_castsi256_ps(x), _mm256_castsi256_ps(y));
        let (even, odd) = (_mm256_shuffle_ps::<0b10_00_10_00>(x, y), _mm256_shuffle_ps::<0b11_01_11_01>(x, y));
        (_mm256_castps_si256(even), _mm256_castps_si256(odd))
    }
}

/// The inverse of [`split32`].
#[inline(always)]
fn join32(_: Avx2, x: V, y: V) -> (V, V) {
    // SAFETY: the token proves the CPU's features.
    unsafe { (_mm256_unpacklo_epi32(x, y), _mm256_unpackhi_epi32(x, y)) }
}

/// Blocks of 16 bits.
#[inline(always)]
fn split16(_: Avx2, x: V, y: V) -> (V, V) {
    // SAFETY: the token proves the CPU's features.
    unsafe {
        (
            _mm256_blend_epi16::<0b1010_1010>(x, _mm256_slli_epi32::<16>(y)),
            _mm256_blend_epi16::<0b1010_1010>(_mm256_srli_epi32::<16>(x), y),
        )
    }
}

impl Lanes<i16, 16> for Avx2 {
    type V = V;

    memory!(V, i16, 16, _mm256_loadu_si256, _mm256_storeu_si256);

    methods! { V;
        fn splat(x: i16) _mm256_set1_epi16(x);
        fn add(x: V, y: V) _mm256_add_epi16(x, y);
        fn sub(x: V, y: V) _mm256_sub_epi16(x, y);
    }

    #[inline(always)]
    fn split<const H: usize>(self, x: V, y: V) -> (V, V) {
        match H {
            1 => split16(self, x, y),
            2 => split32(self, x, y),
            4 => split64(self, x, y),
            _ => split128(self, x, y),
        }
    }

    #[inline(always)]
    fn join<const H: usize>(self, x: V, y: V) -> (V, V) {
        match H {
            2 => join32(self, x, y),
            _ => <Self as Lanes<i16, 16>>::split::<H>(self, x, y),
        }
    }
}

impl Lanes16<16> for Avx2 {
    methods! { V;
        fn mul_low(x: V, y: V) _mm256_mullo_epi16(x, y);
        fn mul_high(x: V, y: V) mul_high(x, y);
        fn mul_high_loaded(x: V, y: &[i16; 16]) _mm256_mulhi_epi16(x, _mm256_loadu_si256(y.as_ptr().cast()));
        fn mul_round(x: V, y: V) _mm256_mulhrs_epi16(x, y);
        fn min(x: V, y: V) _mm256_min_epu16(x, y);
        fn mul_pairs(x: V, y: V) _mm256_madd_epi16(x, y);
        fn add32(x: V, y: V) _mm256_add_epi32(x, y);
        fn low_halves(x: V, y: V) _mm256_blend_epi16::<0b1010_1010>(x, _mm256_slli_epi32::<16>(y));
        fn high_halves(x: V, y: V) _mm256_blend_epi16::<0b1010_1010>(_mm256_srli_epi32::<16>(x), y);
        fn swap_pairs(x: V) _mm256_shuffle_epi8(x, _mm256_loadu_si256(SWAPPED_PAIRS.as_ptr().cast()));
    }
}

impl Lanes<u32, 8> for Avx2 {
    type V = V;

    memory!(V, u32, 8, _mm256_loadu_si256, _mm256_storeu_si256);

    methods! { V;
        fn splat(x: u32) _mm256_set1_epi32(x as i32);
        fn add(x: V, y: V) _mm256_add_epi32(x, y);
        fn sub(x: V, y: V) _mm256_sub_epi32(x, y);
    }

    #[inline(always)]
    fn split<const H: usize>(self, x: V, y: V) -> (V, V) {
        match H {
            1 => split32(self, x, y),
            2 => split64(self, x, y),
            _ => split128(self, x, y),
        }
    }

    #[inline(always)]
    fn join<const H: usize>(self, x: V, y: V) -> (V, V) {
        match H {
            1 => join32(self, x, y),
            _ => <Self as Lanes<u32, 8>>::split::<H>(self, x, y),
        }
    }
}

impl Lanes32<8> for Avx2 {
    methods! { V;
        fn mul_low(x: V, y: V) _mm256_mullo_epi32(x, y);
        fn min(x: V, y: V) _mm256_min_epu32(x, y);
        fn mul_even(x: V, y: V) _mm256_mul_epu32(x, y);
        fn odd(x: V) _mm256_srli_epi64::<32>(x);
        fn high_halves(even: V, odd: V) _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(even), odd);
        fn add64(x: V, y: V) _mm256_add_epi64(x, y);
    }
}

/// The other products' share of 64-bit products: what stands in the upper half.
#[inline(always)]
fn cross(o: Avx2, x: V, y: V) -> V {
    let high = <Avx2 as Lanes64<4>>::high;
    // SAFETY: the token proves the CPU's features.
    unsafe { _mm256_add_epi64(_mm256_mul_epu32(high(o, x), y), _mm256_mul_epu32(x, high(o, y))) }
}

impl Lanes<u64, 4> for Avx2 {
    type V = V;

    memory!(V, u64, 4, _mm256_loadu_si256, _mm256_storeu_si256);

    methods! { V;
        fn splat(x: u64) _mm256_set1_epi64x(x as i64);
        fn add(x: V, y: V) _mm256_add_epi64(x, y);
        fn sub(x: V, y: V) _mm256_sub_epi64(x, y);
    }

    #[inline(always)]
    fn split<const H: usize>(self, x: V, y: V) -> (V, V) {
        match H {
            1 => split64(self, x, y),
            _ => split128(self, x, y),
        }
    }
}

impl Lanes64<4> for Avx2 {
    methods! { V;
        fn and(x: V, y: V) _mm256_and_si256(x, y);
        fn splat_half(x: u32) _mm256_set1_epi32(x as i32);
        fn mul_half(x: V, y: V) _mm256_mul_epu32(x, y);
        fn unless_negative(x: V, y: V) _mm256_castpd_si256(blend(
            _mm256_castsi256_pd(x), _mm256_castsi256_pd(y), _mm256_castsi256_pd(x)));
        fn high(x: V) _mm256_srli_epi64::<32>(x);
    }

    #[inline(always)]
    fn mul_low(self, x: V, y: V) -> V {
        let cross = cross(self, x, y);
        // SAFETY: the token proves the CPU's features.
        unsafe { _mm256_add_epi64(_mm256_mul_epu32(x, y), _mm256_slli_epi64::<32>(cross)) }
    }

    /// Both products' cross terms are shifted together.
    #[inline(always)]
    fn mul_low_difference(self, x: V, w: V, e: V, q: V) -> V {
        let (first, second) = (cross(self, x, w), cross(self, e, q));
        // SAFETY: the token proves the CPU's features.
        unsafe {
            let low = _mm256_sub_epi64(_mm256_mul_epu32(x, w), _mm256_mul_epu32(e, q));
            _mm256_add_epi64(low, _mm256_slli_epi64::<32>(_mm256_sub_epi64(first, second)))
        }
    }
}

impl Lanes<f64, 4> for Avx2 {
    type V = __m256d;

    memory!(__m256d, f64, 4, _mm256_loadu_pd, _mm256_storeu_pd);

    methods! { __m256d;
        fn splat(x: f64) _mm256_set1_pd(x);
        fn add(x: __m256d, y: __m256d) _mm256_add_pd(x, y);
        fn sub(x: __m256d, y: __m256d) _mm256_sub_pd(x, y);
    }

    #[inline(always)]
    fn split<const H: usize>(self, x: __m256d, y: __m256d) -> (__m256d, __m256d) {
        // SAFETY: the token proves the CPU's features; these are reinterpretations.
        let (x, y) = unsafe { (_mm256_castpd_si256(x), _mm256_castpd_si256(y)) };
        let (x, y) = match H {
            1 => split64(self, x, y),
            _ => split128(self, x, y),
        };
        // SAFETY: as above.
        unsafe { (_mm256_castsi256_pd(x), _mm256_castsi256_pd(y)) }
    }
}

impl LanesF64<4> for Avx2 {
    methods! { __m256d;
        fn mul(x: __m256d, y: __m256d) _mm256_mul_pd(x, y);
        fn mul_add(x: __m256d, y: __m256d, z: __m256d) _mm256_fmadd_pd(x, y, z);
        fn mul_sub(x: __m256d, y: __m256d, z: __m256d) _mm256_fmsub_pd(x, y, z);
        fn sub_mul(x: __m256d, y: __m256d, z: __m256d) _mm256_fnmadd_pd(x, y, z);
        fn if_negative(x: __m256d, y: __m256d) blend(x, y, x);
    }
}

/// `2^52` and `2^84`: their low bits joined with those of an integer of 32 bits are the number plus that integer, or
/// plus `2^32` times it.
const TWO_52: f64 = (1u64 << 52) as f64;
const TWO_84: f64 = (1u128 << 84) as f64;

impl LanesMixed<4> for Avx2 {
    type Float = __m256d;

    methods! { V;
        fn shift_left(x: V, by: u32) _mm256_sll_epi64(x, _mm_cvtsi32_si128(by as i32));
        fn shift_right(x: V, by: u32) _mm256_srl_epi64(x, _mm_cvtsi32_si128(by as i32));
    }

    methods! { __m256d;
        fn float(x: f64) _mm256_set1_pd(x);
        fn float_add(x: __m256d, y: __m256d) _mm256_add_pd(x, y);
        fn float_mul(x: __m256d, y: __m256d) _mm256_mul_pd(x, y);
    }

    /// Both halves are exact, and their sum is rounded once.
    #[inline(always)]
    fn to_float(self, x: V) -> __m256d {
        // SAFETY: the token proves the CPU's features.
        unsafe {
            let (two_52, two_84) = (_mm256_set1_pd(TWO_52), _mm256_set1_pd(TWO_84));
            let low = _mm256_blend_epi32::<0b1010_1010>(x, _mm256_castpd_si256(two_52));
            let high = _mm256_or_si256(_mm256_srli_epi64::<32>(x), _mm256_castpd_si256(two_84));
            let high = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(TWO_84 + TWO_52));
            _mm256_add_pd(high, _mm256_castsi256_pd(low))
        }
    }

    #[inline(always)]
    fn floor(self, x: __m256d) -> V {
        // SAFETY: as above.
        unsafe {
            let two_52 = _mm256_set1_pd(TWO_52);
            _mm256_castpd_si256(_mm256_xor_pd(_mm256_add_pd(_mm256_floor_pd(x), two_52), two_52))
        }
    }
}
