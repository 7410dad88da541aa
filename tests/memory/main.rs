//! Reads stay inside their inputs, and secrets do not stay on the stack.
#![cfg(unix)]

mod guarded;
mod stack;

use guarded::Guarded;
use karat::schemes::mldsa::{self, Dsa};
use karat::schemes::mlkem::{self, Kem};
use karat::{AnyBackend, Cpu};

/// The levels that this CPU has.
fn levels() -> Vec<Cpu> {
    let cpus = AnyBackend::all().into_iter().filter_map(|(_, backend)| match backend {
        Ok(AnyBackend::Cpu(cpu)) => Some(cpu),
        _ => None,
    });
    cpus.collect()
}

/// Both ends of each input at a guard page.
fn placements() -> [fn(&[u8]) -> Guarded; 2] {
    [Guarded::before_the_end, Guarded::after_the_start]
}

fn kem<P: mlkem::Parameters>() {
    for cpu in levels() {
        let kem = Kem::<P>::new(cpu).unwrap();
        let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
        let expected = kem.encaps(ek.as_ref(), &[3; 32]).unwrap();
        for place in placements() {
            let (ek, dk, ciphertext) = (place(ek.as_ref()), place(dk.as_ref()), place(expected.0.as_ref()));
            let again = kem.encaps(&ek, &[3; 32]).unwrap();
            assert!(again.0.as_ref() == expected.0.as_ref() && again.1 == expected.1);
            assert_eq!(kem.decaps(&dk, &ciphertext), Ok(expected.1));
            assert_eq!(kem.decaps_batch(&[&dk[..]], &[&ciphertext[..]]).unwrap(), [Ok(expected.1)]);
            let again = kem.encaps_batch(&[&ek[..]], &[[3; 32]]).unwrap();
            assert!(again[0].as_ref().is_ok_and(|(_, secret)| *secret == expected.1));
        }
    }
}

fn dsa<P: mldsa::Parameters>() {
    for cpu in levels() {
        let dsa = Dsa::<P>::new(cpu).unwrap();
        let (pk, sk) = dsa.keygen(&[1; 32]);
        let signature = dsa.sign(sk.as_ref(), b"message", b"context", &[0; 32]).unwrap();
        for place in placements() {
            let (pk, sk, expected) = (place(pk.as_ref()), place(sk.as_ref()), place(signature.as_ref()));
            let (message, context) = (place(b"message"), place(b"context"));
            let input = mldsa::Input::Message { message: &message, context: &context };
            assert!(dsa.sign_input(&sk, input, &[0; 32]).unwrap().as_ref() == &expected[..]);
            assert_eq!(dsa.verify_input(&pk, input, &expected), Ok(()));
            assert_eq!(dsa.verify_batch(&[&pk[..]], &[input], &[&expected[..]]).unwrap(), [Ok(())]);
            assert!(dsa.sign_batch(&[&sk[..]], &[input], &[[0; 32]]).unwrap()[0].is_ok());
        }
    }
}

#[test]
fn kem_inputs_beside_guard_pages() {
    kem::<mlkem::MlKem512Params>();
    kem::<mlkem::MlKem768Params>();
    kem::<mlkem::MlKem1024Params>();
}

#[test]
fn dsa_inputs_beside_guard_pages() {
    dsa::<mldsa::MlDsa44Params>();
    dsa::<mldsa::MlDsa65Params>();
    dsa::<mldsa::MlDsa87Params>();
}
