//! The CUDA kernels, run on this CPU thread by thread under a detector for races and bounds, against the oracle: any
//! small ring, every variant, any order of threads.

use arbitrary::{Result, Unstructured};
use karat::arith::Word;
use karat::backend::cuda::{Device, Limits, Variant};
use karat::ring::kntt::Kntt;
use karat::{Reference, RingContext, RingSpec, UserRing};
use karat_emulation::{Emulated, Order};

use crate::{compare, operands, rings, with_word};

/// Multiplies in a ring that the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = attempt(&mut Unstructured::new(data));
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    let spec = rings::ring(u, 96)?;
    with_word!(u, spec, multiply)
}

fn multiply<W: Word>(u: &mut Unstructured, spec: RingSpec) -> Result<()> {
    let (n, q) = (spec.n(), spec.q());
    // Automatic choices need programs of single rings, which only kernels/host compiles.
    let variant = match u.int_in_range(0..=3u8)? {
        0 => Variant::Fused,
        1 => Variant::Halves(u.int_in_range(0..=3)?),
        2 => Variant::Passes,
        _ => Variant::Patent,
    };
    let order = match u.int_in_range(0..=2u8)? {
        0 => Order::Ascending,
        1 => Order::Descending,
        _ => Order::Rotating(u.arbitrary()?),
    };
    let device = Emulated::new().with_order(order);
    let limits = device.limits();
    let device = match u.int_in_range(0..=3u8)? {
        // No node of a transform fits a block, or few do.
        0 => device.with_limits(Limits { shared: 16, ..limits }),
        1 => device.with_limits(Limits { shared: 512, workspace: 40 << 10, ..limits }),
        _ => device,
    };
    let batch = u.int_in_range(1..=3)?;
    let (a, b) = (operands::batch::<W>(u, batch, n, q)?, operands::batch::<W>(u, batch, n, q)?);

    let ring = UserRing::<W>::new(spec.clone()).expect("the word fits");
    let oracle = RingContext::new(Reference, ring.clone()).expect("the oracle takes every ring");
    let expected = oracle.mul(&oracle.upload(&a).unwrap(), &oracle.upload(&b).unwrap()).unwrap().download().unwrap();
    let kernels = match RingContext::new(device.backend(variant), ring) {
        // The patent's kernels are steps of the k-NTT and of nothing else.
        Err(_) if variant == Variant::Patent && Kntt::new(&spec).is_err() => return Ok(()),
        kernels => kernels.expect("every ring has a method"),
    };
    let (x, y) = (kernels.upload(&a).unwrap(), kernels.upload(&b).unwrap());
    let what = |operation: &str| format!("{operation}, {variant:?}, {order:?}");
    let product = kernels.mul(&x, &y).unwrap().download().unwrap();
    compare::equal(&what("mul"), &spec, &product, &expected);
    let (x, y) = (kernels.ntt(&x).unwrap(), kernels.ntt(&y).unwrap());
    let product = kernels.intt(&kernels.pointwise(&x, &y).unwrap()).unwrap().download().unwrap();
    compare::equal(&what("intt(ntt·ntt)"), &spec, &product, &expected);
    Ok(())
}
