//! Polynomials from seeds (FIPS 204, section 7.3).

use zeroize::{Zeroize, Zeroizing};

use super::round::sub;
use super::{Coeffs, N, Parameters, Q};
use crate::schemes::encode::unpack;
use crate::schemes::hash::{Job, Lanes, MAX_LANES, RATE128, RATE256, each_block};
use shake::{ExtendableOutput, Shake256, Update, XofReader};

/// A polynomial that is being sampled by rejection: a block may overfill it by as many values as it holds.
struct Rejection<const ROOM: usize> {
    values: [u32; ROOM],
    len: usize,
}

impl<const ROOM: usize> Rejection<ROOM> {
    const EMPTY: Self = Self { values: [0; ROOM], len: 0 };

    /// Keeps a value if `accept` is 1; without a branch, because it may be secret.
    #[inline(always)]
    fn offer(&mut self, value: u32, accept: u32) {
        self.values[self.len] = value;
        self.len += accept as usize;
    }

    /// Gives the values out and starts again, if there are enough.
    fn finish(&mut self, sink: impl FnOnce(&[u32])) -> bool {
        let enough = self.len >= N;
        if enough {
            sink(&self.values[..N]);
            self.len = 0;
        }
        enough
    }
}

impl<const ROOM: usize> Zeroize for Rejection<ROOM> {
    fn zeroize(&mut self) {
        self.values.zeroize();
        self.len.zeroize();
    }
}

/// `RejNTTPoly` for the `K·L` entries of the matrix (`ExpandA`): `sink(row, column, values)`, in the standard's
/// transform domain.
pub(super) fn matrix<P: Parameters>(lanes: Lanes, rho: &[u8], mut sink: impl FnMut(usize, usize, &[u32])) {
    let mut sampled = [const { Rejection::<{ N + RATE128 / 3 }>::EMPTY }; MAX_LANES];
    let job = |i: usize| Job::bytes((i % P::L) as u8, (i / P::L) as u8);
    each_block::<RATE128>(lanes, rho, P::K * P::L, job, |i, block| {
        let polynomial = &mut sampled[i % MAX_LANES];
        for [a, b, c] in block.as_chunks().0 {
            let value = u32::from_le_bytes([*a, *b, *c & 0x7f, 0]);
            polynomial.offer(value, (value < Q) as u32);
        }
        polynomial.finish(|values| sink(i / P::L, i % P::L, values))
    });
}

/// `RejBoundedPoly` for the `L + K` secret polynomials (`ExpandS`): `sink(i, values)`, canonical.
///
/// Which half bytes are rejected shows in the number of blocks and in addresses; that is independent of the values
/// that are kept.
pub(super) fn secrets<P: Parameters>(lanes: Lanes, seed: &[u8; 64], mut sink: impl FnMut(usize, &[u32])) {
    let mut sampled = Zeroizing::new([const { Rejection::<{ N + 2 * RATE256 }>::EMPTY }; MAX_LANES]);
    each_block::<RATE256>(
        lanes,
        seed,
        P::L + P::K,
        |i| Job::bytes(i as u8, 0),
        |i, block| {
            let polynomial = &mut sampled[i % MAX_LANES];
            for byte in block {
                for half in [*byte as u32 & 15, *byte as u32 >> 4] {
                    let (value, accept) = bounded::<P>(half);
                    polynomial.offer(value, accept);
                }
            }
            polynomial.finish(|values| sink(i, values))
        },
    );
}

/// `CoeffFromHalfByte`: the coefficient, and 1 if it counts.
#[inline(always)]
fn bounded<P: Parameters>(half: u32) -> (u32, u32) {
    if P::ETA == 2 {
        // half mod 5: 205 / 1024 is 1/5 up to 15.
        let residue = half - 5 * ((205 * half) >> 10);
        (sub(2, residue), half.wrapping_sub(15) >> 31)
    } else {
        (sub(4, half), half.wrapping_sub(9) >> 31)
    }
}

