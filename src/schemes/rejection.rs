//! Rejection: candidates of some bits each, of which those below a bound are kept.
//!
//! Those of matrices are public: they come from public seeds.

#[cfg(all(target_arch = "x86_64", feature = "std"))]
use core::arch::x86_64::*;

use super::N;
use super::hash::{Lanes, RATE128};
#[cfg(feature = "mldsa")]
use super::{hash::RATE256, wipe::wipe};
#[cfg(feature = "mldsa")]
use crate::memcheck::{Leak, shown};

/// Values that a vector writes behind those that it keeps.
const OVERSHOOT: usize = 8;
/// Candidates of 12 and of 24 bits in a block.
const CANDIDATES: usize = 2 * RATE128 / 3;

/// A polynomial that is being sampled; a block may overfill it.
pub(super) struct Sampled<T> {
    values: [T; N + CANDIDATES + OVERSHOOT],
    len: usize,
}

impl<T> Sampled<T> {
    /// Gives the values out and starts again, if there are enough.
    pub(super) fn finish(&mut self, sink: impl FnOnce(&[T])) -> bool {
        let enough = self.len >= N;
        if enough {
            sink(&self.values[..N]);
            self.len = 0;
        }
        enough
    }
}

/// One element type and its candidates.
macro_rules! sampled {
    ($T:ident, $feature:literal, $avx2:ident, $candidates:expr) => {
        #[cfg(feature = $feature)]
        impl Sampled<$T> {
            pub(super) const EMPTY: Self = Self { values: [0; N + CANDIDATES + OVERSHOOT], len: 0 };

            /// Keeps the candidates of a block that are below `Q`.
            pub(super) fn take<const Q: $T>(&mut self, lanes: Lanes, block: &[u8]) {
                #[cfg(all(target_arch = "x86_64", feature = "std"))]
                if lanes.avx2().is_some()
                    && let Some(block) = block.first_chunk()
                {
                    // SAFETY: the lanes prove that this CPU has the features.
                    unsafe { $avx2::<Q>(self, block) };
                    return;
                }
                let _ = lanes;
                for bytes in block.as_chunks().0 {
                    for value in $candidates(bytes) {
                        self.values[self.len] = value;
                        self.len += (value < Q) as usize;
                    }
                }
            }
        }
    };
}

#[cfg(feature = "mlkem")]
fn of_12_bits([a, b, c]: &[u8; 3]) -> [u16; 2] {
    [u16::from_le_bytes([*a, *b & 0x0f]), u16::from_le_bytes([*b >> 4 | *c << 4, *c >> 4])]
}

#[cfg(feature = "mldsa")]
fn of_23_bits([a, b, c]: &[u8; 3]) -> [u32; 1] {
    [u32::from_le_bytes([*a, *b, *c & 0x7f, 0])]
}

sampled!(u16, "mlkem", take16, of_12_bits);
sampled!(u32, "mldsa", take32, of_23_bits);

/// Half bytes of a secret polynomial that is being sampled; erased on drop.
#[cfg(feature = "mldsa")]
pub(super) struct HalfBytes {
    values: [u8; N + 2 * RATE256 + OVERSHOOT],
    len: usize,
}

#[cfg(feature = "mldsa")]
impl HalfBytes {
    pub(super) const EMPTY: Self = Self { values: [0; N + 2 * RATE256 + OVERSHOOT], len: 0 };

    /// Keeps the half bytes of a block that are below the bound, the low one of each byte first.
    ///
    /// No branch depends on them, and those that are kept are in no address; which are kept shows in addresses.
    pub(super) fn take(&mut self, lanes: Lanes, bound: u8, block: &[u8]) {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if lanes.avx2().is_some()
            && let Some(block) = block.first_chunk()
        {
            // SAFETY: the lanes prove that this CPU has the features.
            unsafe { take_halves(self, bound, block) };
            return;
        }
        let _ = lanes;
        for half in block.iter().flat_map(|byte| [byte & 15, byte >> 4]) {
            self.values[self.len] = half;
            self.len += shown(Leak::HalfByte, half.wrapping_sub(bound) >> 7) as usize;
        }
    }

    /// As [`Sampled::finish`].
    pub(super) fn finish(&mut self, sink: impl FnOnce(&[u8; N])) -> bool {
        let enough = self.len >= N;
        if enough && let Some(values) = self.values.first_chunk() {
            sink(values);
            self.len = 0;
        }
        enough
    }
}

