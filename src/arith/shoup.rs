//! Shoup multiplication: a constant factor with its precomputed quotient, for any modulus.

use super::Modulus;

/// A constant factor `value` in `[0, q)` and `floor(value · 2^w / q)`.
///
/// ```
/// use karat::arith::Modulus;
/// let q = Modulus::<u64>::new(1152921504606830593).unwrap();
/// let w = q.shoup(123456789);
/// assert_eq!(q.mul_shoup(u64::MAX, w), q.mul(q.reduce(u64::MAX), 123456789));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Shoup<W> {
    /// The factor.
    pub value: W,
    /// `floor(value · 2^w / q)`.
    pub quotient: W,
}

macro_rules! shoup {
    ($W:ty, $D:ty) => {
        impl Modulus<$W> {
            /// Prepares a constant factor. Public operand (it divides).
            ///
            /// # Bounds
            /// `value` canonical.
            pub const fn shoup(&self, value: $W) -> Shoup<$W> {
                Shoup { value, quotient: (((value as $D) << <$W>::BITS) / self.q as $D) as $W }
            }

            /// `x · factor`, lazily reduced.
            ///
            /// # Bounds
            /// Any word `x`; the result is in `[0, 2q)` (Harvey, *Faster arithmetic for number-theoretic
            /// transforms*, 2014).
            #[inline(always)]
            pub const fn mul_shoup_lazy(&self, x: $W, factor: Shoup<$W>) -> $W {
                let estimate = ((x as $D * factor.quotient as $D) >> <$W>::BITS) as $W;
                x.wrapping_mul(factor.value).wrapping_sub(estimate.wrapping_mul(self.q))
            }

            /// `x · factor`, canonical.
            ///
            /// # Bounds
            /// Any word `x`; the result is in `[0, q)`.
            #[inline(always)]
            pub const fn mul_shoup(&self, x: $W, factor: Shoup<$W>) -> $W {
                self.csub(self.mul_shoup_lazy(x, factor))
            }
        }
    };
}
shoup!(u16, u32);
shoup!(u32, u64);
shoup!(u64, u128);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_word_times_any_factor(q in 2u64..1 << 62, w: u64, x: u64) {
            let m = Modulus::<u64>::new(q).unwrap();
            let w = w % q;
            for x in [x, 0, 1, u64::MAX, u64::MAX - q, q - 1, q] {
                let lazy = m.mul_shoup_lazy(x, m.shoup(w));
                prop_assert!(lazy < 2 * q);
                prop_assert_eq!((lazy % q) as u128, x as u128 * w as u128 % q as u128);
                prop_assert!(m.mul_shoup(x, m.shoup(w)) < q);
            }
        }
    }
}
