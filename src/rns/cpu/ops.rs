//! Operations on one limb or a part of one, over the arithmetic of any level: `#[inline(always)]`, so that they take
//! on the features of the function that they stand in.
// One index runs through several arrays.
#![allow(clippy::needless_range_loop)]

use super::arith::Arith;
use super::kernels::KeyProduct;
use crate::arith::Word;
use crate::rns::{Assign, Combine, Scalar};

/// `out = f(a)` vector by vector.
#[inline(always)]
fn map<A: Arith>(t: &A, a: &[A::W], out: &mut [A::W], f: impl Fn(A::V) -> A::V) {
    for (a, out) in a.chunks_exact(A::LANES).zip(out.chunks_exact_mut(A::LANES)) {
        t.store(f(t.load(a)), out);
    }
}

/// `out = f(a, out)` vector by vector.
#[inline(always)]
fn update<A: Arith>(t: &A, a: &[A::W], out: &mut [A::W], f: impl Fn(A::V, A::V) -> A::V) {
    for (a, out) in a.chunks_exact(A::LANES).zip(out.chunks_exact_mut(A::LANES)) {
        t.store(f(t.load(a), t.load(out)), out);
    }
}

/// `out = f(a, b, out)` vector by vector.
#[inline(always)]
fn join<A: Arith>(t: &A, a: &[A::W], b: &[A::W], out: &mut [A::W], f: impl Fn(A::V, A::V, A::V) -> A::V) {
    let operands = a.chunks_exact(A::LANES).zip(b.chunks_exact(A::LANES));
    for ((a, b), out) in operands.zip(out.chunks_exact_mut(A::LANES)) {
        t.store(f(t.load(a), t.load(b), t.load(out)), out);
    }
}

#[inline(always)]
pub(super) fn combine<A: Arith>(t: &A, op: Combine, a: &[A::W], b: &[A::W], out: &mut [A::W]) {
    match op {
        Combine::Add => join(t, a, b, out, |a, b, _| t.add(a, b)),
        Combine::Sub => join(t, a, b, out, |a, b, _| t.sub(a, b)),
        Combine::Mul => join(t, a, b, out, |a, b, _| t.mul(a, b)),
        Combine::MulAdd => join(t, a, b, out, |a, b, out| t.add(out, t.mul(a, b))),
    }
}

#[inline(always)]
pub(super) fn assign<A: Arith>(t: &A, op: Assign, a: &[A::W], out: &mut [A::W]) {
    match op {
        Assign::Add => update(t, a, out, |a, out| t.add(out, a)),
        Assign::Sub => update(t, a, out, |a, out| t.sub(out, a)),
        Assign::SubFrom => update(t, a, out, |a, out| t.sub(a, out)),
    }
}

#[inline(always)]
pub(super) fn neg<A: Arith>(t: &A, a: &[A::W], out: &mut [A::W]) {
    map(t, a, out, |a| t.sub(t.splat(0), a));
}

#[inline(always)]
pub(super) fn scalar<A: Arith>(t: &A, op: Scalar, scalar: u64, a: &[A::W], out: &mut [A::W]) {
    let (term, factor) = (t.splat(scalar), t.constant(scalar));
    match op {
        Scalar::Add => map(t, a, out, |a| t.add(a, term)),
        Scalar::Mul => map(t, a, out, |a| t.mul_by(a, factor)),
        Scalar::MulAdd => update(t, a, out, |a, out| t.add(out, t.mul_by(a, factor))),
    }
}

#[inline(always)]
pub(super) fn sub_scale<A: Arith>(t: &A, factor: u64, a: &[A::W], out: &mut [A::W]) {
    let factor = t.constant(factor);
    update(t, a, out, |a, out| t.mul_by(t.sub(a, out), factor));
}

#[inline(always)]
pub(super) fn tensor<A: Arith>(t: &A, a: [&[A::W]; 2], b: [&[A::W]; 2], out: [&mut [A::W]; 3]) {
    let whole = t.terms(t.modulus()) >= 2;
    for x in (0..out[0].len()).step_by(A::LANES) {
        let factor = |words: &[A::W]| t.split(t.load(&words[x..][..A::LANES]));
        let ([a0, a1], [b0, b1]) = (a.map(factor), b.map(factor));
        let first = t.mac(t.zero(), a0, b1);
        let middle = match whole {
            true => t.reduce(t.mac(first, a1, b0)),
            false => t.add(t.reduce(first), t.reduce(t.mac(t.zero(), a1, b0))),
        };
        t.store(t.reduce(t.mac(t.zero(), a0, b0)), &mut out[0][x..][..A::LANES]);
        t.store(middle, &mut out[1][x..][..A::LANES]);
        t.store(t.reduce(t.mac(t.zero(), a1, b1)), &mut out[2][x..][..A::LANES]);
    }
}

/// The vector at a place of a row.
#[inline(always)]
pub(super) fn here<A: Arith>(t: &A, row: &[A::W], x: usize) -> A::V {
    t.load(&row[x..][..A::LANES])
}

