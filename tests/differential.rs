//! The differential test finds what it is for, and accepts what is right.
#![cfg(feature = "conformance")]

#[path = "../examples/fuzz_your_own/product.rs"]
mod product;

use karat::conformance::{Counterexample, Differential, Outcome, differential};
use karat::{Reference, RingContext, RingSpec, UserRing};
use product::{Mistake, ntt, schoolbook};

const WIDE_Q: u32 = 268_435_459;

fn ring(text: &str) -> RingSpec {
    text.parse().unwrap()
}

fn wide() -> RingSpec {
    ring("n=256,q=268435459,f=x^256+1")
}

fn terms(polynomial: &[u32]) -> usize {
    polynomial.iter().filter(|c| **c != 0).count()
}

#[test]
fn right_functions_pass() {
    assert!(differential(&ring("ml-dsa"), |a, b| ntt(None, a, b)).unwrap().compared > 1000);
    assert!(differential(&wide(), |a, b| schoolbook(None, WIDE_Q, a, b)).is_ok());
    assert!(differential(&ring("n=8,q=17,f=x^8+1"), |a, b| schoolbook(None, 17, a, b)).is_ok());
}

#[test]
fn the_oracle_passes_in_every_kind_of_ring() {
    for text in ["q=17,f=x+1", "q=2,f=x^3-1", "q=4591,f=x^61-x-1", "q=257,f=x^64+1,alpha=3", "q=8192,f=x^64+1"] {
        let spec = ring(text);
        let oracle = RingContext::new(Reference, UserRing::<u32>::new(spec.clone()).unwrap()).unwrap();
        let product = |a: &[u32], b: &[u32]| {
            oracle.mul(&oracle.upload(a).unwrap(), &oracle.upload(b).unwrap()).unwrap().download().unwrap()
        };
        differential(&spec, product).unwrap();
    }
}

#[test]
fn a_missing_final_reduction() {
    let found = differential(&ring("ml-dsa"), |a, b| ntt(Some(Mistake::NoFinalReduction), a, b)).unwrap_err();
    let Outcome::Wrong { got, expected, .. } = found.outcome else { panic!("{found}") };
    assert_eq!((got - expected, terms(&found.a), terms(&found.b)), (8_380_417, 1, 1), "{found}");
    assert!(found.to_string().contains("a final reduction is missing"), "{found}");
}

#[test]
fn a_swapped_twiddle() {
    let found = differential(&ring("ml-dsa"), |a, b| ntt(Some(Mistake::SwappedTwiddle), a, b)).unwrap_err();
    assert!(matches!(found.outcome, Outcome::Wrong { .. }), "{found}");
    let ones = |polynomial: &[u32]| polynomial.iter().filter(|c| **c == 1).count();
    assert_eq!((terms(&found.a), terms(&found.b), ones(&found.a)), (1, 1, 1), "{found}");
}

#[test]
fn an_overflow_at_the_greatest_residue() {
    let found = differential(&wide(), |a, b| schoolbook(Some(Mistake::NarrowSum), WIDE_Q, a, b)).unwrap_err();
    let largest = |polynomial: &[u32]| polynomial.iter().filter(|c| **c > WIDE_Q - 1000).count();
    assert!(largest(&found.a) > 200 && largest(&found.b) > 200, "{found}");
    assert!(found.to_string().contains("terms)"), "{found}");
}

#[test]
fn panics_and_lengths_are_findings() {
    let spec = ring("n=8,q=17,f=x^8+1");
    let panics = |a: &[u32], b: &[u32]| {
        assert!(a[5] < 9, "a[5] is {}", a[5]);
        schoolbook(None, 17, a, b)
    };
    let found = differential(&spec, panics).unwrap_err();
    assert_eq!(found.outcome, Outcome::Panicked("a[5] is 9".into()));
    assert_eq!((&found.a[..], terms(&found.b)), (&[0, 0, 0, 0, 0, 9, 0, 0][..], 0));

    let short = |a: &[u32], b: &[u32]| schoolbook(None, 17, a, b)[1..].to_vec();
    let found = differential(&spec, short).unwrap_err();
    assert_eq!(found.outcome, Outcome::Length { got: 7, expected: 8 });
}

#[test]
fn any_bytes_are_an_input_for_fuzzing() {
    let test = Differential::<u32>::new(&wide()).unwrap();
    let mut calls = 0;
    for len in 0..40 {
        let bytes: Vec<u8> = (0..len * 61).map(|i| (i * i + len) as u8).collect();
        test.fuzz(&bytes, |a, b| {
            calls += 1;
            assert!(a.iter().chain(b).all(|c| *c < WIDE_Q));
            schoolbook(None, WIDE_Q, a, b)
        });
    }
    assert_eq!(calls, 40);
}

#[test]
#[should_panic(expected = "should be")]
fn fuzzing_panics_at_a_wrong_product() {
    let test = Differential::<u32>::new(&ring("ml-dsa")).unwrap();
    for byte in 0..=u8::MAX {
        test.fuzz(&[byte, 1, 2, 3], |a, b| ntt(Some(Mistake::SwappedTwiddle), a, b));
    }
}

#[test]
fn reports_are_errors_and_print_their_message() {
    fn is_error<E: std::error::Error>(_: &E) {}
    let found: Counterexample<u32> =
        differential(&ring("q=17,f=x^2+1"), |_: &[u32], _: &[u32]| vec![0, 0]).unwrap_err();
    is_error(&found);
    assert_eq!(format!("{found:?}"), format!("{found}"));
}