/// `ExpandMask`: the `L` polynomials of a mask from nonce `kappa` on: `sink(i, coefficients)`.
pub(super) fn mask<P: Parameters>(lanes: Lanes, seed: &[u8; 64], kappa: u16, mut sink: impl FnMut(usize, &Coeffs)) {
    const BLOCKS: usize = 5;
    let len = 32 * (P::GAMMA1_BITS + 1);
    let mut waiting = Zeroizing::new([[0u8; BLOCKS * RATE256]; MAX_LANES]);
    let mut filled = [0usize; MAX_LANES];
    let mut out = Zeroizing::new([0u32; N]);
    let job = |i: usize| {
        let [low, high] = (kappa + i as u16).to_le_bytes();
        Job::bytes(low, high)
    };
    each_block::<RATE256>(lanes, seed, P::L, job, |i, block| {
        let (bytes, filled) = (&mut waiting[i % MAX_LANES], &mut filled[i % MAX_LANES]);
        bytes[*filled * RATE256..][..RATE256].copy_from_slice(block);
        *filled += 1;
        if *filled * RATE256 < len {
            return false;
        }
        *filled = 0;
        read_mask::<P>(&bytes[..len], &mut out);
        sink(i, &out);
        true
    });
}

/// `BitUnpack` of a polynomial with coefficients in `(-gamma1, gamma1]`.
pub(super) fn read_mask<P: Parameters>(bytes: &[u8], out: &mut Coeffs) {
    let map = |v: u64| sub(P::GAMMA1, v as u32) as u64;
    match P::GAMMA1_BITS {
        17 => unpack::<18, _>(bytes, out, map),
        _ => unpack::<20, _>(bytes, out, map),
    }
}

/// `SampleInBall`. Its time depends on the challenge, which the signature publishes, or which is thrown away.
pub(super) fn challenge<P: Parameters>(seed: &[u8], out: &mut Coeffs) {
    let mut hash = Shake256::default();
    hash.update(seed);
    let mut stream = hash.finalize_xof();
    let mut signs = [0; 8];
    stream.read(&mut signs);
    let mut signs = u64::from_le_bytes(signs);
    *out = [0; N];
    let mut bytes = [0; RATE256 - 8];
    let mut at = bytes.len();
    for i in N - P::TAU..N {
        let j = loop {
            if at == bytes.len() {
                stream.read(&mut bytes);
                at = 0;
            }
            let j = bytes[at] as usize;
            at += 1;
            if j <= i {
                break j;
            }
        };
        out[i] = out[j];
        out[j] = 1 + (Q - 2) * (signs as u32 & 1);
        signs >>= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MlDsa44Params, MlDsa65Params, MlDsa87Params};
    use super::*;

    #[test]
    fn half_bytes_by_definition() {
        for half in 0..16u32 {
            let (value, accept) = bounded::<MlDsa44Params>(half);
            assert_eq!(accept, (half < 15) as u32);
            assert!(accept == 0 || value == (2 - half as i32 % 5).rem_euclid(Q as i32) as u32);
            let (value, accept) = bounded::<MlDsa65Params>(half);
            assert_eq!(accept, (half < 9) as u32);
            assert!(accept == 0 || value == (4 - half as i32).rem_euclid(Q as i32) as u32);
        }
    }

    #[test]
    fn challenges_have_tau_signs() {
        for seed in 0..64u8 {
            let mut c = [0; N];
            challenge::<MlDsa87Params>(&[seed; 64], &mut c);
            assert_eq!(c.iter().filter(|c| **c == 1 || **c == Q - 1).count(), 60);
            assert_eq!(c.iter().filter(|c| **c == 0).count(), N - 60);
        }
    }

    /// A lane that needs more blocks than the others goes on from where it was.
    #[test]
    fn rejection_continues() {
        let mut sampled = Rejection::<{ N + 4 }>::EMPTY;
        for i in 0..N as u32 {
            assert!(!sampled.finish(|_| unreachable!()));
            sampled.offer(99, 0);
            sampled.offer(i, 1);
        }
        let mut seen = false;
        assert!(sampled.finish(|values| seen = values.iter().copied().eq(0..N as u32)));
        assert!(seen && sampled.len == 0);
    }
}
