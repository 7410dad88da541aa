//! Rings from bytes: any degree to 4096, any modulus, any polynomial, any method; small ones most of the time.

use arbitrary::{Result, Unstructured};
use karat::RingSpec;
use karat::arith::is_prime_vartime;
use karat::ring::{MAX_Q, Quotient, Term, presets};

/// Moduli of schemes and of the borders between kernels.
const KNOWN: [u64; 12] =
    [3329, 3457, 4591, 7681, 12289, 64513, 65537, 8380417, 4294967295, 549824583172097, MAX_Q - 1, (1 << 61) - 1];

/// A ring of degree at most `max_n`, its method automatic, a k-NTT or the lift.
pub fn ring(u: &mut Unstructured, max_n: usize) -> Result<RingSpec> {
    if u.ratio(1u8, 16)? {
        let preset = *u.choose(&presets::all())?;
        if preset.n() <= max_n {
            return method(u, preset.clone());
        }
    }
    let n = degree(u)?.min(max_n);
    let q = modulus(u, n)?;
    let f = quotient(u, n)?;
    let spec = RingSpec::new(n, q, f).expect("n, q and f are in their ranges");
    method(u, spec)
}

/// A ring `x^N + 1`, its method automatic or a k-NTT.
pub fn negacyclic(u: &mut Unstructured, max_n: usize) -> Result<RingSpec> {
    let n = degree(u)?.min(max_n);
    let spec = RingSpec::negacyclic(n, modulus(u, n)?).expect("n and q are in their ranges");
    alpha(u, spec)
}

fn method(u: &mut Unstructured, spec: RingSpec) -> Result<RingSpec> {
    Ok(match u.int_in_range(0..=3u8)? {
        0 => spec.with_lift(),
        1 => alpha(u, spec)?,
        _ => spec,
    })
}

/// Any alpha, right or wrong: a wrong one must be an error and leaves the automatic choice.
fn alpha(u: &mut Unstructured, spec: RingSpec) -> Result<RingSpec> {
    let alpha = u.int_in_range(0..=13u32)?;
    Ok(spec.clone().with_alpha(alpha).unwrap_or(spec))
}

fn degree(u: &mut Unstructured) -> Result<usize> {
    Ok(match u.int_in_range(0..=15u8)? {
        0..=5 => 1 << u.int_in_range(0..=8u32)?,
        6..=8 => u.int_in_range(1..=64)?,
        9..=11 => *u.choose(&[3, 5, 7, 9, 15, 17, 33])? << u.int_in_range(0..=5u32)?,
        12 => 1 << u.int_in_range(9..=12u32)?,
        13 => u.int_in_range(65..=1024)?,
        14 => u.int_in_range(1..=16)?,
        _ => u.int_in_range(1..=4096)?,
    })
}

/// Any modulus in `[2, 2^62)`, often one with roots of unity for `n` coefficients.
pub fn modulus(u: &mut Unstructured, n: usize) -> Result<u64> {
    let q = match u.int_in_range(0..=11u8)? {
        0 => u.int_in_range(2..=600)?,
        1 => (1u64 << u.int_in_range(1..=62u32)?).wrapping_add_signed(u.int_in_range(-3..=3i64)?),
        2..=5 => ntt_prime(u, n, 62)?,
        6 => ntt_prime(u, n, 31)? * ntt_prime(u, n, 30)?,
        7 => power(ntt_prime(u, n, 30)?, u.int_in_range(1..=61)?),
        8 => *u.choose(&KNOWN)?,
        9 => power(u.int_in_range(2..=17)?, u.int_in_range(1..=61)?),
        10 => u.int_in_range(2..=1 << 31)?,
        _ => u.int_in_range(2..=MAX_Q - 1)?,
    };
    Ok(q.clamp(2, MAX_Q - 1))
}

/// The largest power of `base` below `2^62` with at most this exponent.
fn power(base: u64, exponent: u32) -> u64 {
    let mut q = base;
    for _ in 1..exponent {
        match q.checked_mul(base) {
            Some(next) if next < MAX_Q => q = next,
            _ => break,
        }
    }
    q
}

/// A prime of at most `max_bits` bits with `p = 1` modulo some power of two up to `2n`, or a number like it.
fn ntt_prime(u: &mut Unstructured, n: usize, max_bits: u32) -> Result<u64> {
    let bits = u.int_in_range(2..=max_bits)?;
    let even = (2 * n as u64) & (2 * n as u64).wrapping_neg();
    let order = (even >> u.int_in_range(0..=3u32)?).max(2).min(1 << (bits - 1));
    let below = 1u64 << bits;
    let start = u.int_in_range(below / 2..=below - 1)? / order * order + 1;
    let candidates = (0..256).map(|step| start + step * order).take_while(|p| *p < below);
    Ok(candidates.clone().find(|p| is_prime_vartime(*p)).unwrap_or(start.min(below - 1)))
}

fn quotient(u: &mut Unstructured, n: usize) -> Result<Quotient> {
    Ok(match u.int_in_range(0..=7u8)? {
        0..=3 => Quotient::Negacyclic,
        4 | 5 => Quotient::Cyclic,
        _ => sparse(u, n)?,
    })
}

/// Up to eight lower terms anywhere, or all that a polynomial may have.
fn sparse(u: &mut Unstructured, n: usize) -> Result<Quotient> {
    let dense = u.ratio(1u8, 8)?;
    let count = if dense { Quotient::MAX_TERMS } else { u.int_in_range(0..=8)? }.min(n);
    let mut exponents: Vec<usize> = if dense {
        (0..count).collect()
    } else {
        (0..count).map(|_| u.int_in_range(0..=n - 1)).collect::<Result<_>>()?
    };
    exponents.sort_unstable_by(|a, b| b.cmp(a));
    exponents.dedup();
    let mut terms = Vec::new();
    for exponent in exponents {
        let coefficient = match u.int_in_range(0..=3u8)? {
            0 => 1,
            1 => -1,
            2 => u.int_in_range(-9..=9)?,
            _ => u.arbitrary()?,
        };
        terms.push(Term { exponent, coefficient });
    }
    Ok(Quotient::from_lower_terms(terms).expect("at most 64 falling exponents"))
}
