//! Bit strings of the standards: integers of `D` bits each, least significant bit first.

use super::N;
use super::hash::Lanes;
use crate::arith::Word;

/// Bytes of a polynomial of `d`-bit coefficients.
#[cfg(feature = "mldsa")]
pub(super) const fn packed_len(d: usize) -> usize {
    32 * d
}

/// `ByteEncode_D` of FIPS 203 and `SimpleBitPack` of FIPS 204 for `2^D - 1`; `map` turns coefficients into integers.
/// Eight of them fill `D` bytes.
///
/// # Bounds
/// `map` gives values below `2^D`, `D <= 20`, and even above 16; `out` has `32·D` bytes for 256 coefficients.
#[inline(always)]
pub(super) fn pack<const D: usize, W: Word>(coefficients: &[W], out: &mut [u8], map: impl Fn(W) -> u32) {
    for (bytes, coefficients) in out.chunks_exact_mut(D).zip(coefficients.as_chunks::<8>().0) {
        let values = coefficients.map(&map);
        let pair = |i: usize| values[i] as u64 | (values[i + 1] as u64) << D;
        let pairs = [pair(0), pair(2), pair(4), pair(6)];
        if 4 * D <= 64 {
            let [low, high] = [pairs[0] | pairs[1] << (2 * D), pairs[2] | pairs[3] << (2 * D)];
            bytes.copy_from_slice(&(low as u128 | (high as u128) << (4 * D)).to_le_bytes()[..D]);
        } else {
            for (bytes, pairs) in bytes.chunks_exact_mut(D / 2).zip(pairs.as_chunks::<2>().0) {
                let bits = pairs[0] as u128 | (pairs[1] as u128) << (2 * D);
                bytes.copy_from_slice(&bits.to_le_bytes()[..D / 2]);
            }
        }
    }
}

/// The inverse of [`pack`], without a map.
#[inline(always)]
pub(super) fn unpack<const D: usize, W: Word>(lanes: Lanes, bytes: &[u8], out: &mut [W; N]) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if const { D >= 5 } && lanes.avx2().is_some() {
        // SAFETY: the lanes prove that this CPU has the features.
        return unsafe { unpack_avx2::<D, W>(bytes, out) };
    }
    let _ = lanes;
    unpack_windows::<D, W>(bytes, out);
}

/// Where coefficient `i` of eight lies: the byte where a window of four begins, inside the `D` bytes, and its bit in it.
const fn window(d: usize, i: usize) -> (usize, usize) {
    let first = d * i / 8;
    let first = if first + 4 > d { d.saturating_sub(4) } else { first };
    (first, d * i - 8 * first)
}

#[inline(always)]
fn unpack_windows<const D: usize, W: Word>(bytes: &[u8], out: &mut [W]) {
    for (bytes, out) in bytes.chunks_exact(D).zip(out.as_chunks_mut::<8>().0) {
        for (i, out) in out.iter_mut().enumerate() {
            let (first, bit) = window(D, i);
            let mut window = [0; 4];
            window[..D.min(4)].copy_from_slice(&bytes[first..first + D.min(4)]);
            *out = W::from_u64((u32::from_le_bytes(window) >> bit) as u64 & ((1 << D) - 1));
        }
    }
}

/// For coefficients of at least five bits. Eight at a time: the windows of four each are brought to 32-bit lanes from 16
/// bytes, which begin with the first coefficient and with the fifth.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx2")]
fn unpack_avx2<const D: usize, W: Word>(bytes: &[u8], out: &mut [W; N]) {
    use core::arch::x86_64::*;
    let places = const {
        let mut out = [0u8; 32];
        let mut i = 0;
        while i < 32 {
            // Byte by byte: bits before a half's own first byte are shifted out.
            let bit = D * (i / 4) - if i < 16 { 0 } else { 8 * (D / 2) };
            out[i] = (bit / 8 + i % 4) as u8;
            i += 1;
        }
        out
    };
    let shifts = const {
        let mut out = [0u32; 8];
        let mut i = 0;
        while i < 8 {
            out[i] = (D * i % 8) as u32;
            i += 1;
        }
        out
    };
    let (places, shifts) = (bytemuck::cast(places), bytemuck::cast(shifts));
    let mask = _mm256_set1_epi32((1 << D) - 1);
    let (eights, _) = out.as_chunks_mut::<8>();
    let mut done = 0;
    for out in eights.iter_mut() {
        // The last windows reach behind the end.
        let Some(both) = bytes.get(D * done..).and_then(|rest| rest.first_chunk::<32>()) else { break };
        let (Some(low), Some(high)) = (both.first_chunk::<16>(), both[D / 2..].first_chunk::<16>()) else { break };
        let both = _mm256_set_m128i(bytemuck::cast(*high), bytemuck::cast(*low));
        let windows = _mm256_shuffle_epi8(both, places);
        let values = _mm256_and_si256(_mm256_srlv_epi32(windows, shifts), mask);
        let out: &mut [u8] = bytemuck::cast_slice_mut(out);
        if W::WIDTH == 16 {
            let halves = _mm256_permute4x64_epi64::<0b10_00>(_mm256_packus_epi32(values, values));
            out.copy_from_slice(&bytemuck::cast::<_, [u8; 16]>(_mm256_castsi256_si128(halves)));
        } else {
            out.copy_from_slice(&bytemuck::cast::<_, [u8; 32]>(values));
        }
        done += 1;
    }
    unpack_windows::<D, W>(&bytes[D * done..], &mut out[8 * done..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit `j` of coefficient `i` is bit `D·i + j` of the string, by definition.
    fn by_definition<const D: usize>() {
        let coefficients: Vec<u32> = (0..256u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 7 & ((1 << D) - 1)).collect();
        let mut bytes = vec![0; 32 * D];
        pack::<D, u32>(&coefficients, &mut bytes, |c| c);
        for (i, c) in coefficients.iter().enumerate() {
            for j in 0..D {
                let at = D * i + j;
                assert_eq!(bytes[at / 8] >> (at % 8) & 1, (c >> j & 1) as u8, "D = {D}, bit {j} of {i}");
            }
        }
        for lanes in [Lanes::One, Lanes::best()] {
            let mut back = [0u32; N];
            unpack::<D, u32>(lanes, &bytes, &mut back);
            assert_eq!(back[..], coefficients);
            let mut back = [0u16; N];
            unpack::<D, u16>(lanes, &bytes, &mut back);
            assert!(D > 16 || back.iter().zip(&coefficients).all(|(a, b)| *a as u32 == *b));
        }
    }

    #[test]
    fn every_width_of_the_standards() {
        by_definition::<1>();
        by_definition::<3>();
        by_definition::<4>();
        by_definition::<5>();
        by_definition::<6>();
        by_definition::<10>();
        by_definition::<11>();
        by_definition::<12>();
        by_definition::<13>();
        by_definition::<18>();
        by_definition::<20>();
    }
}
