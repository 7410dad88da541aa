//! Keys and signatures as bytes (FIPS 204, section 7.2).

use super::round::{D, add, sub};
use super::{Coeffs, Parameters, Q};
use crate::schemes::encode::{pack, packed_len, unpack};
use crate::schemes::hash::Lanes;
use crate::schemes::levels::levels;

/// Bytes of a polynomial of a public key.
pub(super) const T1_LEN: usize = packed_len(10);
/// Bytes of a polynomial of the part that the public key drops.
pub(super) const T0_LEN: usize = packed_len(D as usize);

/// Bytes of a secret polynomial.
pub(super) const fn secret_len<P: Parameters>() -> usize {
    packed_len(if P::ETA == 2 { 3 } else { 4 })
}

/// Bytes of a polynomial of a signature or a mask.
pub(super) const fn mask_len<P: Parameters>() -> usize {
    packed_len(P::GAMMA1_BITS + 1)
}

/// Bytes of a polynomial of high bits.
pub(super) const fn high_len<P: Parameters>() -> usize {
    packed_len(if P::GAMMA2 == (Q - 1) / 88 { 6 } else { 4 })
}

levels! {
    /// Coefficients in `[-eta, eta]`.
    pub(super) fn write_secret<P: Parameters>(coefficients: &[u32], out: &mut [u8]) {
        let map = |c: u32| sub(P::ETA, c);
        match P::ETA {
            2 => pack::<3, _>(coefficients, out, map),
            _ => pack::<4, _>(coefficients, out, map),
        }
    }
}

/// Reads coefficients, and says whether all lie in `[-eta, eta]`; all are looked at.
pub(super) fn read_secret<P: Parameters>(lanes: Lanes, bytes: &[u8], out: &mut Coeffs) -> bool {
    match P::ETA {
        2 => unpack::<3, _>(lanes, bytes, out),
        _ => unpack::<4, _>(lanes, bytes, out),
    }
    let inside = all_at_most(lanes, out, 2 * P::ETA);
    subtract_from(lanes, P::ETA, out);
    inside
}

levels! {
    /// Whether all values, below `2^31`, are at most the bound; all are looked at.
    fn all_at_most(values: &Coeffs, bound: u32) -> bool {
        values.iter().fold(0, |outside, value| outside | bound.wrapping_sub(*value)) >> 31 == 0
    }
}

levels! {
    /// `minuend - c` for each coefficient, in place.
    pub(super) fn subtract_from(minuend: u32, coefficients: &mut Coeffs) {
        coefficients.iter_mut().for_each(|c| *c = sub(minuend, *c));
    }
}

levels! {
    /// Coefficients in `(-2^12, 2^12]`.
    pub(super) fn write_t0(coefficients: &Coeffs, out: &mut [u8]) {
        pack::<13, _>(coefficients, out, |c| sub(1 << (D - 1), c));
    }
}

pub(super) fn read_t0(lanes: Lanes, bytes: &[u8], out: &mut Coeffs) {
    unpack::<13, _>(lanes, bytes, out);
    subtract_from(lanes, 1 << (D - 1), out);
}

levels! {
    pub(super) fn write_t1(coefficients: &Coeffs, out: &mut [u8]) {
        pack::<10, _>(coefficients, out, |c| c);
    }
}

/// `-t1·2^13`, which is what verification needs.
pub(super) fn read_t1_negated(lanes: Lanes, bytes: &[u8], out: &mut Coeffs) {
    unpack::<10, _>(lanes, bytes, out);
    negate_shifted(lanes, out);
}

levels! {
    fn negate_shifted(coefficients: &mut Coeffs) {
        coefficients.iter_mut().for_each(|c| *c = sub(0, *c << D));
    }
}

levels! {
    /// High bits, for the challenge's hash (`w1Encode`).
    pub(super) fn write_high<P: Parameters>(coefficients: &Coeffs, out: &mut [u8]) {
        match high_len::<P>() {
            192 => pack::<6, _>(coefficients, out, |c| c),
            _ => pack::<4, _>(coefficients, out, |c| c),
        }
    }
}

levels! {
    /// A polynomial of a signature, coefficients in `(-gamma1, gamma1]`.
    pub(super) fn write_response<P: Parameters>(coefficients: &Coeffs, out: &mut [u8]) {
        let map = |c: u32| sub(P::GAMMA1, c);
        match P::GAMMA1_BITS {
            17 => pack::<18, _>(coefficients, out, map),
            _ => pack::<20, _>(coefficients, out, map),
        }
    }
}

levels! {
    /// A sum of polynomials, in place.
    pub(super) fn add_assign(a: &mut Coeffs, b: &Coeffs) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = add(*a, *b);
        }
    }
}

levels! {
    /// A difference of polynomials, in place.
    pub(super) fn sub_assign(a: &mut Coeffs, b: &Coeffs) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = sub(*a, *b);
        }
    }
}

/// The positions of the ones of a hint, written row after row (`HintBitPack`, algorithm 20).
pub(super) struct HintWriter<'a> {
    bytes: &'a mut [u8],
    omega: usize,
    rows: usize,
    len: usize,
}

