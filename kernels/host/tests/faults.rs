//! Planted faults: the detector, or the result, shows each of them.
// The build with sanitizers has no detector: see `sanitizers.rs`.
#![cfg(not(emulation_asan))]

mod common;

use common::faulty::run;
use karat_emulation::Order;

fn detected(program: &'static str, fault: &'static str, words: &str) {
    for order in [Order::Ascending, Order::Descending, Order::Rotating(3)] {
        let (result, _) = run(program, Some(fault), order);
        let error = result.expect_err(fault).to_string();
        assert!(error.contains(words), "{fault}: {error}");
    }
}

#[test]
fn without_a_fault_nothing_is_reported() {
    for program in ["product_u16", "warp_u32_256_3329_1_5"] {
        let (result, expected) = run(program, None, Order::Ascending);
        assert_eq!(result.unwrap(), expected);
    }
}

#[test]
fn a_missing_barrier() {
    detected("product_u16", "no_barrier_between_layers", "race");
    detected("product_u16", "no_barrier_before_points", "race");
    detected("warp_u32_256_3329_1_5", "no_warp_barrier", "before it is written");
    detected("warp_u32_256_3329_1_5", "no_warp_barrier_before_reuse", "race");
}

#[test]
fn a_barrier_that_not_all_threads_reach() {
    detected("product_u16", "barrier_in_a_branch", "barrier");
}

#[test]
fn an_index_out_of_range() {
    detected("product_u16", "write_out_of_range", "write outside every buffer");
}

#[test]
fn two_blocks_that_write_the_same_word() {
    detected("product_u16", "two_blocks_write_one_result", "blocks race");
}

#[test]
fn a_wrong_twiddle_shows_in_the_result() {
    let (result, expected) = run("product_u16", Some("wrong_twiddle"), Order::Ascending);
    assert_ne!(result.unwrap(), expected);
}
