//! The oracle: schoolbook products by definition, in no hurry, with nothing in common with the fast methods.
//!
//! Its transform domain holds the coefficients themselves, so every operation of the trait is the schoolbook one.

use alloc::vec::Vec;

use super::buffer::host_memory;
use super::{Backend, HostBuffer, Matrix, RingMul, expect_len};
use crate::arith::{Modulus, Word};
use crate::ring::ntt::Ntt;
use crate::ring::{Ring, RingSpec};
use crate::{Error, Result};

/// The schoolbook backend. Constant time in the coefficients like every other, and slow: `N²` products.
///
/// ```
/// use karat::{Reference, RingContext, ring::presets::MlKem};
/// let ring = RingContext::new(Reference, MlKem)?;
/// let x = |e: usize| { let mut a = [0u16; 256]; a[e] = 1; a };
/// assert_eq!(ring.mul(&ring.upload(&x(255))?, &ring.upload(&x(1))?)?.download()?[0], 3328);
/// # Ok::<(), karat::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Reference;

/// A ring prepared for schoolbook products.
#[derive(Debug, Clone)]
pub struct ReferencePlan {
    n: usize,
    modulus: Modulus<u64>,
    /// Exponents and negated canonical coefficients of `f` below `x^N`: `x^N` is their sum.
    tail: Vec<(usize, u64)>,
    spec: RingSpec,
}

impl ReferencePlan {
    /// Prepares a ring.
    ///
    /// # Errors
    /// None for a valid description.
    pub fn new(spec: &RingSpec) -> Result<Self> {
        let modulus = Modulus::<u64>::new(spec.q())?;
        let tail = spec
            .f()
            .lower_terms()
            .iter()
            .map(|term| (term.exponent, modulus.neg(modulus.from_i64_vartime(term.coefficient))))
            .collect();
        Ok(Self { n: spec.n(), modulus, tail, spec: spec.clone() })
    }

    /// One coefficient of the product of polynomials over `Z_q`.
    fn linear(&self, a: &[u64], b: &[u64], degree: usize) -> u64 {
        let m = &self.modulus;
        let (first, last) = (degree.saturating_sub(self.n - 1), degree.min(self.n - 1));
        let (a, b) = (&a[first..=last], &b[degree - last..=degree - first]);
        // A word holds sums of sixteen products of residues below 2^30, and of more of smaller ones.
        if m.bits() <= 30 {
            let room = 1usize << (64 - 2 * m.bits()).min(20);
            return a.chunks(room).zip(b.rchunks(room)).fold(0, |sum, (a, b)| {
                let products = a.iter().zip(b.iter().rev()).map(|(x, y)| x * y);
                m.add(sum, m.reduce(products.sum()))
            });
        }
        // Sums of four products of residues below 2^62 fit 126 bits.
        let room = 4usize << (2 * (62 - m.bits())).min(20);
        a.chunks(room).zip(b.rchunks(room)).fold(0, |sum, (a, b)| {
            let products = a.iter().zip(b.iter().rev()).map(|(x, y)| *x as u128 * *y as u128);
            m.add(sum, m.reduce_wide(products.sum()))
        })
    }

    /// `acc += a · b` in the ring.
    fn mul_add(&self, a: &[u64], b: &[u64], acc: &mut [u64]) {
        let (n, m) = (self.n, &self.modulus);
        let mut product: Vec<u64> = (0..2 * n - 1).map(|degree| self.linear(a, b, degree)).collect();
        for k in (n..2 * n - 1).rev() {
            for (exponent, coefficient) in &self.tail {
                let target = k - n + exponent;
                product[target] = m.add(product[target], m.mul(product[k], *coefficient));
            }
        }
        for (c, p) in acc.iter_mut().zip(product) {
            *c = m.add(*c, p);
        }
    }

