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
mod sizes;
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
    sharing: many_threads, two_contexts, memory_is_used_again, published_values;
    bytes: objects_come_back, hostile_bytes, golden_bytes;
}

/// Lengths for which the errors of all operations are measured. The long ones, and ten thousand operations, take minutes
/// on a CPU: they run where `KARAT_LONG` is set.
macro_rules! sizes_on_every_level {
    ($($level:ident $name:literal $feature:meta),+) => {
        mod sizes_on {
            $(#[cfg($feature)]
            mod $level {
                sizes_on_every_level!(@length $name, n10 10 true, n12 12 true, n13 13 false, n14 14 false, n15 15 false,
                    n16 16 false);

                #[test]
                fn ten_thousand_operations() {
                    if let Some(backend) = crate::setup::long($name) {
                        crate::sizes::ten_thousand_operations(backend);
                    }
                }
            })+
        }
    };
    (@length $name:literal, $($test:ident $log_n:literal $short:literal),+) => {
        $(#[test]
        fn $test() {
            if let Some(backend) = if $short { crate::setup::backend($name) } else { crate::setup::long($name) } {
                crate::sizes::every_operation(backend, $log_n);
            }
        })+
    };
}

sizes_on_every_level! {
    scalar "scalar" all(), avx2 "avx2" all(), avx512 "avx512" all(), cuda "cuda" feature = "cuda"
}

/// Operations on a GPU's ciphertexts, recorded once and replayed on other values; several streams.
#[cfg(feature = "cuda")]
mod recorded;
