//! Every operation in every kind of ring, on the kernels themselves.

mod common;

use common::{RINGS, agree, products_agree};
use karat::backend::cuda::{Device, Limits, Variant};
use karat_emulation::{Emulated, Order};

#[test]
fn every_ring_with_one_block_a_product() {
    let backend = Emulated::new().backend(Variant::Automatic);
    for ring in RINGS {
        agree(&backend, ring, 3);
    }
}

/// The general kernel for the rings that have one in registers.
#[test]
fn one_block_a_product_where_registers_would_do() {
    let backend = Emulated::new().backend(Variant::Fused);
    for ring in ["ml-kem", "ml-dsa", "falcon-512", "falcon-1024", "haetae"] {
        agree(&backend, ring, 2);
    }
}

/// Batches around the products of one block: some lanes have no polynomial.
#[test]
fn batches_that_do_not_fill_a_block() {
    let backend = Emulated::new().backend(Variant::Automatic);
    for batch in [1, 4, 15, 16, 17, 33] {
        for ring in ["ml-kem", "ml-dsa", "falcon-512", "falcon-1024", "haetae"] {
            agree(&backend, ring, batch);
        }
    }
}

#[test]
fn every_ring_in_halves() {
    for first in [0, 1, 3] {
        let backend = Emulated::new().backend(Variant::Halves(first));
        for ring in RINGS {
            agree(&backend, ring, 2);
        }
    }
}

#[test]
fn every_ring_pass_by_pass() {
    let backend = Emulated::new().backend(Variant::Passes);
    for ring in RINGS {
        agree(&backend, ring, 2);
    }
}

/// Little shared memory: layers in global memory first, and blocks for nodes.
#[test]
fn passes_through_global_memory() {
    let limits = Limits { shared: 512, workspace: 40 << 10, ..Emulated::new().limits() };
    let backend = Emulated::new().with_limits(limits).backend(Variant::Automatic);
    for ring in
        ["ml-kem", "ml-dsa", "falcon-1024", "raccoon", "saber", "ntru-hps2048509", "sntrup761", "q=257,f=x^1024+1"]
    {
        agree(&backend, ring, 3);
    }
    // No node fits: everything in global memory.
    let limits = Limits { shared: 16, ..Emulated::new().limits() };
    let backend = Emulated::new().with_limits(limits).backend(Variant::Automatic);
    for ring in ["ml-kem", "ml-dsa", "saber", "ntruplus-864"] {
        agree(&backend, ring, 2);
    }
}

#[test]
fn any_order_of_threads() {
    for order in [Order::Descending, Order::Rotating(7), Order::Rotating(1234)] {
        for variant in [Variant::Automatic, Variant::Passes] {
            let backend = Emulated::new().with_order(order).backend(variant);
            for ring in ["ml-kem", "ml-dsa", "saber", "ntru-hps2048509"] {
                agree(&backend, ring, 2);
            }
        }
    }
}

#[test]
fn large_rings() {
    let backend = Emulated::new().without_detector().backend(Variant::Automatic);
    for ring in [
        "q=1152921504606748673,f=x^16384+1",
        "q=12289,f=x^16384+1",
        "q=998244353,f=x^32768+1",
        "q=1152921504606584833,f=x^131072+1",
        "q=257,f=x^65537+x+1",
    ] {
        agree(&backend, ring, 1);
    }
}

/// Three launches, 16 lanes a thread: primes just below the limits of both classes, with the detector on the shortest.
#[test]
fn large_rings_in_three_launches() {
    for (backend, logs) in [(Emulated::new(), 12..=12), (Emulated::new().without_detector(), 13..=16)] {
        let backend = backend.backend(Variant::Large);
        for log in logs {
            for q in ["1152921504606584833", "1125899903827969"] {
                let ring = format!("q={q},f=x^{}+1", 1u32 << log);
                if ring.parse::<karat::RingSpec>().is_ok_and(|ring| ring.method().label().1 == Some(0)) {
                    products_agree::<u64>(&backend, &ring, 2);
                }
            }
        }
    }
}

#[test]
fn matrices() {
    use karat::ring::presets::{Falcon512, MlDsa, MlKem};
    let backend = Emulated::new().backend(Variant::Automatic);
    common::matrices(&backend, MlKem, 2);
    common::matrices(&backend, Falcon512, 2);
    common::matrices(&backend, MlDsa, 2);
}

#[test]
fn bad_operands_are_errors() {
    use karat::backend::{Backend, Erase, Matrix};
    use karat::ring::presets::MlKem;
    use karat::{Error, RingMul};
    let backend = Emulated::new().backend(Variant::Automatic);
    let other = Emulated::new().backend(Variant::Automatic);
    let plan = RingMul::<MlKem>::plan(&backend, &MlKem).unwrap();
    let a = backend.alloc::<u16>(512, Erase::No).unwrap();
    let mut out = backend.alloc::<u16>(511, Erase::No).unwrap();
    let mul = |batch, a: &_, out: &mut _| RingMul::<MlKem>::mul(&backend, &plan, batch, a, a, out);
    assert!(matches!(mul(2, &a, &mut out), Err(Error::WrongLength { what: "the result", expected: 512, got: 511 })));
    assert!(matches!(mul(usize::MAX / 16, &a, &mut out), Err(Error::WrongLength { .. })));
    let foreign = other.alloc::<u16>(512, Erase::No).unwrap();
    assert!(matches!(mul(1, &foreign, &mut out), Err(Error::Foreign(_))));
    let (m, v) = (backend.alloc::<u64>(512, Erase::No).unwrap(), backend.alloc::<u64>(512, Erase::No).unwrap());
    let mut o = backend.alloc::<u64>(512, Erase::No).unwrap();
    let shape = Matrix { batch: usize::MAX / 2, rows: 4, columns: 4, shared: true };
    assert!(RingMul::<MlKem>::mat_vec(&backend, &plan, shape, &m, &v, &mut o).is_err());
    assert!(matches!(backend.alloc::<u64>(usize::MAX, Erase::No), Err(Error::OutOfMemory { .. })));
}