    /// One coefficient of a product, by definition, for rings too large to multiply in whole.
    ///
    /// # Bounds
    /// `a` and `b` hold canonical coefficients.
    ///
    /// # Errors
    /// `WrongLength` unless `a` and `b` hold `N` coefficients and `index` is in `[0, N)`.
    ///
    /// ```
    /// use karat::backend::ReferencePlan;
    /// let plan = ReferencePlan::new(&"n=2,q=17,f=x^2+1".parse()?)?;
    /// assert_eq!(plan.coefficient(&[1, 2], &[3, 4], 0)?, 17 + 3 - 8);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn coefficient(&self, a: &[u64], b: &[u64], index: usize) -> Result<u64> {
        let (n, m) = (self.n, &self.modulus);
        for (what, got) in [("the first factor", a.len()), ("the second factor", b.len())] {
            if got != n {
                return Err(Error::WrongLength { what, expected: n, got });
            }
        }
        if index >= n {
            return Err(Error::WrongLength { what: "the ring", expected: index + 1, got: n });
        }
        // What x^j gives to coefficient `index` modulo f: itself below N, then x^(N+i) = x^i · (x^N mod f).
        let mut share = alloc::vec![0u64; 2 * n - 1];
        share[index] = 1;
        for i in 0..n - 1 {
            for (exponent, c) in &self.tail {
                let lower = share[exponent + i];
                if lower != 0 {
                    share[n + i] = m.add(share[n + i], m.mul(*c, lower));
                }
            }
        }
        let mut sum = 0;
        for (degree, share) in share.into_iter().enumerate().filter(|(_, share)| *share != 0) {
            sum = m.add(sum, m.mul(share, self.linear(a, b, degree)));
        }
        Ok(sum)
    }
}

impl Backend for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    host_memory!();
}

impl<R: Ring> RingMul<R> for Reference {
    type Plan = ReferencePlan;

    fn plan(&self, ring: &R) -> Result<ReferencePlan> {
        ReferencePlan::new(ring.spec())
    }

    fn ntt_words(&self, plan: &ReferencePlan) -> usize {
        plan.n
    }

    fn prepared_words(&self, plan: &ReferencePlan) -> usize {
        plan.n
    }

    fn max_terms(&self, _plan: &ReferencePlan) -> u64 {
        u64::MAX
    }

    fn ntt(
        &self,
        plan: &ReferencePlan,
        batch: usize,
        coefficients: &HostBuffer<R::Word>,
        ntt: &mut HostBuffer<u64>,
    ) -> Result<()> {
        copy(batch * plan.n, coefficients, ntt)
    }

    fn intt(
        &self,
        plan: &ReferencePlan,
        batch: usize,
        ntt: &HostBuffer<u64>,
        coefficients: &mut HostBuffer<R::Word>,
    ) -> Result<()> {
        copy(batch * plan.n, ntt, coefficients)
    }

    fn mat_vec(
        &self,
        plan: &ReferencePlan,
        shape: Matrix,
        matrix: &HostBuffer<u64>,
        vector: &HostBuffer<u64>,
        out: &mut HostBuffer<u64>,
    ) -> Result<()> {
        let n = plan.n;
        let (matrices, vectors, results) = shape.lengths();
        expect_len("the matrix", matrix.len(), matrices * n)?;
        expect_len("the vector", vector.len(), vectors * n)?;
        expect_len("the result", out.len(), results * n)?;
        for i in 0..results {
            let (item, row) = (i / shape.rows, i % shape.rows);
            let first = if shape.shared { row } else { i } * shape.columns;
            let acc = &mut out[i * n..][..n];
            acc.fill(0);
            for j in 0..shape.columns {
                let a = &matrix[(first + j) * n..][..n];
                plan.mul_add(a, &vector[(item * shape.columns + j) * n..][..n], acc);
            }
        }
        Ok(())
    }

    fn prepare(
        &self,
        plan: &ReferencePlan,
        batch: usize,
        ntt: &HostBuffer<u64>,
        prepared: &mut HostBuffer<u64>,
    ) -> Result<()> {
        copy(batch * plan.n, ntt, prepared)
    }

    fn pointwise_prepared(
        &self,
        plan: &ReferencePlan,
        batch: usize,
        shared: bool,
        a: &HostBuffer<u64>,
        prepared: &HostBuffer<u64>,
        out: &mut HostBuffer<u64>,
    ) -> Result<()> {
        let n = plan.n;
        expect_len("the factor", a.len(), batch * n)?;
        expect_len("the prepared factor", prepared.len(), if shared { n } else { batch * n })?;
        expect_len("the result", out.len(), batch * n)?;
        for i in 0..batch {
            let acc = &mut out[i * n..][..n];
            acc.fill(0);
            plan.mul_add(&a[i * n..][..n], &prepared[if shared { 0 } else { i * n }..][..n], acc);
        }
        Ok(())
    }

