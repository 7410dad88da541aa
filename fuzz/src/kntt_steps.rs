//! The k-NTT step by step, against the transforms that backends compute and against the oracle.

use arbitrary::{Result, Unstructured};
use karat::arith::Word;
use karat::ring::kntt::Kntt;
use karat::{AnyBackend, Reference, RingContext, RingSpec, UserRing};

use crate::{compare, operands, rings, with_word};

/// Follows one product through the steps.
pub fn run(data: &[u8]) {
    let _ = attempt(&mut Unstructured::new(data));
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    let spec = rings::negacyclic(u, 256)?;
    with_word!(u, spec, steps)
}

fn steps<W: Word>(u: &mut Unstructured, spec: RingSpec) -> Result<()> {
    let kntt = match Kntt::new(&spec) {
        Ok(kntt) => kntt,
        Err(_) => {
            assert!(spec.method().shape().is_none(), "{spec} has a transform and no k-NTT");
            return Ok(());
        }
    };
    let (n, q) = (spec.n(), spec.q());
    let (a, b) = (operands::polynomial::<W>(u, n, q)?, operands::polynomial::<W>(u, n, q)?);
    let widen = |words: &[W]| words.iter().map(|word| word.to_u64()).collect::<Vec<_>>();
    let (f, g) = (widen(&a), widen(&b));

    assert_eq!(kntt.interleave(&kntt.split(&f)), f, "split and interleave in {spec}");
    let transformed = |poly: &[u64]| {
        let mut parts = kntt.split(poly);
        parts.iter_mut().for_each(|part| kntt.transform(part));
        parts
    };
    let (parts_f, parts_g) = (transformed(&f), transformed(&g));
    let mut back = parts_f.clone();
    back.iter_mut().for_each(|part| kntt.inverse(part));
    compare::equal("inverse of the parts", &spec, &kntt.interleave(&back), &f);

    // Products at the points, both ways of the cross terms.
    let squares: Vec<_> = parts_f.iter().zip(&parts_g).map(|(f, g)| kntt.pointwise(f, g)).collect();
    let pair = |i: usize, j: usize| ((&parts_f[i][..], &parts_f[j][..]), (&parts_g[i][..], &parts_g[j][..]));
    let cross: Vec<Vec<Vec<u64>>> = (0..kntt.parts())
        .map(|i| {
            let row = (i + 1..kntt.parts()).map(|j| {
                let (f, g) = pair(i, j);
                let product = kntt.cross(f, g, (&squares[i], &squares[j]));
                compare::equal("Karatsuba's cross term", &spec, &product, &kntt.cross_schoolbook(f, g));
                product
            });
            row.collect()
        })
        .collect();
    let product = kntt.knttmul(|i, j| if i == j { &squares[i] } else { &cross[i][j - i - 1] });

    // The values of one point lie side by side in a backend's canonical order.
    let order = |parts: &[Vec<u64>]| -> Vec<W> { kntt.interleave(parts).into_iter().map(W::from_u64).collect() };
    let ring = UserRing::<W>::new(spec.clone()).expect("the word fits");
    let mut backends = compare::cpu_backends();
    backends.push(("reference", AnyBackend::Reference(Reference)));
    for (name, backend) in backends {
        let context = RingContext::new(backend, ring.clone()).unwrap();
        let (x, y) = (context.upload(&a).unwrap(), context.upload(&b).unwrap());
        let (x, y) = (context.ntt(&x).unwrap(), context.ntt(&y).unwrap());
        let export = |values| context.export_ntt(values).unwrap().download().unwrap();
        compare::equal(&format!("transform on {name}"), &spec, &export(&x), &order(&parts_f));
        let values = context.pointwise(&x, &y).unwrap();
        compare::equal(&format!("pointwise on {name}"), &spec, &export(&values), &order(&product));
    }

    let mut result = product;
    result.iter_mut().for_each(|part| kntt.inverse(part));
    let result = kntt.interleave(&result);
    compare::equal("the steps and multiply", &spec, &result, &kntt.multiply(&f, &g));
    compare::equal("the steps and multiply_schoolbook", &spec, &result, &kntt.multiply_schoolbook(&f, &g));
    let oracle = RingContext::new(Reference, ring).unwrap();
    let expected = oracle.mul(&oracle.upload(&a).unwrap(), &oracle.upload(&b).unwrap()).unwrap().download().unwrap();
    compare::equal("the steps and the oracle", &spec, &result, &widen(&expected));
    Ok(())
}
