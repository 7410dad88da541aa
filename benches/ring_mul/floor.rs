//! What a butterfly costs with everything in registers: the lower limit of a transform on the machine that runs the
//! bench. The instructions are those of the kernels; operands are opaque, so that only throughput counts.

use std::arch::asm;
use std::arch::x86_64::*;
use std::time::Instant;

use karat::Cpu;
use karat::backend::cpu::Level;

/// A word class with the reduction that its widest moduli need in every layer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Montgomery in 16 bits.
    Word16,
    /// Shoup in 32 bits, nothing reduced: ML-DSA.
    Lazy32,
    /// Shoup in 32 bits.
    Word32,
    /// IFMA on AVX-512, double precision on AVX2.
    Word50,
    /// Shoup in 64 bits, nothing reduced: up to 60 bits in most layers.
    Word60,
}

/// A loop of 8 butterflies a round that no other depends on.
macro_rules! floor {
    ($name:ident, $features:literal, $reg:ident, $V:ty, |$x:ident, $y:ident, $c:ident| $body:expr) => {
        #[target_feature(enable = $features)]
        pub fn $name(rounds: u32, constants: [$V; 4]) {
            let [mut x, mut y, ..] = constants;
            let [mut c0, mut c1, mut c2, mut c3] = constants;
            for _ in 0..rounds {
                for _ in 0..8 {
                    // SAFETY: no instruction; it only hides where the values come from.
                    unsafe {
                        asm!("/* {} {} {} {} {} {} */", inout($reg) x, inout($reg) y, inout($reg) c0, inout($reg) c1,
                            inout($reg) c2, inout($reg) c3, options(nomem, nostack, preserves_flags));
                    }
                    let ($x, $y, $c) = (x, y, [c0, c1, c2, c3]);
                    let (a, b) = $body;
                    // SAFETY: as above.
                    unsafe { asm!("/* {} {} */", in($reg) a, in($reg) b, options(nomem, nostack, preserves_flags)) };
                }
            }
        }
    };
}

macro_rules! level {
    ($module:ident, $features:literal, $reg:ident, $V:ty, $F:ty,
        mulhi16 $mulhi16:ident, mullo16 $mullo16:ident, add16 $add16:ident, sub16 $sub16:ident,
        mullo32 $mullo32:ident, add32 $add32:ident, sub32 $sub32:ident, min32 $min32:ident,
        mul $mul:ident, add64 $add64:ident, sub64 $sub64:ident, srl $srl:ident, blend $blend:expr,
        low $low:expr, mid $mid:expr) => {
        mod $module {
            use super::*;

            floor!(word16, $features, $reg, $V, |x, y, c| {
                let m = $mullo16(y, c[2]);
                let t = $sub16($mulhi16(y, c[1]), $mulhi16(m, c[3]));
                ($add16(x, t), $sub16(x, t))
            });

            #[target_feature(enable = $features)]
            fn shoup32(y: $V, c: [$V; 4]) -> $V {
                let (even, odd) = ($mul(y, c[1]), $mul($srl::<32>(y), c[1]));
                $sub32($mullo32(y, c[2]), $mullo32($blend($srl::<32>(even), odd), c[3]))
            }

            floor!(lazy32, $features, $reg, $V, |x, y, c| {
                let t = shoup32(y, c);
                ($add32(x, t), $add32($sub32(x, t), c[3]))
            });
            floor!(word32, $features, $reg, $V, |x, y, c| {
                let (x, t) = ($min32(x, $sub32(x, c[3])), shoup32(y, c));
                ($add32(x, t), $add32($sub32(x, t), c[3]))
            });
            floor!(word60, $features, $reg, $V, |x, y, c| {
                let high = $srl::<32>(y);
                let estimate =
                    $add64($mul(high, c[1]), $add64($srl::<32>($mul(high, c[2])), $srl::<32>($mul(y, c[1]))));
                let t: $V = $low(y, estimate, c);
                ($add64(x, t), $add64($sub64(x, t), c[3]))
            });
            floor!(word50, $features, $reg, $F, |x, y, c| $mid(x, y, c));
        }
    };
}

/// 64-bit `y·w - e·q` from 32-bit products; the upper halves of constants are constants.
#[target_feature(enable = "avx2")]
fn low_avx2(y: __m256i, e: __m256i, c: [__m256i; 4]) -> __m256i {
    let (yh, eh) = (_mm256_srli_epi64::<32>(y), _mm256_srli_epi64::<32>(e));
    let first = _mm256_add_epi64(_mm256_mul_epu32(yh, c[2]), _mm256_mul_epu32(y, c[1]));
    let second = _mm256_add_epi64(_mm256_mul_epu32(eh, c[3]), _mm256_mul_epu32(e, c[1]));
    let low = _mm256_sub_epi64(_mm256_mul_epu32(y, c[2]), _mm256_mul_epu32(e, c[3]));
    _mm256_add_epi64(low, _mm256_slli_epi64::<32>(_mm256_sub_epi64(first, second)))
}

#[target_feature(enable = "avx512f,avx512dq")]
fn low_avx512(y: __m512i, e: __m512i, c: [__m512i; 4]) -> __m512i {
    _mm512_sub_epi64(_mm512_mullo_epi64(y, c[2]), _mm512_mullo_epi64(e, c[3]))
}