impl<'a> HintWriter<'a> {
    /// # Bounds
    /// `bytes` has `omega` bytes and one more for each row.
    pub(super) fn new(bytes: &'a mut [u8], omega: usize) -> Self {
        bytes.fill(0);
        Self { bytes, omega, rows: 0, len: 0 }
    }

    /// Writes the next row; says whether there was room.
    pub(super) fn row(&mut self, ones: impl Iterator<Item = usize>) -> bool {
        for position in ones {
            if self.len == self.omega {
                return false;
            }
            self.bytes[self.len] = position as u8;
            self.len += 1;
        }
        self.bytes[self.omega + self.rows] = self.len as u8;
        self.rows += 1;
        true
    }
}

/// Reads a hint (`HintBitUnpack`, algorithm 21): nothing if positions do not rise within a row, counts fall or exceed
/// `omega`, or a byte behind the last position is not zero.
pub(super) fn read_hint<P: Parameters>(bytes: &[u8], mut sink: impl FnMut(usize, &[u8])) -> Option<()> {
    let (positions, ends) = bytes.split_at(P::OMEGA);
    let mut start = 0;
    for (row, end) in ends.iter().enumerate() {
        let ones = positions.get(start..*end as usize)?;
        if !ones.is_sorted_by(|a, b| a < b) {
            return None;
        }
        sink(row, ones);
        start = *end as usize;
    }
    positions[start..].iter().all(|b| *b == 0).then_some(())
}

/// Splits bytes into polynomials of `len` bytes each, and the rest.
pub(super) fn split_polys(bytes: &[u8], count: usize, len: usize) -> (core::slice::ChunksExact<'_, u8>, &[u8]) {
    let (polys, rest) = bytes.split_at(count * len);
    (polys.chunks_exact(len), rest)
}

#[cfg(test)]
mod tests {
    use super::super::{MlDsa44Params, MlDsa65Params, MlDsa87Params, N};
    use super::*;

    fn accepted(bytes: &[u8]) -> Option<usize> {
        let mut ones = 0;
        read_hint::<MlDsa44Params>(bytes, |_, row| ones += row.len()).map(|()| ones)
    }

    /// Every way in which a hint may be malformed, one at a time.
    #[test]
    fn malformed_hints() {
        let mut good = [0u8; 84];
        let mut writer = HintWriter::new(&mut good, 80);
        for row in [&[3usize, 9, 255][..], &[], &[0], &[5, 6]] {
            assert!(writer.row(row.iter().copied()));
        }
        assert_eq!(good[80..], [3, 3, 4, 6]);
        assert_eq!(accepted(&good), Some(6));
        let with = |changes: &[(usize, u8)]| {
            let mut bytes = good;
            for (at, value) in changes {
                bytes[*at] = *value;
            }
            accepted(&bytes)
        };
        assert_eq!(with(&[(1, 3)]), None, "repeated");
        assert_eq!(with(&[(0, 10)]), None, "unsorted");
        assert_eq!(with(&[(6, 1)]), None, "padding");
        assert_eq!(with(&[(79, 1)]), None, "last padding byte");
        assert_eq!(with(&[(82, 2)]), None, "falling count");
        assert_eq!(with(&[(83, 81)]), None, "more than omega");
        assert_eq!(with(&[(83, 255)]), None, "far more than omega");
        assert_eq!(with(&[(83, 5)]), None, "a position that no row has");
        assert_eq!(with(&[(83, 5), (5, 0)]), Some(5));
        let mut full = [0u8; 84];
        let mut writer = HintWriter::new(&mut full, 80);
        assert!(writer.row(0..80));
        assert!(writer.row(0..0) && writer.row(0..0));
        assert!(!writer.row(7..8), "no room for number 81");
    }

    #[test]
    fn secrets_out_of_range() {
        fn check<P: Parameters>() {
            let mut out = [0; N];
            for at in 0..N {
                for value in -(P::ETA as i32)..=P::ETA as i32 {
                    let mut c = [0; N];
                    c[at] = value.rem_euclid(Q as i32) as u32;
                    let mut bytes = vec![0; secret_len::<P>()];
                    write_secret::<P>(Lanes::best(), &c, &mut bytes);
                    assert!(read_secret::<P>(Lanes::best(), &bytes, &mut out));
                    assert_eq!(out, c);
                }
                let width = secret_len::<P>() / 32;
                for raw in 2 * P::ETA as usize + 1..1 << width {
                    let mut bytes = vec![0; secret_len::<P>()];
                    for bit in (0..width).filter(|bit| raw >> bit & 1 == 1) {
                        bytes[(width * at + bit) / 8] |= 1 << ((width * at + bit) % 8);
                    }
                    assert!(!read_secret::<P>(Lanes::best(), &bytes, &mut out), "{raw} at {at}");
                }
            }
        }
        check::<MlDsa44Params>();
        check::<MlDsa65Params>();
        check::<MlDsa87Params>();
    }
}
