//! Matrices and noise from seeds: `SampleNTT` and `SamplePolyCBD` (FIPS 203, algorithms 7 and 8), and the
//! rounding of coefficients (section 4.2.1).

use core::hint::black_box;

use zeroize::{Zeroize, Zeroizing};

use super::{Coeffs, N, Parameters, Poly, Q};
use crate::backend::cpu::Plan;
use crate::schemes::hash::{Job, Lanes, MAX_LANES, RATE128, RATE256, each_block};

/// Largest rank.
pub(super) const MAX_K: usize = 4;

/// A polynomial that is being sampled by rejection: a block may overfill it.
struct Rejection {
    values: [u16; N + 2 * RATE128 / 3],
    len: usize,
}

impl Rejection {
    /// Takes the values below `q` of one block; says whether there are enough.
    fn take(&mut self, block: &[u8; RATE128]) -> bool {
        for [a, b, c] in block.as_chunks().0 {
            for value in [u16::from_le_bytes([*a, *b & 0x0f]), u16::from_le_bytes([*b >> 4 | *c << 4, *c >> 4])] {
                self.values[self.len] = value;
                self.len += (value < Q) as usize;
            }
        }
        self.len >= N
    }
}

/// The `K·K` uniform polynomials of a seed, row by row: `sink(i, values)`. They are in the standard's transform
/// domain.
pub(super) fn matrix<P: Parameters>(lanes: Lanes, rho: &[u8], transposed: bool, mut sink: impl FnMut(usize, &[u16])) {
    let mut sampled = [const { Rejection { values: [0; N + 2 * RATE128 / 3], len: 0 } }; MAX_LANES];
    let job = |i: usize| {
        let (row, column) = ((i / P::K) as u8, (i % P::K) as u8);
        if transposed { Job::bytes(row, column) } else { Job::bytes(column, row) }
    };
    each_block::<RATE128>(lanes, rho, P::K * P::K, job, |i, block| {
        let polynomial = &mut sampled[i % MAX_LANES];
        let enough = polynomial.take(block);
        if enough {
            sink(i, &polynomial.values[..N]);
            polynomial.len = 0;
        }
        enough
    });
}

/// As [`matrix`], as polynomials of a plan.
pub(super) fn matrix_on<P: Parameters>(plan: &Plan, rho: &[u8], transposed: bool, out: &mut [Poly]) {
    matrix::<P>(Lanes::of(plan.level()), rho, transposed, |i, values| plan.import(values, &mut out[i]));
}

/// `count` polynomials of noise from the nonces `first..`, `eta(i)` wide: `sink(i, coefficients)`.
pub(super) fn noise(
    lanes: Lanes,
    seed: &[u8; 32],
    first: u8,
    count: usize,
    eta: impl Fn(usize) -> usize,
    mut sink: impl FnMut(usize, &Coeffs),
) {
    // A width of 3 needs 192 bytes: the first block of such a polynomial waits for its second.
    let mut waiting = Zeroizing::new([[0u8; RATE256]; MAX_K]);
    let mut seen = [false; MAX_K];
    let mut out = Zeroizing::new([0; N]);
    each_block::<RATE256>(
        lanes,
        seed,
        count,
        |i| Job::byte(first + i as u8),
        |i, block| {
            if eta(i) == 2 {
                binomial2(&block[..128], &mut out);
            } else if !core::mem::replace(&mut seen[i], true) {
                waiting[i] = *block;
                return false;
            } else {
                let mut bytes = Zeroizing::new([0; 192]);
                bytes[..RATE256].copy_from_slice(&waiting[i]);
                bytes[RATE256..].copy_from_slice(&block[..192 - RATE256]);
                binomial3(&bytes[..], &mut out);
            }
            sink(i, &out);
            true
        },
    );
}

/// `a - b` as a canonical coefficient, for `a`, `b` in `[0, 3]`.
#[inline(always)]
fn difference(a: u32, b: u32) -> u16 {
    let d = a.wrapping_sub(b) as i32;
    (d + (Q as i32 & (d >> 31))) as u16
}

/// Sums of two bits, minus sums of two bits, from 128 bytes.
fn binomial2(bytes: &[u8], out: &mut Coeffs) {
    for (word, coefficients) in bytes.as_chunks().0.iter().zip(out.as_chunks_mut::<8>().0) {
        let bits = u32::from_le_bytes(*word);
        let sums = (bits & 0x5555_5555) + (bits >> 1 & 0x5555_5555);
        for (i, c) in coefficients.iter_mut().enumerate() {
            *c = difference(sums >> (4 * i) & 3, sums >> (4 * i + 2) & 3);
        }
    }
}

/// Sums of three bits, minus sums of three bits, from 192 bytes.
fn binomial3(bytes: &[u8], out: &mut Coeffs) {
    for ([a, b, c], coefficients) in bytes.as_chunks().0.iter().zip(out.as_chunks_mut::<4>().0) {
        let bits = u32::from_le_bytes([*a, *b, *c, 0]);
        let sums = (bits & 0x24_9249) + (bits >> 1 & 0x24_9249) + (bits >> 2 & 0x24_9249);
        for (i, c) in coefficients.iter_mut().enumerate() {
            *c = difference(sums >> (6 * i) & 7, sums >> (6 * i + 3) & 7);
        }
    }
}

