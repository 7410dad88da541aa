//! The bytes that `Plan::traffic` promises, against those that the detector saw.
#![cfg(not(emulation_asan))]

use karat::backend::cuda::{Device, Limits, Variant};
use karat::{Ring, RingContext, UserRing, arith::Word};
use karat_emulation::Emulated;

fn counted<W: Word>(text: &str, variant: Variant, batch: usize) {
    let ring = UserRing::<W>::new(text.parse().unwrap()).unwrap();
    let n = ring.spec().n();
    let limits = Emulated::new().limits();
    let device = Emulated::new().with_limits(Limits { cluster: 16, shared: 227 << 10, ..limits });
    let watcher = device.fork().unwrap();
    watcher.watch_freed();
    let context = RingContext::new(device.backend(variant), ring).unwrap();
    let operand = |x: u64| context.upload(&vec![W::from_u64(x); batch * n]).unwrap();
    let (a, b) = (operand(1), operand(2));
    let promised = context.plan().traffic::<W>(batch).unwrap();
    drop((context.mul(&a, &b).unwrap(), a, b, context));
    // Operands have a length of their own; what is neither they nor written to are tables.
    let bytes = batch * n * size_of::<W>();
    let data = |freed: &&karat_emulation::Freed| freed.written > 0 || freed.contents.len() == bytes;
    let (mut read, mut written) = (0, 0);
    for freed in watcher.freed().iter().filter(data) {
        (read, written) = (read + freed.read as usize, written + freed.written as usize);
    }
    assert_eq!((read, written), (batch * promised.read, batch * promised.written), "{text}, {variant}");
}

#[test]
fn short_rings() {
    for variant in [Variant::Automatic, Variant::Fused, Variant::Patent] {
        counted::<u16>("ml-kem", variant, 5);
        counted::<u32>("ml-dsa", variant, 5);
    }
    counted::<u16>("q=12289,f=x^1024+1,alpha=3", Variant::Patent, 2);
    counted::<u16>("saber", Variant::Fused, 2);
    counted::<u32>("ml-dsa", Variant::Halves(0), 5);
}

#[test]
fn long_rings() {
    counted::<u64>("q=1125899903827969,f=x^8192+1", Variant::Cluster(None), 2);
    counted::<u64>("q=1125899903827969,f=x^4096+1", Variant::Large, 1);
    counted::<u64>("q=1125899903827969,f=x^8192+1,alpha=2", Variant::Patent, 1);
}