#[cfg(feature = "mldsa")]
impl Drop for HalfBytes {
    fn drop(&mut self) {
        wipe(&mut self.values);
    }
}

/// Bytes of a step: 16 candidates of 12 bits, or 8 of 24.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
const STEP: usize = 24;

/// Step `i` of a block: its first 12 bytes at the beginning of the lower half, the others from byte 4 of the upper half
/// on. The last step is loaded from 8 bytes before, so that nothing behind the block is read.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx2")]
#[inline]
fn step(block: &[u8; RATE128], i: usize) -> __m256i {
    let start = STEP * i;
    match block[start..].first_chunk::<32>() {
        Some(bytes) => _mm256_permute4x64_epi64::<0b10_01_01_00>(bytemuck::cast(*bytes)),
        None => {
            let bytes: [u8; 32] = core::array::from_fn(|j| block[RATE128 - 32 + j]);
            _mm256_permute4x64_epi64::<0b11_10_10_01>(bytemuck::cast(bytes))
        }
    }
}

/// For every set of 8 candidates, where those that are kept come from.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
static KEPT: [[u8; 8]; 256] = {
    let mut out = [[0; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut from, mut to) = (0, 0);
        while from < 8 {
            if set >> from & 1 == 1 {
                out[set][to] = from;
                to += 1;
            }
            from += 1;
        }
        set += 1;
    }
    out
};

#[cfg(all(target_arch = "x86_64", feature = "std", feature = "mlkem"))]
#[target_feature(enable = "avx2,popcnt")]
fn take16<const Q: u16>(out: &mut Sampled<u16>, block: &[u8; RATE128]) {
    #[rustfmt::skip]
    let pairs = _mm256_setr_epi8(
        0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11,
        4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11, 12, 13, 14, 14, 15,
    );
    let (twelve_bits, q) = (_mm256_set1_epi16(0x0fff), _mm256_set1_epi16(Q as i16));
    // In a register: in memory it would wait for the stores before.
    let mut len = out.len;
    for i in 0..RATE128 / STEP {
        let pairs = _mm256_shuffle_epi8(step(block, i), pairs);
        let candidates = _mm256_blend_epi16::<0b1010_1010>(pairs, _mm256_srli_epi16::<4>(pairs));
        let candidates = _mm256_and_si256(candidates, twelve_bits);
        let below = _mm256_cmpgt_epi16(q, candidates);
        let below = _mm256_movemask_epi8(_mm256_packs_epi16(below, below)) as u32;
        let halves = [_mm256_castsi256_si128(candidates), _mm256_extracti128_si256::<1>(candidates)];
        for (half, set) in halves.into_iter().zip([below & 0xff, below >> 16 & 0xff]) {
            // Two bytes for each candidate.
            let kept = eight_bytes(KEPT[set as usize]);
            let kept = _mm_unpacklo_epi8(kept, kept);
            let bytes = _mm_add_epi8(_mm_add_epi8(kept, kept), _mm_set1_epi16(0x0100));
            if let Some(to) = out.values[len..].first_chunk_mut::<8>() {
                *to = bytemuck::cast(_mm_shuffle_epi8(half, bytes));
            }
            len += set.count_ones() as usize;
        }
    }
    out.len = len;
}

#[cfg(all(target_arch = "x86_64", feature = "std", feature = "mldsa"))]
#[target_feature(enable = "avx2,popcnt")]
fn take32<const Q: u32>(out: &mut Sampled<u32>, block: &[u8; RATE128]) {
    #[rustfmt::skip]
    let triples = _mm256_setr_epi8(
        0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1,
        4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1,
    );
    let (bits, q) = (_mm256_set1_epi32(0x7f_ffff), _mm256_set1_epi32(Q as i32));
    let mut len = out.len;
    for i in 0..RATE128 / STEP {
        let candidates = _mm256_and_si256(_mm256_shuffle_epi8(step(block, i), triples), bits);
        let below = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(q, candidates))) as u32;
        let kept = _mm256_cvtepu8_epi32(eight_bytes(KEPT[below as usize & 0xff]));
        if let Some(to) = out.values[len..].first_chunk_mut::<8>() {
            *to = bytemuck::cast(_mm256_permutevar8x32_epi32(candidates, kept));
        }
        len += below.count_ones() as usize;
    }
    out.len = len;
}

