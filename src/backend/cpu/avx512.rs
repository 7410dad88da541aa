//! AVX-512: 32 registers of 512 bits.

use core::arch::x86_64::*;

use super::Level;
use super::lanes::{Lanes, Lanes16, Lanes32, Lanes52, Lanes64, LanesF64, LanesMixed};

/// Proof that this CPU has AVX-512 F, BW, DQ, VL and IFMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// The proof, where this CPU has the features.
    pub(crate) fn detect() -> Option<Self> {
        Level::Avx512.missing().is_empty().then_some(Self(()))
    }
}

/// High halves of signed 16-bit products, by the instruction itself: a compiler that is told what it computes hoists
/// the widening of a constant factor out of loops and then multiplies in 32 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn mul_high(x: V, y: V) -> V {
    let out;
    // SAFETY: one instruction between registers.
    unsafe {
        core::arch::asm!("vpmulhw {}, {}, {}", out(zmm_reg) out, in(zmm_reg) x, in(zmm_reg) y,
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

type V = __m512i;

/// Blocks of 256 bits.
#[inline(always)]
fn split256(_: Avx512, x: V, y: V) -> (V, V) {
    // SAFETY: the token proves the CPU's features.
    unsafe { (_mm512_shuffle_i64x2::<0b01_00_01_00>(x, y), _mm512_shuffle_i64x2::<0b11_10_11_10>(x, y)) }
}

/// Blocks of 128 bits.
#[inline(always)]
fn split128(_: Avx512, x: V, y: V) -> (V, V) {
    // SAFETY: the token proves the CPU's features.
    unsafe {
        (
            _mm512_mask_shuffle_i64x2::<0b10_10_00_00>(x, 0b1100_1100, y, y),
            _mm512_mask_shuffle_i64x2::<0b11_11_01_01>(y, 0b0011_0011, x, x),
        )
    }
}

/// Blocks of 64 bits.
#[inline(always)]
fn split64(_: Avx512, x: V, y: V) -> (V, V) {
    // SAFETY: the token proves the CPU's features.
    unsafe { (_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y)) }
}

/// Blocks of 32 bits.
#[inline(always)]
fn split32(_: Avx512, x: V, y: V) -> (V, V) {
    // SAFETY: the token proves the CPU's features.
    unsafe {
        (
            _mm512_mask_shuffle_epi32::<0b10_10_00_00>(x, 0xaaaa, y),
            _mm512_mask_shuffle_epi32::<0b11_11_01_01>(y, 0x5555, x),
        )
    }
}

/// Blocks of 16 bits.
#[inline(always)]
fn split16(_: Avx512, x: V, y: V) -> (V, V) {
    // SAFETY: the token proves the CPU's features.
    unsafe {
        (
            _mm512_mask_blend_epi16(0xaaaa_aaaa, x, _mm512_slli_epi32::<16>(y)),
            _mm512_mask_blend_epi16(0xaaaa_aaaa, _mm512_srli_epi32::<16>(x), y),
        )
    }
}

impl Lanes<i16, 32> for Avx512 {
    type V = V;

    memory!(V, i16, 32, _mm512_loadu_si512, _mm512_storeu_si512);

    methods! { V;
        fn splat(x: i16) _mm512_set1_epi16(x);
        fn add(x: V, y: V) _mm512_add_epi16(x, y);
        fn sub(x: V, y: V) _mm512_sub_epi16(x, y);
    }

    #[inline(always)]
    fn split<const H: usize>(self, x: V, y: V) -> (V, V) {
        match H {
            1 => split16(self, x, y),
            2 => split32(self, x, y),
            4 => split64(self, x, y),
            8 => split128(self, x, y),
            _ => split256(self, x, y),
        }
    }
}

impl Lanes16<32> for Avx512 {
    methods! { V;
        fn mul_low(x: V, y: V) _mm512_mullo_epi16(x, y);
        fn mul_high(x: V, y: V) mul_high(x, y);
        fn mul_high_loaded(x: V, y: &[i16; 32]) _mm512_mulhi_epi16(x, _mm512_loadu_si512(y.as_ptr().cast()));
        fn mul_round(x: V, y: V) _mm512_mulhrs_epi16(x, y);
        fn min(x: V, y: V) _mm512_min_epu16(x, y);
        fn mul_pairs(x: V, y: V) _mm512_madd_epi16(x, y);
        fn add32(x: V, y: V) _mm512_add_epi32(x, y);
        fn low_halves(x: V, y: V) _mm512_mask_blend_epi16(0xaaaa_aaaa, x, _mm512_slli_epi32::<16>(y));
        fn high_halves(x: V, y: V) _mm512_mask_blend_epi16(0xaaaa_aaaa, _mm512_srli_epi32::<16>(x), y);
        fn swap_pairs(x: V) _mm512_rol_epi32::<16>(x);
    }
}

impl Lanes<u32, 16> for Avx512 {
    type V = V;

    memory!(V, u32, 16, _mm512_loadu_si512, _mm512_storeu_si512);

    methods! { V;
        fn splat(x: u32) _mm512_set1_epi32(x as i32);
        fn add(x: V, y: V) _mm512_add_epi32(x, y);
        fn sub(x: V, y: V) _mm512_sub_epi32(x, y);
    }

    #[inline(always)]
    fn split<const H: usize>(self, x: V, y: V) -> (V, V) {
        match H {
            1 => split32(self, x, y),
            2 => split64(self, x, y),
            4 => split128(self, x, y),
            _ => split256(self, x, y),
        }
    }
}

impl Lanes32<16> for Avx512 {
    methods! { V;
        fn mul_low(x: V, y: V) _mm512_mullo_epi32(x, y);
        fn min(x: V, y: V) _mm512_min_epu32(x, y);
        fn mul_even(x: V, y: V) _mm512_mul_epu32(x, y);
        fn odd(x: V) _mm512_srli_epi64::<32>(x);
        fn high_halves(even: V, odd: V) _mm512_mask_shuffle_epi32::<0b11_11_01_01>(odd, 0x5555, even);
        fn add64(x: V, y: V) _mm512_add_epi64(x, y);
    }
}

impl Lanes<u64, 8> for Avx512 {
    type V = V;

    memory!(V, u64, 8, _mm512_loadu_si512, _mm512_storeu_si512);

    methods! { V;
        fn splat(x: u64) _mm512_set1_epi64(x as i64);
        fn add(x: V, y: V) _mm512_add_epi64(x, y);
        fn sub(x: V, y: V) _mm512_sub_epi64(x, y);
    }

    #[inline(always)]
    fn split<const H: usize>(self, x: V, y: V) -> (V, V) {
        match H {
            1 => split64(self, x, y),
            2 => split128(self, x, y),
            _ => split256(self, x, y),
        }
    }
}

impl Lanes64<8> for Avx512 {
    methods! { V;
        fn and(x: V, y: V) _mm512_and_si512(x, y);
        fn mul_low(x: V, y: V) _mm512_mullo_epi64(x, y);
        fn splat_half(x: u32) _mm512_set1_epi32(x as i32);
        fn mul_half(x: V, y: V) _mm512_mul_epu32(x, y);
        fn mul_low_difference(x: V, w: V, e: V, q: V)
            _mm512_sub_epi64(_mm512_mullo_epi64(x, w), _mm512_mullo_epi64(e, q));
        fn unless_negative(x: V, y: V) _mm512_min_epu64(x, y);
        fn high(x: V) _mm512_srli_epi64::<32>(x);
    }
}

impl Lanes52<8> for Avx512 {
    methods! { V;
        fn add_low(acc: V, x: V, y: V) _mm512_madd52lo_epu64(acc, x, y);
        fn add_high(acc: V, x: V, y: V) _mm512_madd52hi_epu64(acc, x, y);
        fn carry(x: V) _mm512_srli_epi64::<52>(x);
        fn sub_where(x: V, bits: V, y: V) _mm512_mask_sub_epi64(x, _mm512_test_epi64_mask(x, bits), x, y);
    }
}

impl Lanes<f64, 8> for Avx512 {
    type V = __m512d;

    memory!(__m512d, f64, 8, _mm512_loadu_pd, _mm512_storeu_pd);

    methods! { __m512d;
        fn splat(x: f64) _mm512_set1_pd(x);
        fn add(x: __m512d, y: __m512d) _mm512_add_pd(x, y);
        fn sub(x: __m512d, y: __m512d) _mm512_sub_pd(x, y);
    }

    #[inline(always)]
    fn split<const H: usize>(self, x: __m512d, y: __m512d) -> (__m512d, __m512d) {
        // SAFETY: the token proves the CPU's features; these are reinterpretations.
        let (x, y) = unsafe { (_mm512_castpd_si512(x), _mm512_castpd_si512(y)) };
        let (x, y) = <Self as Lanes<u64, 8>>::split::<H>(self, x, y);
        // SAFETY: as above.
        unsafe { (_mm512_castsi512_pd(x), _mm512_castsi512_pd(y)) }
    }
}

impl LanesF64<8> for Avx512 {
    methods! { __m512d;
        fn mul(x: __m512d, y: __m512d) _mm512_mul_pd(x, y);
        fn mul_add(x: __m512d, y: __m512d, z: __m512d) _mm512_fmadd_pd(x, y, z);
        fn mul_sub(x: __m512d, y: __m512d, z: __m512d) _mm512_fmsub_pd(x, y, z);
        fn sub_mul(x: __m512d, y: __m512d, z: __m512d) _mm512_fnmadd_pd(x, y, z);
        fn if_negative(x: __m512d, y: __m512d)
            _mm512_mask_mov_pd(x, _mm512_movepi64_mask(_mm512_castpd_si512(x)), y);
    }
}

impl LanesMixed<8> for Avx512 {
    type Float = __m512d;

    methods! { V;
        fn shift_left(x: V, by: u32) _mm512_sll_epi64(x, _mm_cvtsi32_si128(by as i32));
        fn shift_right(x: V, by: u32) _mm512_srl_epi64(x, _mm_cvtsi32_si128(by as i32));
        fn floor(x: __m512d) _mm512_cvttpd_epu64(x);
    }

    methods! { __m512d;
        fn float(x: f64) _mm512_set1_pd(x);
        fn float_add(x: __m512d, y: __m512d) _mm512_add_pd(x, y);
        fn float_mul(x: __m512d, y: __m512d) _mm512_mul_pd(x, y);
        fn to_float(x: V) _mm512_cvtepu64_pd(x);
    }
}
