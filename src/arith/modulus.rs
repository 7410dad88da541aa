//! A modulus and everything that is derived from it.

use crate::{Error, Result};

/// A modulus `q` for residues in words of type `W` (`u16`, `u32`, `u64`), with all its constants.
///
/// Every constant comes from `q` by exact integer arithmetic in a `const fn`, so that a modulus can be a `const`.
/// Values are *canonical* in `[0, q)`; functions that take or give wider ranges say so under `# Bounds`.
///
/// ```
/// use karat::arith::Modulus;
/// const Q: Modulus<u32> = Modulus::<u32>::checked(8380417).unwrap();
/// assert_eq!(Q.mul(8380416, 8380416), 1);
/// assert_eq!(Q.pow(1753, 256), Q.neg(1)); // 1753 is ML-DSA's root
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modulus<W> {
    pub(super) q: W,
    /// `floor(2^WIDTH / q)`: Barrett reduction of one word.
    pub(super) barrett_word: W,
    /// `floor(2^(2k) / q)`, `k` the bits of `q`: Barrett reduction of a product, kept in two words' width.
    pub(super) barrett_product: u64,
    /// Bits of `q`.
    pub(super) bits: u32,
    /// `q^-1 mod 2^WIDTH` for odd `q`, else 0.
    pub(super) q_inv: W,
    /// `2^WIDTH mod q`.
    pub(super) r: W,
    /// `2^(2 WIDTH) mod q`.
    pub(super) r2: W,
    /// Shoup quotient of `r`.
    pub(super) r_quotient: W,
}

