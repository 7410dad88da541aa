//! Every reduction of `arith` at random and worst-case quotients, against wide integers.

use arbitrary::{Result, Unstructured};
use karat::arith::{Modulus, csub, mask_if_less, select};

use crate::rings;

/// Reduces what the bytes describe.
pub fn run(data: &[u8]) {
    let _ = attempt(&mut Unstructured::new(data));
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    match u.int_in_range(0..=3u8)? {
        0 => width16(u),
        1 => width32(u),
        2 => width64(u),
        _ => masks(u),
    }
}

/// A number below `limit`: an end, any, or one next to a multiple of `q`, where an estimate that is one off shows.
fn operand(u: &mut Unstructured, q: u64, limit: u128) -> Result<u128> {
    let any = |u: &mut Unstructured| -> Result<u128> { Ok(u.arbitrary::<u128>()? % limit) };
    Ok(match u.int_in_range(0..=3u8)? {
        0 => any(u)?,
        1 => limit - 1 - u.int_in_range(0..=3u128)?.min(limit - 1),
        2 => u.int_in_range(0..=3u128)?.min(limit - 1),
        _ => {
            let multiple = any(u)? / q as u128 * q as u128;
            multiple.saturating_add_signed(u.int_in_range(-3..=3i128)?).min(limit - 1)
        }
    })
}

macro_rules! width {
    ($name:ident, $W:ty, $D:ty) => {
        fn $name(u: &mut Unstructured) -> Result<()> {
            type M = Modulus<$W>;
            let q = 2 + (rings::modulus(u, 1 << 11)? - 2) % (M::MAX - 2);
            let m = M::new(q as $W).expect("q is in its range");
            let wide = |x: u128| (x % q as u128) as u64;
            let check = |what: &str, got: $W, expected: u64| {
                assert_eq!(got as u64, expected, "{what} modulo {q}, {} bits", <$W>::BITS);
            };
            let word = 1u128 << <$W>::BITS;

            let x = operand(u, q, word)?;
            check("reduce", m.reduce(x as $W), wide(x));
            let y = operand(u, q, 1 << (2 * m.bits()))?;
            check("reduce_product", m.reduce_product(y as $D), wide(y));
            let z = operand(u, q, u128::MAX >> (128 - 2 * <$W>::BITS))?;
            check("reduce_wide", m.reduce_wide(z as $D), wide(z));
            check("reduce_wide of the greatest", m.reduce_wide(<$D>::MAX), wide(<$D>::MAX as u128));

            let (a, b) = (operand(u, q, q as u128)?, operand(u, q, q as u128)?);
            let (v, w) = (a as $W, b as $W);
            check("add", m.add(v, w), wide(a + b));
            check("sub", m.sub(v, w), wide(a + q as u128 - b));
            check("neg", m.neg(v), wide(q as u128 - a));
            check("mul", m.mul(v, w), wide(a * b));
            check("csub", m.csub((a + b).min(2 * q as u128 - 1) as $W), wide(a + b));
            let exponent = u.int_in_range(0..=9u64)?;
            check("pow", m.pow(v, exponent), (0..exponent).fold(1 % q, |power, _| wide(power as u128 * a)));
            if let Some(inverse) = m.inv_vartime(v) {
                check("inverse", m.mul(inverse, v), 1 % q);
            }
            let signed = u.arbitrary::<i64>()?;
            check("from_i64", m.from_i64_vartime(signed), (signed as i128).rem_euclid(q as i128) as u64);

            let factor = m.shoup(v);
            let lazy = m.mul_shoup_lazy(x as $W, factor);
            assert!((lazy as u64) < 2 * q, "Shoup, lazy: {lazy} modulo {q}");
            check("Shoup, lazy", (lazy as u64 % q) as $W, wide(wide(x) as u128 * a));
            check("Shoup", m.mul_shoup(x as $W, factor), wide(wide(x) as u128 * a));

            if m.is_odd() {
                let t = operand(u, q, (q as u128) << <$W>::BITS)?;
                let lazy = m.redc_lazy(t as $D);
                assert!((lazy as u64) < 2 * q, "Montgomery, lazy: {lazy} modulo {q}");
                let back = wide(wide(lazy as u128) as u128 * wide(word) as u128);
                check("Montgomery, lazy", back as $W, wide(t));
                let reduced = m.redc(t as $D);
                assert!((reduced as u64) < q, "Montgomery: {reduced} modulo {q}");
                check("Montgomery", reduced, wide(lazy as u128));
                check("into Montgomery form", m.to_mont(v), wide(wide(word) as u128 * a));
                check("the Montgomery form of 1", m.mont_one(), wide(word));
            }
            Ok(())
        }
    };
}
width!(width16, u16, u32);
width!(width32, u32, u64);
width!(width64, u64, u128);

fn masks(u: &mut Unstructured) -> Result<()> {
    let m = u.int_in_range(1..=1u64 << 63)?;
    let x = operand(u, m, 2 * m as u128)? as u64 as u128;
    assert_eq!(csub(x as u64, m) as u128, x % m as u128, "csub of {x} by {m}");
    let (a, b) = (u.int_in_range(0..=(1u64 << 63) - 1)?, u.int_in_range(0..=(1u64 << 63) - 1)?);
    for (a, b) in [(a, b), (a, a), (b, a)] {
        let mask = mask_if_less(a, b);
        assert_eq!(mask, if a < b { u64::MAX } else { 0 }, "mask of {a} < {b}");
        assert_eq!(select(mask, a, b), a.min(b));
    }
    Ok(())
}
