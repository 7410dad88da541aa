//! Unsigned lanes of 32 and 64 bits: Shoup's multiplication by constants, Montgomery reduction of sums of products.

use super::Arith;
use crate::Result;
use crate::arith::{Modulus, Shoup};
use crate::backend::cpu::schedule::{Mode, Schedule, unsigned};

macro_rules! shoup_arith {
    ($(#[$doc:meta])* $Name:ident, $T:ty, $D:ty, $max:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(in crate::backend::cpu) struct $Name {
            m: Modulus<$T>,
            mac_limit: usize,
        }

        impl Arith for $Name {
            type T = $T;
            type Tw = Shoup<$T>;
            type Acc = $D;

            const WIDTH: u32 = <$T>::BITS;

            fn supports(q: u64) -> bool {
                q < $max && q % 2 == 1
            }

            fn new(q: u64) -> Result<Self> {
                let m = Modulus::<$T>::new(q as $T)?;
                // k products below q² stay below q·2^w.
                let mac_limit = ((1 as $D) << <$T>::BITS) / q as $D;
                Ok(Self { m, mac_limit: mac_limit.min(1 << 20) as usize })
            }

            fn schedules(&self, layers: u32) -> (Schedule, Schedule) {
                let limit = ((1 as $D) << <$T>::BITS) / self.m.value() as $D;
                unsigned(limit.min(1 << 30) as u64, 2, layers)
            }

            fn factor(&self, value: u64) -> Shoup<$T> {
                self.m.shoup(value as $T)
            }

            #[inline(always)]
            fn mul(&self, x: $T, factor: Shoup<$T>) -> $T {
                self.m.mul_shoup_lazy(x, factor)
            }

            #[inline(always)]
            fn mul_canonical(&self, x: $T, factor: Shoup<$T>) -> $T {
                self.m.mul_shoup(x, factor)
            }

            #[inline(always)]
            fn mul_reduced(&self, x: $T, factor: Shoup<$T>) -> $T {
                self.m.mul_shoup(x, factor)
            }

            #[inline(always)]
            fn forward_butterfly<const MODE: u8>(
                &self,
                x: $T,
                y: $T,
                w: Shoup<$T>,
                c: $T,
            ) -> ($T, $T) {
                let q = self.m.value();
                let t = self.mul(y, w);
                if MODE == Mode::STRICT {
                    let t = self.m.csub(t);
                    return (self.m.csub(x + t), self.m.csub(x.wrapping_sub(t).wrapping_add(q)));
                }
                let x = if MODE == Mode::REDUCE { Modulus::<$T>::csub_of(x, c) } else { x };
                (x.wrapping_add(t), x.wrapping_sub(t).wrapping_add(2 * q))
            }

            #[inline(always)]
            fn inverse_butterfly<const MODE: u8>(&self, x: $T, y: $T, c: $T) -> ($T, $T) {
                let sum = x.wrapping_add(y);
                let difference = x.wrapping_sub(y).wrapping_add(c);
                match MODE {
                    Mode::FREE => (sum, difference),
                    // c is the bound of x and y: the sum is below 2c, and below 2·max(c, q) after it.
                    _ => (Modulus::<$T>::csub_of(sum, c), difference),
                }
            }

            #[inline(always)]
            fn inverse_mul<const MODE: u8>(&self, x: $T, w: Shoup<$T>) -> $T {
                if MODE == Mode::STRICT { self.mul_canonical(x, w) } else { self.mul(x, w) }
            }

            #[inline(always)]
            fn parameter(&self, multiple: u32) -> $T {
                self.m.value().wrapping_mul(multiple as $T)
            }

            #[inline(always)]
            fn reduce(&self, x: $T) -> $T {
                self.m.reduce(x)
            }

            #[inline(always)]
            fn mac(&self, acc: $D, x: $T, y: $T) -> $D {
                acc + x as $D * y as $D
            }

            #[inline(always)]
            fn mac_limit(&self) -> usize {
                self.mac_limit
            }

            #[inline(always)]
            fn redc(&self, acc: $D) -> $T {
                self.m.redc(acc)
            }

            #[inline(always)]
            fn add(&self, x: $T, y: $T) -> $T {
                self.m.add(x, y)
            }
        }
    };
}

shoup_arith!(
    /// Odd moduli below 2^31.
    Shoup32, u32, u64, 1 << 31
);
shoup_arith!(
    /// Odd moduli below 2^62.
    Shoup64, u64, u128, 1 << 62
);