macro_rules! modulus {
    ($W:ty, $D:ty, $max_bits:expr) => {
        impl Modulus<$W> {
            /// The modulus must lie below this bound.
            pub const MAX: u64 = 1 << $max_bits;

            /// Derives all constants of a modulus.
            ///
            /// # Errors
            /// `InvalidModulus` unless `2 <= q <` [`Self::MAX`].
            pub fn new(q: $W) -> Result<Self> {
                Self::checked(q).ok_or(Error::InvalidModulus {
                    q: q as u64,
                    reason: concat!("it must lie in [2, 2^", stringify!($max_bits), ") for this word"),
                })
            }

            /// As [`Self::new`], for constants: `None` unless `2 <= q <` [`Self::MAX`].
            pub const fn checked(q: $W) -> Option<Self> {
                if q < 2 || q as u64 >= Self::MAX {
                    return None;
                }
                let bits = <$W>::BITS - q.leading_zeros();
                let one = 1 as $D;
                let r = ((one << <$W>::BITS) % q as $D) as $W;
                let r2 = ((r as $D * r as $D) % q as $D) as $W;
                // Newton: each step doubles the number of right low bits, from 3.
                let mut q_inv: $W = if q % 2 == 1 { q } else { 0 };
                let mut step = 0;
                while step < 5 {
                    q_inv = q_inv.wrapping_mul((2 as $W).wrapping_sub(q.wrapping_mul(q_inv)));
                    step += 1;
                }
                Some(Self {
                    q,
                    barrett_word: ((one << <$W>::BITS) / q as $D) as $W,
                    barrett_product: ((1u128 << (2 * bits)) / q as u128) as u64,
                    bits,
                    q_inv,
                    r,
                    r2,
                    r_quotient: (((r as $D) << <$W>::BITS) / q as $D) as $W,
                })
            }

            /// The modulus itself.
            #[inline(always)]
            pub const fn value(&self) -> $W {
                self.q
            }

            /// Bits of the modulus.
            pub const fn bits(&self) -> u32 {
                self.bits
            }

            /// Whether Montgomery arithmetic exists: `q` is odd.
            pub const fn is_odd(&self) -> bool {
                self.q & 1 == 1
            }

            /// Subtracts `m` once if `x >= m`.
            ///
            /// # Bounds
            /// `m <= 2^(WIDTH-1)`, `x < m + 2^(WIDTH-1)`.
            #[inline(always)]
            pub const fn csub_of(x: $W, m: $W) -> $W {
                let d = x.wrapping_sub(m);
                d.wrapping_add(m & (0 as $W).wrapping_sub(d >> (<$W>::BITS - 1)))
            }

            /// `x` in `[0, 2q)` to `[0, q)`.
            #[inline(always)]
            pub const fn csub(&self, x: $W) -> $W {
                Self::csub_of(x, self.q)
            }

            /// `a + b mod q`, canonical operands.
            #[inline(always)]
            pub const fn add(&self, a: $W, b: $W) -> $W {
                self.csub(a + b)
            }

            /// `a - b mod q`, canonical operands.
            #[inline(always)]
            pub const fn sub(&self, a: $W, b: $W) -> $W {
                self.csub(a + (self.q - b))
            }

            /// `-a mod q`, canonical operand.
            #[inline(always)]
            pub const fn neg(&self, a: $W) -> $W {
                self.csub(self.q - a)
            }

            /// `a · b mod q` by Barrett, canonical operands, any modulus.
            #[inline(always)]
            pub const fn mul(&self, a: $W, b: $W) -> $W {
                self.reduce_product(a as $D * b as $D)
            }

            /// `base^exponent mod q`. The exponent is public.
            ///
            /// # Bounds
            /// `base` canonical.
            pub const fn pow(&self, base: $W, mut exponent: u64) -> $W {
                let mut result = self.csub(1);
                let mut square = base;
                while exponent > 0 {
                    if exponent & 1 == 1 {
                        result = self.mul(result, square);
                    }
                    square = self.mul(square, square);
                    exponent >>= 1;
                }
                result
            }

            /// `a^-1 mod q`, or `None` where `a` and `q` have a common factor. Public operand.
            ///
            /// # Bounds
            /// `a` canonical.
            pub const fn inv_vartime(&self, a: $W) -> Option<$W> {
                // Remainders and cofactors are at most q in size, below 2^62.
                let (mut r0, mut r1) = (self.q as i64, a as i64);
                let (mut t0, mut t1) = (0i64, 1i64);
                while r1 != 0 {
                    let quotient = r0 / r1;
                    (r0, r1) = (r1, r0 - quotient * r1);
                    (t0, t1) = (t1, t0 - quotient * t1);
                }
                if r0 != 1 {
                    return None;
                }
                Some(t0.rem_euclid(self.q as i64) as $W)
            }

            /// The residue of a signed number. Public operand.
            pub const fn from_i64_vartime(&self, value: i64) -> $W {
                (value as i128).rem_euclid(self.q as i128) as $W
            }
        }
    };
}
modulus!(u16, u32, 15);
modulus!(u32, u64, 31);
modulus!(u64, u128, 62);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn range_of_moduli() {
        assert!(Modulus::<u64>::new(0).is_err());
        assert!(Modulus::<u64>::new(1).is_err());
        assert!(Modulus::<u64>::new(1 << 62).is_err());
        assert!(Modulus::<u64>::new((1 << 62) - 1).is_ok());
        assert!(Modulus::<u32>::new(1 << 31).is_err());
        assert!(Modulus::<u16>::new(1 << 15).is_err());
    }

    #[test]
    fn two_is_a_modulus() {
        let m = Modulus::<u16>::new(2).unwrap();
        assert_eq!((m.add(1, 1), m.mul(1, 1), m.neg(1), m.pow(1, 9)), (0, 1, 1, 1));
        assert_eq!(m.inv_vartime(0), None);
    }

    /// Moduli around every width, where shifts and quotients change.
    fn moduli() -> impl Strategy<Value = u64> {
        prop_oneof![
            2u64..70000,
            (2u32..62, -3i64..4).prop_map(|(b, d)| ((1i64 << b) + d).max(2) as u64),
            2u64..(1 << 62),
        ]
        .prop_filter("below 2^62", |q| *q < 1 << 62)
    }

    proptest! {
        #[test]
        fn agrees_with_wide_integers(q in moduli(), a: u64, b: u64) {
            let m = Modulus::<u64>::new(q).unwrap();
            let (a, b) = (a % q, b % q);
            let wide = |x: u128| (x % q as u128) as u64;
            prop_assert_eq!(m.add(a, b), wide(a as u128 + b as u128));
            prop_assert_eq!(m.sub(a, b), wide(a as u128 + q as u128 - b as u128));
            prop_assert_eq!(m.neg(a), wide(q as u128 - a as u128));
            prop_assert_eq!(m.mul(a, b), wide(a as u128 * b as u128));
            prop_assert_eq!(m.mul(q - 1, q - 1), wide((q as u128 - 1) * (q as u128 - 1)));
            if let Some(inverse) = m.inv_vartime(a) {
                prop_assert_eq!(m.mul(inverse, a), 1 % q);
            }
            if q < Modulus::<u32>::MAX {
                let n = Modulus::<u32>::new(q as u32).unwrap();
                prop_assert_eq!(n.mul(a as u32, b as u32) as u64, m.mul(a, b));
                prop_assert_eq!(n.mul(q as u32 - 1, q as u32 - 1) as u64, m.mul(q - 1, q - 1));
            }
            if q < Modulus::<u16>::MAX {
                let n = Modulus::<u16>::new(q as u16).unwrap();
                prop_assert_eq!(n.mul(a as u16, b as u16) as u64, m.mul(a, b));
            }
        }
    }
}
