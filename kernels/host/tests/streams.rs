//! Recordings, forked streams, pinned memory, and what memory holds when it is given back.

mod common;

use common::{Random, streams};
use karat::backend::Erase;
use karat::backend::cuda::{Device, Limits, Variant};
use karat::ring::presets::{MlDsa, MlKem, Saber};
use karat::{Ring, RingContext, RingSpec, UserRing};
use karat_emulation::Emulated;

#[test]
fn recordings() {
    for variant in [Variant::Automatic, Variant::Fused, Variant::Halves(0), Variant::Passes, Variant::Patent] {
        let gpu = Emulated::new().without_detector().backend(variant);
        streams::recordings(&gpu, MlKem, 3);
        streams::recordings(&gpu, MlDsa, 2);
        if variant != Variant::Patent {
            streams::recordings(&gpu, Saber, 2);
        }
    }
}

#[test]
fn what_cannot_be_recorded() {
    streams::what_cannot_be_recorded(&Emulated::new().backend(Variant::Automatic));
}

#[test]
fn forks() {
    streams::forks(&Emulated::new().without_detector().backend(Variant::Automatic), 2);
    let gpu = Emulated::new().without_detector().backend(Variant::Halves(0));
    streams::forks(&gpu, 2);
}

#[test]
fn pinned_memory() {
    streams::pinned(&Emulated::new().backend(Variant::Automatic));
}

#[test]
fn products_from_pinned_memory() {
    streams::pipeline(&Emulated::new().without_detector().backend(Variant::Automatic), 5);
}

/// What memory holds when it is given back after secret work: tables of the ring, or zeros.
fn given_back<R: Ring>(ring: R, variant: Variant) {
    let device = Emulated::new().without_detector();
    // Little room, so that the work is split and scratch memory used.
    let device = device.clone().with_limits(Limits { workspace: 40 << 10, ..device.limits() });
    let (n, q) = (ring.spec().n(), ring.spec().q());
    let gpu = device.clone().backend(variant);
    let context = RingContext::new(gpu, ring).unwrap();
    device.watch_freed();
    let a = context.upload_secret(&Random(9).residues::<R::Word>(3 * n, q, false)).unwrap();
    let product = context.mul(&a, &a).unwrap();
    let ntt = context.ntt(&product).unwrap();
    let sum = context.pointwise(&ntt, &context.ntt(&a).unwrap());
    let back = sum.and_then(|sum| context.intt(&sum));
    drop((a, product, ntt, back));
    let early = device.freed().len();
    drop(context);
    let watch = device.clone();
    drop(device);
    let freed = watch.freed();
    assert!(early >= 3 && freed.len() > early, "{early} of {} pieces", freed.len());
    let secret: Vec<_> = freed.iter().filter(|memory| memory.erase == Erase::OnDrop).collect();
    assert!(secret.len() >= 3 && secret.iter().all(|memory| memory.contents.iter().all(|byte| *byte == 0)));
    // What is not erased was uploaded once: the tables of plans.
    assert!(freed.iter().filter(|memory| memory.erase == Erase::No).count() <= 3, "{} public pieces", freed.len());
}

#[test]
fn freed_secret_memory_is_zero() {
    for variant in [Variant::Automatic, Variant::Fused, Variant::Halves(0), Variant::Passes] {
        given_back(MlKem, variant);
        given_back(MlDsa, variant);
        given_back(Saber, variant);
        let ring: RingSpec = "q=4611686018326724609,f=x^1024+1".parse().unwrap();
        given_back(UserRing::<u64>::new(ring).unwrap(), variant);
    }
    given_back(MlKem, Variant::Patent);
}