/// `round(2^D / q · x) mod 2^D`.
///
/// # Bounds
/// `x` in `[0, q)`, `D <= 11`. The quotient by `q` is a product with `ceil(2^36 / q)`: exact below `2^24`.
#[inline(always)]
pub(super) fn compress<const D: usize>(x: u16) -> u64 {
    // magic: 20642679 == ceil(2^36 / 3329)
    const RECIPROCAL: u64 = 20_642_679;
    (((((x as u64) << D) + Q as u64 / 2) * RECIPROCAL) >> 36) & ((1 << D) - 1)
}

/// `round(q / 2^D · y)`.
///
/// # Bounds
/// `y` in `[0, 2^D)`.
#[inline(always)]
pub(super) fn decompress<const D: usize>(y: u64) -> u64 {
    (y * Q as u64 + (1 << (D - 1))) >> D
}

/// `x + y mod q`, canonical.
#[inline(always)]
pub(super) fn add(x: u16, y: u16) -> u16 {
    let d = (x + y) as i16 - Q as i16;
    (d + (Q as i16 & (d >> 15))) as u16
}

/// `x - y mod q`, canonical.
#[inline(always)]
pub(super) fn sub(x: u16, y: u16) -> u16 {
    let d = x as i16 - y as i16;
    (d + (Q as i16 & (d >> 15))) as u16
}

/// Adds `round(q / 2) · bit` to each coefficient. The mask passes a barrier: a compiler that sees where it comes from
/// may turn it back into a branch on the message.
pub(super) fn add_message(message: &[u8; 32], coefficients: &mut Coeffs) {
    for (byte, coefficients) in message.iter().zip(coefficients.as_chunks_mut::<8>().0) {
        for (i, c) in coefficients.iter_mut().enumerate() {
            let mut mask = black_box(0u16.wrapping_sub((byte >> i & 1) as u16));
            *c = add(*c, mask & Q.div_ceil(2));
            mask.zeroize();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::mlkem::MlKem512Params;

    /// By the definition, over the integers.
    fn rounding<const D: usize>() {
        for x in 0..Q {
            let doubled = ((x as u64) << (D + 1)) + Q as u64;
            assert_eq!(compress::<D>(x), doubled / (2 * Q as u64) % (1 << D), "D = {D}, x = {x}");
        }
        for y in 0..1u64 << D {
            assert_eq!(decompress::<D>(y), ((2 * y * Q as u64) + (1 << D)) >> (D + 1));
            assert_eq!(compress::<D>(decompress::<D>(y) as u16), y);
        }
    }

    #[test]
    fn rounding_of_every_value() {
        rounding::<1>();
        rounding::<4>();
        rounding::<5>();
        rounding::<10>();
        rounding::<11>();
    }

    #[test]
    fn noise_of_every_pattern() {
        for pattern in 0..64u32 {
            let mut out = [0; N];
            let bits = |from: u32, count: u32| (pattern >> from & ((1 << count) - 1)).count_ones() as i32;
            binomial2(&[pattern as u8; 128], &mut out);
            assert_eq!(out[0] as i32, (bits(0, 2) - bits(2, 2)).rem_euclid(Q as i32));
            binomial3(&[pattern as u8, 0, 0].repeat(64), &mut out);
            assert_eq!(out[0] as i32, (bits(0, 3) - bits(3, 3)).rem_euclid(Q as i32));
            binomial3(&[0, 0, (pattern << 2) as u8].repeat(64), &mut out);
            assert_eq!(out[3] as i32, (bits(0, 3) - bits(3, 3)).rem_euclid(Q as i32));
        }
    }

    #[test]
    fn modular_sums() {
        for x in 0..Q {
            for y in [0, 1, 2, Q / 2, Q / 2 + 1, Q - 2, Q - 1] {
                assert_eq!(add(x, y), (x + y) % Q);
                assert_eq!(sub(x, y), (x + Q - y) % Q);
            }
        }
    }

    #[test]
    fn message_bits() {
        let mut c = [Q - 1; N];
        add_message(&[0b1010_0101; 32], &mut c);
        assert_eq!(c[..4], [1664, 3328, 1664, 3328]);
    }

    /// A polynomial that needs a fourth block is filled from it, not from a block that was seen before.
    #[test]
    fn rejection_reads_new_blocks() {
        let mut sampled = Rejection { values: [0; N + 2 * RATE128 / 3], len: 0 };
        assert!(!sampled.take(&[0xff; RATE128]));
        assert_eq!(sampled.len, 0);
        let mut block = [0u8; RATE128];
        for (i, b) in block.iter_mut().enumerate() {
            *b = i as u8 & 0x07; // every candidate is below q
        }
        assert!(!sampled.take(&block));
        assert!(!sampled.take(&[0; RATE128]));
        assert!(sampled.take(&[0x11; RATE128]));
        assert_eq!(sampled.values[223..226], [0, 0x111, 0x111]);
        let mut seen = 0;
        matrix::<MlKem512Params>(Lanes::best(), &[0; 32], false, |_, values| {
            seen += 1;
            assert!(values.len() == N && values.iter().all(|v| *v < Q));
        });
        assert_eq!(seen, 4);
    }
}
