//! Reads and writes stay inside what they are given, and secrets stay neither on the stack nor in freed memory.
#![cfg(unix)]

mod freed;
mod guarded;
mod slices;
mod stack;
mod zeroising;

use guarded::Place;
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

/// Small parameters with special primes, for tests alone.
#[cfg(feature = "ckks")]
fn ckks_parameters(log_n: u32) -> karat::ckks::Parameters {
    use karat::ckks::{Chain, Literal, SecretKind, Security, Special};
    let literal = Literal {
        log_n,
        chain: Chain::Bits(vec![58, 45, 45]),
        split: 1,
        special: Special::Bits(vec![60; 2]),
        digits: 2,
        log_scale: 40,
        secret: SecretKind::Ternary,
        security: Security::Insecure,
    };
    literal.validate().unwrap()
}

/// A source of the same bytes for the same number.
#[cfg(feature = "ckks")]
struct Fixed(u64);

#[cfg(feature = "ckks")]
impl Fixed {
    /// The first 32 bytes.
    fn bytes(mut self) -> [u8; 32] {
        use rand_core::TryRng;
        let mut out = [0; 32];
        let Ok(()) = self.try_fill_bytes(&mut out);
        out
    }
}

#[cfg(feature = "ckks")]
impl rand_core::TryRng for Fixed {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok((self.try_next_u64()? >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        Ok((self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for bytes in bytes.chunks_mut(8) {
            bytes.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }
}

#[cfg(feature = "ckks")]
impl rand_core::TryCryptoRng for Fixed {}

fn kem<P: mlkem::Parameters>() {
    for cpu in levels() {
        let kem = Kem::<P>::new(cpu).unwrap();
        let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
        let expected = kem.encaps(ek.as_ref(), &[3; 32]).unwrap();
        for place in [Place::End, Place::Start] {
            let (ek, dk, ciphertext) = (place.put(ek.as_ref()), place.put(dk.as_ref()), place.put(expected.0.as_ref()));
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
        for place in [Place::End, Place::Start] {
            let (pk, sk, expected) = (place.put(pk.as_ref()), place.put(sk.as_ref()), place.put(signature.as_ref()));
            let (message, context) = (place.put(b"message"), place.put(b"context"));
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
