//! Operations recorded in a graph, and contexts on several streams.

use karat::AnyBackend;
use karat::backend::cuda::{Cuda, Graph};
use karat::ckks::{Ciphertext, Complex64, Error, Evaluator, Result};

use crate::setup::{Setup, backend, literal, values};

type Operation = fn(&Evaluator<'_, Cuda, u64>, &Ciphertext<Cuda>) -> Result<Ciphertext<Cuda>>;
type Plain = fn(&[Complex64], usize) -> Complex64;

fn gpu() -> Option<Cuda> {
    match backend("cuda")? {
        AnyBackend::Cuda(gpu) => Some(gpu),
        _ => None,
    }
}

#[test]
fn every_operation_is_recorded() {
    let Some(gpu) = gpu() else { return };
    let setup = Setup::new(gpu.clone(), &literal(12, 3), |plan| plan.rotations(&[1, 2]).conjugation());
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let slots = setup.ckks.parameters().slots();
    let operations: [(&str, Operation, Plain); 8] = [
        ("multiply", |e, x| e.multiply(x, x), |a, j| a[j] * a[j]),
        ("square", |e, x| e.square(x), |a, j| a[j] * a[j]),
        ("add", |e, x| e.add(x, x), |a, j| a[j] + a[j]),
        ("rotate", |e, x| e.rotate(x, 1), |a, j| a[(j + 1) % a.len()]),
        ("conjugate", |e, x| e.conjugate(x), |a, j| a[j].conj()),
        ("rescale", |e, x| e.multiply_scalar(x, 0.5), |a, j| 0.5 * a[j]),
        ("multiply_i", |e, x| e.multiply_i(x), |a, j| Complex64::i() * a[j]),
        (
            "hoisted",
            |e, x| {
                let all = e.rotate_hoisted(x, &[1, 2])?;
                e.add(&all[0], &all[1])
            },
            |a, j| a[(j + 1) % a.len()] + a[(j + 2) % a.len()],
        ),
    ];
    for (name, operation, plain) in operations {
        let x = setup.encrypt(&values(slots, 0.5));
        let mut out = None;
        let graph = Graph::record::<Error>(&gpu, |_| {
            out = Some(operation(&evaluator, &x)?);
            Ok(())
        });
        let (graph, out) = (graph.unwrap(), out.unwrap());
        // Other operations between, which use the context's memory too.
        evaluator.rotate(&evaluator.square(&x).unwrap(), 2).unwrap();
        for _ in 0..2 {
            graph.replay().unwrap();
            let a = values(slots, 0.5);
            let wanted: Vec<_> = (0..slots).map(|j| plain(&a, j)).collect();
            println!("{name}");
            setup.expect(&out, &wanted, 22.0);
        }
    }
}

#[test]
fn streams_beside_each_other() {
    let Some(gpu) = gpu() else { return };
    std::thread::scope(|scope| {
        for i in 0..4 {
            let stream = gpu.fork().unwrap();
            scope.spawn(move || {
                let setup = Setup::<_, u64>::new(stream, &literal(11, 2), |plan| plan.rotations(&[1]));
                let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
                let a = values(1024, f64::from(i));
                let x = setup.encrypt(&a);
                let wanted: Vec<_> = (0..1024).map(|j| a[(j + 1) % 1024] * a[(j + 1) % 1024]).collect();
                for _ in 0..20 {
                    let y = evaluator.rotate(&evaluator.square(&x).unwrap(), 1).unwrap();
                    setup.expect(&y, &wanted, 22.0);
                }
            });
        }
    });
}
