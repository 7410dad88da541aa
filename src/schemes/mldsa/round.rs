//! Rounding and bounds of coefficients (FIPS 204, sections 7.4 and 2.3): no branch, no division.

use super::{Coeffs, Q};
use crate::schemes::levels::levels;

/// Bits that a public key drops.
pub(super) const D: u32 = 13;

/// `x - y mod q`, canonical.
#[inline(always)]
pub(super) fn sub(x: u32, y: u32) -> u32 {
    let d = x.wrapping_sub(y);
    d.wrapping_add(Q & (d as i32 >> 31) as u32)
}

/// `x + y mod q`, canonical.
#[inline(always)]
pub(super) fn add(x: u32, y: u32) -> u32 {
    sub(x, Q - y)
}

/// `Power2Round`: `r = r1·2^13 + r0` with `r0` in `(-2^12, 2^12]`; gives `(r1, r0 mod q)`.
#[inline(always)]
pub(super) fn power2round(r: u32) -> (u32, u32) {
    let high = (r + (1 << (D - 1)) - 1) >> D;
    (high, sub(r, high << D))
}

/// The number of different high bits: `(q - 1) / (2·gamma2)`.
const fn high_count(gamma2: u32) -> u32 {
    (Q - 1) / (2 * gamma2)
}

/// `Decompose`: `r = r1·2·gamma2 + r0` with `r0` in `(-gamma2, gamma2]`, except at the top, where `r1 = 0` and
/// `r0 = r - q`.
///
/// The quotient is a product with `ceil(2^44 / (2·gamma2))`: exact for numerators below `2^24`, as
/// `2^24 · 2·gamma2 < 2^44`.
#[inline(always)]
pub(super) fn decompose<const GAMMA2: u32>(r: u32) -> (u32, i32) {
    let reciprocal = const { (1u64 << 44).div_ceil(2 * GAMMA2 as u64) };
    let high = (((r + GAMMA2 - 1) as u64 * reciprocal) >> 44) as u32;
    let low = r as i32 - (high * (2 * GAMMA2)) as i32;
    // All ones at the top.
    let wrap = (const { high_count(GAMMA2) - 1 } as i32 - high as i32) >> 31;
    (high & !wrap as u32, low + wrap)
}

/// `HighBits`.
#[inline(always)]
pub(super) fn high_bits<const GAMMA2: u32>(r: u32) -> u32 {
    decompose::<GAMMA2>(r).0
}

/// `UseHint`, on public values.
#[inline(always)]
pub(super) fn use_hint<const GAMMA2: u32>(hint: bool, r: u32) -> u32 {
    let count = const { high_count(GAMMA2) };
    let (high, low) = decompose::<GAMMA2>(r);
    match (hint, low > 0) {
        (false, _) => high,
        (true, true) if high == count - 1 => 0,
        (true, true) => high + 1,
        (true, false) if high == 0 => count - 1,
        (true, false) => high - 1,
    }
}

levels! {
    /// Whether all coefficients, centred, are smaller than the bound; all are looked at.
    ///
    /// # Bounds
    /// `0 < bound < q / 2`.
    pub(super) fn all_below(coefficients: &Coeffs, bound: u32) -> bool {
        let outside = coefficients.iter().fold(0u32, |outside, c| {
            // `c + bound - 1 mod q` lies in [0, 2·bound - 2].
            outside | (2 * bound - 2).wrapping_sub(add(*c, bound - 1))
        });
        outside >> 31 == 0
    }
}

/// Whether the low bits of all coefficients are smaller than the bound; all are looked at.
#[inline(always)]
pub(super) fn all_low_below<const GAMMA2: u32>(coefficients: &Coeffs, bound: u32) -> bool {
    let outside = coefficients.iter().fold(0, |outside, c| {
        let (_, low) = decompose::<GAMMA2>(*c);
        let size = (low ^ (low >> 31)) - (low >> 31);
        outside | (bound as i32 - 1 - size)
    });
    outside >= 0
}

#[cfg(test)]
mod tests {
    use super::super::N;
    use super::*;
    use crate::schemes::hash::Lanes;
    use core::fmt::Write;
    use shake::{ExtendableOutput, Shake128, Update, XofReader};

    const GAMMA_88: u32 = (Q - 1) / 88;
    const GAMMA_32: u32 = (Q - 1) / 32;

    fn lines<const GAMMA2: u32>(r: u32, text: &mut String) {
        let (high, low) = decompose::<GAMMA2>(r);
        writeln!(text, "{high}\n{}\n{low}\n{}", use_hint::<GAMMA2>(true, r), low.abs()).unwrap();
    }

    /// Twelve numbers for each of the 8,380,417 residues: the digest is that of <https://github.com/C2SP/CCTV>.
    #[test]
    fn field_operations() {
        let mut hash = Shake128::default();
        let mut text = String::new();
        for r in 0..Q {
            text.clear();
            let centred = if r > Q / 2 { r as i32 - Q as i32 } else { r as i32 };
            let (high, low) = power2round(r);
            writeln!(text, "{centred}\n{}\n{high}\n{low}", centred.abs()).unwrap();
            lines::<GAMMA_88>(r, &mut text);
            lines::<GAMMA_32>(r, &mut text);
            if r == 6_010_000 {
                let expected = "-2370417 2370417 734 8377489 32 31 -84848 84848 11 12 248464 248464";
                assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), expected);
            }
            hash.update(text.as_bytes());
        }
        let mut digest = [0; 32];
        hash.finalize_xof().read(&mut digest);
        assert_eq!(hex::encode(digest), "f930663417278156ab05d940294a77210a809c924d8ab63ec72f4526247602c7");
    }

    /// By the definition, with divisions, for every residue; `UseHint(1, r)` where `r0 = 0` goes down.
    #[test]
    fn decompose_by_definition() {
        fn check<const GAMMA2: u32>() {
            let alpha = 2 * GAMMA2 as i32;
            for r in 0..Q {
                let mut low = (r as i32).rem_euclid(alpha);
                low -= if low > alpha / 2 { alpha } else { 0 };
                let expected = if r as i32 - low == Q as i32 - 1 {
                    (0, low - 1)
                } else {
                    (((r as i32 - low) / alpha) as u32, low)
                };
                assert_eq!(decompose::<GAMMA2>(r), expected);
            }
            assert_eq!(use_hint::<GAMMA2>(true, 0), (Q - 1) / alpha as u32 - 1);
            assert_eq!(use_hint::<GAMMA2>(true, alpha as u32), 0);
        }
        check::<GAMMA_88>();
        check::<GAMMA_32>();
    }

    #[test]
    fn bounds_in_every_position() {
        for bound in [1u32, 78, 196, 95_232 - 78, 261_888 - 120, (1 << 17) - 78, (1 << 19) - 196] {
            for at in [0, 1, 7, 8, 128, 254, 255] {
                for sign in [1, -1] {
                    let mut c = [0; N];
                    c[at] = (sign * (bound as i32 - 1)).rem_euclid(Q as i32) as u32;
                    assert!(all_below(Lanes::best(), &c, bound));
                    c[at] = (sign * bound as i32).rem_euclid(Q as i32) as u32;
                    assert!(!all_below(Lanes::best(), &c, bound));
                }
            }
        }
        let mut c = [0; N];
        let bound = GAMMA_88 - 78;
        for (value, inside) in [(bound - 1, true), (bound, false), (Q - bound + 1, true), (Q - bound, false)] {
            c[200] = value;
            assert_eq!(all_low_below::<GAMMA_88>(&c, bound), inside, "{value}");
        }
    }
}
