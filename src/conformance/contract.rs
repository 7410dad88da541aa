//! Operands that are wrong, and what is right about odd ones.

use alloc::string::ToString;

use super::Failure;
use super::inputs::Pattern;
use super::subject::Subject;
use crate::arith::Word;
use crate::backend::{Erase, Matrix, RingMul};
use crate::ring::Ring;
use crate::{Error, RingContext};

fn wrong_length(error: &Error) -> bool {
    matches!(error, Error::WrongLength { .. })
}

pub(super) fn operands<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    uploads(s)?;
    batches(s)?;
    foreign(s)?;
    buffers(s)?;
    secrets(s)
}

/// Lengths and coefficients that are no polynomials of the ring.
fn uploads<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    for len in [0, s.n - 1, s.n + 1, 2 * s.n + 1] {
        if s.n > 1 || len == 0 {
            let result = s.ring.upload(&alloc::vec![R::Word::ZERO; len]);
            s.refuses(&alloc::format!("upload of {len} words"), "WrongLength", result, wrong_length)?;
        }
    }
    let (q, largest) = (s.q, u64::MAX >> (64 - R::Word::WIDTH));
    for value in [q, largest].into_iter().filter(|value| (q..=largest).contains(value)) {
        for index in [0, s.n / 2, s.n - 1, 3 * s.n - 1] {
            let mut a = s.fill([Pattern::Top, Pattern::Zero, Pattern::Random]);
            a[index] = R::Word::from_u64(value);
            let unreduced = move |error: &Error| matches!(error, Error::Unreduced { index: i, .. } if *i == index);
            let label = alloc::format!("upload of an unreduced coefficient {index}");
            let result = s.ring.upload(&a);
            s.refuses(&label, "Unreduced with its index", result, unreduced)?;
            let result = s.ring.upload_secret(&a);
            s.refuses(&label, "Unreduced with its index", result, unreduced)?;
        }
    }
    Ok(())
}

/// Batches that do not fit each other.
fn batches<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    let (two, three) = (s.random(2), s.random(3));
    let (a, b) = (s.upload(&two)?, s.upload(&three)?);
    let (x, y) = (s.done("ntt", s.ring.ntt(&a))?, s.done("ntt", s.ring.ntt(&b))?);
    let p = s.done("prepare", s.ring.prepare(&x))?;
    let result = s.ring.mul(&a, &b);
    s.refuses("mul of 2 and 3 polynomials", "WrongLength", result, wrong_length)?;
    let mut out = s.upload(&three)?;
    let result = s.ring.mul_into(&a, &a, &mut out);
    s.refuses("mul_into of 2 polynomials into 3", "WrongLength", result, wrong_length)?;
    s.same(|_| "result of a refused mul_into".to_string(), &out, &three)?;
    let result = s.ring.pointwise(&x, &y);
    s.refuses("pointwise of 2 and 3 polynomials", "WrongLength", result, wrong_length)?;
    let result = s.ring.pointwise_prepared(&y, &p);
    s.refuses("3 polynomials times 2 prepared ones", "WrongLength", result, wrong_length)?;
    for terms in [0, 2, 4, usize::MAX] {
        let result = s.ring.pointwise_acc(terms, &y, &y);
        s.refuses(&alloc::format!("sums of {terms} of 3 products"), "WrongLength", result, wrong_length)?;
    }
    let most = usize::MAX / 2 + 2;
    for (batch, rows, columns) in [(1, 1, 3), (1, 2, 3), (3, 1, 1), (2, 1, most), (most, 1, 2), (2, most, 1), (0, 1, 1)]
    {
        let shape = Matrix { batch, rows, columns, shared: false };
        let result = s.ring.mat_vec(shape, &x, &x);
        s.refuses(&alloc::format!("mat_vec of {shape:?} on 2 polynomials"), "WrongLength", result, wrong_length)?;
    }
    let result = a.download_into(&mut alloc::vec![R::Word::ZERO; s.n]);
    s.refuses("download of 2 polynomials into 1", "WrongLength", result, wrong_length)
}

/// Operands of another context, though of the same ring.
fn foreign<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    let foreign = |error: &Error| matches!(error, Error::Foreign(_));
    let other = s.done("another context", RingContext::new(s.ring.backend().clone(), s.ring.ring().clone()))?;
    let a = s.random(1);
    let (x, y) = (s.upload(&a)?, s.done("upload", other.upload(&a))?);
    let v = s.done("ntt", other.ntt(&y))?;
    let result = s.ring.mul(&x, &y);
    s.refuses("mul with a foreign operand", "Foreign", result, foreign)?;
    let result = s.ring.ntt(&y);
    s.refuses("ntt of a foreign operand", "Foreign", result, foreign)?;
    let result = s.ring.intt(&v);
    s.refuses("intt of a foreign operand", "Foreign", result, foreign)?;
    let result = s.ring.pointwise(&v, &v);
    s.refuses("pointwise of foreign operands", "Foreign", result, foreign)?;
    let result = s.ring.prepare(&v);
    s.refuses("prepare of a foreign operand", "Foreign", result, foreign)?;
    let clone = s.ring.clone();
    let result = s.done("mul with a clone's operand", clone.mul(&x, &x))?;
    let expected = s.sums(1, &a, &a)?;
    s.expect(|_| "mul in a clone of the context".to_string(), &result, &expected)
}

