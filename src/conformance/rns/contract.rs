//! Operands that are wrong, and one plan in many threads.

use alloc::vec::Vec;
use std::thread;

use super::super::Pattern;
use super::subject::{Checked, Subject};
use crate::Error;
use crate::arith::Word;
use crate::backend::Erase;
use crate::rns::{Addend, Combine, Domain, Drop, Limbs, RnsMul, RnsRing, Rounding, Scalar, View, ViewMut};

pub(super) fn operands<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    limbs(s)?;
    lengths(s)?;
    tables(s)?;
    foreign(s)
}

fn wrong_limbs(error: &Error) -> bool {
    matches!(error, Error::InvalidLimbs(_))
}

fn wrong_length(error: &Error) -> bool {
    matches!(error, Error::WrongLength { .. })
}

fn limbs<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let (full, backend) = (s.ring.full(), s.backend);
    let mut x = s.room(full.count(), 2)?;
    let wrong = [
        Limbs { q: 0, p: 0 },
        Limbs { q: full.q + 1, p: 0 },
        Limbs { q: 1, p: full.p + 1 },
        Limbs { q: usize::MAX, p: 0 },
        Limbs { q: 1, p: usize::MAX },
    ];
    for limbs in wrong {
        let result = backend.rns_ntt(&s.plan, limbs, 1, x.view_mut());
        s.refuses(&alloc::format!("rns_ntt of {limbs:?}"), "InvalidLimbs", result, wrong_limbs)?;
    }
    // Polynomials that overlap: with one limb there is a stride of 0.
    let result = backend.rns_intt(&s.plan, full, 2, x.view_mut().every(full.count() - 1));
    s.refuses("rns_intt of overlapping polynomials", "InvalidLimbs", result, wrong_limbs)?;
    for g in [0, 2, u32::MAX - 1] {
        let (a, mut out) = (s.room(full.count(), 1)?, s.room(full.count(), 1)?);
        let result = backend.rns_automorphism(&s.plan, full, 1, g, Domain::Ntt, a.view(), out.view_mut());
        s.refuses("an even automorphism", "InvalidGalois", result, |e| matches!(e, Error::InvalidGalois(_)))?;
    }
    let result = backend.rns_order(&s.plan, full.count());
    s.refuses("rns_order of a prime that is not there", "InvalidLimbs", result, wrong_limbs)?;
    // No polynomials are no error.
    s.done("rns_ntt of nothing", backend.rns_ntt(&s.plan, full, 0, x.view_mut()))
}

