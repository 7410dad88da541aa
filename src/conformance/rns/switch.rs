//! Base conversion, key switching and division by dropped primes, against big integers.

use alloc::string::String;
use alloc::vec::Vec;

use super::super::Pattern;
use super::big::{Big, near_half};
use super::subject::{Checked, Subject};
use crate::arith::{Modulus, Word, bit_reverse};
use crate::rns::{Addend, Drop, Limbs, RnsMul, Rounding};

/// What conversions are tried on.
#[derive(Debug, Clone, Copy)]
enum Input {
    Pattern(Pattern),
    /// Numbers next to one half of the product.
    Half,
}

const INPUTS: [Input; 4] =
    [Input::Pattern(Pattern::Top), Input::Pattern(Pattern::Random), Input::Pattern(Pattern::Zero), Input::Half];

/// One polynomial modulo these primes.
fn input<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>, primes: &[Modulus<u64>], input: Input) -> Checked<Vec<W>> {
    let n = s.n;
    let pattern = match input {
        Input::Pattern(pattern) => return Ok(s.fill(primes, 1, pattern)),
        Input::Half => Pattern::Zero,
    };
    let mut words = s.fill(primes, 1, pattern);
    let values: Vec<u64> = primes.iter().map(|m| m.value()).collect();
    for i in 0..n.min(16) {
        let residues = s.done("a number near one half", near_half(&values, i as i64 - 7))?;
        for (l, residue) in residues.into_iter().enumerate() {
            words[l * n + i] = W::from_u64(residue);
        }
    }
    Ok(words)
}

/// Checks words modulo some primes against the representative of a number modulo others.
fn represents<B: RnsMul<W>, W: Word>(
    s: &mut Subject<'_, B, W>,
    label: &str,
    number: &Big,
    rounding: Rounding,
    count: usize,
    words: impl Iterator<Item = (u64, Modulus<u64>)>,
) -> Checked<()> {
    let mut multiple = None;
    for (limb, (word, m)) in words.enumerate() {
        let (value, product) = s.done(label, number.modulo(m.value()))?;
        let Some(inverse) = m.inv_vartime(product) else { continue };
        // word = value + u·D or value - u·D.
        let difference = match rounding {
            Rounding::Fast => m.sub(word, value),
            Rounding::Exact => m.sub(value, word),
        };
        let u = m.mul(difference, inverse);
        let right = match rounding {
            // u is known modulo this prime alone.
            Rounding::Fast => u < (count as u64).min(m.value()),
            Rounding::Exact => number.centred().contains(&u),
        };
        if !right || (m.value() > count as u64 && multiple.replace(u).is_some_and(|other| other != u)) {
            let operation: String = alloc::format!("{label}, limb {limb}");
            return Err(s.wrong(operation, "of one representative", alloc::format!("is off by {u} products")));
        }
    }
    s.count();
    Ok(())
}

