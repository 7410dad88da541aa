//! The traits of the crate `kem` for the keys of ML-KEM.
//!
//! A parameter set, [`MlKem768Params`] for example, is a [`kem::Kem`]. Its keys use the CPU at its best level. A
//! decapsulation key comes from its seed `d ‖ z` (64 bytes, the short form of FIPS 203) or from a generator; an
//! encapsulation key from its encoding, which is checked. To store a decapsulation key, take its
//! [`seed`](DecapsulationKey::seed).
//!
//! Kyber has no such implementation: it is not for new keys.

use std::sync::OnceLock;

use hybrid_array::Array as Typenum;
use hybrid_array::sizes::{U32, U64, U768, U800, U1088, U1184, U1568};
use kem::common::{Generate, InvalidKey, Key, KeyExport, KeyInit, KeySizeUser, TryKeyInit};
use kem::{Ciphertext, Decapsulate, Decapsulator, Encapsulate, SharedKey};
use rand_core::{CryptoRng, TryCryptoRng};

use super::pke::halves;
use super::{DecapsulationKey, EncapsulationKey, Kem, MlKem512Params, MlKem768Params, MlKem1024Params, Parameters};
use crate::schemes::Wiped;
use crate::{Cpu, RingContext, ring::presets::MlKem};

/// The ring that all such keys share.
fn kem<P: Parameters>() -> Kem<P> {
    static RING: OnceLock<RingContext<Cpu, MlKem>> = OnceLock::new();
    let ring = RING.get_or_init(|| match RingContext::new(Cpu::new(), MlKem) {
        Ok(ring) => ring,
        Err(error) => unreachable!("every level of the CPU multiplies in the ring of ML-KEM: {error}"),
    });
    Kem::with_ring(ring.clone())
}

/// Bytes of known length as the arrays of the traits.
fn typenum<U: hybrid_array::ArraySize>(bytes: &[u8]) -> Typenum<u8, U> {
    Typenum::from_fn(|i| bytes[i])
}

impl<P: Parameters + kem::Kem<DecapsulationKey = Self, EncapsulationKey = EncapsulationKey<P>>> Decapsulator
    for DecapsulationKey<P>
{
    type Kem = P;

    fn encapsulation_key(&self) -> &EncapsulationKey<P> {
        self.encapsulation_key()
    }
}

/// From the seed `d ‖ z`.
impl<P: Parameters> KeySizeUser for DecapsulationKey<P> {
    type KeySize = U64;
}

impl<P: Parameters> KeyInit for DecapsulationKey<P> {
    fn new(seed: &Key<Self>) -> Self {
        let (d, z) = halves(&seed.0);
        kem::<P>().key_from_seed(d, z)
    }
}

impl<P: Parameters> Generate for DecapsulationKey<P> {
    fn try_generate_from_rng<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, R::Error> {
        let mut seed = Wiped::new([0; 64]);
        rng.try_fill_bytes(&mut seed[..])?;
        let (d, z) = halves(&seed);
        Ok(kem::<P>().key_from_seed(d, z))
    }
}

macro_rules! parameter_sets {
    ($($P:ty, $Ek:ty, $Ct:ty;)*) => {$(
        impl kem::Kem for $P {
            type DecapsulationKey = DecapsulationKey<Self>;
            type EncapsulationKey = EncapsulationKey<Self>;
            type SharedKeySize = U32;
            type CiphertextSize = $Ct;
        }

        impl Decapsulate for DecapsulationKey<$P> {
            fn decapsulate(&self, ciphertext: &Ciphertext<$P>) -> SharedKey<$P> {
                match self.decaps(ciphertext) {
                    Ok(secret) => Typenum(secret),
                    Err(error) => unreachable!("the type has the right length: {error}"),
                }
            }
        }

        impl KeySizeUser for EncapsulationKey<$P> {
            type KeySize = $Ek;
        }

        impl TryKeyInit for EncapsulationKey<$P> {
            fn new(key: &Key<Self>) -> Result<Self, InvalidKey> {
                kem::<$P>().encapsulation_key(key).map_err(|_| InvalidKey)
            }
        }

        impl KeyExport for EncapsulationKey<$P> {
            fn to_bytes(&self) -> Key<Self> {
                typenum(self.to_bytes().as_ref())
            }
        }

        impl Encapsulate for EncapsulationKey<$P> {
            type Kem = $P;

            fn encapsulate_with_rng<R: CryptoRng + ?Sized>(&self, rng: &mut R) -> (Ciphertext<$P>, SharedKey<$P>) {
                let mut m = Wiped::new([0; 32]);
                rng.fill_bytes(&mut m[..]);
                let (ciphertext, secret) = self.encaps(&m);
                (typenum(&ciphertext), Typenum(secret))
            }
        }
    )*};
}

parameter_sets! {
    MlKem512Params, U800, U768;
    MlKem768Params, U1184, U1088;
    MlKem1024Params, U1568, U1568;
}

#[cfg(test)]
mod tests {
    use super::*;
    use getrandom::{SysRng, rand_core::UnwrapErr};
    use kem::FromSeed;

    /// What any code that is generic over `kem::Kem` does.
    fn exchange<K: kem::Kem<DecapsulationKey: Decapsulate>>() {
        let rng = &mut UnwrapErr(SysRng);
        let (dk, ek) = K::generate_keypair_from_rng(rng);
        let encoded = KeyExport::to_bytes(&ek);
        let sent = <K::EncapsulationKey as TryKeyInit>::new(&encoded).expect("a good key");
        assert!(sent == ek);
        let (ciphertext, secret) = sent.encapsulate_with_rng(rng);
        assert!(dk.decapsulate(&ciphertext) == secret);
        let other = Typenum::from_fn(|i| ciphertext[i] ^ 1);
        assert!(dk.decapsulate(&other) != secret);
        assert!(<K::EncapsulationKey as TryKeyInit>::new(&Typenum::from_fn(|_| 0xff)).is_err());
    }

    #[test]
    fn generic_code() {
        exchange::<MlKem512Params>();
        exchange::<MlKem768Params>();
        exchange::<MlKem1024Params>();
    }

    /// What a generator made can be stored in both forms.
    #[test]
    fn random_keys_are_stored() {
        let (dk, ek) = <MlKem768Params as kem::Kem>::generate_keypair_from_rng(&mut UnwrapErr(SysRng));
        let stored = *dk.seed().expect("it has a seed");
        let (again, _) = MlKem768Params::from_seed(&Typenum(stored));
        assert_eq!(again.to_bytes(), dk.to_bytes());
        let read = kem::<MlKem768Params>().decapsulation_key(&dk.to_bytes()).expect("a good key");
        assert!(read.encapsulation_key() == &ek && read.seed().is_none());
        assert_eq!(read.to_bytes(), dk.to_bytes());
    }

    #[test]
    fn seeds_are_those_of_the_standard() {
        let (dk, ek) = MlKem768Params::from_seed(&Typenum([7; 64]));
        assert_eq!(dk.seed(), Some(&[7; 64]));
        let (expected, _) = kem::<MlKem768Params>().keygen(&[7; 32], &[7; 32]);
        assert_eq!(ek.to_bytes(), expected);
    }
}