fn lengths<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let (full, n, backend) = (s.ring.full(), s.n, s.backend);
    let count = full.count();
    let words = 2 * count * n;
    let alloc = |len| backend.alloc::<W>(len, Erase::No);
    let (long, short) = (s.done("alloc", alloc(words))?, s.done("alloc", alloc(words - 1))?);
    let (mut long_out, mut short_out) = (s.done("alloc", alloc(words))?, s.done("alloc", alloc(words - 1))?);
    let result = backend.rns_ntt(&s.plan, full, 2, ViewMut::new(&mut short_out));
    s.refuses("rns_ntt of a short buffer", "WrongLength", result, wrong_length)?;
    let result = backend.rns_copy(&s.plan, full, 2, View::new(&long), ViewMut::new(&mut short_out));
    s.refuses("rns_copy into a short buffer", "WrongLength", result, wrong_length)?;
    let result = backend.rns_copy(&s.plan, full, 2, View::new(&short), ViewMut::new(&mut long_out));
    s.refuses("rns_copy of a short buffer", "WrongLength", result, wrong_length)?;
    for view in [View::new(&long).at(1), View::new(&long).every(count + 1), View::new(&long).at(usize::MAX)] {
        let result = backend.rns_neg(&s.plan, full, 2, view, ViewMut::new(&mut long_out));
        s.refuses("rns_neg beyond the buffer", "WrongLength", result, wrong_length)?;
    }
    let view = View::new(&long).every(usize::MAX / 2);
    let result = backend.rns_combine(&s.plan, full, 3, Combine::Add, view, view, ViewMut::new(&mut long_out));
    s.refuses("rns_combine with a huge stride", "WrongLength", result, wrong_length)?;
    let result = backend.rns_tensor(&s.plan, full, View::new(&long), View::new(&long), ViewMut::new(&mut long_out));
    s.refuses("rns_tensor into two polynomials", "WrongLength", result, wrong_length)?;
    let result = backend.rns_copy(&s.plan, full, usize::MAX, View::new(&long), ViewMut::new(&mut long_out));
    s.refuses("rns_copy of too many polynomials", "WrongLength", result, wrong_length)?;
    let scalars = alloc::vec![W::from_u64(1); count];
    let (a, op) = (View::new(&long), Scalar::Mul);
    let result = backend.rns_scalar(&s.plan, full, 1, op, &scalars[1..], a, ViewMut::new(&mut long_out));
    s.refuses("rns_scalar without the last scalar", "WrongLength", result, wrong_length)?;
    let mut scalars = scalars;
    scalars[count - 1] = W::from_u64(s.ring.prime(count - 1));
    let result = backend.rns_scalar(&s.plan, full, 1, op, &scalars, a, ViewMut::new(&mut long_out));
    let index = count - 1;
    s.refuses(
        "rns_scalar by q",
        "Unreduced with its index",
        result,
        |e| matches!(e, Error::Unreduced { index: i, .. } if *i == index),
    )
}

fn tables<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let (full, backend) = (s.ring.full(), s.backend);
    for (level, alpha) in [(0, 1), (1, 0), (full.q + 1, 1), (usize::MAX, 1)] {
        let result = backend.rns_key_switch(&s.plan, level, alpha, Rounding::Exact).map(drop);
        s.refuses(&alloc::format!("rns_key_switch({level}, {alpha})"), "InvalidLimbs", result, wrong_limbs)?;
    }
    let ks = backend.rns_key_switch(&s.plan, 1, usize::MAX, Rounding::Exact);
    let ks = s.done("rns_key_switch with one large digit", ks)?;
    let a = s.room(full.count(), 2)?;
    for polys in [0, 3, usize::MAX] {
        let mut out = s.room(full.count(), 2)?;
        let addend = Some(Addend { view: a.view(), polys });
        let result = backend.rns_key_product(&s.plan, &ks, None, a.view(), a.view(), addend, out.view_mut());
        s.refuses(&alloc::format!("an addend of {polys}"), "InvalidLimbs", result, wrong_limbs)?;
    }
    let mut wrong = alloc::vec![
        (0, Drop::Last(1)),
        (1, Drop::Last(0)),
        (1, Drop::Last(1)),
        (full.q, Drop::Last(full.q)),
        (full.q, Drop::Last(usize::MAX)),
        (full.q + 1, Drop::Last(1)),
        (full.q, Drop::SpecialAndLast(full.q)),
        (full.q, Drop::SpecialAndLast(usize::MAX)),
        (full.q + 1, Drop::SpecialAndLast(1)),
        (0, Drop::Special),
    ];
    if full.p == 0 {
        wrong.push((1, Drop::Special));
    }
    for (level, drop) in wrong {
        let result = backend.rns_mod_down_tables(&s.plan, level, drop).map(core::mem::drop);
        s.refuses(&alloc::format!("mod down of {level}, {drop:?}"), "InvalidLimbs", result, wrong_limbs)?;
    }
    for (from, to) in
        [(&[][..], &[0][..]), (&[0], &[]), (&[0, 0], &[0]), (&[0], &[full.count()]), (&[usize::MAX], &[0])]
    {
        let result = backend.rns_conversion(&s.plan, from, to, Rounding::Fast).map(drop);
        s.refuses(&alloc::format!("conversion of {from:?} to {to:?}"), "InvalidLimbs", result, wrong_limbs)?;
    }
    Ok(())
}

