//! Products of every CPU backend against the schoolbook oracle, by every way that the engine offers.

use arbitrary::{Result, Unstructured};
use karat::arith::Word;
use karat::backend::{Matrix, ReferencePlan};
use karat::ring::Quotient;
use karat::{AnyBackend, Cpu, Error, Reference, RingContext, RingSpec, UserRing};

use crate::{compare, operands, rings, with_word};

/// Up to this degree whole products are compared; above, some coefficients and both ends, by definition.
const WHOLE: usize = 256;

/// Multiplies in a ring that the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = attempt(&mut Unstructured::new(data));
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    let spec = rings::ring(u, 4096)?;
    if spec.n() > WHOLE { with_word!(u, spec, large) } else { with_word!(u, spec, small) }
}

fn small<W: Word>(u: &mut Unstructured, spec: RingSpec) -> Result<()> {
    match u.int_in_range(0..=4u8)? {
        0 | 1 => whole_products::<W>(u, spec),
        2 => prepared::<W>(u, spec),
        3 => matrices::<W>(u, spec),
        _ => slices::<W>(u, spec),
    }
}

/// Contexts of every CPU backend, with their names.
fn contexts<W: Word>(ring: &UserRing<W>) -> Vec<(&'static str, RingContext<AnyBackend, UserRing<W>>)> {
    let backends = compare::cpu_backends().into_iter();
    backends
        .map(|(name, backend)| (name, RingContext::new(backend, ring.clone()).expect("every ring has a method")))
        .collect()
}

fn whole_products<W: Word>(u: &mut Unstructured, spec: RingSpec) -> Result<()> {
    let (n, q) = (spec.n(), spec.q());
    let batch = if n > 64 { 1 } else { u.int_in_range(1..=5)? };
    let (a, b) = (operands::batch::<W>(u, batch, n, q)?, operands::batch::<W>(u, batch, n, q)?);
    let ring = UserRing::<W>::new(spec.clone()).expect("the word fits");
    let expected = oracle_products(&ring, &a, &b);
    for (name, context) in contexts(&ring) {
        let (x, y) = (context.upload(&a).unwrap(), context.upload(&b).unwrap());
        let product = context.mul(&x, &y).unwrap().download().unwrap();
        compare::equal(&format!("mul on {name}"), &spec, &product, &expected);
        let (x, y) = (context.ntt(&x).unwrap(), context.ntt(&y).unwrap());
        let product = context.intt(&context.pointwise(&x, &y).unwrap()).unwrap().download().unwrap();
        compare::equal(&format!("intt(ntt·ntt) on {name}"), &spec, &product, &expected);
    }
    Ok(())
}

fn oracle_products<W: Word>(ring: &UserRing<W>, a: &[W], b: &[W]) -> Vec<W> {
    let oracle = RingContext::new(Reference, ring.clone()).unwrap();
    oracle.mul(&oracle.upload(a).unwrap(), &oracle.upload(b).unwrap()).unwrap().download().unwrap()
}

fn prepared<W: Word>(u: &mut Unstructured, spec: RingSpec) -> Result<()> {
    let (n, q) = (spec.n(), spec.q());
    let batch = if n > 64 { 1 } else { u.int_in_range(1..=4)? };
    let shared = u.arbitrary()?;
    let a = operands::batch::<W>(u, batch, n, q)?;
    let b = operands::batch::<W>(u, if shared { 1 } else { batch }, n, q)?;
    let ring = UserRing::<W>::new(spec.clone()).expect("the word fits");
    let all = if shared { b.repeat(batch) } else { b.clone() };
    let expected = oracle_products(&ring, &a, &all);
    for (name, context) in contexts(&ring) {
        let x = context.ntt(&context.upload(&a).unwrap()).unwrap();
        let y = context.prepare(&context.ntt(&context.upload(&b).unwrap()).unwrap()).unwrap();
        let product = context.intt(&context.pointwise_prepared(&x, &y).unwrap()).unwrap().download().unwrap();
        compare::equal(&format!("prepared product on {name}"), &spec, &product, &expected);
    }
    Ok(())
}

/// Sums of products, which is where lazily reduced values grow.
fn matrices<W: Word>(u: &mut Unstructured, spec: RingSpec) -> Result<()> {
    let (n, q) = (spec.n(), spec.q());
    let shape = Matrix {
        batch: if n > 32 { 1 } else { u.int_in_range(1..=2)? },
        rows: if n > 128 { 1 } else { u.int_in_range(1..=3)? },
        columns: u.int_in_range(
            1..=if n > 128 {
                3
            } else if n > 16 {
                8
            } else {
                70
            },
        )?,
        shared: u.arbitrary()?,
    };
    let (matrices, vectors, _) = shape.lengths();
    let (a, b) = (operands::batch::<W>(u, matrices, n, q)?, operands::batch::<W>(u, vectors, n, q)?);
    let ring = UserRing::<W>::new(spec.clone()).expect("the word fits");
    let oracle = RingContext::new(Reference, ring.clone()).unwrap();
    let load = |words: &[W]| oracle.ntt(&oracle.upload(words).unwrap()).unwrap();
    let expected = oracle.intt(&oracle.mat_vec(shape, &load(&a), &load(&b)).unwrap()).unwrap().download().unwrap();
    for (name, context) in contexts(&ring) {
        let x = context.ntt(&context.upload(&a).unwrap()).unwrap();
        let y = context.ntt(&context.upload(&b).unwrap()).unwrap();
        let sums = match context.mat_vec(shape, &x, &y) {
            Err(Error::LiftOverflow { max, .. }) if (max as usize) < shape.columns => continue,
            result => result.unwrap(),
        };
        let sums = context.intt(&sums).unwrap().download().unwrap();
        compare::equal(&format!("{shape:?} on {name}"), &spec, &sums, &expected);
    }
    Ok(())
}

