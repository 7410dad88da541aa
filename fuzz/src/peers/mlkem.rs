//! ML-KEM by `ml-kem` (RustCrypto), `fips203` (integritychain) and `libcrux-ml-kem` (Cryspen), and by karat.

use karat::Cpu;
use karat::schemes::mlkem::{Kem, Parameters};

/// A ciphertext and a shared secret.
pub type Encapsulated = (Vec<u8>, [u8; 32]);

/// One implementation of one parameter set. `None` is a key or ciphertext that it refuses.
pub trait Implementation: Sync {
    fn name(&self) -> &'static str;

    /// Encapsulation and decapsulation key from `d` and `z`.
    fn keygen(&self, d: &[u8; 32], z: &[u8; 32]) -> (Vec<u8>, Vec<u8>);

    fn encaps(&self, ek: &[u8], m: &[u8; 32]) -> Option<Encapsulated>;

    fn decaps(&self, dk: &[u8], ciphertext: &[u8]) -> Option<[u8; 32]>;

    /// Whether every unreduced coefficient of `ek` and every wrong hash in `dk` is refused.
    fn checks_keys(&self) -> bool;
}

impl<P: Parameters> Implementation for Kem<P> {
    fn name(&self) -> &'static str {
        "karat"
    }

    fn keygen(&self, d: &[u8; 32], z: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
        let (ek, dk) = Kem::keygen(self, d, z);
        (ek.as_ref().to_vec(), dk.as_ref().to_vec())
    }

    fn encaps(&self, ek: &[u8], m: &[u8; 32]) -> Option<Encapsulated> {
        let (ciphertext, secret) = Kem::encaps(self, ek, m).ok()?;
        Some((ciphertext.as_ref().to_vec(), secret))
    }

    fn decaps(&self, dk: &[u8], ciphertext: &[u8]) -> Option<[u8; 32]> {
        Kem::decaps(self, dk, ciphertext).ok()
    }

    fn checks_keys(&self) -> bool {
        true
    }
}

/// A parameter set: karat, and the others.
pub struct Set {
    pub name: &'static str,
    pub rank: usize,
    pub karat: Box<dyn Implementation + Send>,
    pub peers: [&'static (dyn Implementation + Send); 3],
}

/// The three parameter sets.
pub fn sets() -> [Set; 3] {
    use karat::schemes::mlkem::{MlKem512, MlKem768, MlKem1024};
    [
        Set {
            name: "ML-KEM-512",
            rank: 2,
            karat: Box::new(MlKem512::new(Cpu::new()).expect("every CPU has the ring")),
            peers: [&rust_crypto::Set512, &fips::Set512, &libcrux::Set512],
        },
        Set {
            name: "ML-KEM-768",
            rank: 3,
            karat: Box::new(MlKem768::new(Cpu::new()).expect("every CPU has the ring")),
            peers: [&rust_crypto::Set768, &fips::Set768, &libcrux::Set768],
        },
        Set {
            name: "ML-KEM-1024",
            rank: 4,
            karat: Box::new(MlKem1024::new(Cpu::new()).expect("every CPU has the ring")),
            peers: [&rust_crypto::Set1024, &fips::Set1024, &libcrux::Set1024],
        },
    ]
}

mod rust_crypto {
    use super::*;
    use ml_kem::{B32, KeyExport, Seed};

    macro_rules! set {
        ($Set:ident, $module:ident) => {
            pub struct $Set;

            #[allow(deprecated)] // the expanded form of keys, which vectors use
            impl Implementation for $Set {
                fn name(&self) -> &'static str {
                    "ml-kem"
                }

                fn keygen(&self, d: &[u8; 32], z: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
                    use ml_kem::ExpandedKeyEncoding;
                    let mut seed = Seed::default();
                    seed[..32].copy_from_slice(d);
                    seed[32..].copy_from_slice(z);
                    let dk = ml_kem::$module::DecapsulationKey::from_seed(seed);
                    (dk.encapsulation_key().to_bytes().to_vec(), dk.to_expanded_bytes().to_vec())
                }

                fn encaps(&self, ek: &[u8], m: &[u8; 32]) -> Option<Encapsulated> {
                    let ek = ml_kem::$module::EncapsulationKey::new(ek.try_into().ok()?).ok()?;
                    let (ciphertext, secret) = ek.encapsulate_deterministic(&B32::from(*m));
                    Some((ciphertext.to_vec(), secret.into()))
                }

                fn decaps(&self, dk: &[u8], ciphertext: &[u8]) -> Option<[u8; 32]> {
                    use ml_kem::Decapsulate;
                    let dk = ml_kem::$module::DecapsulationKey::from_expanded(dk.try_into().ok()?).ok()?;
                    Some(dk.decapsulate(ciphertext.try_into().ok()?).into())
                }

                fn checks_keys(&self) -> bool {
                    true
                }
            }
        };
    }
    set!(Set512, ml_kem_512);
    set!(Set768, ml_kem_768);
    set!(Set1024, ml_kem_1024);
}

