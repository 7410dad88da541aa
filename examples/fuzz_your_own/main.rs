//! Tests a product function of one's own against karat: `cargo run --release --example fuzz_your_own`.
//!
//! `product.rs` holds two implementations, right ones and ones with a mistake that known-answer tests miss. Replace
//! them by your own; `fuzz/README.md` shows the same as a target of libFuzzer.

mod product;

use karat::conformance::differential;
use product::{Mistake, ntt, schoolbook};

fn main() -> karat::Result<()> {
    let dilithium = "ml-dsa".parse()?;
    let wide = "n=256,q=268435459,f=x^256+1".parse()?;

    for mistake in [None, Some(Mistake::NoFinalReduction), Some(Mistake::SwappedTwiddle)] {
        match differential(&dilithium, |a, b| ntt(mistake, a, b)) {
            Ok(report) => println!("{mistake:?}: {} products are right", report.compared),
            Err(found) => println!("{mistake:?}: {found}"),
        }
    }
    for mistake in [None, Some(Mistake::NarrowSum)] {
        match differential(&wide, |a, b| schoolbook(mistake, 268_435_459, a, b)) {
            Ok(report) => println!("{mistake:?}: {} products are right", report.compared),
            Err(found) => println!("{mistake:?}: {found}"),
        }
    }
    Ok(())
}
