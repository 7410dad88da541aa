//! Barrett reduction: a quotient estimated with a precomputed reciprocal, for any modulus, even or odd.

use super::Modulus;

macro_rules! barrett {
    ($W:ty, $D:ty, $Rest:ty) => {
        impl Modulus<$W> {
            /// Any word to `[0, q)`.
            ///
            /// With `u = floor(2^w / q)` the estimate `floor(x·u / 2^w)` is at most 1 below `floor(x / q)`:
            /// `x/q - x·u/2^w = x·(2^w mod q)/(q·2^w) < 1`.
            #[inline(always)]
            pub const fn reduce(&self, x: $W) -> $W {
                let estimate = ((x as $D * self.barrett_word as $D) >> <$W>::BITS) as $W;
                self.csub(x.wrapping_sub(estimate.wrapping_mul(self.q)))
            }

            /// A product of canonical residues to `[0, q)`.
            ///
            /// # Bounds
            /// `x` in `[0, 2^(2k))`, `k` the bits of `q`. With `u = floor(2^(2k) / q)` the estimate
            /// `floor(floor(x / 2^(k-1))·u / 2^(k+1))` is at most 2 below `floor(x / q)`
            /// (Handbook of Applied Cryptography, algorithm 14.42), so the remainder is below `3q`. That can be more
            /// than a word: `q` may have all but one of the bits of 16 or 32.
            #[inline(always)]
            pub const fn reduce_product(&self, x: $D) -> $W {
                if cfg!(debug_assertions) {
                    assert!(x >> (2 * self.bits) == 0, "Barrett: operand out of range");
                }
                let q = self.q as $Rest;
                let estimate = ((x >> (self.bits - 1)) * self.barrett_product as $D) >> (self.bits + 1);
                let rest = (x as $Rest).wrapping_sub((estimate as $Rest).wrapping_mul(q));
                let once = rest.wrapping_sub(q);
                let borrow = (0 as $Rest).wrapping_sub(once >> (<$Rest>::BITS - 1));
                self.csub(once.wrapping_add(q & borrow) as $W)
            }

            /// Any double word to `[0, q)`: the high word times `2^w mod q`, and the low word.
            #[inline(always)]
            pub const fn reduce_wide(&self, x: $D) -> $W {
                let high = (x >> <$W>::BITS) as $W;
                let estimate = ((high as $D * self.r_quotient as $D) >> <$W>::BITS) as $W;
                let product = high.wrapping_mul(self.r).wrapping_sub(estimate.wrapping_mul(self.q));
                self.add(self.csub(product), self.reduce(x as $W))
            }
        }
    };
}
// The last type holds numbers in [-q, 3q).
barrett!(u16, u32, u32);
barrett!(u32, u64, u64);
barrett!(u64, u128, u64);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values next to multiples of q: there an estimate that is one off shows.
    fn near_multiples(q: u64, limit: u128) -> Vec<u128> {
        let mut out = vec![0, 1, limit - 1];
        for base in [1u128, 2, 3, limit / q as u128, limit / q as u128 / 2, q as u128 - 1] {
            for delta in [-1i128, 0, 1] {
                let x = (base * q as u128) as i128 + delta;
                if x >= 0 && (x as u128) < limit {
                    out.push(x as u128);
                }
            }
        }
        out
    }

    #[test]
    fn worst_quotients_of_every_width() {
        for bits in 2..62 {
            for q in [(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1, (3 << bits) / 2 + 1] {
                if !(2..1 << 62).contains(&q) {
                    continue;
                }
                let m = Modulus::<u64>::new(q).unwrap();
                for x in near_multiples(q, 1 << 64) {
                    assert_eq!(m.reduce(x as u64) as u128, x % q as u128, "q = {q}, x = {x}");
                }
                for x in near_multiples(q, 1 << (2 * m.bits())) {
                    assert_eq!(m.reduce_product(x) as u128, x % q as u128, "q = {q}, x = {x}");
                }
                for x in near_multiples(q, u128::MAX >> 1) {
                    assert_eq!(m.reduce_wide(x) as u128, x % q as u128, "q = {q}, x = {x}");
                }
            }
        }
    }

    /// A remainder that is `2q` too large has more bits than a word of 16 or 32 for moduli above a third of it.
    #[test]
    fn products_whose_estimate_is_two_off() {
        for q in (21_000..1 << 15).step_by(97).chain([21_845, 21_846, (1 << 15) - 1]) {
            let m = Modulus::<u16>::new(q).unwrap();
            for x in (0..1 << (2 * m.bits())).step_by(10_007) {
                assert_eq!(m.reduce_product(x), (x % q as u32) as u16, "q = {q}, x = {x}");
            }
            for x in near_multiples(q as u64, 1 << (2 * m.bits())) {
                assert_eq!(m.reduce_product(x as u32) as u128, x % q as u128, "q = {q}, x = {x}");
            }
        }
        // Moduli whose reciprocal is cut by almost one, and products of canonical residues.
        let cut =
            (1_500_000_001u32..1 << 31).step_by(9973).filter(|q| ((1u128 << 62) % *q as u128) as u32 > q - q / 64);
        for q in cut.chain([2_096_954_623]) {
            let m = Modulus::<u32>::new(q).unwrap();
            for i in 0..2000u32 {
                let (a, b) = (q - 1 - i * 130_000, q - 1 - i * 70_001 % 200_000_000);
                assert_eq!(m.mul(a, b) as u64, a as u64 * b as u64 % q as u64, "{a} · {b} modulo {q}");
            }
        }
    }

    #[test]
    fn every_word_of_sixteen_bits() {
        for q in [2u16, 3, 257, 3329, 12289, 16384, 32749, 32767] {
            let m = Modulus::<u16>::new(q).unwrap();
            for x in 0..=u16::MAX {
                assert_eq!(m.reduce(x), x % q);
            }
        }
    }

    proptest! {
        #[test]
        fn any_word(q in 2u64..1 << 62, x: u128, y in 0u32..1 << 31, z: u64) {
            let m = Modulus::<u64>::new(q).unwrap();
            prop_assert_eq!(m.reduce(x as u64), x as u64 % q);
            prop_assert_eq!(m.reduce_wide(x) as u128, x % q as u128);
            let q = y.max(2);
            let m = Modulus::<u32>::new(q).unwrap();
            prop_assert_eq!(m.reduce_wide(z) as u64, z % q as u64);
        }
    }
}
