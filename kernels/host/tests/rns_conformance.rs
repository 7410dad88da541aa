//! The library's suite of RNS rings on the emulated device.
//!
//! Lengths from `2^10` on run in two launches where the emulation has a program for them, the others pass by pass.

use karat::backend::cuda::{NttVariant, Variant};
use karat_emulation::{Emulated, EmulatedGpu};

fn gpu(device: Emulated, ntt: &str) -> EmulatedGpu {
    device.backend(Variant::Automatic).with_ntt(NttVariant::parse(ntt).unwrap())
}

karat::rns_conformance! {
    emulated: gpu(Emulated::new().without_detector(), ""), small, widths, mixed, lengths;
    detector: gpu(Emulated::new(), ""), small, mixed;
    radix2: gpu(Emulated::new().without_detector(), "ntt:radix2"), small, mixed;
    radix8_shoup: gpu(Emulated::new().without_detector(), "ntt:radix8+shoup"), widths;
    radix4_barrett: gpu(Emulated::new().without_detector(), "ntt:radix4+barrett"), widths;
    native: gpu(Emulated::new().without_detector(), "ntt:native"), small;
}
