//! Operations word by word.

use alloc::vec::Vec;

use super::super::Pattern;
use super::subject::{Checked, Subject};
use crate::arith::Word;
use crate::rns::{Assign, Combine, Limbs, RnsMul, Scalar};

const PATTERNS: [(Pattern, Pattern); 5] = [
    (Pattern::Top, Pattern::Top),
    (Pattern::Zero, Pattern::Top),
    (Pattern::TopZero, Pattern::ZeroTop),
    (Pattern::One, Pattern::Zero),
    (Pattern::Random, Pattern::Random),
];

pub(super) fn pointwise<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let full = s.ring.full();
    for (x, y) in PATTERNS {
        combine(s, full, x, y)?;
        assign(s, full, x, y)?;
        tensor(s, full, x, y)?;
    }
    scalars(s, full)?;
    for q in 1..full.q {
        let limbs = Limbs { q, p: if q % 2 == 0 { full.p } else { 0 } };
        combine(s, limbs, Pattern::Random, Pattern::Random)?;
        tensor(s, limbs, Pattern::Top, Pattern::Random)?;
    }
    Ok(())
}

fn combine<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>, limbs: Limbs, x: Pattern, y: Pattern) -> Checked<()> {
    let (n, count, primes) = (s.n, limbs.count(), s.of(limbs));
    let (a, b, c) = (s.fill(&primes, 3, x), s.fill(&primes, 3, y), s.fill(&primes, 3, Pattern::Top));
    let (left, right) = (s.put(count, &a)?, s.put(count, &b)?);
    let all: Vec<usize> = (0..n).collect();
    for op in [Combine::Add, Combine::Sub, Combine::Mul, Combine::MulAdd] {
        for shared in [false, true] {
            let mut out = s.put(count, &c)?;
            let second = if shared { right.shared() } else { right.view() };
            let result = s.backend.rns_combine(&s.plan, limbs, 3, op, left.view(), second, out.view_mut());
            s.done("rns_combine", result)?;
            let got = s.get("rns_combine", &out)?;
            s.same(&alloc::format!("{op:?} of {} and {}", x.name(), y.name()), count, &got, &all, |k, l, i| {
                let at = |k: usize| (k * count + l) * n + i;
                let (a, b) = (a[at(k)].to_u64(), b[at(if shared { 0 } else { k })].to_u64());
                let m = &primes[l];
                match op {
                    Combine::Add => m.add(a, b),
                    Combine::Sub => m.sub(a, b),
                    Combine::Mul => m.mul(a, b),
                    Combine::MulAdd => m.add(c[at(k)].to_u64(), m.mul(a, b)),
                }
            })?;
        }
    }
    let kept = s.get("rns_combine", &left)?;
    s.same("the first operand of rns_combine", count, &kept, &all, |k, l, i| a[(k * count + l) * n + i].to_u64())
}

fn assign<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>, limbs: Limbs, x: Pattern, y: Pattern) -> Checked<()> {
    let (n, count, primes) = (s.n, limbs.count(), s.of(limbs));
    let (a, c) = (s.fill(&primes, 2, x), s.fill(&primes, 2, y));
    let source = s.put(count, &a)?;
    let all: Vec<usize> = (0..n).collect();
    let at = |k: usize, l: usize, i: usize| (k * count + l) * n + i;
    for op in [Assign::Add, Assign::Sub, Assign::SubFrom] {
        let mut out = s.put(count, &c)?;
        s.done("rns_assign", s.backend.rns_assign(&s.plan, limbs, 2, op, source.view(), out.view_mut()))?;
        let got = s.get("rns_assign", &out)?;
        s.same(&alloc::format!("assign {op:?}"), count, &got, &all, |k, l, i| {
            let (a, c) = (a[at(k, l, i)].to_u64(), c[at(k, l, i)].to_u64());
            match op {
                Assign::Add => primes[l].add(c, a),
                Assign::Sub => primes[l].sub(c, a),
                Assign::SubFrom => primes[l].sub(a, c),
            }
        })?;
    }
    let mut out = s.room(count, 2)?;
    s.done("rns_neg", s.backend.rns_neg(&s.plan, limbs, 2, source.view(), out.view_mut()))?;
    let got = s.get("rns_neg", &out)?;
    s.same("rns_neg", count, &got, &all, |k, l, i| primes[l].neg(a[at(k, l, i)].to_u64()))?;
    s.done("rns_copy", s.backend.rns_copy(&s.plan, limbs, 2, source.shared(), out.view_mut()))?;
    let got = s.get("rns_copy", &out)?;
    s.same("rns_copy, shared", count, &got, &all, |_, l, i| a[at(0, l, i)].to_u64())
}

fn scalars<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>, limbs: Limbs) -> Checked<()> {
    let (n, count, primes) = (s.n, limbs.count(), s.of(limbs));
    let all: Vec<usize> = (0..n).collect();
    let (a, c) = (s.fill(&primes, 2, Pattern::Random), s.fill(&primes, 2, Pattern::Top));
    let source = s.put(count, &a)?;
    for kind in 0..4 {
        let mut values = Vec::new();
        for m in &primes {
            let value = [0, 1, m.value() - 1, s.random.below(m.value())][kind];
            values.push(W::from_u64(value));
        }
        for op in [Scalar::Add, Scalar::Mul, Scalar::MulAdd] {
            let mut out = s.put(count, &c)?;
            let result = s.backend.rns_scalar(&s.plan, limbs, 2, op, &values, source.view(), out.view_mut());
            s.done("rns_scalar", result)?;
            let got = s.get("rns_scalar", &out)?;
            s.same(&alloc::format!("scalar {op:?}"), count, &got, &all, |k, l, i| {
                let at = (k * count + l) * n + i;
                let (m, a, value) = (&primes[l], a[at].to_u64(), values[l].to_u64());
                match op {
                    Scalar::Add => m.add(a, value),
                    Scalar::Mul => m.mul(a, value),
                    Scalar::MulAdd => m.add(c[at].to_u64(), m.mul(a, value)),
                }
            })?;
        }
    }
    Ok(())
}

fn tensor<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>, limbs: Limbs, x: Pattern, y: Pattern) -> Checked<()> {
    let (n, count, primes) = (s.n, limbs.count(), s.of(limbs));
    let (a, b) = (s.fill(&primes, 2, x), s.fill(&primes, 2, y));
    let (left, right) = (s.put(count, &a)?, s.put(count, &b)?);
    let all: Vec<usize> = (0..n).collect();
    for square in [false, true] {
        let mut out = s.room(count, 3)?;
        let result = match square {
            false => s.backend.rns_tensor(&s.plan, limbs, left.view(), right.view(), out.view_mut()),
            true => s.backend.rns_square(&s.plan, limbs, left.view(), out.view_mut()),
        };
        s.done("rns_tensor", result)?;
        let got = s.get("rns_tensor", &out)?;
        let label = if square { "rns_square" } else { "rns_tensor" };
        s.same(label, count, &got, &all, |k, l, i| {
            let at = |k: usize| (k * count + l) * n + i;
            let b = if square { &a } else { &b };
            let product = |j: usize, k: usize| primes[l].mul(a[at(j)].to_u64(), b[at(k)].to_u64());
            match k {
                1 => primes[l].add(product(0, 1), product(1, 0)),
                k => product(k / 2, k / 2),
            }
        })?;
    }
    Ok(())
}
