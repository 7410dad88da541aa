//! Kernels with a planted fault.

use karat::backend::cuda::Variant;
use karat::ring::presets::MlKem;
use karat::{Cpu, Result, RingContext};
use karat_emulation::{Emulated, Order};

/// One batch of products on kernels with a fault: what came, and what is right.
pub fn run(program: &'static str, fault: Option<&'static str>, order: Order) -> (Result<Vec<u16>>, Vec<u16>) {
    let variant = if program.starts_with("warp") { Variant::Automatic } else { Variant::Fused };
    let a: Vec<u16> = (0..512u32).map(|i| (i * i * 7 + 1) as u16 % 3329).collect();
    let cpu = RingContext::new(Cpu::scalar(), MlKem).unwrap();
    let operand = cpu.upload(&a).unwrap();
    let expected = cpu.mul(&operand, &operand).unwrap().download().unwrap();
    let device = Emulated::new().with_order(order);
    let device = match fault {
        Some(fault) => device.with_fault(program, fault),
        None => device,
    };
    let device = device.backend(variant);
    let device = RingContext::new(device, MlKem).unwrap();
    let operand = device.upload(&a).unwrap();
    (device.mul(&operand, &operand).and_then(|product| product.download()), expected)
}
