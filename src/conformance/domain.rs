//! Products in the transform domain.

use alloc::vec::Vec;

use super::Failure;
use super::inputs::{self, Pattern};
use super::products::of_pair;
use super::subject::Subject;
use crate::Error;
use crate::backend::{Matrix, RingMul};
use crate::ring::Ring;

fn overflow(error: &Error) -> bool {
    matches!(error, Error::LiftOverflow { .. })
}

/// Whether a product may be a factor again.
fn products_are_factors<B: RingMul<R>, R: Ring>(s: &Subject<B, R>) -> bool {
    s.ring.backend().max_terms(s.ring.plan()) == u64::MAX
}

pub(super) fn pointwise<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    let pairs = inputs::pairs(s.n);
    let a = s.fill(pairs.iter().map(|pair| pair.0));
    let b = s.fill(pairs.iter().map(|pair| pair.1));
    let (x, y) = (s.upload(&a)?, s.upload(&b)?);
    let (x, y) = (s.done("ntt", s.ring.ntt(&x))?, s.done("ntt", s.ring.ntt(&y))?);
    let product = s.done("pointwise", s.ring.pointwise(&x, &y))?;
    let result = s.done("intt", s.ring.intt(&product))?;
    let expected = s.sums(1, &a, &b)?;
    s.expect(of_pair("pointwise", &pairs), &result, &expected)?;

    if !products_are_factors(s) {
        let again = s.ring.pointwise(&product, &y);
        s.refuses("a product as a factor in a lifted ring", "LiftOverflow", again, overflow)?;
        let again = s.ring.pointwise(&x, &product);
        s.refuses("a product as a factor in a lifted ring", "LiftOverflow", again, overflow)?;
        let again = s.ring.prepare(&product);
        return s.refuses("preparing a product in a lifted ring", "LiftOverflow", again, overflow);
    }
    let cube = s.done("pointwise", s.ring.pointwise(&product, &y))?;
    let cube = s.done("intt", s.ring.intt(&cube))?;
    let product = s.done("download", result.download())?;
    let expected = s.sums(1, &product, &b)?;
    s.expect(of_pair("pointwise of a product: (a·b)·b", &pairs), &cube, &expected)
}

pub(super) fn accumulation<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    let pairs = [
        (Pattern::Top, Pattern::Top),
        (Pattern::Half, Pattern::AboveHalf),
        (Pattern::Half, Pattern::Half),
        (Pattern::TopZero, Pattern::ZeroTop),
        (Pattern::Random, Pattern::Random),
    ];
    // The ranks of ML-KEM-1024 and ML-DSA-87 are 4 and 7.
    let (counts, pairs): (&[usize], _) = match s.n {
        1..=0x200 => (&[1, 2, 3, 4, 5, 6, 7, 33], &pairs[..]),
        0x201..=0x7ff => (&[1, 4, 7], &pairs[..3]),
        _ => (&[7], &pairs[..2]),
    };
    for terms in counts {
        sums(s, *terms, pairs)?;
    }
    let room = s.ring.backend().max_terms(s.ring.plan());
    if room == u64::MAX {
        return Ok(());
    }
    if room <= 1 << 10 && s.n <= 1 << 8 {
        sums(s, room as usize, pairs)?;
    }
    // One product more than there is room for; the constant 0 is as good as any other.
    let Some(too_many) = usize::try_from(room).ok().filter(|room| *room <= (1 << 22) / s.n).map(|room| room + 1) else {
        return Ok(());
    };
    let a = s.fill(core::iter::repeat_n(Pattern::Zero, too_many));
    let x = s.upload(&a)?;
    let values = s.done("ntt", s.ring.ntt(&x))?;
    let sum = s.ring.pointwise_acc(too_many, &values, &values);
    s.refuses(&alloc::format!("a sum of {too_many} products"), "LiftOverflow", sum, overflow)
}

