//! CKKS on the emulated device: the checks of `tests/ckks` that do without its slowest lengths.
// Checks that run on the other backends alone lie in the same files.
#![allow(dead_code)]

use karat::backend::cuda::Variant;
use karat_emulation::{Emulated, EmulatedGpu};

#[path = "../../../tests/ckks/arithmetic.rs"]
mod arithmetic;
#[path = "../../../tests/ckks/levels.rs"]
mod levels;
#[path = "../../../tests/ckks/packing.rs"]
mod packing;
#[path = "../../../tests/ckks/setup.rs"]
mod setup;
#[path = "../../../tests/ckks/sharing.rs"]
mod sharing;
#[path = "../../../tests/ckks/sizes.rs"]
mod sizes;

fn gpu() -> EmulatedGpu {
    Emulated::new().without_detector().backend(Variant::Automatic)
}

macro_rules! checks {
    ($($module:ident: $($check:ident),+;)+) => {
        $($(#[test]
        fn $check() {
            $module::$check(gpu());
        })+)+
    };
}

checks! {
    arithmetic: sums_and_products, plain_operands, scalars, words_of_32_bits, fresh_noise, the_same_ciphertext_twice;
    levels: exhaustion_is_an_error, uneven_chains_keep_exact_scales, what_does_not_fit, missing_keys,
        automatic_mode_brings_levels_together;
    packing: rotations_of_distinct_slots, coefficients, inner_sums, hoisted_rotations;
    sharing: sixteen_threads, two_contexts, memory_is_used_again;
}

#[test]
fn every_operation() {
    sizes::every_operation(gpu(), 10);
}

/// Nothing reads outside its operands or races on the way through a product, a rotation and their key switches.
#[test]
fn detector() {
    sharing::two_contexts(Emulated::new().backend(Variant::Automatic));
}
