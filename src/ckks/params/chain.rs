//! Finding the primes of a literal: pairwise distinct, next to their sizes, in an order that keeps the scale in place.

use super::{Chain, Literal, Special};
use crate::arith::{Direction, ntt_primes};
use crate::ckks::{Error, Result};

/// Bits above which no larger prime is taken: words of 32 bits end at 2^31, those of 64 at 2^62, and the fastest lanes
/// of both kinds of processor at 2^50.
const CEILINGS: [u32; 3] = [31, 50, 62];
/// Candidates that a level may choose from.
const WINDOW: usize = 48;

/// The primes of Q and of P.
pub(super) fn find(literal: &Literal) -> Result<(Vec<u64>, Vec<u64>)> {
    let order = 2u64 << literal.log_n;
    let mut used = Vec::new();
    if let Special::Primes(primes) = &literal.special {
        used.extend(primes);
    }
    let q = match &literal.chain {
        Chain::Primes(primes) => primes.clone(),
        Chain::Bits(sizes) => nearest(sizes, order, &mut used)?,
        Chain::Scaled { base, depth } => {
            if base.is_empty() || *depth > 64 || base.len() > literal.split {
                return Err(Error::Parameters(format!(
                    "a chain has 1 to split = {} base primes and at most 64 levels",
                    literal.split
                )));
            }
            let levels = scaled(literal, *depth, order, &mut used)?;
            let mut q = nearest(base, order, &mut used)?;
            q.extend(levels);
            q
        }
    };
    used.extend(&q);
    let p = match &literal.special {
        Special::Primes(primes) => primes.clone(),
        Special::Bits(sizes) => nearest(sizes, order, &mut used)?,
    };
    Ok((q, p))
}

/// One unused prime for each size.
fn nearest(sizes: &[u32], order: u64, used: &mut Vec<u64>) -> Result<Vec<u64>> {
    sizes
        .iter()
        .map(|bits| {
            let candidates = candidates(*bits, order, used, 1)?;
            used.push(candidates[0]);
            Ok(candidates[0])
        })
        .collect()
}

/// At least `least` unused primes near `2^bits`, nearest first, each with less than half a bit of distance.
fn candidates(bits: u32, order: u64, used: &[u64], least: usize) -> Result<Vec<u64>> {
    let too_few = || {
        Error::Engine(crate::Error::NoRoot {
            what: "set of NTT primes",
            q: 1u64.checked_shl(bits).unwrap_or(0),
            reason: format!("fewer than {least} unused primes lie within half a bit of 2^{bits} for 2N = {order}"),
        })
    };
    if !(2..=62).contains(&bits) {
        return Err(Error::Parameters(format!("primes of {bits} bits: 2 to 62 are possible")));
    }
    let below = |count| ntt_primes(bits, order, count, Direction::Descending);
    let above = |count| ntt_primes(bits, order, count, Direction::Ascending);
    let found = |search: &dyn Fn(usize) -> crate::Result<Vec<u64>>| {
        // Fewer where there are fewer.
        let most = least + WINDOW + used.len();
        let mut count = most;
        loop {
            match search(count) {
                Ok(primes) => break primes,
                Err(_) if count > 0 => count /= 2,
                Err(_) => break Vec::new(),
            }
        }
    };
    let mut out = found(&below);
    if !CEILINGS.contains(&bits) {
        out.extend(found(&above));
    }
    out.retain(|prime| !used.contains(prime) && ((*prime as f64).log2() - f64::from(bits)).abs() < 0.5);
    out.sort_by_key(|prime| prime.abs_diff(1u64 << bits));
    if out.len() < least { Err(too_few()) } else { Ok(out) }
}

/// The primes of all levels, lowest first. From the top down each level takes the primes that bring the scale of
/// automatic mode, `S' = S^2 / q`, nearest to `2^log_scale` again.
fn scaled(literal: &Literal, depth: usize, order: u64, used: &mut Vec<u64>) -> Result<Vec<u64>> {
    let split = literal.split;
    if depth == 0 {
        return Ok(Vec::new());
    }
    // The sizes of a group add up to the scale.
    let bits = literal.log_scale / split as u32;
    let extra = literal.log_scale as usize % split;
    let sizes: Vec<u32> = (0..split).map(|i| bits + u32::from(i < extra)).collect();
    let deviation = |prime: u64, bits: u32| prime as f64 / 2f64.powi(bits as i32) - 1.0;
    let mut drift = 0.0f64;
    let mut groups = Vec::new();
    for _ in 0..depth {
        // All but the last prime of a group: the nearest. The last: what corrects the product.
        let wanted = (1.0 + drift) * (1.0 + drift) - 1.0;
        let mut product = 1.0;
        let mut group = Vec::new();
        for (i, bits) in sizes.iter().enumerate() {
            let pool = candidates(*bits, order, used, 1)?;
            let left = (1.0 + wanted) / product - 1.0;
            let last = i + 1 == split;
            let distance = |prime: &u64| {
                if last { (deviation(*prime, *bits) - left).abs() } else { deviation(*prime, *bits).abs() }
            };
            let Some(best) = pool.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else { continue };
            product *= 1.0 + deviation(best, *bits);
            used.push(best);
            group.push(best);
        }
        drift = (1.0 + wanted) / product - 1.0;
        groups.push(group);
    }
    Ok(groups.into_iter().rev().flatten().collect())
}
