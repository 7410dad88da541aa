//! Montgomery arithmetic: reduction by the low word, for odd moduli.

use super::Modulus;

macro_rules! montgomery {
    ($W:ty, $D:ty) => {
        impl Modulus<$W> {
            /// `x · 2^-w mod q`, lazily reduced.
            ///
            /// # Bounds
            /// `q` odd, `x` in `[0, q·2^w)`; the result is in `[0, 2q)`, never `2q` itself:
            /// `m = x·q^-1 mod 2^w` makes the low words of `x` and `m·q` equal, so the result is
            /// `hi(x) - hi(m·q) + q` with `hi(x) <= q - 1` and `hi(m·q) >= 0`.
            #[inline(always)]
            pub const fn redc_lazy(&self, x: $D) -> $W {
                if cfg!(debug_assertions) {
                    assert!(self.q & 1 == 1 && (x >> <$W>::BITS) < self.q as $D);
                }
                let m = (x as $W).wrapping_mul(self.q_inv);
                let high = ((m as $D * self.q as $D) >> <$W>::BITS) as $W;
                ((x >> <$W>::BITS) as $W).wrapping_sub(high).wrapping_add(self.q)
            }

            /// `x · 2^-w mod q`, canonical.
            ///
            /// # Bounds
            /// As [`Self::redc_lazy`]; the result is in `[0, q)`.
            #[inline(always)]
            pub const fn redc(&self, x: $D) -> $W {
                self.csub(self.redc_lazy(x))
            }

            /// `2^w mod q`, the Montgomery form of 1.
            #[inline(always)]
            pub const fn mont_one(&self) -> $W {
                self.r
            }

            /// `a · 2^w mod q`: into Montgomery form.
            ///
            /// # Bounds
            /// `q` odd, `a` canonical.
            #[inline(always)]
            pub const fn to_mont(&self, a: $W) -> $W {
                self.redc(a as $D * self.r2 as $D)
            }

            /// `q^-1 mod 2^w` (0 for even `q`).
            #[inline(always)]
            pub const fn q_inv(&self) -> $W {
                self.q_inv
            }
        }
    };
}
montgomery!(u16, u32);
montgomery!(u32, u64);
montgomery!(u64, u128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_the_input_range() {
        for q in [3u64, 3329, 12289, (1 << 61) + 1, (1 << 62) - 1] {
            let m = Modulus::<u64>::new(q).unwrap();
            let end = (q as u128) << 64;
            for x in [0, 1, end - 1, end - 2, end / 2, end - q as u128] {
                let lazy = m.redc_lazy(x);
                assert!(lazy < 2 * q, "q = {q}, x = {x}");
                let back = (lazy as u128 * m.mont_one() as u128) % q as u128;
                assert_eq!(back, x % q as u128);
                assert!(m.redc(x) < q);
            }
        }
    }

    #[test]
    fn round_trip_of_every_residue() {
        for q in [3u16, 257, 3329, 12289, 32749] {
            let m = Modulus::<u16>::new(q).unwrap();
            for a in 0..q {
                assert_eq!(m.redc(m.to_mont(a) as u32), a);
            }
        }
    }
}
