//! Constant-time building blocks on `u64`.
//!
//! They are written with the borrow of a subtraction as a mask, so that no comparison of secrets is left for a
//! compiler to turn into a branch; SOUNDNESS.md says how the generated code is checked.

/// Subtracts `m` once if `x >= m`.
///
/// # Bounds
/// `m <= 2^63`, `x` in `[0, m + 2^63)`; the result is in `[0, m)` when `x` is in `[0, 2m)`.
///
/// ```
/// assert_eq!(karat::arith::csub(12, 7), 5);
/// assert_eq!(karat::arith::csub(6, 7), 6);
/// ```
#[inline(always)]
pub const fn csub(x: u64, m: u64) -> u64 {
    let d = x.wrapping_sub(m);
    d.wrapping_add(m & (0u64.wrapping_sub(d >> 63)))
}

/// All ones if `a < b`, else zero.
///
/// # Bounds
/// `a` and `b` in `[0, 2^63)`.
///
/// ```
/// use karat::arith::mask_if_less;
/// assert_eq!(mask_if_less(3, 4), u64::MAX);
/// assert_eq!(mask_if_less(4, 4), 0);
/// ```
#[inline(always)]
pub const fn mask_if_less(a: u64, b: u64) -> u64 {
    0u64.wrapping_sub(a.wrapping_sub(b) >> 63)
}

/// `a` where the mask is all ones, `b` where it is zero.
///
/// # Bounds
/// `mask` is 0 or `u64::MAX`.
///
/// ```
/// assert_eq!(karat::arith::select(u64::MAX, 1, 2), 1);
/// ```
#[inline(always)]
pub const fn select(mask: u64, a: u64, b: u64) -> u64 {
    b ^ (mask & (a ^ b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges() {
        for m in [1, 2, 3, 1 << 31, (1 << 62) + 1, 1 << 63] {
            assert_eq!(csub(0, m), 0);
            assert_eq!(csub(m - 1, m), m - 1);
            assert_eq!(csub(m, m), 0);
            assert_eq!(csub(m + (m - 1), m), m - 1);
        }
        assert_eq!(mask_if_less(0, 0), 0);
        assert_eq!(mask_if_less(0, (1 << 63) - 1), u64::MAX);
        assert_eq!(mask_if_less((1 << 63) - 1, 0), 0);
    }
}
