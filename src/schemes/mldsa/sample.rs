//! Polynomials from seeds (FIPS 204, section 7.3).

use super::encode::subtract_from;
use super::round::sub;
use super::{Coeffs, N, Parameters, Q};
use crate::schemes::Wiped;
use crate::schemes::encode::unpack;
use crate::schemes::hash::{Job, Lanes, MAX_LANES, RATE256, each_block};
use crate::schemes::levels::levels;
use crate::schemes::rejection::{HalfBytes, Sampled};

/// The job of entry `i` of the matrix, row by row (`RejNTTPoly`).
fn entry<'a, P: Parameters>(rho: &'a [&'a [u8]], i: usize) -> Job<'a> {
    Job::shake128(rho).and_bytes([(i % P::L) as u8, (i / P::L) as u8])
}

/// The matrix (`ExpandA`): `sink(row, column, values)`, in the standard's transform domain. Digests of `beside`, of at
/// most 64 bytes each, are computed in lanes that would idle.
pub(super) fn matrix<P: Parameters>(
    lanes: Lanes,
    rho: &[u8],
    beside: &[Job],
    digests: &mut [[u8; 64]],
    mut sink: impl FnMut(usize, usize, &[u32]),
) {
    let mut sampled = [const { Sampled::<u32>::EMPTY }; MAX_LANES];
    let rho = [rho];
    let job = |i: usize| match beside.get(i) {
        Some(job) => *job,
        None => entry::<P>(&rho, i - beside.len()),
    };
    each_block(lanes, beside.len() + P::K * P::L, job, |lane, i, block| match digests.get_mut(i) {
        Some(digest) => {
            digest.copy_from_slice(&block[..64]);
            true
        }
        None => {
            let i = i - beside.len();
            sampled[lane].take::<Q>(lanes, block);
            sampled[lane].finish(|values| sink(i / P::L, i % P::L, values))
        }
    });
}

/// What comes out of [`matrix_and_secrets`].
pub(super) enum Expanded<'a> {
    /// An entry of the matrix: row, column, values in the standard's transform domain.
    Entry(usize, usize, &'a [u32]),
    /// Polynomial `i` of the secrets, canonical.
    Secret(usize, &'a [u32]),
}

/// The matrix, and the `L + K` secret polynomials of `RejBoundedPoly` (`ExpandS`).
///
/// Which half bytes are rejected shows in the number of blocks and in addresses; that is independent of the values
/// that are kept.
pub(super) fn matrix_and_secrets<P: Parameters>(
    lanes: Lanes,
    rho: &[u8],
    seed: &[u8; 64],
    mut sink: impl FnMut(Expanded),
) {
    let mut uniform = [const { Sampled::<u32>::EMPTY }; MAX_LANES];
    let mut halves = [const { HalfBytes::EMPTY }; MAX_LANES];
    let mut secret = Wiped::new([0; N]);
    let (rho, seed, entries) = ([rho], [&seed[..]], P::K * P::L);
    let job = |i: usize| match i.checked_sub(entries) {
        None => entry::<P>(&rho, i),
        Some(i) => Job::shake256(&seed).and_bytes([i as u8, 0]),
    };
    each_block(lanes, entries + P::L + P::K, job, |lane, i, block| match i.checked_sub(entries) {
        None => {
            uniform[lane].take::<Q>(lanes, block);
            uniform[lane].finish(|values| sink(Expanded::Entry(i / P::L, i % P::L, values)))
        }
        Some(i) => {
            halves[lane].take(lanes, if P::ETA == 2 { 15 } else { 9 }, block);
            halves[lane].finish(|halves| {
                bounded::<P>(lanes, halves, &mut secret);
                sink(Expanded::Secret(i, &secret[..]));
            })
        }
    });
}

levels! {
    /// `CoeffFromHalfByte` of those that count.
    fn bounded<P: Parameters>(halves: &[u8; N], out: &mut Coeffs) {
        for (c, half) in out.iter_mut().zip(halves) {
            let half = *half as u32;
            // half mod 5: 205 / 1024 is 1/5 up to 15.
            *c = if P::ETA == 2 { sub(2, half - 5 * ((205 * half) >> 10)) } else { sub(4, half) };
        }
    }
}

/// The polynomials of the masks of one signature (`ExpandMask`), attempt after attempt.
pub(super) struct Masks<'a> {
    lanes: Lanes,
    seed: &'a [u8; 64],
    /// The nonce of the next polynomial that is expanded.
    next: u16,
    /// Polynomials that wait, from `start` on: lanes are filled with those of the next attempt.
    ready: Wiped<[Coeffs; MAX_COLUMNS + MAX_LANES]>,
    start: usize,
    len: usize,
}

/// Most columns of a matrix.
pub(super) const MAX_COLUMNS: usize = 7;

impl<'a> Masks<'a> {
    pub(super) fn new(lanes: Lanes, seed: &'a [u8; 64]) -> Self {
        Self { lanes, seed, next: 0, ready: Wiped::new([[0; N]; MAX_COLUMNS + MAX_LANES]), start: 0, len: 0 }
    }

    /// The next `L` polynomials.
    pub(super) fn next<P: Parameters>(&mut self) -> &[Coeffs] {
        self.ready.copy_within(self.start..self.start + self.len, 0);
        // The number of lanes is a power of two.
        let missing = (P::L.saturating_sub(self.len) + self.lanes.count() - 1) & !(self.lanes.count() - 1);
        mask::<P>(self.lanes, self.seed, self.next, &mut self.ready[self.len..self.len + missing]);
        self.next += missing as u16;
        (self.start, self.len) = (P::L, self.len + missing - P::L);
        &self.ready[..P::L]
    }
}

/// The polynomials of a mask from nonce `kappa` on.
pub(super) fn mask<P: Parameters>(lanes: Lanes, seed: &[u8; 64], kappa: u16, out: &mut [Coeffs]) {
    const BLOCKS: usize = 5;
    let len = 32 * (P::GAMMA1_BITS + 1);
    let mut waiting = Wiped::new([[0u8; BLOCKS * RATE256]; MAX_LANES]);
    let mut filled = [0usize; MAX_LANES];
    let seed = [&seed[..]];
    let job = |i: usize| Job::shake256(&seed).and_bytes((kappa + i as u16).to_le_bytes());
    each_block(lanes, out.len(), job, |lane, i, block| {
        let (bytes, filled) = (&mut waiting[lane], &mut filled[lane]);
        bytes[*filled * RATE256..][..RATE256].copy_from_slice(block);
        *filled += 1;
        if *filled * RATE256 < len {
            return false;
        }
        *filled = 0;
        read_mask::<P>(lanes, &bytes[..len], &mut out[i]);
        true
    });
}

/// `BitUnpack` of a polynomial with coefficients in `(-gamma1, gamma1]`.
pub(super) fn read_mask<P: Parameters>(lanes: Lanes, bytes: &[u8], out: &mut Coeffs) {
    match P::GAMMA1_BITS {
        17 => unpack::<18, _>(lanes, bytes, out),
        _ => unpack::<20, _>(lanes, bytes, out),
    }
    subtract_from(lanes, P::GAMMA1, out);
}

/// `SampleInBall`. Its time depends on the challenge, which the signature publishes, or which is thrown away.
pub(super) fn challenge<P: Parameters>(seed: &[u8], out: &mut Coeffs) {
    *out = [0; N];
    let (mut signs, mut i) = (None, N - P::TAU);
    let seed = [seed];
    each_block(
        Lanes::One,
        1,
        |_| Job::shake256(&seed),
        |_, _, block| {
            // The signs come first.
            let (bytes, signs) = match &mut signs {
                Some(signs) => (block, signs),
                none => {
                    let (first, rest) = block.split_first_chunk().unwrap_or((&[0; 8], &[]));
                    (rest, none.insert(u64::from_le_bytes(*first)))
                }
            };
            for j in bytes.iter().map(|byte| *byte as usize) {
                if i < N && j <= i {
                    out[i] = out[j];
                    out[j] = 1 + (Q - 2) * (*signs as u32 & 1);
                    *signs >>= 1;
                    i += 1;
                }
            }
            i == N
        },
    );
}

#[cfg(test)]
mod tests {
    use super::super::{MlDsa44Params, MlDsa65Params, MlDsa87Params};
    use super::*;

    #[test]
    fn half_bytes_by_definition() {
        let halves = core::array::from_fn(|i| i as u8 % 15);
        let mut out = [0; N];
        bounded::<MlDsa44Params>(Lanes::best(), &halves, &mut out);
        for (c, half) in out.iter().zip(halves) {
            assert_eq!(*c, (2 - half as i32 % 5).rem_euclid(Q as i32) as u32);
        }
        let halves = core::array::from_fn(|i| i as u8 % 9);
        bounded::<MlDsa65Params>(Lanes::best(), &halves, &mut out);
        for (c, half) in out.iter().zip(halves) {
            assert_eq!(*c, (4 - half as i32).rem_euclid(Q as i32) as u32);
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

    /// Masks that were expanded beside those of an earlier attempt are the same.
    #[test]
    fn masks_of_later_attempts() {
        fn check<P: Parameters>() {
            for lanes in [Lanes::One, Lanes::best()] {
                let mut masks = Masks::new(lanes, &[3; 64]);
                for attempt in 0..9 {
                    let mut expected = [[0; N]; MAX_COLUMNS];
                    mask::<P>(Lanes::One, &[3; 64], attempt * P::L as u16, &mut expected[..P::L]);
                    assert!(*masks.next::<P>() == expected[..P::L], "attempt {attempt}");
                }
            }
        }
        check::<MlDsa44Params>();
        check::<MlDsa65Params>();
        check::<MlDsa87Params>();
    }
}
