//! The conformance suite on this crate's backends.
#![cfg(feature = "conformance")]

use karat::{Cpu, Reference};

karat::conformance! {
    scalar: Cpu::scalar();
    single_threaded: Cpu::scalar().single_threaded(), small, large_batches;
    reference: Reference, small;
}

#[cfg(feature = "cuda")]
mod gpu {
    use karat::AnyBackend;

    karat::conformance! {
        cuda: AnyBackend::from_name("cuda");
    }
}
