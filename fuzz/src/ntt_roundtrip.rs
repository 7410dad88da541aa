//! Transforms there and back, from both ends, on every CPU backend.

use arbitrary::{Result, Unstructured};
use karat::arith::{Modulus, Word};
use karat::context::{Ntt, Public};
use karat::{AnyBackend, PolyBatch, RingContext, RingSpec, UserRing};

use crate::{compare, operands, rings, with_word};

/// Public values in the transform domain.
type Values<W> = PolyBatch<AnyBackend, UserRing<W>, Ntt, Public>;

/// Transforms what the bytes describe.
pub fn run(data: &[u8]) {
    let _ = attempt(&mut Unstructured::new(data));
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    let spec = rings::ring(u, 4096)?;
    with_word!(u, spec, round_trips)
}

fn round_trips<W: Word>(u: &mut Unstructured, spec: RingSpec) -> Result<()> {
    let (n, q) = (spec.n(), spec.q());
    let batch = if n > 256 { 1 } else { u.int_in_range(1..=3)? };
    let (a, b) = (operands::batch::<W>(u, batch, n, q)?, operands::batch::<W>(u, batch, n, q)?);
    let factor = u.arbitrary::<u64>()? % q;
    let ring = UserRing::<W>::new(spec.clone()).expect("the word fits");
    let m = Modulus::<u64>::new(q).expect("q is in its range");
    // factor·x + y, value by value.
    let combine = |x: &[W], y: &[W]| -> Vec<W> {
        let values = x.iter().zip(y);
        values.map(|(x, y)| W::from_u64(m.add(m.mul(factor, x.to_u64()), y.to_u64()))).collect()
    };
    for (name, backend) in compare::cpu_backends() {
        let context = RingContext::new(backend, ring.clone()).unwrap();
        let forward = |words: &[W]| context.ntt(&context.upload(words).unwrap()).unwrap();
        let transformed = forward(&a);
        let back = context.intt(&transformed).unwrap().download().unwrap();
        compare::equal(&format!("intt(ntt) on {name}"), &spec, &back, &a);

        if spec.method().shape().is_none() {
            assert!(context.export_ntt(&transformed).is_err(), "a lifted ring exports nothing");
            continue;
        }
        let export = |values: &Values<W>| context.export_ntt(values).unwrap().download().unwrap();
        // Any residues are the transform of something.
        let values = context.import_ntt(&context.upload(&b).unwrap()).unwrap();
        compare::equal(&format!("export(import) on {name}"), &spec, &export(&values), &b);
        let again = context.ntt(&context.intt(&values).unwrap()).unwrap();
        compare::equal(&format!("ntt(intt) on {name}"), &spec, &export(&again), &b);
        // The transform is linear.
        let sum = combine(&export(&transformed), &export(&forward(&b)));
        compare::equal(&format!("ntt(c·a + b) on {name}"), &spec, &export(&forward(&combine(&a, &b))), &sum);
    }
    Ok(())
}
