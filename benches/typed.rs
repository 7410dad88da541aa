//! Products and transforms of the suite `ring`, as `karat bench ring` measures them (ids `op/ring/backend/batch`), and
//! what the public API adds to the bare kernels for one small product.
//!
//! `cargo bench --bench typed -- mul/ml-kem`

#[path = "../src/bin/karat/bench/case.rs"]
mod case;
#[path = "../src/bin/karat/operands.rs"]
mod operands;

use std::time::Duration;

use case::{Case, Op, subjects};
use criterion::{Criterion, criterion_group, criterion_main};
use karat::arith::Word;
use karat::context::{Coeff, Public};
use karat::ring::presets::MlKem;
use karat::{AnyBackend, Backend, Cpu, PolyBatch, RingContext, UserRing};
use std::hint::black_box;

fn suite(criterion: &mut Criterion) {
    let backend = AnyBackend::from_env().expect("KARAT_BACKEND names a backend of this machine");
    for subject in subjects().expect("there are NTT primes of these sizes") {
        for &batch in subject.batches {
            let spec = subject.spec.clone();
            match spec.word_bits() {
                16 => case::<u16>(criterion, &backend, &subject.name, UserRing::new(spec), batch),
                32 => case::<u32>(criterion, &backend, &subject.name, UserRing::new(spec), batch),
                _ => case::<u64>(criterion, &backend, &subject.name, UserRing::new(spec), batch),
            }
        }
    }
}

fn case<W: Word>(
    criterion: &mut Criterion,
    backend: &AnyBackend,
    name: &str,
    ring: karat::Result<UserRing<W>>,
    batch: usize,
) {
    let ring = ring.expect("the word fits the ring");
    // Made for the first operation that the command line selects.
    let mut case = None;
    for op in Op::ALL {
        let id = format!("{}/{name}/{}/{batch}", op.name(), backend.name());
        criterion.bench_function(&id, |bencher| {
            let case =
                case.get_or_insert_with(|| Case::new(backend, ring.clone(), batch).expect("the ring works here"));
            assert!(case.is_right(op).expect("the operation runs"), "{id} is wrong");
            bencher.iter(|| case.run(op));
        });
    }
}

/// One product in ML-KEM's ring: the kernels alone, slices through the checked API, and batches.
fn public_api(criterion: &mut Criterion) {
    let ring = RingContext::new(Cpu::new(), MlKem).expect("a preset");
    let backend = ring.backend().name();
    let (a, b) = operands::operands::<u16>(karat::Ring::spec(&MlKem), operands::EXTREMES + 1, 1);
    let (a, b) = (&a[operands::EXTREMES * 256..], &b[operands::EXTREMES * 256..]);
    let mut c = vec![0u16; 256];
    criterion.bench_function(&format!("mul/ml-kem/{backend}/1/kernels"), |bencher| {
        bencher.iter(|| ring.plan().multiply(black_box(a), black_box(b), black_box(&mut c[..])));
    });
    criterion.bench_function(&format!("mul/ml-kem/{backend}/1/mul_slices"), |bencher| {
        bencher.iter(|| ring.mul_slices(black_box(a), black_box(b), black_box(&mut c[..])));
    });
    let (a, b) = (ring.upload(a).expect("reduced"), ring.upload(b).expect("reduced"));
    let mut c: PolyBatch<_, _, Coeff, Public> = ring.zeros(1).expect("little memory");
    criterion.bench_function(&format!("mul/ml-kem/{backend}/1/mul_into"), |bencher| {
        bencher.iter(|| ring.mul_into(black_box(&a), black_box(&b), black_box(&mut c)));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30);
    targets = public_api, suite
}
criterion_main!(benches);
