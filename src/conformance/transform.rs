//! Transforms: inverse to each other, linear, and in the canonical order where one exists.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::Failure;
use super::inputs::{self, Pattern};
use super::subject::{Batch, Subject, widen};
use crate::Error;
use crate::arith::{Modulus, Word, bit_reverse};
use crate::backend::RingMul;
use crate::ring::ntt::Ntt;
use crate::ring::{Ring, Shape, Wrap};

pub(super) fn round_trip<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    let mut a = s.fill(Pattern::ALL);
    let lanes = inputs::lanes(s.n, 1 << 9);
    a.extend(lanes.iter().flat_map(|index| inputs::lane::<R::Word>(s.n, s.q, *index)));
    let x = s.upload(&a)?;
    let values = s.done("ntt", s.ring.ntt(&x))?;
    let back = s.done("intt", s.ring.intt(&values))?;
    let label = |item: usize| match Pattern::ALL.get(item) {
        Some(pattern) => alloc::format!("intt(ntt) of {}", pattern.name()),
        None => alloc::format!("intt(ntt) of q - 1 in lane {}", lanes[item - Pattern::ALL.len()]),
    };
    s.same(label, &back, &a)?;
    s.same(|_| "operand after ntt".to_string(), &x, &a)?;
    let again = s.done("intt", s.ring.intt(&values))?;
    s.same(|item| alloc::format!("{}, again", label(item)), &again, &a)
}

/// `a·c + b·d` for batches and constants.
fn combination<B: RingMul<R>, R: Ring>(
    s: &Subject<B, R>,
    (a, c): (&[R::Word], u64),
    (b, d): (&[R::Word], u64),
) -> Vec<R::Word> {
    let m = &s.modulus;
    let sum = |(x, y): (&R::Word, &R::Word)| m.add(m.mul(x.to_u64(), c), m.mul(y.to_u64(), d));
    a.iter().zip(b).map(sum).map(R::Word::from_u64).collect()
}

pub(super) fn linearity<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    let a = s.fill([Pattern::Top, Pattern::Half, Pattern::TopZero, Pattern::Random, Pattern::Random]);
    let b = s.fill([Pattern::Top, Pattern::AboveHalf, Pattern::ZeroTop, Pattern::Random, Pattern::Ternary]);
    let batch = a.len() / s.n;
    for (c, d) in [(1, 1), (s.q - 1, 1), (s.q / 2, s.q - 1), (s.random.below(s.q), s.random.below(s.q))] {
        let sum = combination(s, (&a, c), (&b, d));
        let label = |_| alloc::format!("{c}·a + {d}·b in the transform domain");

        // As a sum of two products with constants, which every ring has.
        let constant = |value: u64| {
            let mut out = alloc::vec![R::Word::ZERO; s.n];
            out[0] = R::Word::from_u64(value);
            out
        };
        let pairs: Vec<_> =
            a.chunks_exact(s.n).zip(b.chunks_exact(s.n)).flat_map(|(a, b)| [a, b]).flatten().copied().collect();
        let constants = [constant(c), constant(d)].concat().repeat(batch);
        let (x, y) = (s.upload(&pairs)?, s.upload(&constants)?);
        let (x, y) = (s.done("ntt", s.ring.ntt(&x))?, s.done("ntt", s.ring.ntt(&y))?);
        let values = s.done("pointwise_acc", s.ring.pointwise_acc(2, &x, &y))?;
        let result = s.done("intt", s.ring.intt(&values))?;
        s.same(label, &result, &sum)?;

        // As residues, where the domain is open.
        if s.ring.ring().spec().method().shape().is_some() {
            let residues = combination(s, (&exported(s, &a)?, c), (&exported(s, &b)?, d));
            let x = s.upload(&sum)?;
            let values = s.done("ntt", s.ring.ntt(&x))?;
            let whole = s.done("export_ntt", s.ring.export_ntt(&values))?;
            s.same(|_| alloc::format!("export of ntt({c}·a + {d}·b)"), &whole, &residues)?;
            let x = s.upload(&residues)?;
            let values = s.done("import_ntt", s.ring.import_ntt(&x))?;
            let result = s.done("intt", s.ring.intt(&values))?;
            s.same(|_| alloc::format!("intt of imported {c}·ntt(a) + {d}·ntt(b)"), &result, &sum)?;
        }
    }
    Ok(())
}

fn exported<B: RingMul<R>, R: Ring>(s: &Subject<B, R>, a: &[R::Word]) -> Result<Vec<R::Word>, Failure> {
    let x = s.upload(a)?;
    let values = s.done("ntt", s.ring.ntt(&x))?;
    let residues = s.done("export_ntt", s.ring.export_ntt(&values))?;
    s.done("download", residues.download())
}

/// The definition of the canonical order: slot `t` holds the residue modulo `x^width - point(t)`.
struct Definition {
    shape: Shape,
    modulus: Modulus<u64>,
    gamma: u64,
}