/// The backend's own functions: longer buffers do, shorter ones are errors.
fn buffers<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    let context = s.ring.clone();
    let (backend, plan, n) = (context.backend(), context.plan(), s.n);
    let (words, prepared_words) = (backend.ntt_words(plan), backend.prepared_words(plan));
    let a = s.random(2);
    let expected = s.sums(1, &a, &a)?;
    for (extra, what) in [(0usize, "exact"), (13, "longer")] {
        let coefficients = |len: usize| backend.alloc::<R::Word>(len + extra, Erase::No);
        let values = |len: usize| backend.alloc::<u64>(len + extra, Erase::OnDrop);
        let run = || {
            let (mut x, mut v, mut p) = (coefficients(2 * n)?, values(2 * words)?, values(2 * prepared_words)?);
            let (mut product, mut out) = (values(2 * words)?, coefficients(2 * n)?);
            backend.upload(&a, &mut x)?;
            backend.ntt(plan, 2, &x, &mut v)?;
            backend.prepare(plan, 2, &v, &mut p)?;
            backend.pointwise_prepared(plan, 2, false, &v, &p, &mut product)?;
            backend.intt(plan, 2, &product, &mut out)?;
            let mut through_domain = alloc::vec![R::Word::ZERO; 2 * n];
            backend.download(&out, &mut through_domain)?;
            backend.mul(plan, 2, &x, &x, &mut out)?;
            backend.synchronize()?;
            let mut whole = alloc::vec![R::Word::ZERO; 2 * n];
            backend.download(&out, &mut whole)?;
            Ok((through_domain, whole))
        };
        let (through_domain, whole) = s.done(&alloc::format!("{what} buffers"), run())?;
        for (label, result) in [("intt(ntt · prepared)", through_domain), ("mul", whole)] {
            let result = s.upload(&result)?;
            s.expect(|_| alloc::format!("{label} in {what} buffers"), &result, &expected)?;
        }
    }

    let coefficients = |len| s.done("alloc", backend.alloc::<R::Word>(len, Erase::No));
    let values = |len| s.done("alloc", backend.alloc::<u64>(len, Erase::No));
    let (x, short_x, mut out, mut short_out) =
        (coefficients(2 * n)?, coefficients(2 * n - 1)?, coefficients(2 * n)?, coefficients(2 * n - 1)?);
    let (v, short_v, mut to, mut short_to) =
        (values(2 * words)?, values(2 * words - 1)?, values(2 * words)?, values(2 * words - 1)?);
    let (mut p, mut short_p) = (values(2 * prepared_words)?, values(2 * prepared_words - 1)?);
    let row = Matrix { batch: 1, rows: 1, columns: 2, shared: false };
    let column = Matrix { batch: 1, rows: 2, columns: 1, shared: true };
    for (label, result) in [
        ("upload", backend.upload(&alloc::vec![R::Word::ZERO; 2 * n], &mut short_out)),
        ("download", backend.download(&short_x, &mut alloc::vec![R::Word::ZERO; 2 * n])),
        ("ntt", backend.ntt(plan, 2, &short_x, &mut to)),
        ("ntt", backend.ntt(plan, 2, &x, &mut short_to)),
        ("intt", backend.intt(plan, 2, &short_v, &mut out)),
        ("intt", backend.intt(plan, 2, &v, &mut short_out)),
        ("pointwise", backend.pointwise(plan, 2, &short_v, &v, &mut to)),
        ("pointwise", backend.pointwise(plan, 2, &v, &short_v, &mut to)),
        ("pointwise", backend.pointwise(plan, 2, &v, &v, &mut short_to)),
        ("mat_vec", backend.mat_vec(plan, row, &short_v, &v, &mut to)),
        ("mat_vec", backend.mat_vec(plan, row, &v, &short_v, &mut to)),
        ("mat_vec", backend.mat_vec(plan, column, &v, &v, &mut short_to)),
        ("prepare", backend.prepare(plan, 2, &short_v, &mut p)),
        ("prepare", backend.prepare(plan, 2, &v, &mut short_p)),
        ("pointwise_prepared", backend.pointwise_prepared(plan, 2, false, &short_v, &p, &mut to)),
        ("pointwise_prepared", backend.pointwise_prepared(plan, 2, false, &v, &short_p, &mut to)),
        ("pointwise_prepared", backend.pointwise_prepared(plan, 2, true, &v, &p, &mut short_to)),
        ("mul", backend.mul(plan, 2, &short_x, &x, &mut out)),
        ("mul", backend.mul(plan, 2, &x, &short_x, &mut out)),
        ("mul", backend.mul(plan, 2, &x, &x, &mut short_out)),
    ] {
        s.refuses(&alloc::format!("{label} with a buffer one word short"), "WrongLength", result, wrong_length)?;
    }
    Ok(())
}

/// Secret operands give what public ones give.
fn secrets<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    let a = s.fill([Pattern::Top, Pattern::Ternary, Pattern::Random]);
    let expected = s.sums(1, &a, &a)?;
    let public = s.upload(&a)?;
    let secret = s.done("upload_secret", s.ring.upload_secret(&a))?;
    let product = s.done("mul of a secret", s.ring.mul(&public, &secret))?;
    let product = product.declassify("the suite made the operands itself");
    s.expect(|_| "mul of public and secret".to_string(), &product, &expected)?;
    let values = s.done("ntt of a secret", s.ring.ntt(&secret))?;
    let back = s.done("intt of a secret", s.ring.intt(&values))?;
    let back = s.done("download_secret", back.download_secret())?;
    let back = s.upload(back.expose("the suite made the operands itself"))?;
    s.same(|_| "intt(ntt) of a secret".to_string(), &back, &a)
}
