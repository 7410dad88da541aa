//! The same checks on a real GPU. Without one: skipped, or failed where `KARAT_REQUIRE` names cuda.

mod common;

use common::{RINGS, Random, agree, products_agree, streams};
use karat::backend::cuda::{Cuda, Gpus, MAX_POINTS, Variant};
use karat::backend::{Backend, Erase};
use karat::ring::presets::{Falcon512, MlDsa, MlKem, Saber};
use karat::{AnyBackend, Cpu, Error, Ring, RingContext, RingMul};

fn gpu() -> Option<Cuda> {
    match Cuda::new(0) {
        Ok(gpu) => Some(gpu),
        Err(error) => {
            let required = std::env::var("KARAT_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "cuda"), "KARAT_REQUIRE names cuda: {error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// `count` different products in one call, the first one of a fresh handle, against the CPU.
fn many<R: Ring>(gpu: Cuda, ring: R, count: usize) {
    let (n, q) = (ring.spec().n(), ring.spec().q());
    let mut random = Random(count as u64);
    let a: Vec<R::Word> = random.residues(count * n, q, false);
    let b: Vec<R::Word> = random.residues(count * n, q, false);
    let device = RingContext::new(gpu, ring.clone()).unwrap();
    let got = device.mul(&device.upload(&a).unwrap(), &device.upload(&b).unwrap()).unwrap().download().unwrap();
    let cpu = RingContext::new(Cpu::new(), ring).unwrap();
    let expected = cpu.mul(&cpu.upload(&a).unwrap(), &cpu.upload(&b).unwrap()).unwrap().download().unwrap();
    for (i, (got, expected)) in got.chunks(n).zip(expected.chunks(n)).enumerate() {
        assert!(got == expected, "product {i} of {count} differs");
    }
}

#[test]
fn the_first_call_with_a_hundred_thousand_products() {
    let Some(gpu) = gpu() else { return };
    many(gpu, MlKem, 100_003);
    many(Cuda::new(0).unwrap(), MlDsa, 100_003);
    many(Cuda::new(0).unwrap(), Falcon512, 50_001);
    many(Cuda::new(0).unwrap(), Saber, 20_003);
}

#[test]
fn every_ring_and_variant() {
    let Some(gpu) = gpu() else { return };
    let all = [Variant::Automatic, Variant::Fused, Variant::Halves(0), Variant::Halves(3), Variant::Passes];
    for variant in all {
        let gpu = gpu.clone().with_variant(variant);
        for ring in RINGS {
            agree(&gpu, ring, 33);
        }
    }
    let patent = gpu.with_variant(Variant::Patent);
    for ring in ["ml-kem", "ml-dsa", "falcon-1024", "raccoon", "q=12289,f=x^1536+1", "q=12289,f=x^1024+1,alpha=2"] {
        agree(&patent, ring, 33);
    }
    for alpha in 2..=5 {
        let n = MAX_POINTS << alpha;
        agree(&patent, &format!("q=1152921504606584833,f=x^{n}+1,alpha={alpha}"), 3);
    }
}

/// Every kernel once, with little work: what compute-sanitizer runs.
#[test]
fn every_kernel() {
    let Some(gpu) = gpu() else { return };
    for variant in [Variant::Automatic, Variant::Fused, Variant::Halves(0), Variant::Passes, Variant::Patent] {
        let gpu = gpu.clone().with_variant(variant);
        for ring in ["ml-kem", "ml-dsa", "falcon-512", "falcon-1024", "haetae", "raccoon", "q=12289,f=x^1536+1"] {
            agree(&gpu, ring, 3);
        }
        if variant != Variant::Patent {
            for ring in ["saber", "sntrup761", "ntruplus-864", "q=4611686018427387847,f=x^64+1", "q=1000,f=x^1000-1"] {
                agree(&gpu, ring, 3);
            }
        }
    }
}

#[test]
fn every_length() {
    let Some(gpu) = gpu() else { return };
    for variant in [Variant::Automatic, Variant::Halves(0)] {
        let gpu = gpu.clone().with_variant(variant);
        for log in 0..=17 {
            // 60-bit, 62-bit and 30-bit primes with 2^18 | p - 1.
            for q in ["1152921504606584833", "4611686018326724609", "998244353"] {
                agree(&gpu, &format!("q={q},f=x^{}+1", 1u32 << log), 3);
            }
        }
    }
}

#[test]
fn several_streams_and_threads() {
    if gpu().is_none() {
        return;
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let gpu = Cuda::new(0).unwrap();
                for _ in 0..3 {
                    many(gpu.clone(), MlKem, 5_000);
                    many(gpu.clone(), Saber, 500);
                }
            });
        }
    });
}

#[test]
fn large_rings_in_three_launches() {
    let Some(gpu) = gpu() else { return };
    let gpu = gpu.with_variant(Variant::Large);
    for log in 12..=16 {
        for q in ["1152921504606584833", "1125899903827969"] {
            products_agree::<u64>(&gpu, &format!("q={q},f=x^{}+1", 1u32 << log), 45);
        }
    }
}

#[test]
fn large_rings_in_clusters() {
    let Some(gpu) = gpu() else { return };
    for variant in ["product:cluster", "product:cluster/4/8/0", "product:cluster/8/16/2", "product:cluster/16/16/0"] {
        let gpu = gpu.clone().with_variant(Variant::parse(variant).unwrap());
        for log in 13..=16 {
            for q in ["1152921504606584833", "1125899903827969"] {
                products_agree::<u64>(&gpu, &format!("q={q},f=x^{}+1", 1u32 << log), 45);
            }
            products_agree::<u32>(&gpu, &format!("q=268369921,f=x^{}+1,alpha=4", 1u32 << log), 45);
        }
        products_agree::<u16>(&gpu, "q=12289,f=x^8192+1,alpha=3", 45);
    }
}

/// All GPUs of this machine, or one.
#[test]
fn a_batch_over_all_devices() {
    if gpu().is_none() {
        return;
    }
    let gpus = Gpus::all().unwrap();
    for ring in ["ml-kem", "ml-dsa", "falcon-512", "saber"] {
        agree(&gpus, ring, 1001);
    }
    common::matrices(&gpus, MlKem, 33);
}

/// Matrices of several shapes, whose lanes are stored in 16 bits.
#[test]
fn matrices() {
    let Some(gpu) = gpu() else { return };
    common::matrices(&gpu, MlKem, 1000);
    common::matrices(&gpu, Falcon512, 33);
    common::matrices(&gpu, MlDsa, 33);
}

#[test]
fn recordings() {
    let Some(gpu) = gpu() else { return };
    for variant in [Variant::Automatic, Variant::Fused, Variant::Halves(0), Variant::Passes, Variant::Patent] {
        let gpu = gpu.clone().with_variant(variant);
        streams::recordings(&gpu, MlKem, 1000);
        streams::recordings(&gpu, MlDsa, 33);
        if variant != Variant::Patent {
            streams::recordings(&gpu, Saber, 33);
        }
    }
    streams::what_cannot_be_recorded(&gpu);
}

#[test]
fn forks_and_pinned_memory() {
    let Some(gpu) = gpu() else { return };
    streams::forks(&gpu, 3000);
    streams::forks(&gpu.clone().with_variant(Variant::Halves(0)), 300);
    streams::pinned(&gpu);
    streams::pipeline(&gpu, 200_003);
}

#[test]
fn errors_leave_the_device_usable() {
    let Some(gpu) = gpu() else { return };
    let huge = gpu.alloc::<u64>(1 << 46, Erase::No);
    assert!(matches!(huge, Err(Error::OutOfMemory { .. })), "{:?}", huge.err());
    let other = Cuda::new(0).unwrap();
    let plan = RingMul::<MlKem>::plan(&gpu, &MlKem).unwrap();
    let foreign = other.alloc::<u16>(256, Erase::No).unwrap();
    let mut out = gpu.alloc::<u16>(256, Erase::No).unwrap();
    assert!(matches!(RingMul::<MlKem>::mul(&gpu, &plan, 1, &foreign, &foreign, &mut out), Err(Error::Foreign(_))));
    many(gpu, MlKem, 100);
    assert!(AnyBackend::from_name("cuda").is_ok());
    assert!(matches!(AnyBackend::from_name("cuda:99"), Err(Error::BackendUnavailable { .. })));
}
