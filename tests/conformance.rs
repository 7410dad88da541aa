//! The conformance suite on this crate's backends.
#![cfg(feature = "conformance")]

use karat::backend::cpu::Level;
use karat::conformance::{Failure, Property, check, required};
use karat::ring::presets::{MlDsa, MlKem, NtruHrss701, Raccoon};
use karat::{Cpu, Reference};

karat::conformance! {
    scalar: Cpu::scalar();
    single_threaded: Cpu::scalar().single_threaded(), small, large_batches;
    avx2: Cpu::with_level(Level::Avx2);
    avx512: Cpu::with_level(Level::Avx512);
    reference: Reference, small;
}

#[cfg(feature = "cuda")]
mod gpu {
    use karat::AnyBackend;

    karat::conformance! {
        cuda: AnyBackend::from_name("cuda");
    }
}

/// The suite above takes rings by description; a preset's own type goes the same way.
#[test]
fn rings_as_types() -> Result<(), Failure> {
    for property in [Property::Products, Property::Accumulation, Property::CanonicalOrder, Property::Operands] {
        check(&Cpu::new(), &MlKem, property)?;
        check(&Cpu::new(), &MlDsa, property)?;
        check(&Cpu::new(), &Raccoon, property)?;
        check(&Cpu::new(), &NtruHrss701, property)?;
    }
    Ok(())
}

/// A misspelt name in KARAT_REQUIRE would require nothing.
#[test]
fn required_backends_are_known() {
    let known = ["scalar", "single_threaded", "avx2", "avx512", "reference", "cuda", "emulated"];
    for name in required() {
        assert!(known.contains(&name.as_str()), "KARAT_REQUIRE names `{name}`; backends are {known:?}");
    }
}
