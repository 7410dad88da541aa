//! Matrices and noise from seeds: `SampleNTT` and `SamplePolyCBD` (FIPS 203, algorithms 7 and 8), and the
//! rounding of coefficients (section 4.2.1).

use core::hint::black_box;

use zeroize::Zeroize;

use super::{Coeffs, N, Parameters, Q};
use crate::schemes::Wiped;
use crate::schemes::hash::{Job, Lanes, MAX_LANES, RATE256, each_block};
use crate::schemes::levels::levels;
use crate::schemes::rejection::Sampled;

/// Largest rank.
pub(super) const MAX_K: usize = 4;

/// Polynomials that are being sampled, one a lane, and their jobs.
pub(super) struct Samplers {
    lanes: Lanes,
    uniform: [Sampled<u16>; MAX_LANES],
    /// A width of 3 needs 192 bytes: the first block of such a polynomial waits for its second.
    waiting: Wiped<[[u8; RATE256]; MAX_LANES]>,
    seen: [bool; MAX_LANES],
    noise: Wiped<Coeffs>,
}

impl Samplers {
    pub(super) fn new(lanes: Lanes) -> Self {
        Self {
            lanes,
            uniform: [const { Sampled::<u16>::EMPTY }; MAX_LANES],
            waiting: Wiped::new([[0; RATE256]; MAX_LANES]),
            seen: [false; MAX_LANES],
            noise: Wiped::new([0; N]),
        }
    }

    /// The job of entry `i` of the matrix, row by row.
    pub(super) fn entry<'a, P: Parameters>(rho: &'a [&'a [u8]], transposed: bool, i: usize) -> Job<'a> {
        let (row, column) = ((i / P::K) as u8, (i % P::K) as u8);
        Job::shake128(rho).and_bytes(if transposed { [row, column] } else { [column, row] })
    }

    /// A block of an entry of the matrix; the values, in the standard's transform domain, go to `sink` once there are
    /// enough. Says whether there are.
    pub(super) fn uniform(&mut self, lane: usize, block: &[u8], sink: impl FnOnce(&[u16])) -> bool {
        self.uniform[lane].take::<Q>(self.lanes, block);
        self.uniform[lane].finish(sink)
    }

    /// A block of a polynomial of noise, `eta` wide; as [`Samplers::uniform`].
    pub(super) fn noise(&mut self, lane: usize, eta: usize, block: &[u8], sink: impl FnOnce(&Coeffs)) -> bool {
        if eta == 2 {
            binomial2(self.lanes, &block[..128], &mut self.noise);
        } else {
            self.seen[lane] ^= true;
            if self.seen[lane] {
                self.waiting[lane].copy_from_slice(block);
                return false;
            }
            let mut bytes = Wiped::new([0; 192]);
            bytes[..RATE256].copy_from_slice(&self.waiting[lane]);
            bytes[RATE256..].copy_from_slice(&block[..192 - RATE256]);
            binomial3(self.lanes, &bytes[..], &mut self.noise);
        }
        sink(&self.noise);
        true
    }
}

/// The `K·K` uniform polynomials of a seed, row by row: `sink(i, values)`. They are in the standard's transform
/// domain. Digests of `beside`, of 32 bytes each, are computed in lanes that would idle.
pub(super) fn matrix<P: Parameters>(
    lanes: Lanes,
    rho: &[u8],
    transposed: bool,
    beside: &[Job],
    digests: &mut [[u8; 32]],
    mut sink: impl FnMut(usize, &[u16]),
) {
    let mut samplers = Samplers::new(lanes);
    let rho = [rho];
    let job = |i: usize| match beside.get(i) {
        Some(job) => *job,
        None => Samplers::entry::<P>(&rho, transposed, i - beside.len()),
    };
    each_block(lanes, beside.len() + P::K * P::K, job, |lane, i, block| match digests.get_mut(i) {
        Some(digest) => {
            digest.copy_from_slice(&block[..32]);
            true
        }
        None => samplers.uniform(lane, block, |values| sink(i - beside.len(), values)),
    });
}

/// `count` polynomials of noise from the nonces `0..`, `eta(i)` wide: `sink(i, coefficients)`.
pub(super) fn noise(
    lanes: Lanes,
    seed: &[u8; 32],
    count: usize,
    eta: impl Fn(usize) -> usize,
    mut sink: impl FnMut(usize, &Coeffs),
) {
    let mut samplers = Samplers::new(lanes);
    let seed = [&seed[..]];
    let job = |i: usize| Job::shake256(&seed).and_byte(i as u8);
    each_block(lanes, count, job, |lane, i, block| {
        samplers.noise(lane, eta(i), block, |coefficients| sink(i, coefficients))
    });
}

/// `a - b` as a canonical coefficient, for `a`, `b` in `[0, 3]`.
#[inline(always)]
fn difference(a: u32, b: u32) -> u16 {
    let d = a.wrapping_sub(b) as i32;
    (d + (Q as i32 & (d >> 31))) as u16
}

levels! {
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
}

levels! {
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
}

/// `round(2^D / q · x) mod 2^D`.
///
/// # Bounds
/// `x` in `[0, q)`, `D <= 11`. The quotient by `q` is a product with `ceil(2^36 / q)`: exact below `2^24`.
#[inline(always)]
pub(super) fn compress<const D: usize>(x: u16) -> u32 {
    // magic: 20642679 == ceil(2^36 / 3329)
    const RECIPROCAL: u64 = 20_642_679;
    (((((x as u64) << D) + Q as u64 / 2) * RECIPROCAL) >> 36) as u32 & ((1 << D) - 1)
}

/// `round(q / 2^d · y)`.
///
/// # Bounds
/// `y` in `[0, 2^d)`, `d <= 11`.
#[inline(always)]
pub(super) fn decompress(d: usize, y: u16) -> u16 {
    ((y as u32 * Q as u32 + (1 << (d - 1))) >> d) as u16
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
            assert_eq!(compress::<D>(x) as u64, doubled / (2 * Q as u64) % (1 << D), "D = {D}, x = {x}");
        }
        for y in 0..1u16 << D {
            assert_eq!(decompress(D, y) as u64, ((2 * y as u64 * Q as u64) + (1 << D)) >> (D + 1));
            assert_eq!(compress::<D>(decompress(D, y)), y as u32);
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
            binomial2(Lanes::best(), &[pattern as u8; 128], &mut out);
            assert_eq!(out[0] as i32, (bits(0, 2) - bits(2, 2)).rem_euclid(Q as i32));
            binomial3(Lanes::best(), &[pattern as u8, 0, 0].repeat(64), &mut out);
            assert_eq!(out[0] as i32, (bits(0, 3) - bits(3, 3)).rem_euclid(Q as i32));
            binomial3(Lanes::best(), &[0, 0, (pattern << 2) as u8].repeat(64), &mut out);
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

    #[test]
    fn matrices_with_digests_beside() {
        for lanes in [Lanes::One, Lanes::best()] {
            let message = [9; 400];
            let parts = [&message[..]];
            let (mut seen, mut digests) = (0, [[0; 32]; 1]);
            matrix::<MlKem512Params>(lanes, &[0; 32], false, &[Job::sha3_256(&parts)], &mut digests, |_, values| {
                seen += 1;
                assert!(values.len() == N && values.iter().all(|v| *v < Q));
            });
            let mut expected = [0; 32];
            Job::sha3_256(&parts).read(&mut expected);
            assert_eq!((seen, digests), (4, [expected]));
        }
    }
}