    fn mul(
        &self,
        plan: &ReferencePlan,
        batch: usize,
        a: &HostBuffer<R::Word>,
        b: &HostBuffer<R::Word>,
        out: &mut HostBuffer<R::Word>,
    ) -> Result<()> {
        let n = plan.n;
        expect_len("the first factor", a.len(), batch * n)?;
        expect_len("the second factor", b.len(), batch * n)?;
        expect_len("the result", out.len(), batch * n)?;
        let widen = |words: &[R::Word]| words.iter().map(|c| c.to_u64()).collect::<Vec<_>>();
        for i in 0..batch {
            let mut acc = alloc::vec![0; n];
            plan.mul_add(&widen(&a[i * n..][..n]), &widen(&b[i * n..][..n]), &mut acc);
            for (c, value) in out[i * n..][..n].iter_mut().zip(acc) {
                *c = R::Word::from_u64(value);
            }
        }
        Ok(())
    }

    fn export_ntt(
        &self,
        plan: &ReferencePlan,
        batch: usize,
        ntt: &HostBuffer<u64>,
        residues: &mut HostBuffer<R::Word>,
    ) -> Result<()> {
        let tables = Ntt::of_ring(&plan.spec)?;
        let n = plan.n;
        expect_len("the source", ntt.len(), batch * n)?;
        expect_len("the result", residues.len(), batch * n)?;
        for (a, out) in ntt.chunks_exact(n).zip(residues.chunks_exact_mut(n)).take(batch) {
            evaluate(&tables, a, out);
        }
        Ok(())
    }

    fn import_ntt(
        &self,
        plan: &ReferencePlan,
        batch: usize,
        residues: &HostBuffer<R::Word>,
        ntt: &mut HostBuffer<u64>,
    ) -> Result<()> {
        let tables = Ntt::of_ring(&plan.spec)?;
        let n = plan.n;
        expect_len("the source", residues.len(), batch * n)?;
        expect_len("the result", ntt.len(), batch * n)?;
        for (values, out) in residues.chunks_exact(n).zip(ntt.chunks_exact_mut(n)).take(batch) {
            interpolate(&tables, values, out);
        }
        Ok(())
    }
}

/// The residues modulo each `x^width - slot`, by Horner's rule.
fn evaluate<W: Word>(tables: &Ntt, a: &[u64], out: &mut [W]) {
    let (m, width) = (tables.modulus(), tables.shape().width);
    for (slot, residue) in tables.slots().iter().zip(out.chunks_exact_mut(width)) {
        for (i, r) in residue.iter_mut().enumerate() {
            let value = a[i..].iter().step_by(width).rev().fold(0, |sum, c| m.add(m.mul(sum, *slot), *c));
            *r = W::from_u64(value);
        }
    }
}

/// The coefficients that have these residues: `a_j = n^-1 · sum over slots of value · slot^-j`.
fn interpolate<W: Word>(tables: &Ntt, values: &[W], out: &mut [u64]) {
    let (m, width, points) = (tables.modulus(), tables.shape().width, tables.shape().points);
    let inverse = |x| m.inv_vartime(x).unwrap_or(0);
    out.fill(0);
    for (slot, residue) in tables.slots().iter().zip(values.chunks_exact(width)) {
        let step = inverse(*slot);
        let mut power = inverse(m.reduce(points as u64));
        for chunk in out.chunks_exact_mut(width) {
            for (c, r) in chunk.iter_mut().zip(residue) {
                *c = m.add(*c, m.mul(r.to_u64(), power));
            }
            power = m.mul(power, step);
        }
    }
}

fn copy<A: Word, B: Word>(len: usize, source: &HostBuffer<A>, target: &mut HostBuffer<B>) -> Result<()> {
    expect_len("the source", source.len(), len)?;
    expect_len("the result", target.len(), len)?;
    for (t, s) in target[..len].iter_mut().zip(&source[..len]) {
        *t = B::from_u64(s.to_u64());
    }
    Ok(())
}