mod fips {
    use super::*;
    use fips203::traits::{Decaps, Encaps, KeyGen, SerDes};

    macro_rules! set {
        ($Set:ident, $module:ident) => {
            pub struct $Set;

            impl Implementation for $Set {
                fn name(&self) -> &'static str {
                    "fips203"
                }

                fn keygen(&self, d: &[u8; 32], z: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
                    let (ek, dk) = fips203::$module::KG::keygen_from_seed(*d, *z);
                    (ek.into_bytes().to_vec(), dk.into_bytes().to_vec())
                }

                fn encaps(&self, ek: &[u8], m: &[u8; 32]) -> Option<Encapsulated> {
                    let ek = fips203::$module::EncapsKey::try_from_bytes(ek.try_into().ok()?).ok()?;
                    let (secret, ciphertext) = ek.encaps_from_seed(m);
                    Some((ciphertext.into_bytes().to_vec(), secret.into_bytes()))
                }

                fn decaps(&self, dk: &[u8], ciphertext: &[u8]) -> Option<[u8; 32]> {
                    let dk = fips203::$module::DecapsKey::try_from_bytes(dk.try_into().ok()?).ok()?;
                    let ciphertext = fips203::$module::CipherText::try_from_bytes(ciphertext.try_into().ok()?).ok()?;
                    Some(dk.try_decaps(&ciphertext).ok()?.into_bytes())
                }

                fn checks_keys(&self) -> bool {
                    true
                }
            }
        };
    }
    set!(Set512, ml_kem_512);
    set!(Set768, ml_kem_768);
    set!(Set1024, ml_kem_1024);
}

mod libcrux {
    use super::*;
    use libcrux_ml_kem::{MlKemCiphertext, MlKemPrivateKey, MlKemPublicKey};

    macro_rules! set {
        ($Set:ident, $module:ident) => {
            pub struct $Set;

            impl Implementation for $Set {
                fn name(&self) -> &'static str {
                    "libcrux-ml-kem"
                }

                fn keygen(&self, d: &[u8; 32], z: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
                    let mut seed = [0; 64];
                    seed[..32].copy_from_slice(d);
                    seed[32..].copy_from_slice(z);
                    let pair = libcrux_ml_kem::$module::generate_key_pair(seed);
                    (pair.pk().to_vec(), pair.sk().to_vec())
                }

                fn encaps(&self, ek: &[u8], m: &[u8; 32]) -> Option<Encapsulated> {
                    let ek = MlKemPublicKey::try_from(ek).ok()?;
                    if !libcrux_ml_kem::$module::validate_public_key(&ek) {
                        return None;
                    }
                    let (ciphertext, secret) = libcrux_ml_kem::$module::encapsulate(&ek, *m);
                    Some((ciphertext.as_ref().to_vec(), secret))
                }

                fn decaps(&self, dk: &[u8], ciphertext: &[u8]) -> Option<[u8; 32]> {
                    let dk = MlKemPrivateKey::try_from(dk).ok()?;
                    let ciphertext = MlKemCiphertext::try_from(ciphertext).ok()?;
                    if !libcrux_ml_kem::$module::validate_private_key(&dk, &ciphertext) {
                        return None;
                    }
                    Some(libcrux_ml_kem::$module::decapsulate(&dk, &ciphertext))
                }

                /// It looks at the hash, not at the coefficients of the key inside.
                fn checks_keys(&self) -> bool {
                    false
                }
            }
        };
    }
    set!(Set512, mlkem512);
    set!(Set768, mlkem768);
    set!(Set1024, mlkem1024);
}
