//! Whole products.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Failure;
use super::inputs::{self, Pattern};
use super::subject::Subject;
use crate::backend::RingMul;
use crate::ring::Ring;

/// Names the two patterns of an item.
pub(super) fn of_pair(what: &str, pairs: &[(Pattern, Pattern)]) -> impl Fn(usize) -> String {
    move |item| alloc::format!("{what} of {} and {}", pairs[item].0.name(), pairs[item].1.name())
}

pub(super) fn products<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    let pairs = inputs::pairs(s.n);
    let a = s.fill(pairs.iter().map(|pair| pair.0));
    let b = s.fill(pairs.iter().map(|pair| pair.1));
    let expected = s.sums(1, &a, &b)?;
    let (x, y) = (s.upload(&a)?, s.upload(&b)?);
    let product = s.done("mul", s.ring.mul(&x, &y))?;
    s.expect(of_pair("mul", &pairs), &product, &expected)?;
    s.same(|_| "first operand after mul".to_string(), &x, &a)?;
    s.same(|_| "second operand after mul".to_string(), &y, &b)?;

    // The other way round, into a batch that holds something, and one batch as both operands.
    let mut product = product;
    s.done("mul_into", s.ring.mul_into(&y, &x, &mut product))?;
    s.expect(of_pair("mul_into, swapped,", &pairs), &product, &expected)?;
    let a = s.fill([Pattern::Top, Pattern::Half, Pattern::Random]);
    let (x, expected) = (s.upload(&a)?, s.sums(1, &a, &a)?);
    let square = s.done("mul", s.ring.mul(&x, &x))?;
    s.expect(|_| "square of one batch".to_string(), &square, &expected)
}

pub(super) fn lanes<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    // All lanes up to N = 256; beyond that the oracle would take too long.
    let indices = inputs::lanes(s.n, 1 << 8);
    let a: Vec<R::Word> = indices.iter().flat_map(|index| inputs::lane(s.n, s.q, *index)).collect();
    for pattern in [Pattern::Top, Pattern::Random] {
        let b = s.fill(indices.iter().map(|_| pattern));
        let expected = s.sums(1, &a, &b)?;
        let (x, y) = (s.upload(&a)?, s.upload(&b)?);
        let label = |item: usize| alloc::format!("mul of q - 1 in lane {} and {}", indices[item], pattern.name());
        let product = s.done("mul", s.ring.mul(&x, &y))?;
        s.expect(label, &product, &expected)?;
        let product = s.done("mul", s.ring.mul(&y, &x))?;
        s.expect(label, &product, &expected)?;
    }
    Ok(())
}

pub(super) fn batches<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    for batch in [1, 2, 3, 31] {
        let affordable = (1 << 26) / (s.n * s.n).min(1 << 26);
        one_batch(s, batch, affordable.max(2).min(batch))?;
    }
    Ok(())
}

pub(super) fn large_batch<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    if s.n <= 1 << 10 { one_batch(s, 1000, 16) } else { Ok(()) }
}

/// A batch of different products: the last `whole` ones and the first against the oracle, all against products one by
/// one, and all through the transform domain.
fn one_batch<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>, batch: usize, whole: usize) -> Result<(), Failure> {
    let n = s.n;
    let (a, b) = (s.random(batch), s.random(batch));
    let (x, y) = (s.upload(&a)?, s.upload(&b)?);
    let product = s.done("mul", s.ring.mul(&x, &y))?;
    let words = s.done("download", product.download())?;

    let label = |_| alloc::format!("mul of a batch of {batch}");
    for first in [0, batch - whole] {
        let part = if first == 0 { 0..n } else { first * n..batch * n };
        let expected = s.sums(1, &a[part.clone()], &b[part.clone()])?;
        let result = s.upload(&words[part])?;
        s.expect(label, &result, &expected)?;
    }
    for (i, word) in words.chunks_exact(n).enumerate() {
        let (x, y) = (s.upload(&a[i * n..][..n])?, s.upload(&b[i * n..][..n])?);
        let single = s.done("mul", s.ring.mul(&x, &y))?;
        s.same(|_| alloc::format!("mul of item {i} of a batch of {batch}, alone"), &single, word)?;
    }

    let (x, y) = (s.done("ntt", s.ring.ntt(&x))?, s.done("ntt", s.ring.ntt(&y))?);
    let values = s.done("pointwise", s.ring.pointwise(&x, &y))?;
    let result = s.done("intt", s.ring.intt(&values))?;
    s.same(|_| alloc::format!("intt(ntt · ntt) of a batch of {batch}"), &result, &words)?;
    let prepared = s.done("prepare", s.ring.prepare(&y))?;
    let values = s.done("pointwise_prepared", s.ring.pointwise_prepared(&x, &prepared))?;
    let result = s.done("intt", s.ring.intt(&values))?;
    s.same(|_| alloc::format!("intt(ntt · prepared) of a batch of {batch}"), &result, &words)
}
