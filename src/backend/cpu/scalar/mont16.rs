//! Signed lanes of 16 bits: Montgomery's multiplication, for the moduli of ML-KEM, Falcon and NewHope.

use super::Arith;
use crate::arith::Modulus;
use crate::backend::cpu::schedule::{Mode, Schedule, signed};
use crate::{Error, Result};

/// Odd moduli from 2^7 to 2^14.
#[derive(Clone, Copy)]
pub(in crate::backend::cpu) struct Mont16 {
    q: i16,
    /// `q^-1 mod 2^16`.
    q_inv: i16,
    /// The factor 1: multiplying with it reduces.
    one: Factor,
    mac_limit: usize,
}

/// A constant factor `z`: `z · 2^16 mod q`, centred, and that times `q^-1 mod 2^16`.
#[derive(Clone, Copy, Default)]
pub(in crate::backend::cpu) struct Factor {
    value: i16,
    low: i16,
}

/// High half of a product.
#[inline(always)]
fn mul_high(a: i16, b: i16) -> i16 {
    ((a as i32 * b as i32) >> 16) as i16
}

impl Mont16 {
    /// Largest size of a product of a lane of size at most `m` and a constant:
    /// `(m·q/2 + 2^15·q) / 2^16`.
    fn product_bound(q: i32, m: i32) -> i32 {
        ((m as i64 * (q as i64 / 2) + (q as i64) * (1 << 15)) >> 16) as i32 + 1
    }
}

impl Arith for Mont16 {
    type T = i16;
    type Tw = Factor;
    type Acc = i32;

    const WIDTH: u32 = 16;

    fn supports(q: u64) -> bool {
        (1 << 7..1 << 14).contains(&q) && q % 2 == 1
    }

    fn new(q: u64) -> Result<Self> {
        if !Self::supports(q) {
            return Err(Error::InvalidModulus { q, reason: "16-bit lanes need an odd modulus in [2^7, 2^14)" });
        }
        let m = Modulus::<u16>::new(q as u16)?;
        // Reduced lanes are below q in size, and not all factors are smaller: sums stay below 2^15·q.
        let mac_limit = ((q << 15) - 1) / ((q - 1) * (q - 1));
        let unscaled =
            Self { q: q as i16, q_inv: m.q_inv() as i16, one: Factor::default(), mac_limit: mac_limit as usize };
        Ok(Self { one: unscaled.factor(1), ..unscaled })
    }

    fn schedules(&self, layers: u32) -> (Schedule, Schedule) {
        let q = self.q as i32;
        let product = |m: i64| Self::product_bound(q, m as i32) as i64;
        signed(q as i64, i16::MAX as i64, product(i16::MAX as i64 + 1), product, layers)
    }

    fn factor(&self, value: u64) -> Factor {
        let q = self.q as i64;
        let mont = ((value as i64) << 16) % q;
        let value = if mont > q / 2 { mont - q } else { mont } as i16;
        Factor { value, low: value.wrapping_mul(self.q_inv) }
    }

    #[inline(always)]
    fn mul(&self, x: i16, factor: Factor) -> i16 {
        let m = x.wrapping_mul(factor.low);
        mul_high(x, factor.value).wrapping_sub(mul_high(m, self.q))
    }

    #[inline(always)]
    fn mul_canonical(&self, x: i16, factor: Factor) -> i16 {
        let r = self.mul(x, factor);
        r.wrapping_add(self.q & (r >> 15))
    }

    #[inline(always)]
    fn mul_reduced(&self, x: i16, factor: Factor) -> i16 {
        self.mul(x, factor)
    }

    #[inline(always)]
    fn forward_butterfly<const MODE: u8>(&self, x: i16, y: i16, w: Factor, _: i16) -> (i16, i16) {
        let t = self.mul(y, w);
        let x = if MODE == Mode::FREE { x } else { self.reduce(x) };
        (x.wrapping_add(t), x.wrapping_sub(t))
    }

    #[inline(always)]
    fn inverse_butterfly<const MODE: u8>(&self, x: i16, y: i16, _: i16) -> (i16, i16) {
        let sum = x.wrapping_add(y);
        let sum = if MODE == Mode::FREE { sum } else { self.reduce(sum) };
        (sum, x.wrapping_sub(y))
    }

    #[inline(always)]
    fn inverse_mul<const MODE: u8>(&self, x: i16, w: Factor) -> i16 {
        self.mul(x, w)
    }

    #[inline(always)]
    fn parameter(&self, _: u32) -> i16 {
        0
    }

    #[inline(always)]
    fn reduce(&self, x: i16) -> i16 {
        // Cheaper in vectors than a Barrett quotient, whose shift would depend on the modulus.
        self.mul(x, self.one)
    }

    #[inline(always)]
    fn mac(&self, acc: i32, x: i16, y: i16) -> i32 {
        acc + x as i32 * y as i32
    }

    #[inline(always)]
    fn mac_limit(&self) -> usize {
        self.mac_limit
    }

    #[inline(always)]
    fn redc(&self, acc: i32) -> i16 {
        let m = (acc as i16).wrapping_mul(self.q_inv);
        ((acc >> 16) as i16).wrapping_sub(mul_high(m, self.q))
    }

    #[inline(always)]
    fn add(&self, x: i16, y: i16) -> i16 {
        self.reduce(x + y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULI: [u64; 8] = [129, 257, 3329, 3457, 7681, 8191, 12289, 16381];

    #[test]
    fn reduction_of_every_lane() {
        for q in MODULI {
            let m = Mont16::new(q).unwrap();
            for x in i16::MIN..=i16::MAX {
                let r = m.reduce(x) as i64;
                assert_eq!((r - x as i64).rem_euclid(q as i64), 0);
                assert!(r.abs() < q as i64, "q = {q}, x = {x}: {r}");
            }
        }
    }

    /// Every lane times every constant that the transforms of q = 3329 use, and the ends for other moduli.
    #[test]
    fn montgomery_of_every_lane() {
        for q in MODULI {
            let m = Mont16::new(q).unwrap();
            let constants: Vec<u64> = if q == 3329 { (0..q).collect() } else { vec![0, 1, 2, q / 2, q / 2 + 1, q - 1] };
            for z in constants {
                let w = m.factor(z);
                for x in (i16::MIN..=i16::MAX).step_by(if q == 3329 { 7 } else { 1 }).chain([i16::MAX]) {
                    let r = m.mul(x, w) as i64;
                    assert_eq!((r - x as i64 * z as i64).rem_euclid(q as i64), 0);
                    assert!(r.abs() <= Mont16::product_bound(q as i32, (x as i32).abs()) as i64);
                }
            }
        }
    }

    #[test]
    fn sums_of_products_at_their_limit() {
        for q in MODULI {
            let m = Mont16::new(q).unwrap();
            for sign in [1i32, -1] {
                let acc = (0..m.mac_limit()).fold(0, |acc, _| m.mac(acc, q as i16 - 1, q as i16 - 1));
                let r = m.redc(sign * acc);
                assert!((r as i64).abs() < q as i64, "q = {q}");
            }
            assert!(m.mac_limit() >= 2);
        }
    }
}
