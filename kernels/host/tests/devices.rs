//! Several emulated devices as one backend.

mod common;

use common::agree;
use karat::backend::cuda::{Gpus, Variant};
use karat::backend::{Backend, Erase};
use karat::ring::presets::{MlDsa, MlKem};
use karat::{Error, RingContext, RingMul};
use karat_emulation::Emulated;

fn devices(count: usize) -> Gpus<Emulated> {
    Gpus::new((0..count).map(|_| Emulated::new().without_detector().backend(Variant::Fused)).collect()).unwrap()
}

karat::conformance! {
    devices: devices(3), small;
    one_device: devices(1), small;
}

/// Batches that leave devices without work, and that do not divide.
#[test]
fn any_batch() {
    for batch in [1, 2, 5] {
        for ring in ["ml-kem", "ml-dsa", "saber"] {
            agree(&devices(3), ring, batch);
        }
    }
    common::matrices(&devices(3), MlDsa, 4);
}

/// Each device holds its own part, once.
#[test]
fn a_batch_is_cut_into_runs() {
    let gpus = devices(3);
    gpus.each().iter().for_each(|gpu| gpu.device().watch_freed());
    let context = RingContext::new(gpus.clone(), MlKem).unwrap();
    let a: Vec<u16> = (0..6 * 256).map(|i| i % 3329).collect();
    let operand = context.upload(&a).unwrap();
    drop(context.mul(&operand, &operand).unwrap());
    drop(operand);
    for (i, gpu) in gpus.each().iter().enumerate() {
        let part: &[u8] = bytemuck::cast_slice(&a[i * 512..][..512]);
        let found = gpu.device().freed().iter().filter(|freed| freed.contents.starts_with(part)).count();
        assert_eq!(found, 1, "device {i}");
    }
}

/// Buffers that are cut for one batch may be used for another, and keep what lies behind it.
#[test]
fn another_cut() {
    let gpus = devices(3);
    let plan = RingMul::<MlKem>::plan(&gpus, &MlKem).unwrap();
    let words: Vec<u16> = (0..5 * 256).map(|i| i * 7 % 3329).collect();
    let mut a = gpus.alloc::<u16>(5 * 256, Erase::OnDrop).unwrap();
    gpus.upload(&words, &mut a).unwrap();
    let mut out = gpus.alloc::<u16>(5 * 256, Erase::OnDrop).unwrap();
    RingMul::<MlKem>::mul(&gpus, &plan, 5, &a, &a, &mut out).unwrap();
    let mut five = vec![0; 5 * 256];
    gpus.download(&out, &mut five).unwrap();
    RingMul::<MlKem>::mul(&gpus, &plan, 2, &a, &a, &mut out).unwrap();
    let mut two = vec![0; 5 * 256];
    gpus.download(&out, &mut two).unwrap();
    assert_eq!(five, two);
}

#[test]
fn faults_of_callers_are_errors() {
    assert!(matches!(Gpus::<Emulated>::new(Vec::new()), Err(Error::BackendUnavailable { .. })));
    let (two, three) = (devices(2), devices(3));
    let plan = RingMul::<MlKem>::plan(&two, &MlKem).unwrap();
    let a = three.alloc::<u16>(512, Erase::No).unwrap();
    let mut out = three.alloc::<u16>(512, Erase::No).unwrap();
    let foreign = RingMul::<MlKem>::mul(&three, &plan, 2, &a, &a, &mut out);
    assert!(matches!(foreign, Err(Error::Foreign(_))), "a plan of other devices");
    let plan = RingMul::<MlKem>::plan(&three, &MlKem).unwrap();
    RingMul::<MlKem>::mul(&three, &plan, 2, &a, &a, &mut out).unwrap();
    let plan = RingMul::<MlKem>::plan(&two, &MlKem).unwrap();
    let foreign = RingMul::<MlKem>::mul(&two, &plan, 2, &a, &a, &mut out);
    assert!(matches!(foreign, Err(Error::Foreign(_))), "buffers of other devices");
    let long = RingMul::<MlKem>::mul(&two, &plan, usize::MAX / 2, &a, &a, &mut out);
    assert!(matches!(long, Err(Error::WrongLength { .. })));
    assert!(matches!(two.alloc::<u64>(usize::MAX, Erase::No), Err(Error::OutOfMemory { .. })));
}