/// Double precision.
#[target_feature(enable = "avx2,fma")]
fn mid_avx2(x: __m256d, y: __m256d, c: [__m256d; 4]) -> (__m256d, __m256d) {
    let b = _mm256_sub_pd(_mm256_fmadd_pd(y, c[1], c[2]), c[2]);
    let h = _mm256_mul_pd(y, c[0]);
    let l = _mm256_fmsub_pd(y, c[0], h);
    let t = _mm256_add_pd(_mm256_fnmadd_pd(b, c[3], h), l);
    (_mm256_add_pd(x, t), _mm256_sub_pd(x, t))
}

/// IFMA, the other operand reduced.
#[target_feature(enable = "avx512f,avx512ifma")]
fn mid_avx512(x: __m512i, y: __m512i, c: [__m512i; 4]) -> (__m512i, __m512i) {
    let x = _mm512_mask_sub_epi64(x, _mm512_test_epi64_mask(x, c[2]), x, c[3]);
    let h = _mm512_madd52hi_epu64(_mm512_setzero_si512(), y, c[1]);
    let sum = _mm512_madd52lo_epu64(_mm512_madd52lo_epu64(x, y, c[2]), h, c[3]);
    (sum, _mm512_sub_epi64(_mm512_madd52lo_epu64(c[3], x, c[1]), sum))
}

level!(avx2, "avx2,fma", ymm_reg, __m256i, __m256d,
    mulhi16 _mm256_mulhi_epi16, mullo16 _mm256_mullo_epi16, add16 _mm256_add_epi16, sub16 _mm256_sub_epi16,
    mullo32 _mm256_mullo_epi32, add32 _mm256_add_epi32, sub32 _mm256_sub_epi32, min32 _mm256_min_epu32,
    mul _mm256_mul_epu32, add64 _mm256_add_epi64, sub64 _mm256_sub_epi64, srl _mm256_srli_epi64,
    blend _mm256_blend_epi32::<0b1010_1010>, low low_avx2, mid mid_avx2);

/// Odd lanes of `y` among even ones of `x`.
#[target_feature(enable = "avx512f")]
fn blend_avx512(x: __m512i, y: __m512i) -> __m512i {
    _mm512_mask_mov_epi32(x, 0xaaaa, y)
}

/// As AVX2's with its immediate as an operand.
#[target_feature(enable = "avx512f")]
fn srl_avx512<const BITS: u32>(x: __m512i) -> __m512i {
    _mm512_srli_epi64::<BITS>(x)
}

level!(avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma", zmm_reg, __m512i, __m512i,
    mulhi16 _mm512_mulhi_epi16, mullo16 _mm512_mullo_epi16, add16 _mm512_add_epi16, sub16 _mm512_sub_epi16,
    mullo32 _mm512_mullo_epi32, add32 _mm512_add_epi32, sub32 _mm512_sub_epi32, min32 _mm512_min_epu32,
    mul _mm512_mul_epu32, add64 _mm512_add_epi64, sub64 _mm512_sub_epi64, srl srl_avx512,
    blend blend_avx512, low low_avx512, mid mid_avx512);

/// Nanoseconds of a butterfly of two lanes; nothing at the portable level.
pub fn butterfly(cpu: Cpu, class: Class) -> Option<f64> {
    const ROUNDS: u32 = 500;
    let run = |lanes: usize, work: &dyn Fn()| {
        let time = |_| {
            let start = Instant::now();
            work();
            start.elapsed().as_nanos()
        };
        let best = (0..200).map(time).min().unwrap_or(0);
        Some(best as f64 / (ROUNDS as usize * 8 * lanes) as f64)
    };
    // SAFETY: a `Cpu` of a level exists only where the CPU has its features; zeros are vectors.
    unsafe {
        let (v, d, z) = (core::mem::zeroed(), core::mem::zeroed(), core::mem::zeroed());
        match (cpu.level(), class) {
            (Level::Avx2, Class::Word16) => run(16, &|| avx2::word16(ROUNDS, v)),
            (Level::Avx2, Class::Lazy32) => run(8, &|| avx2::lazy32(ROUNDS, v)),
            (Level::Avx2, Class::Word32) => run(8, &|| avx2::word32(ROUNDS, v)),
            (Level::Avx2, Class::Word50) => run(4, &|| avx2::word50(ROUNDS, d)),
            (Level::Avx2, Class::Word60) => run(4, &|| avx2::word60(ROUNDS, v)),
            (Level::Avx512, Class::Word16) => run(32, &|| avx512::word16(ROUNDS, z)),
            (Level::Avx512, Class::Lazy32) => run(16, &|| avx512::lazy32(ROUNDS, z)),
            (Level::Avx512, Class::Word32) => run(16, &|| avx512::word32(ROUNDS, z)),
            (Level::Avx512, Class::Word50) => run(8, &|| avx512::word50(ROUNDS, z)),
            (Level::Avx512, Class::Word60) => run(8, &|| avx512::word60(ROUNDS, z)),
            _ => None,
        }
    }
}
