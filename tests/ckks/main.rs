//! CKKS on every level of the CPU, and on a GPU where there is one: each operation against a plain computation, and the
//! faults that others shipped.

mod arithmetic;
mod bytes;
mod levels;
mod packing;
mod parameters;
mod polynomials;
mod setup;
mod sharing;
mod transforms;

/// One test for each check and backend; one that this machine lacks is said and skipped.
macro_rules! on_every_level {
    ($($module:ident: $($check:ident),+;)+) => {
        on_every_level!(@level scalar "scalar" $($module: $($check),+;)+);
        on_every_level!(@level avx2 "avx2" $($module: $($check),+;)+);
        on_every_level!(@level avx512 "avx512" $($module: $($check),+;)+);
        #[cfg(feature = "cuda")]
        on_every_level!(@level cuda "cuda" $($module: $($check),+;)+);
    };
    (@level $level:ident $name:literal $($module:ident: $($check:ident),+;)+) => {
        mod $level {
            $(mod $module {
                $(#[test]
                fn $check() {
                    if let Some(backend) = crate::setup::backend($name) {
                        crate::$module::$check(backend);
                    }
                })+
            })+
        }
    };
}

on_every_level! {
    arithmetic: sums_and_products, plain_operands, scalars, words_of_32_bits, fresh_noise, noise_of_operations,
        the_same_ciphertext_twice;
    levels: exhaustion_is_an_error, uneven_chains_keep_exact_scales, what_does_not_fit, missing_keys,
        automatic_mode_brings_levels_together;
    packing: rotations_of_distinct_slots, every_packing, coefficients, inner_sums, hoisted_rotations,
        values_that_cannot_be_encoded;
    polynomials: every_degree, intervals, powers_are_kept, manual_mode;
    transforms: dense_and_sparse_matrices, transforms_of_packings;
    sharing: sixteen_threads, two_contexts, memory_is_used_again, published_values;
    bytes: objects_come_back, hostile_bytes, golden_bytes;
}