impl Definition {
    fn new<B: RingMul<R>, R: Ring>(s: &Subject<B, R>) -> Result<Self, Failure> {
        let tables = s.done("the ring's root", Ntt::of_ring(s.ring.ring().spec()))?;
        Ok(Self { shape: tables.shape(), modulus: s.modulus, gamma: tables.gamma() })
    }

    fn point(&self, t: usize) -> u64 {
        let reversed = bit_reverse(t, self.shape.layers()) as u64;
        match self.shape.wrap {
            // Without layers the only residue is that modulo x^N + 1 itself.
            Wrap::Negacyclic if self.shape.points == 1 => self.modulus.value() - 1,
            Wrap::Negacyclic => self.modulus.pow(self.gamma, 2 * reversed + 1),
            Wrap::Cyclic => self.modulus.pow(self.gamma, reversed),
        }
    }

    /// Coefficient `i` of the residue at slot `t`, by Horner's rule.
    fn residue(&self, a: &[u64], t: usize, i: usize) -> u64 {
        let (m, point) = (&self.modulus, self.point(t));
        a[i..].iter().step_by(self.shape.width).rev().fold(0, |sum, c| m.add(m.mul(sum, point), *c))
    }

    /// Checks residues of polynomials at these slots.
    fn check<B: RingMul<R>, R: Ring>(
        &self,
        s: &Subject<B, R>,
        what: &str,
        slots: &[usize],
        polynomials: &[R::Word],
        residues: &[R::Word],
    ) -> Result<(), Failure> {
        let batch = polynomials.len() / s.n;
        for (item, (a, residues)) in polynomials.chunks_exact(s.n).zip(residues.chunks_exact(s.n)).enumerate() {
            let a = widen(a);
            for t in slots {
                for i in 0..self.shape.width {
                    let index = t * self.shape.width + i;
                    let expected = self.residue(&a, *t, i);
                    s.equal(&|_| what.to_string(), (batch, item, index), residues[index].to_u64(), expected)?;
                }
            }
        }
        Ok(())
    }
}

pub(super) fn canonical_order<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    if s.ring.ring().spec().method().shape().is_none() {
        return closed(s);
    }
    let definition = Definition::new(s)?;
    let points = definition.shape.points;
    // All slots of a few hundred coefficients, else some.
    let slots: Vec<usize> = match s.n * points {
        ..=0x4_0000 => (0..points).collect(),
        _ => (0..16).map(|_| s.random.below(points as u64) as usize).chain([0, points - 1]).collect(),
    };

    // x itself tells the points apart, and their order.
    let mut x = alloc::vec![R::Word::ZERO; s.n];
    x[1 % s.n] = R::Word::from_u64(1);
    let a = [x, s.fill([Pattern::Top, Pattern::HalfSigns, Pattern::Random])].concat();
    let residues = exported(s, &a)?;
    definition.check(s, "export(ntt)", &slots, &a, &residues)?;
    let back = imported(s, &residues)?;
    s.same(|_| "intt(import(export(ntt)))".to_string(), &back, &a)?;

    // Values at their bounds, all and one alone, into the inverse transform.
    let mut values = s.fill([Pattern::Top, Pattern::TopZero, Pattern::ZeroTop, Pattern::Half, Pattern::Random]);
    let lanes = inputs::lanes(s.n, 1 << 6);
    values.extend(lanes.iter().flat_map(|index| inputs::lane::<R::Word>(s.n, s.q, *index)));
    let coefficients = imported(s, &values)?;
    let coefficients = s.done("download", coefficients.download())?;
    definition.check(s, "intt(import)", &slots, &coefficients, &values)?;
    let back = exported(s, &coefficients)?;
    let back = s.upload(&back)?;
    s.same(|_| "export(ntt(intt(import)))".to_string(), &back, &values)
}

fn imported<B: RingMul<R>, R: Ring>(s: &Subject<B, R>, residues: &[R::Word]) -> Result<Batch<B, R>, Failure> {
    let x = s.upload(residues)?;
    let values = s.done("import_ntt", s.ring.import_ntt(&x))?;
    s.done("intt", s.ring.intt(&values))
}

/// A lifted ring says that its domain is its own.
fn closed<B: RingMul<R>, R: Ring>(s: &mut Subject<B, R>) -> Result<(), Failure> {
    let a = s.random(1);
    let x = s.upload(&a)?;
    let values = s.done("ntt", s.ring.ntt(&x))?;
    let unsupported = |error: &Error| matches!(error, Error::Unsupported { .. });
    let result = s.ring.export_ntt(&values);
    s.refuses("export_ntt in a lifted ring", "Unsupported", result, unsupported)?;
    let result = s.ring.import_ntt(&x);
    s.refuses("import_ntt in a lifted ring", "Unsupported", result, unsupported)
}