/// Tables of another ring.
fn foreign<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let mut primes = s.ring.primes().to_vec();
    if primes.len() < 2 {
        return Ok(());
    }
    primes.swap(0, 1);
    let (q, p) = primes.split_at(s.ring.q().len());
    let (backend, full) = (s.backend, s.ring.full());
    let other = s.done("a ring", RnsRing::<W>::new(s.n, q, p))?;
    let plan = s.done("rns_plan", backend.rns_plan(&other))?;
    let is_foreign = |e: &Error| matches!(e, Error::Foreign(_));
    let ks = s.done("rns_key_switch", backend.rns_key_switch(&plan, full.q, 1, Rounding::Fast))?;
    let a = s.room(full.count(), 2 * full.q)?;
    let mut out = s.room(full.count(), full.q.max(2))?;
    let result = backend.rns_mod_up(&s.plan, &ks, a.view(), out.view_mut());
    s.refuses("rns_mod_up with tables of another ring", "Foreign", result, is_foreign)?;
    let result = backend.rns_key_product(&s.plan, &ks, None, a.view(), a.view(), None, out.view_mut());
    s.refuses("rns_key_product with tables of another ring", "Foreign", result, is_foreign)?;
    let conversion = s.done("rns_conversion", backend.rns_conversion(&plan, &[0], &[1], Rounding::Fast))?;
    let result = backend.rns_convert(&s.plan, &conversion, 1, a.view(), out.view_mut());
    s.refuses("rns_convert with tables of another ring", "Foreign", result, is_foreign)?;
    if full.q > 1 {
        let md = s.done("rns_mod_down_tables", backend.rns_mod_down_tables(&plan, full.q, Drop::Last(1)))?;
        let result = backend.rns_mod_down(&s.plan, &md, 1, a.view(), out.view_mut());
        s.refuses("rns_mod_down with tables of another ring", "Foreign", result, is_foreign)?;
    }
    Ok(())
}

/// The first use of a plan from 16 threads gives what one thread gets.
pub(super) fn threads<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let (full, n) = (s.ring.full(), s.n);
    let primes = s.of(Limbs { q: full.q, p: 0 });
    let a = s.fill(&primes, 1, Pattern::Random);
    let fresh = s.done("rns_plan", s.backend.rns_plan(s.ring))?;
    let shared: &Subject<'_, B, W> = s;
    let work = |_| -> Checked<Vec<W>> {
        let backend = shared.backend;
        let ks = shared.done("rns_key_switch", backend.rns_key_switch(&fresh, full.q, 2, Rounding::Exact))?;
        let digits = backend.rns_digits(&ks);
        let operand = shared.put(full.q, &a)?;
        let len = full.count() * digits * n;
        let mut out = shared.done("alloc", backend.alloc::<W>(len, Erase::No))?;
        shared.done("rns_mod_up", backend.rns_mod_up(&fresh, &ks, operand.view(), ViewMut::new(&mut out)))?;
        let mut image = shared.done("alloc", backend.alloc::<W>(len, Erase::No))?;
        let result =
            backend.rns_automorphism(&fresh, full, digits, 5, Domain::Ntt, View::new(&out), ViewMut::new(&mut image));
        shared.done("rns_automorphism", result)?;
        let mut words = alloc::vec![W::ZERO; len];
        shared.done("download", backend.download(&image, &mut words))?;
        Ok(words)
    };
    let results: Vec<Checked<Vec<W>>> = thread::scope(|scope| {
        let handles: Vec<_> = (0..16).map(|i| scope.spawn(move || work(i))).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
    });
    let expected = work(0)?;
    if results.len() != 16 {
        return Err(s.wrong("16 threads".into(), "none: each returns", alloc::format!("{} did", results.len())));
    }
    let all: Vec<usize> = (0..n).collect();
    for result in results {
        let count = full.count();
        s.same("one of 16 threads", count, &result?, &all, |k, l, i| expected[(k * count + l) * n + i].to_u64())?;
    }
    Ok(())
}
