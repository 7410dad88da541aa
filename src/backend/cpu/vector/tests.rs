//! Vector arithmetic at the ends of its ranges, against wide integers.

use super::{Arith, Float, Mont16, Shoup32, Shoup64};
use crate::backend::cpu::avx2::Avx2;
use crate::backend::cpu::avx512::Avx512;

/// Every level that is here, with its lanes.
macro_rules! on_levels {
    ($check:ident: $Class:ident<$avx2:literal, $avx512:literal>) => {
        match Avx2::detect() {
            Some(level) => $check::<$Class<Avx2, $avx2>, $avx2>(level),
            None => eprintln!("skipped: this CPU lacks AVX2"),
        }
        match Avx512::detect() {
            Some(level) => $check::<$Class<Avx512, $avx512>, $avx512>(level),
            None => eprintln!("skipped: this CPU lacks AVX-512"),
        }
    };
}

/// One product of a lane and a factor, as every lane of a vector.
fn product<A: Arith<L>, const L: usize>(arith: &A, y: A::T, w: u64) -> A::T {
    let mut out = [y; L];
    let t = arith.mul(arith.load(&[y; L]), arith.broadcast(&arith.factor(w)));
    arith.store(t, &mut out);
    out[L - 1]
}

fn float_products<A: Arith<L, T = f64>, const L: usize>(level: A::Level) {
    let end = (1i64 << 52) - 1;
    for q in [3u64, 12289, (1 << 31) - 1, (1 << 49) - 1, (1 << 50) - 27, (1 << 50) - 1] {
        let (arith, ..) = A::new(level, q, 1).unwrap();
        for w in [0, 1, 2, q / 3, q / 2 - 1, q / 2, q / 2 + 1, q - 2, q - 1] {
            for y in [0, 1, end / 3, end - 1, end, q as i64 - 1, q as i64 / 2, 0x000a_bcde_f012_3457] {
                for y in [y, -y] {
                    let t = product(&arith, y as f64, w);
                    assert_eq!(t, t as i64 as f64, "an integer");
                    assert_eq!((y as i128 * w as i128 - t as i128) % q as i128, 0, "q = {q}, w = {w}, y = {y}");
                    let bound = (q / 2) as i128 + (((y as i128).abs() * q as i128) >> 54) + 2;
                    assert!((t as i128).abs() <= bound, "q = {q}, w = {w}, y = {y}: {t}");
                }
            }
        }
    }
}

#[test]
fn float_products_are_exact_to_the_ends() {
    on_levels!(float_products: Float<4, 8>);
}

fn reductions16<A: Arith<L, T = i16>, const L: usize>(level: A::Level) {
    for q in [129u64, 257, 3329, 7681, 8191, 12289, 16381] {
        let (arith, ..) = A::new(level, q, 1).unwrap();
        for x in i16::MIN..=i16::MAX {
            let mut out = [x; L];
            arith.store(arith.reduce_by(arith.load(&[x; L]), 0), &mut out);
            let r = out[0] as i64;
            assert!((r - x as i64) % q as i64 == 0 && r.abs() < q as i64, "q = {q}, x = {x}: {r}");
            let t = product(&arith, x, q / 2) as i64;
            assert!((t - x as i64 * (q / 2) as i64) % q as i64 == 0 && t.abs() < q as i64, "q = {q}, x = {x}: {t}");
        }
    }
}

#[test]
fn every_lane_of_16_bits() {
    on_levels!(reductions16: Mont16<16, 32>);
}

fn shoup32<A: Arith<L, T = u32>, const L: usize>(level: A::Level) {
    for q in [3u32, 8380417, (1 << 29) - 3, (1 << 30) - 1] {
        let (arith, ..) = A::new(level, q as u64, 1).unwrap();
        for w in [0, 1, q / 2, q - 2, q - 1] {
            for y in [0, 1, q - 1, q, 2 * q, u32::MAX - q, u32::MAX - 1, u32::MAX] {
                let t = product(&arith, y, w as u64);
                assert!(t < 2 * q && (y as u64 * w as u64 - t as u64 % q as u64).is_multiple_of(q as u64));
            }
        }
    }
}

#[test]
fn shoup_products_of_32_bits() {
    on_levels!(shoup32: Shoup32<8, 16>);
}

fn shoup64<const TIGHT: bool>(level: Avx512, moduli: &[u64]) {
    let mut state = 1u64;
    for q in moduli.iter().copied() {
        let (arith, ..) = Shoup64::<Avx512, 8, TIGHT>::new(level, q, 1).unwrap();
        for _ in 0..2000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let w = state % q;
            for y in [state.rotate_left(17), u64::MAX, u64::MAX - 1, u32::MAX as u64, 1 << 32, q - 1] {
                let t = product(&arith, y, w);
                let multiple = if TIGHT { 2 } else { 4 };
                assert!(t < multiple * q, "q = {q}");
                assert_eq!((y as u128 * w as u128 % q as u128) as u64, t % q);
            }
        }
    }
}

#[test]
fn shoup_products_of_64_bits() {
    let Some(level) = Avx512::detect() else { return eprintln!("skipped: this CPU lacks AVX-512") };
    shoup64::<false>(level, &[3, (1 << 32) - 1, (1 << 60) - 1, (1 << 61) - 1]);
    shoup64::<true>(level, &[3, (1 << 61) + 1, (1 << 62) - 1]);
}