#[cfg(all(target_arch = "x86_64", feature = "std", feature = "mldsa"))]
#[target_feature(enable = "avx2,popcnt")]
fn take_halves(out: &mut HalfBytes, bound: u8, block: &[u8; RATE256]) {
    let (four_bits, bound) = (_mm_set1_epi8(15), _mm_set1_epi8(bound as i8));
    let mut len = out.len;
    for bytes in block.as_chunks::<8>().0 {
        let bytes = eight_bytes(*bytes);
        let halves = _mm_and_si128(_mm_unpacklo_epi8(bytes, _mm_srli_epi16::<4>(bytes)), four_bits);
        let below = shown(Leak::HalfByte, _mm_movemask_epi8(_mm_cmpgt_epi8(bound, halves)) as usize);
        for (half, set) in [(halves, below & 0xff), (_mm_unpackhi_epi64(halves, halves), below >> 8)] {
            if let Some(to) = out.values[len..].first_chunk_mut() {
                *to = _mm_cvtsi128_si64(_mm_shuffle_epi8(half, eight_bytes(KEPT[set]))).to_le_bytes();
            }
            len += set.count_ones() as usize;
        }
    }
    out.len = len;
}

/// Eight bytes in the lower half of a vector.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx2")]
#[inline]
fn eight_bytes(bytes: [u8; 8]) -> __m128i {
    _mm_cvtsi64_si128(i64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks without and with nothing but good candidates, and mixed ones: all levels keep the same.
    macro_rules! levels_agree {
        ($T:ident, $q:literal) => {
            let mut noise = 1u64;
            for fill in 0..64u8 {
                let block: [u8; RATE128] = core::array::from_fn(|i| match fill {
                    0 => 0,
                    1 => 0xff,
                    2 if i % 3 == 0 => 0x00,
                    2 => 0xd0,
                    _ => {
                        noise = noise.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(fill as u64);
                        (noise >> 56) as u8
                    }
                });
                let (mut one, mut best) = (Sampled::<$T>::EMPTY, Sampled::<$T>::EMPTY);
                for _ in 0..2 {
                    one.take::<$q>(Lanes::One, &block);
                    best.take::<$q>(Lanes::best(), &block);
                    assert_eq!(one.values[..one.len], best.values[..best.len], "block {fill}");
                }
            }
        };
    }

    #[cfg(feature = "mlkem")]
    #[test]
    fn levels_agree_on_12_bits() {
        levels_agree!(u16, 3329);
    }

    #[cfg(feature = "mldsa")]
    #[test]
    fn levels_agree_on_23_bits() {
        levels_agree!(u32, 8_380_417);
    }

    /// A lane that needs more blocks goes on from where it was, on all levels alike.
    #[cfg(feature = "mldsa")]
    #[test]
    fn half_bytes_below_a_bound() {
        for bound in [9u8, 15] {
            let mut noise = bound as u32;
            let (mut one, mut best, mut expected) = (HalfBytes::EMPTY, HalfBytes::EMPTY, Vec::new());
            let mut seen = [0; N];
            while expected.len() < N {
                assert!(!one.finish(|_| unreachable!()));
                let block: [u8; RATE256] = core::array::from_fn(|_| {
                    noise = noise.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15);
                    (noise >> 24) as u8
                });
                expected.extend(block.iter().flat_map(|b| [b & 15, b >> 4]).filter(|half| *half < bound));
                one.take(Lanes::One, bound, &block);
                best.take(Lanes::best(), bound, &block);
                assert_eq!(one.values[..one.len], expected);
                assert_eq!(best.values[..best.len], expected);
            }
            assert!(best.finish(|values| seen = *values) && best.len == 0);
            assert_eq!(seen[..], expected[..N]);
        }
    }

    /// A polynomial that needs a fourth block is filled from it, not from a block that was seen before.
    #[cfg(feature = "mlkem")]
    #[test]
    fn rejection_reads_new_blocks() {
        for lanes in [Lanes::One, Lanes::best()] {
            let mut sampled = Sampled::<u16>::EMPTY;
            let mut next = |block: &[u8; RATE128], seen: &mut Vec<u16>| {
                sampled.take::<3329>(lanes, block);
                sampled.finish(|values| *seen = values.to_vec())
            };
            let mut seen = Vec::new();
            assert!(!next(&[0xff; RATE128], &mut seen));
            // Every candidate is below q.
            assert!(!next(&core::array::from_fn(|i| i as u8 & 0x07), &mut seen));
            assert!(!next(&[0; RATE128], &mut seen));
            assert!(next(&[0x11; RATE128], &mut seen));
            assert_eq!((seen.len(), &seen[223..226]), (N, &[0, 0x111, 0x111][..]));
            assert_eq!(sampled.len, 0);
        }
    }
}
