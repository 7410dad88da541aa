//! The suite of RNS rings on every backend of this crate.
#![cfg(feature = "conformance")]

use karat::Cpu;
use karat::backend::cpu::Level;

karat::rns_conformance! {
    scalar: Cpu::scalar();
    single_threaded: Cpu::scalar().single_threaded(), small, mixed;
    avx2: Cpu::with_level(Level::Avx2);
    avx512: Cpu::with_level(Level::Avx512);
}

mod chosen {
    use karat::AnyBackend;

    karat::rns_conformance! {
        any: AnyBackend::from_name("auto"), small, mixed;
    }
}