pub(super) fn conversion<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let all = s.ring.primes().len();
    let mut splits: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for count in [1, 2, all / 2, all - 1] {
        if (1..all).contains(&count) {
            splits.push(((0..count).collect(), (count..all).collect()));
            splits.push(((all - count..all).rev().collect(), (0..all - count).collect()));
        }
    }
    if all == 1 {
        splits.push((alloc::vec![0], alloc::vec![0]));
    }
    for (from, to) in splits {
        for rounding in [Rounding::Fast, Rounding::Exact] {
            let conversion = s.backend.rns_conversion(&s.plan, &from, &to, rounding);
            let conversion = s.done("rns_conversion", conversion)?;
            for kind in INPUTS {
                let pick = |list: &[usize]| list.iter().map(|i| s.moduli[*i]).collect::<Vec<_>>();
                let (sources, targets) = (pick(&from), pick(&to));
                let a = [input(s, &sources, kind)?, input(s, &sources, Input::Pattern(Pattern::Random))?].concat();
                let operand = s.put(from.len(), &a)?;
                let mut out = s.room(to.len(), 2)?;
                let result = s.backend.rns_convert(&s.plan, &conversion, 2, operand.view(), out.view_mut());
                s.done("rns_convert", result)?;
                let got = s.get("rns_convert", &out)?;
                let indices = s.indices(1 << 5);
                let values: Vec<u64> = sources.iter().map(|m| m.value()).collect();
                for poly in 0..2 {
                    for i in &indices {
                        let at = |count: usize, l: usize| (poly * count + l) * s.n + i;
                        let residues: Vec<u64> = (0..from.len()).map(|l| a[at(from.len(), l)].to_u64()).collect();
                        let number = s.done("the oracle", Big::new(&residues, &values))?;
                        let words: Vec<u64> = (0..to.len()).map(|l| got[at(to.len(), l)].to_u64()).collect();
                        let label =
                            alloc::format!("{rounding:?} conversion of {from:?} to {to:?}, {kind:?}, coefficient {i}");
                        let words = words.into_iter().zip(targets.iter().copied());
                        represents(s, &label, &number, rounding, from.len(), words)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Levels and digit sizes that are tried.
fn shapes<B: RnsMul<W>, W: Word>(s: &Subject<'_, B, W>) -> Vec<(usize, usize)> {
    let levels = s.ring.q().len();
    if s.long() {
        return alloc::vec![(levels, 1), (levels, levels)];
    }
    let mut out = Vec::new();
    for level in (1..=levels).filter(|l| *l <= 4 || *l == levels) {
        for alpha in [1, 2, level.div_ceil(2), level, level + 1] {
            // A digit for each of many primes is a case of its own.
            if !out.contains(&(level, alpha)) && (level <= 8 || alpha > 1) {
                out.push((level, alpha));
            }
        }
    }
    out
}

pub(super) fn mod_up<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let n = s.n;
    for (level, alpha) in shapes(s) {
        for rounding in [Rounding::Fast, Rounding::Exact] {
            let ks = s.done("rns_key_switch", s.backend.rns_key_switch(&s.plan, level, alpha, rounding))?;
            let digits = level.div_ceil(alpha);
            if s.backend.rns_digits(&ks) != digits {
                return Err(s.wrong("rns_digits".into(), "count", alloc::format!("{}", s.backend.rns_digits(&ks))));
            }
            let (own, limbs) = (Limbs { q: level, p: 0 }, s.ring.at_level(level));
            let (primes, count) = (s.of(limbs), limbs.count());
            for kind in INPUTS {
                let a = input(s, &primes[..level], kind)?;
                let ntt = s.transformed(own, &a, true)?;
                let operand = s.put(level, &ntt)?;
                let mut out = s.room(count, digits)?;
                s.done("rns_mod_up", s.backend.rns_mod_up(&s.plan, &ks, operand.view(), out.view_mut()))?;
                let got = s.get("rns_mod_up", &out)?;
                let got = s.transformed(limbs, &got, false)?;
                let indices = s.indices(1 << 5);
                for digit in 0..digits {
                    let range = digit * alpha..level.min((digit + 1) * alpha);
                    let values: Vec<u64> = primes[range.clone()].iter().map(|m| m.value()).collect();
                    for i in &indices {
                        let residues: Vec<u64> = range.clone().map(|l| a[l * n + i].to_u64()).collect();
                        let number = s.done("the oracle", Big::new(&residues, &values))?;
                        let words = |l: usize| got[(digit * count + l) * n + i].to_u64();
                        let label = alloc::format!("{rounding:?} mod up, {level} primes by {alpha}, digit {digit}");
                        for l in range.clone() {
                            s.equal(&label, (digit * count + l, *i), words(l), a[l * n + i].to_u64())?;
                        }
                        let others = (0..count).filter(|l| !range.contains(l)).map(|l| (words(l), primes[l]));
                        let others: Vec<_> = others.collect();
                        represents(s, &label, &number, rounding, range.len(), others.into_iter())?;
                    }
                }
            }
        }
    }
    Ok(())
}

pub(super) fn key_product<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let (n, full) = (s.n, s.ring.full());
    let all: Vec<usize> = (0..n).collect();
    for (level, alpha) in shapes(s) {
        let ks = s.done("rns_key_switch", s.backend.rns_key_switch(&s.plan, level, alpha, Rounding::Fast))?;
        let digits = level.div_ceil(alpha);
        let limbs = s.ring.at_level(level);
        let (count, primes) = (limbs.count(), s.of(limbs));
        let rows: Vec<usize> = s.ring.indices(limbs).collect();
        let orders: Vec<Vec<u32>> =
            rows.iter().map(|i| s.done("rns_order", s.backend.rns_order(&s.plan, *i))).collect::<Checked<_>>()?;
        // What the division by P is to have added: a multiple of P.
        let special = s.of(Limbs { q: 0, p: full.p });
        let product =
            |l: usize| special.iter().fold(1, |product, p| primes[l].mul(product, primes[l].reduce(p.value())));
        for (pattern, g, added) in [
            (Pattern::Top, None, 0),
            (Pattern::Top, None, 2),
            (Pattern::Random, None, 1),
            (Pattern::Random, Some(5), 0),
            (Pattern::Random, Some(2 * n as u32 - 1), 1),
            (Pattern::Random, Some(4 * n as u32 + 3), 2),
        ] {
            let everything = s.of(full);
            let (x, key) = (s.fill(&primes, digits, pattern), s.fill(&everything, 2 * digits, pattern));
            let (operand, keys) = (s.put(count, &x)?, s.put(full.count(), &key)?);
            let z = s.fill(&primes[..level], added.max(1), pattern);
            let third = s.put(level, &z)?;
            let addend = (added > 0).then(|| Addend { view: third.view(), polys: added });
            let mut out = s.room(count, 2)?;
            let (digits_in, keys) = (operand.view(), keys.view());
            let result = s.backend.rns_key_product(&s.plan, &ks, g, digits_in, keys, addend, out.view_mut());
            s.done("rns_key_product", result)?;
            let got = s.get("rns_key_product", &out)?;
            // Where each word's factor lies.
            let sources: Vec<Vec<usize>> = orders.iter().map(|order| images(order, g.unwrap_or(1))).collect();
            let label =
                alloc::format!("key product, {level} primes by {alpha}, g = {g:?}, {added} added, {}", pattern.name());
            s.same(&label, count, &got, &all, |c, l, i| {
                let addend = match c < added && l < level {
                    true => primes[l].mul(z[(c * level + l) * n + sources[l][i]].to_u64(), product(l)),
                    false => 0,
                };
                (0..digits).fold(addend, |sum, d| {
                    let digit = x[(d * count + l) * n + sources[l][i]].to_u64();
                    let key = key[((2 * d + c) * full.count() + rows[l]) * n + i].to_u64();
                    primes[l].add(sum, primes[l].mul(digit, key))
                })
            })?;
        }
    }
    Ok(())
}

/// Where the word at each place comes from under `x -> x^g`: the point `gamma^e` takes the value at `gamma^(g·e)`.
fn images(order: &[u32], g: u32) -> Vec<usize> {
    let (n, log) = (order.len(), order.len().trailing_zeros());
    let mut out = alloc::vec![0; n];
    for slot in 0..n {
        let exponent = 2 * bit_reverse(slot, log) as u64 + 1;
        let image = exponent * g as u64 % (2 * n as u64);
        out[order[slot] as usize] = order[bit_reverse((image as usize - 1) / 2, log)] as usize;
    }
    out
}

pub(super) fn mod_down<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let levels = s.ring.q().len();
    for level in (1..=levels).filter(|l| *l <= 4 || *l == levels) {
        if !s.ring.p().is_empty() {
            divided(s, level, Drop::Special)?;
        }
        for drop in [1, 2, level / 2, level.saturating_sub(1)] {
            if (1..level).contains(&drop) {
                divided(s, level, Drop::Last(drop))?;
            }
            if (1..level).contains(&drop) && !s.ring.p().is_empty() {
                divided(s, level, Drop::SpecialAndLast(drop))?;
            }
        }
    }
    Ok(())
}

fn divided<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>, level: usize, drop: Drop) -> Checked<()> {
    let n = s.n;
    let (limbs, kept) = match drop {
        Drop::Special => (s.ring.at_level(level), level),
        Drop::Last(count) => (Limbs { q: level, p: 0 }, level - count),
        Drop::SpecialAndLast(count) => (s.ring.at_level(level), level - count),
    };
    let md = s.done("rns_mod_down_tables", s.backend.rns_mod_down_tables(&s.plan, level, drop))?;
    let (primes, count) = (s.of(limbs), limbs.count());
    let values: Vec<u64> = primes[kept..].iter().map(|m| m.value()).collect();
    for kind in INPUTS {
        // The dropped residues decide about rounding.
        let low = input(s, &primes[kept..], kind)?;
        let first = [s.fill(&primes[..kept], 1, Pattern::Random), low].concat();
        let second = s.fill(&primes, 1, Pattern::Top);
        let a = [first, second].concat();
        let ntt = s.transformed(limbs, &a, true)?;
        let operand = s.put(count, &ntt)?;
        let mut out = s.room(kept, 2)?;
        s.done("rns_mod_down", s.backend.rns_mod_down(&s.plan, &md, 2, operand.view(), out.view_mut()))?;
        let got = s.get("rns_mod_down", &out)?;
        let got = s.transformed(Limbs { q: kept, p: 0 }, &got, false)?;
        let indices = s.indices(1 << 5);
        for poly in 0..2 {
            for i in &indices {
                let a = |l: usize| a[(poly * count + l) * n + i].to_u64();
                let residues: Vec<u64> = (kept..count).map(a).collect();
                let number = s.done("the oracle", Big::new(&residues, &values))?;
                // a - out·D is the remainder that was taken.
                let remainder = |l: usize| {
                    let (_, product) = number.modulo(primes[l].value())?;
                    let out = got[(poly * kept + l) * n + i].to_u64();
                    Ok((primes[l].sub(a(l), primes[l].mul(out, product)), primes[l]))
                };
                let remainders: crate::Result<Vec<_>> = (0..kept).map(remainder).collect();
                let remainders = s.done("the oracle", remainders)?;
                let label = alloc::format!("mod down of {level} primes, {drop:?}, {kind:?}, coefficient {i}");
                represents(s, &label, &number, Rounding::Exact, count - kept, remainders.into_iter())?;
            }
        }
    }
    Ok(())
}
