//! Operations on one limb, or a part of one, modulo its prime.

use alloc::boxed::Box;

use super::arith::{Arith, Portable};
use crate::arith::{Modulus, Word};
use crate::rns::{Assign, Combine, Scalar};

/// Two factors of a product.
pub(super) type Pair<'a, W> = (&'a [W], &'a [W]);

/// Operations modulo one prime. Slices of one call have one length, a multiple of 8.
///
/// # Bounds
/// Words are canonical, in and out.
pub(super) trait Kernels<W>: Send + Sync {
    fn combine(&self, op: Combine, a: &[W], b: &[W], out: &mut [W]);

    fn assign(&self, op: Assign, a: &[W], out: &mut [W]);

    fn neg(&self, a: &[W], out: &mut [W]);

    fn scalar(&self, op: Scalar, scalar: u64, a: &[W], out: &mut [W]);

    /// `out = (a - out) · factor`.
    fn sub_scale(&self, factor: u64, a: &[W], out: &mut [W]);

    /// `out = sum of a_i · b_i`.
    fn dot(&self, pairs: &[Pair<'_, W>], out: &mut [W]);

    /// Whether [`Kernels::weigh`] takes words below `bound`.
    fn weighs(&self, bound: u64) -> bool;

    /// `out[x] = sum over i of rows[i][x] · factors[i]`, the rows one behind the other, each of `out`'s length.
    ///
    /// # Bounds
    /// Rows are below `bound`, which need not be this prime; factors are canonical.
    fn weigh(&self, bound: u64, rows: &[W], factors: &[u64], out: &mut [W]);
}

/// The best kernels of a level for a prime.
pub(super) fn choose<W: Word>(m: Modulus<u64>) -> Box<dyn Kernels<W>> {
    Box::new(Portable::new(m))
}

/// Kernels for any prime and word.
pub(super) fn portable<W: Word>(m: Modulus<u64>) -> Box<dyn Kernels<W>> {
    Box::new(Portable::new(m))
}

impl<W: Word> Kernels<W> for Portable<W> {
    fn combine(&self, op: Combine, a: &[W], b: &[W], out: &mut [W]) {
        combine(self, op, a, b, out);
    }

    fn assign(&self, op: Assign, a: &[W], out: &mut [W]) {
        assign(self, op, a, out);
    }

    fn neg(&self, a: &[W], out: &mut [W]) {
        neg(self, a, out);
    }

    fn scalar(&self, op: Scalar, s: u64, a: &[W], out: &mut [W]) {
        scalar(self, op, s, a, out);
    }

    fn sub_scale(&self, factor: u64, a: &[W], out: &mut [W]) {
        sub_scale(self, factor, a, out);
    }

    fn dot(&self, pairs: &[Pair<'_, W>], out: &mut [W]) {
        dot(self, pairs, out);
    }

    fn weighs(&self, bound: u64) -> bool {
        self.terms(bound) > 0
    }

    fn weigh(&self, bound: u64, rows: &[W], factors: &[u64], out: &mut [W]) {
        weigh(self, bound, rows, factors, out);
    }
}

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
fn combine<A: Arith>(t: &A, op: Combine, a: &[A::W], b: &[A::W], out: &mut [A::W]) {
    match op {
        Combine::Add => join(t, a, b, out, |a, b, _| t.add(a, b)),
        Combine::Sub => join(t, a, b, out, |a, b, _| t.sub(a, b)),
        Combine::Mul => join(t, a, b, out, |a, b, _| t.mul(a, b)),
        Combine::MulAdd => join(t, a, b, out, |a, b, out| t.add(out, t.mul(a, b))),
    }
}

#[inline(always)]
fn assign<A: Arith>(t: &A, op: Assign, a: &[A::W], out: &mut [A::W]) {
    match op {
        Assign::Add => update(t, a, out, |a, out| t.add(out, a)),
        Assign::Sub => update(t, a, out, |a, out| t.sub(out, a)),
        Assign::SubFrom => update(t, a, out, |a, out| t.sub(a, out)),
    }
}

#[inline(always)]
fn neg<A: Arith>(t: &A, a: &[A::W], out: &mut [A::W]) {
    map(t, a, out, |a| t.sub(t.splat(0), a));
}

#[inline(always)]
fn scalar<A: Arith>(t: &A, op: Scalar, scalar: u64, a: &[A::W], out: &mut [A::W]) {
    let (term, factor) = (t.splat(scalar), t.constant(scalar));
    match op {
        Scalar::Add => map(t, a, out, |a| t.add(a, term)),
        Scalar::Mul => map(t, a, out, |a| t.mul_by(a, factor)),
        Scalar::MulAdd => update(t, a, out, |a, out| t.add(out, t.mul_by(a, factor))),
    }
}

#[inline(always)]
fn sub_scale<A: Arith>(t: &A, factor: u64, a: &[A::W], out: &mut [A::W]) {
    let factor = t.constant(factor);
    update(t, a, out, |a, out| t.mul_by(t.sub(a, out), factor));
}

#[inline(always)]
fn dot<A: Arith>(t: &A, pairs: &[Pair<'_, A::W>], out: &mut [A::W]) {
    let terms = t.terms(t.modulus());
    for (x, out) in out.chunks_exact_mut(A::LANES).enumerate() {
        let range = x * A::LANES..(x + 1) * A::LANES;
        let mut total = t.splat(0);
        for pairs in pairs.chunks(terms) {
            let mut acc = t.zero();
            for (a, b) in pairs {
                acc = t.mac(acc, t.load(&a[range.clone()]), t.load(&b[range.clone()]));
            }
            total = t.add(total, t.reduce(acc));
        }
        t.store(total, out);
    }
}

#[inline(always)]
fn weigh<A: Arith>(t: &A, bound: u64, rows: &[A::W], factors: &[u64], out: &mut [A::W]) {
    let (terms, len) = (t.terms(bound), out.len());
    for (x, out) in out.chunks_exact_mut(A::LANES).enumerate() {
        let mut total = t.splat(0);
        let mut rows = rows.chunks_exact(len);
        for factors in factors.chunks(terms) {
            let mut acc = t.zero();
            for (factor, row) in factors.iter().zip(&mut rows) {
                acc = t.mac(acc, t.load(&row[x * A::LANES..]), t.splat(*factor));
            }
            total = t.add(total, t.reduce(acc));
        }
        t.store(total, out);
    }
}
