//! The automorphisms `x -> x^g` of `Z_Q[x]/(x^N + 1)`, `g` odd, as indices.
//!
//! All indices are computed modulo `2N <= 2^18` in wrapping 32-bit arithmetic, which is exact because `2N` divides
//! `2^32`.

use crate::arith::bit_reverse;

/// The inverse of an odd `g` modulo `2n`, `n` a power of two.
///
/// ```
/// assert_eq!(karat::rns::galois::inverse(5, 8), 13);
/// ```
pub const fn inverse(g: u32, n: usize) -> u32 {
    let mut inverse = g;
    let mut step = 0;
    // Newton: each step doubles the number of right low bits, from 3.
    while step < 4 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(g.wrapping_mul(inverse)));
        step += 1;
    }
    inverse & (2 * n as u32 - 1)
}

/// Where coefficient `j` of the image comes from: the index of a coefficient of `a`, and whether its sign changes.
/// `inverse` is [`inverse`]`(g, n)`.
///
/// ```
/// use karat::rns::galois::{coefficient, inverse};
/// // x -> x^5 modulo x^8 + 1: x^2 becomes x^10 = -x^2.
/// assert_eq!(coefficient(2, inverse(5, 8), 8), (2, true));
/// ```
pub const fn coefficient(j: u32, inverse: u32, n: usize) -> (u32, bool) {
    let n = n as u32;
    let i = j.wrapping_mul(inverse) & (2 * n - 1);
    (i & (n - 1), i >= n)
}

/// The canonical slot of `a` whose value canonical slot `t` of the image takes: slot `t` belongs to the point
/// `gamma^e`, `e = 2·brv(t) + 1`, and the image's value there is `a(gamma^(g·e))`.
///
/// ```
/// assert_eq!(karat::rns::galois::slot(3, 1, 8), 3);
/// assert_eq!(karat::rns::galois::slot(0, 3, 8), 4); // gamma^3 is the second point, slot brv(1)
/// ```
pub const fn slot(t: u32, g: u32, n: usize) -> u32 {
    slot_of(exponent(t, n).wrapping_mul(g), n)
}

/// The exponent `2·brv(t) + 1` of the point of canonical slot `t`.
///
/// ```
/// assert_eq!(karat::rns::galois::exponent(1, 8), 9);
/// ```
pub const fn exponent(t: u32, n: usize) -> u32 {
    2 * bit_reverse(t as usize, n.trailing_zeros()) as u32 + 1
}

/// The canonical slot of the point `gamma^e`, `e` odd, taken modulo `2n`.
///
/// ```
/// use karat::rns::galois::{exponent, slot_of};
/// assert_eq!(slot_of(exponent(5, 8) + 16, 8), 5);
/// ```
pub const fn slot_of(e: u32, n: usize) -> u32 {
    bit_reverse(((e & (2 * n as u32 - 1)) >> 1) as usize, n.trailing_zeros()) as u32
}

/// The element that rotates CKKS slots by `step` places: `5^(step mod N/2) mod 2N`.
///
/// ```
/// use karat::rns::galois::rotation;
/// assert_eq!(rotation(1, 8), 5);
/// assert_eq!(rotation(-1, 8), 13);
/// assert_eq!((rotation(0, 8), rotation(4, 8), rotation(-4, 8)), (1, 1, 1));
/// ```
pub const fn rotation(step: i64, n: usize) -> u32 {
    let mut exponent = step.rem_euclid(n as i64 / 2) as u32;
    let mask = 2 * n as u32 - 1;
    let (mut result, mut square) = (1u32, 5u32);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(square) & mask;
        }
        square = square.wrapping_mul(square) & mask;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Indices at the largest degree need more than 32 bits as plain products.
    #[test]
    fn indices_of_every_degree() {
        for log in 3..=17 {
            let n = 1usize << log;
            for g in [1u32, 3, 5, 2 * n as u32 - 1, n as u32 + 1, rotation(n as i64 / 4 - 1, n), rotation(-7, n)] {
                let back = inverse(g, n);
                assert_eq!(g as u64 * back as u64 % (2 * n as u64), 1);
                for j in (0..n as u64).step_by(1 + n / 64) {
                    let i = j * back as u64 % (2 * n as u64);
                    assert_eq!(coefficient(j as u32, back, n), ((i % n as u64) as u32, i >= n as u64));
                    let e = 2 * (bit_reverse(j as usize, log) as u64) + 1;
                    let image = slot(j as u32, g, n) as usize;
                    assert_eq!(2 * (bit_reverse(image, log) as u64) + 1, e * g as u64 % (2 * n as u64));
                }
            }
        }
    }

    #[test]
    fn rotations_are_powers_of_five() {
        for (step, n) in [(1, 1 << 17), (-1, 1 << 17), (65_535, 1 << 17), (i64::MIN, 16), (i64::MAX, 1 << 13)] {
            let expected = (0..step.rem_euclid(n as i64 / 2)).fold(1u64, |g, _| g * 5 % (2 * n as u64));
            assert_eq!(rotation(step, n) as u64, expected);
        }
    }
}