/// The way without batches, and what it refuses.
fn slices<W: Word>(u: &mut Unstructured, spec: RingSpec) -> Result<()> {
    let (n, q) = (spec.n(), spec.q());
    let (a, b) = (operands::polynomial::<W>(u, n, q)?, operands::polynomial::<W>(u, n, q)?);
    let ring = UserRing::<W>::new(spec.clone()).expect("the word fits");
    let expected = oracle_products(&ring, &a, &b);
    let context = RingContext::new(Cpu::new(), ring).unwrap();
    let mut out = vec![W::ZERO; n];
    context.mul_slices(&a, &b, &mut out).unwrap();
    compare::equal("mul_slices", &spec, &out, &expected);

    // A coefficient that is not reduced is refused, wherever it stands.
    let (lane, excess) = (u.int_in_range(0..=n - 1)?, u.arbitrary::<u64>()?);
    let width = u64::MAX >> (64 - W::WIDTH);
    if q <= width {
        let mut bad = a;
        bad[lane] = W::from_u64(q + excess % (width - q + 1));
        let refused = context.mul_slices(&b, &bad, &mut out);
        assert_eq!(refused, Err(Error::Unreduced { index: lane, q }), "in {}", compare::describe::<W>(&spec));
    }
    Ok(())
}

/// Products too long for the whole oracle.
fn large<W: Word>(u: &mut Unstructured, spec: RingSpec) -> Result<()> {
    let (n, q) = (spec.n(), spec.q());
    let b = operands::polynomial::<W>(u, n, q)?;
    let ring = UserRing::<W>::new(spec.clone()).expect("the word fits");
    // Modulo x^N ± 1 a coefficient is a sum of N products; other polynomials spread every degree over many
    // coefficients, so there one factor has few terms.
    let (a, indices, expected) = if *spec.f() == Quotient::Negacyclic || *spec.f() == Quotient::Cyclic {
        let a = operands::polynomial::<W>(u, n, q)?;
        let mut indices = vec![0, n - 1];
        for _ in 0..6 {
            indices.push(u.int_in_range(0..=n - 1)?);
        }
        let oracle = ReferencePlan::new(&spec).unwrap();
        let (x, y) = (widen(&a), widen(&b));
        let expected: Vec<u64> = indices.iter().map(|index| oracle.coefficient(&x, &y, *index).unwrap()).collect();
        (a, indices, expected)
    } else {
        let mut a = vec![W::ZERO; n];
        for _ in 0..6 {
            a[u.int_in_range(0..=n - 1)?] = W::from_u64(u.arbitrary::<u64>()?.min(q - 1));
        }
        let expected = by_terms(&spec, &widen(&a), &widen(&b));
        (a, (0..n).collect(), expected)
    };
    for (name, context) in contexts(&ring) {
        let product = context.mul(&context.upload(&a).unwrap(), &context.upload(&b).unwrap()).unwrap();
        let product = widen(&product.download().unwrap());
        let picked: Vec<u64> = indices.iter().map(|index| product[*index]).collect();
        compare::equal(&format!("mul of a long product on {name}"), &spec, &picked, &expected);
        assert!(product.iter().all(|c| *c < q), "mul on {name} in {}", compare::describe::<W>(&spec));
    }
    Ok(())
}

/// A product by definition, term by term of the first factor: by plain integers, without the engine's arithmetic.
fn by_terms(spec: &RingSpec, a: &[u64], b: &[u64]) -> Vec<u64> {
    let (n, q) = (spec.n(), spec.q() as i128);
    let mut c = vec![0i128; 2 * n - 1];
    for (i, x) in a.iter().enumerate().filter(|(_, x)| **x != 0) {
        for (j, y) in b.iter().enumerate() {
            c[i + j] = (c[i + j] + *x as i128 * *y as i128) % q;
        }
    }
    for k in (n..2 * n - 1).rev() {
        for term in spec.f().lower_terms() {
            let target = k - n + term.exponent;
            c[target] = (c[target] - c[k] * (term.coefficient as i128 % q)) % q;
        }
    }
    c[..n].iter().map(|c| c.rem_euclid(q) as u64).collect()
}

fn widen<W: Word>(words: &[W]) -> Vec<u64> {
    words.iter().map(|word| word.to_u64()).collect()
}
