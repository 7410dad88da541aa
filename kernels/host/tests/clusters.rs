//! Products by clusters of blocks: every class of words, shape and length, and planted faults.
#![cfg(not(emulation_asan))]

mod common;

use common::products_agree;
use karat::backend::cuda::{ClusterShape, Device, Limits, Variant};
use karat::{Cpu, Error, RingContext, RingSpec, UserRing};
use karat_emulation::{Emulated, Order};

/// As a large GPU has them.
fn large() -> Emulated {
    let limits = Emulated::new().limits();
    Emulated::new().with_limits(Limits { cluster: 16, shared: 227 << 10, ..limits })
}

const SHORTEST: &str = "q=1125899903827969,f=x^8192+1";

/// Just below the limits of their classes, with and without cross terms.
#[test]
fn every_class() {
    let backend = large().backend(Variant::Cluster(None));
    products_agree::<u64>(&backend, "q=1152921504606584833,f=x^8192+1", 2);
    products_agree::<u64>(&backend, "q=1152921504606584833,f=x^8192+1,alpha=2", 1);
    products_agree::<u64>(&backend, SHORTEST, 1);
    products_agree::<u64>(&backend, "q=1125899903827969,f=x^8192+1,alpha=2", 1);
    products_agree::<u32>(&backend, "q=268369921,f=x^8192+1,alpha=2", 1);
    products_agree::<u16>(&backend, "q=12289,f=x^8192+1,alpha=4", 1);
    let eight = ClusterShape { blocks: 8, lanes: 8, alpha: 0 };
    let backend = large().backend(Variant::Cluster(Some(eight)));
    products_agree::<u64>(&backend, "q=1152921504606584833,f=x^8192+1", 1);
}

#[test]
fn every_length() {
    let backend = large().without_detector().backend(Variant::Cluster(None));
    for log in 14..=16 {
        for q in ["1152921504606584833", "1125899903827969"] {
            products_agree::<u64>(&backend, &format!("q={q},f=x^{}+1", 1u32 << log), 1);
        }
    }
}

/// Not the way that was asked for, but the right product.
#[test]
fn a_device_without_clusters_falls_back() {
    let limits = Limits { cluster: 1, shared: 227 << 10, ..Emulated::new().limits() };
    let backend = Emulated::new().without_detector().with_limits(limits).backend(Variant::Cluster(None));
    products_agree::<u64>(&backend, SHORTEST, 1);
}

#[test]
fn a_ring_that_is_too_short_is_an_error() {
    let ring = UserRing::<u16>::new("ml-kem".parse().unwrap()).unwrap();
    let context = RingContext::new(large().backend(Variant::Cluster(None)), ring).unwrap();
    let operand = context.upload(&[1; 256]).unwrap();
    assert!(matches!(context.mul(&operand, &operand), Err(Error::Unsupported { what: "variant `cluster`", .. })));
}

fn faulty(fault: &'static str, order: Order) -> (karat::Result<Vec<u64>>, Vec<u64>) {
    let spec: RingSpec = SHORTEST.parse().unwrap();
    let ring = UserRing::<u64>::new(spec).unwrap();
    let a: Vec<u64> = (0..1u64 << 13).map(|i| (i * i * 7 + 1) << 20).collect();
    let cpu = RingContext::new(Cpu::new(), ring.clone()).unwrap();
    let operand = cpu.upload(&a).unwrap();
    let expected = cpu.mul(&operand, &operand).unwrap().download().unwrap();
    let device = large().with_order(order).with_fault("cluster_u64_13_53_64_blocks8_lanes16_alpha0", fault);
    let device = RingContext::new(device.backend(Variant::Cluster(None)), ring).unwrap();
    let operand = device.upload(&a).unwrap();
    (device.mul(&operand, &operand).and_then(|product| product.download()), expected)
}

#[test]
fn faults_are_found() {
    for (fault, words) in [
        ("no_meeting_before_stores", "before that block is known to run"),
        // A race, or a word that nobody has written yet.
        ("no_barrier_after_stores", "writ"),
        ("no_barrier_before_the_way_back", "race"),
        ("no_barrier_in_a_cluster_block", "race"),
        ("block_ends_early", "block"),
    ] {
        for order in [Order::Ascending, Order::Descending] {
            let error = faulty(fault, order).0.expect_err(fault).to_string();
            assert!(error.contains(words), "{fault}: {error}");
        }
    }
}

#[test]
fn lanes_that_go_to_a_wrong_block_show_in_the_result() {
    let (result, expected) = faulty("wrong_block", Order::Ascending);
    assert_ne!(result.unwrap(), expected);
}
