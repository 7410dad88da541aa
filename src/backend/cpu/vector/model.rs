//! Lanes of AVX-512 without AVX-512: kernels for 512-bit vectors run on any machine, lane after lane, and signed 16-bit
//! lanes panic where a sum leaves their range. Only for classes whose kernels AVX2 does not have in the same shape:
//! each class costs its share of compile time.

#[cfg(test)]
mod tests;

use crate::backend::cpu::lanes::{Lanes, Lanes16, Lanes52, Lanes64};

/// A level whose vectors are arrays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Model;

/// Odd blocks of `h` lanes of `x` change places with even blocks of `y`.
fn transpose<T: Copy, const L: usize>(h: usize, mut x: [T; L], mut y: [T; L]) -> ([T; L], [T; L]) {
    for (x, y) in x.chunks_exact_mut(2 * h).zip(y.chunks_exact_mut(2 * h)) {
        x[h..].swap_with_slice(&mut y[..h]);
    }
    (x, y)
}

/// What all lanes have in common.
macro_rules! memory {
    ($T:ty, $L:literal) => {
        type V = [$T; $L];

        fn load(self, a: &[$T; $L]) -> [$T; $L] {
            *a
        }

        fn store(self, x: [$T; $L], a: &mut [$T; $L]) {
            *a = x;
        }

        fn splat(self, x: $T) -> [$T; $L] {
            [x; $L]
        }

        fn split<const H: usize>(self, x: [$T; $L], y: [$T; $L]) -> ([$T; $L], [$T; $L]) {
            transpose(H, x, y)
        }

        fn join<const H: usize>(self, x: [$T; $L], y: [$T; $L]) -> ([$T; $L], [$T; $L]) {
            transpose(H, x, y)
        }
    };
}

/// Methods that are the same expression in every lane.
macro_rules! each {
    ($T:ty, $L:literal; $(fn $name:ident($($x:ident),*) $body:expr;)*) => {$(
        fn $name(self $(, $x: [$T; $L])*) -> [$T; $L] {
            core::array::from_fn(|i| {
                $(let $x = $x[i];)*
                $body
            })
        }
    )*};
}

/// Two 16-bit lanes as one of 32.
fn pair(x: &[i16], i: usize) -> i32 {
    x[2 * i] as u16 as i32 | (x[2 * i + 1] as i32) << 16
}

fn from_pairs(f: impl Fn(usize) -> i32) -> [i16; 32] {
    core::array::from_fn(|i| (f(i / 2) >> (16 * (i % 2))) as i16)
}

impl Lanes<i16, 32> for Model {
    memory!(i16, 32);
    each! { i16, 32;
        fn add(x, y) x.checked_add(y).expect("a sum of 16-bit lanes");
        fn sub(x, y) x.checked_sub(y).expect("a difference of 16-bit lanes");
    }
}

impl Lanes16<32> for Model {
    each! { i16, 32;
        fn mul_low(x, y) x.wrapping_mul(y);
        fn mul_high(x, y) ((x as i32 * y as i32) >> 16) as i16;
        fn mul_round(x, y) ((x as i32 * y as i32 + (1 << 14)) >> 15) as i16;
        fn min(x, y) (x as u16).min(y as u16) as i16;
    }

    fn mul_high_loaded(self, x: [i16; 32], y: &[i16; 32]) -> [i16; 32] {
        self.mul_high(x, *y)
    }

    fn mul_pairs(self, x: [i16; 32], y: [i16; 32]) -> [i16; 32] {
        let product = |i: usize| x[i] as i32 * y[i] as i32;
        from_pairs(|i| product(2 * i).checked_add(product(2 * i + 1)).expect("a sum of two products"))
    }

    fn add32(self, x: [i16; 32], y: [i16; 32]) -> [i16; 32] {
        from_pairs(|i| pair(&x, i).checked_add(pair(&y, i)).expect("a sum of products"))
    }

    fn low_halves(self, x: [i16; 32], y: [i16; 32]) -> [i16; 32] {
        core::array::from_fn(|i| if i % 2 == 0 { x[i] } else { y[i - 1] })
    }

    fn high_halves(self, x: [i16; 32], y: [i16; 32]) -> [i16; 32] {
        core::array::from_fn(|i| if i % 2 == 0 { x[i + 1] } else { y[i] })
    }

    fn swap_pairs(self, x: [i16; 32]) -> [i16; 32] {
        core::array::from_fn(|i| x[i ^ 1])
    }
}

impl Lanes<u64, 8> for Model {
    memory!(u64, 8);
    each! { u64, 8;
        fn add(x, y) x.wrapping_add(y);
        fn sub(x, y) x.wrapping_sub(y);
    }
}

impl Lanes64<8> for Model {
    each! { u64, 8;
        fn and(x, y) x & y;
        fn mul_low(x, y) x.wrapping_mul(y);
        fn mul_half(x, y) (x as u32 as u64) * (y as u32 as u64);
        fn mul_low_difference(x, w, e, q) x.wrapping_mul(w).wrapping_sub(e.wrapping_mul(q));
        fn unless_negative(x, y) if (x as i64) < 0 { y } else { x };
        fn high(x) x >> 32;
    }

    fn splat_half(self, x: u32) -> [u64; 8] {
        [x as u64 | (x as u64) << 32; 8]
    }
}

const LOW: u64 = (1 << 52) - 1;

impl Lanes52<8> for Model {
    each! { u64, 8;
        fn add_low(acc, x, y) acc.wrapping_add((x & LOW).wrapping_mul(y & LOW) & LOW);
        fn add_high(acc, x, y) acc.wrapping_add((((x & LOW) as u128 * (y & LOW) as u128) >> 52) as u64);
        fn carry(x) x >> 52;
        fn sub_where(x, bits, y) if x & bits != 0 { x.wrapping_sub(y) } else { x };
    }
}
