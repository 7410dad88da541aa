//! Bit strings of the standards: integers of `D` bits each, least significant bit first.

use crate::arith::Word;

/// Bytes of a polynomial of `d`-bit coefficients.
#[cfg(feature = "mldsa")]
pub(super) const fn packed_len(d: usize) -> usize {
    32 * d
}

/// Coefficients that are packed at once: their bits fill whole bytes and fit in 128 bits.
const fn group(d: usize) -> usize {
    if d > 16 { 4 } else { 8 }
}

/// `ByteEncode_D` of FIPS 203 and `SimpleBitPack` of FIPS 204 for `2^D - 1`; `map` turns coefficients into integers.
///
/// # Bounds
/// `map` gives values below `2^D`, `D <= 20`; `out` has `32·D` bytes for 256 coefficients.
#[inline(always)]
pub(super) fn pack<const D: usize, W: Word>(coefficients: &[W], out: &mut [u8], map: impl Fn(W) -> u64) {
    let group = const { group(D) };
    for (bytes, coefficients) in out.chunks_exact_mut(group * D / 8).zip(coefficients.chunks_exact(group)) {
        let bits = coefficients.iter().rev().fold(0u128, |bits, c| bits << D | map(*c) as u128);
        bytes.copy_from_slice(&bits.to_le_bytes()[..group * D / 8]);
    }
}

/// The inverse of [`pack`]; `map` turns integers below `2^D` into coefficients.
#[inline(always)]
pub(super) fn unpack<const D: usize, W: Word>(bytes: &[u8], out: &mut [W], map: impl Fn(u64) -> u64) {
    let group = const { group(D) };
    for (bytes, coefficients) in bytes.chunks_exact(group * D / 8).zip(out.chunks_exact_mut(group)) {
        let mut padded = [0; 16];
        padded[..group * D / 8].copy_from_slice(bytes);
        let bits = u128::from_le_bytes(padded);
        for (i, c) in coefficients.iter_mut().enumerate() {
            *c = W::from_u64(map((bits >> (D * i)) as u64 & ((1 << D) - 1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit `j` of coefficient `i` is bit `D·i + j` of the string, by definition.
    fn by_definition<const D: usize>() {
        let coefficients: Vec<u32> = (0..256u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 7 & ((1 << D) - 1)).collect();
        let mut bytes = vec![0; 32 * D];
        pack::<D, u32>(&coefficients, &mut bytes, u64::from);
        for (i, c) in coefficients.iter().enumerate() {
            for j in 0..D {
                let at = D * i + j;
                assert_eq!(bytes[at / 8] >> (at % 8) & 1, (c >> j & 1) as u8, "D = {D}, bit {j} of {i}");
            }
        }
        let mut back = vec![0u32; 256];
        unpack::<D, u32>(&bytes, &mut back, |x| x);
        assert_eq!(back, coefficients);
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