/// Sums of `terms` products of the same kind, one for each pair.
fn sums<B: RingMul<R>, R: Ring>(
    s: &mut Subject<B, R>,
    terms: usize,
    pairs: &[(Pattern, Pattern)],
) -> Result<(), Failure> {
    let repeated = |p: Pattern| core::iter::repeat_n(p, terms);
    let a = s.fill(pairs.iter().flat_map(|pair| repeated(pair.0)));
    let b = s.fill(pairs.iter().flat_map(|pair| repeated(pair.1)));
    let (x, y) = (s.upload(&a)?, s.upload(&b)?);
    let (x, y) = (s.done("ntt", s.ring.ntt(&x))?, s.done("ntt", s.ring.ntt(&y))?);
    let values = s.done("pointwise_acc", s.ring.pointwise_acc(terms, &x, &y))?;
    let result = s.done("intt", s.ring.intt(&values))?;
    let expected = s.sums(terms, &a, &b)?;
    s.expect(of_pair(&alloc::format!("pointwise_acc of {terms} terms"), pairs), &result, &expected)
}

pub(super) fn mat_vec<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    let shape = |batch, rows, columns, shared| Matrix { batch, rows, columns, shared };
    let mut shapes = alloc::vec![shape(2, 2, 3, true), shape(2, 2, 3, false)];
    if s.n <= 1 << 9 {
        // The matrices of ML-KEM-1024 and ML-DSA-87, a single row, and more columns than sums hold at once.
        shapes.extend([shape(3, 4, 4, true), shape(1, 8, 7, false), shape(3, 1, 5, false), shape(1, 2, 33, true)]);
    }
    for shape in shapes {
        for pattern in [Pattern::Top, Pattern::Random] {
            one_mat_vec(s, shape, pattern)?;
        }
    }
    Ok(())
}

fn one_mat_vec<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>, shape: Matrix, pattern: Pattern) -> Result<(), Failure> {
    let (matrices, vectors, _) = shape.lengths();
    let matrix = s.fill(core::iter::repeat_n(pattern, matrices));
    let vector = s.fill(core::iter::repeat_n(pattern, vectors));
    let (m, v) = (s.upload(&matrix)?, s.upload(&vector)?);
    let (m, v) = (s.done("ntt", s.ring.ntt(&m))?, s.done("ntt", s.ring.ntt(&v))?);
    let values = s.done("mat_vec", s.ring.mat_vec(shape, &m, &v))?;
    let result = s.done("intt", s.ring.intt(&values))?;

    // The oracle's sums: each row beside its vector.
    let row_len = shape.columns * s.n;
    let matrix_of = |item: usize| if shape.shared { 0 } else { item * shape.rows };
    let places = (0..shape.batch).flat_map(|item| (0..shape.rows).map(move |row| (item, row)));
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (item, row) in places {
        a.extend_from_slice(&matrix[(matrix_of(item) + row) * row_len..][..row_len]);
        b.extend_from_slice(&vector[item * row_len..][..row_len]);
    }
    let expected = s.sums(shape.columns, &a, &b)?;
    let Matrix { batch, rows, columns, shared } = shape;
    let label = |_| {
        let matrices = if shared { "one matrix" } else { "matrices" };
        alloc::format!("{matrices} of {rows} x {columns} times {batch} vectors, {}", pattern.name())
    };
    s.expect(label, &result, &expected)
}

pub(super) fn prepared<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    for (batch, factors) in [(1, 1), (3, 3), (5, 1)] {
        let patterns = [Pattern::HalfSigns, Pattern::Top, Pattern::Random];
        for pattern in &patterns[..if s.n <= 1 << 10 { 3 } else { 1 }] {
            let a = s.fill(core::iter::repeat_n(*pattern, batch));
            let b = s.fill(core::iter::repeat_n(*pattern, factors));
            let (x, y) = (s.upload(&a)?, s.upload(&b)?);
            let (x, y) = (s.done("ntt", s.ring.ntt(&x))?, s.done("ntt", s.ring.ntt(&y))?);
            let y = s.done("prepare", s.ring.prepare(&y))?;
            let expected = s.sums(1, &a, &b.repeat(batch / factors))?;
            // Twice: a prepared factor stays as it is.
            for _ in 0..2 {
                let values = s.done("pointwise_prepared", s.ring.pointwise_prepared(&x, &y))?;
                let result = s.done("intt", s.ring.intt(&values))?;
                let label = |_| alloc::format!("{batch} products with {factors} prepared, {}", pattern.name());
                s.expect(label, &result, &expected)?;
            }
            if !products_are_factors(s) {
                let values = s.done("pointwise", s.ring.pointwise(&x, &x))?;
                let again = s.ring.pointwise_prepared(&values, &y);
                s.refuses("a product times a prepared factor", "LiftOverflow", again, overflow)?;
            }
        }
    }
    Ok(())
}