/// The vector whose words lie at the places that stand at one place of a list.
#[inline(always)]
pub(super) fn there<A: Arith>(t: &A, row: &[A::W], places: &[u32], x: usize) -> A::V {
    let mut words = [A::W::ZERO; 8];
    for (word, place) in words.iter_mut().zip(&places[x..][..A::LANES]) {
        *word = row[*place as usize];
    }
    t.load(&words)
}

/// See [`KeyProduct`]; `V` vectors at once, digits and addends from where `read` finds them.
#[inline(always)]
pub(super) fn key_product<A: Arith, const V: usize>(
    t: &A,
    product: &KeyProduct<'_, A::W>,
    out: [&mut [A::W]; 2],
    read: impl Fn(&A, &[A::W], usize) -> A::V,
) {
    let KeyProduct { digits, keys, addends, factor, .. } = *product;
    let (terms, count, factor) = (t.terms(t.modulus()), digits.len(), t.constant(factor));
    for x in (0..out[0].len()).step_by(V * A::LANES) {
        let mut totals = [[None; V]; 2];
        for (totals, addend) in totals.iter_mut().zip(addends) {
            for v in 0..V {
                totals[v] = Some(t.mul_by(read(t, addend, x + v * A::LANES), factor));
            }
        }
        for first in (0..count).step_by(terms) {
            let mut sums = [[t.zero(); V]; 2];
            for i in first..count.min(first + terms) {
                for v in 0..V {
                    let place = x + v * A::LANES;
                    let digit = t.split(read(t, digits[i], place));
                    for c in 0..2 {
                        sums[c][v] = t.mac(sums[c][v], digit, t.split(here(t, keys[c][i], place)));
                    }
                }
            }
            for c in 0..2 {
                for v in 0..V {
                    totals[c][v] = sum(t, totals[c][v], sums[c][v]);
                }
            }
        }
        for c in 0..2 {
            for v in 0..V {
                let total = totals[c][v].unwrap_or(t.splat(0));
                t.store(total, &mut out[c][x + v * A::LANES..][..A::LANES]);
            }
        }
    }
}

/// Vector `v` of some words as a factor.
#[inline(always)]
fn split_at<A: Arith>(t: &A, words: &[A::W], v: usize) -> A::Split {
    t.split(t.load(&words[v * A::LANES..][..A::LANES]))
}

/// A first sum of products, or one more.
#[inline(always)]
fn sum<A: Arith>(t: &A, total: Option<A::V>, acc: A::Acc) -> Option<A::V> {
    let sum = t.reduce(acc);
    Some(total.map_or(sum, |total| t.add(total, sum)))
}

/// Rows of digits of a block, one behind the other.
#[derive(Clone, Copy)]
pub(super) struct Digits<'a, W> {
    pub(super) words: &'a [W],
    /// Words of a row.
    pub(super) len: usize,
    /// How many products one sum may hold.
    pub(super) terms: usize,
}

/// `out[t][x] = sum over i of digits[i][x] · factors[t][i]` for `T` targets at once, `V` vectors at once, so that a
/// digit that is loaded and split serves several products.
#[inline(always)]
pub(super) fn weigh<A: Arith, const T: usize, const V: usize>(
    targets: [&A; T],
    digits: Digits<'_, A::W>,
    factors: [&[A::Factor]; T],
    out: [&mut [A::W]; T],
) {
    let Digits { words, len, terms } = digits;
    let count = words.len() / len;
    for x in (0..len).step_by(V * A::LANES) {
        let mut totals = [[None; V]; T];
        for first in (0..count).step_by(terms) {
            let mut sums = targets.map(|t| [t.zero(); V]);
            for i in first..count.min(first + terms) {
                let row = &words[i * len + x..][..V * A::LANES];
                for v in 0..V {
                    let digit = split_at(targets[0], row, v);
                    for t in 0..T {
                        sums[t][v] = targets[t].mac(sums[t][v], digit, targets[t].spread(&factors[t][i]));
                    }
                }
            }
            for t in 0..T {
                for v in 0..V {
                    totals[t][v] = sum(targets[t], totals[t][v], sums[t][v]);
                }
            }
        }
        for t in 0..T {
            for v in 0..V {
                let total = totals[t][v].unwrap_or(targets[t].splat(0));
                targets[t].store(total, &mut out[t][x + v * A::LANES..][..A::LANES]);
            }
        }
    }
}

/// The sums of `digits[i][x] · reciprocals[i]`, rounded to the nearest integer.
#[inline(always)]
pub(super) fn quotients<A: Arith>(t: &A, digits: &[A::W], reciprocals: &[f64], out: &mut [A::W]) {
    let len = out.len();
    for (x, out) in out.chunks_exact_mut(A::LANES).enumerate() {
        let mut sum = t.no_fraction();
        for (row, reciprocal) in digits.chunks_exact(len).zip(reciprocals) {
            sum = t.add_fraction(sum, t.load(&row[x * A::LANES..][..A::LANES]), *reciprocal);
        }
        t.store(t.round(sum), out);
    }
}
