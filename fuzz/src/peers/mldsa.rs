//! ML-DSA by `ml-dsa` (RustCrypto), `fips204` (integritychain) and `libcrux-ml-dsa` (Cryspen), and by karat.

use karat::Cpu;
use karat::schemes::mldsa::{Dsa, Parameters};

/// One implementation of one parameter set.
pub trait Implementation: Sync {
    fn name(&self) -> &'static str;

    /// Public and private key from a seed.
    fn keygen(&self, seed: &[u8; 32]) -> (Vec<u8>, Vec<u8>);

    /// A signature; `None` where it refuses key or context, or has no way to sign with this `rnd`.
    fn sign(&self, sk: &[u8], message: &[u8], context: &[u8], rnd: &[u8; 32]) -> Option<Vec<u8>>;

    fn verify(&self, pk: &[u8], message: &[u8], context: &[u8], signature: &[u8]) -> bool;
}

impl<P: Parameters> Implementation for Dsa<P> {
    fn name(&self) -> &'static str {
        "karat"
    }

    fn keygen(&self, seed: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
        let (pk, sk) = Dsa::keygen(self, seed);
        (pk.as_ref().to_vec(), sk.as_ref().to_vec())
    }

    fn sign(&self, sk: &[u8], message: &[u8], context: &[u8], rnd: &[u8; 32]) -> Option<Vec<u8>> {
        Some(Dsa::sign(self, sk, message, context, rnd).ok()?.as_ref().to_vec())
    }

    fn verify(&self, pk: &[u8], message: &[u8], context: &[u8], signature: &[u8]) -> bool {
        Dsa::verify(self, pk, message, context, signature).is_ok()
    }
}

/// A parameter set: karat, the others, and where the parts of a signature and a private key lie.
pub struct Set {
    pub name: &'static str,
    pub karat: Box<dyn Implementation + Send>,
    pub peers: [&'static (dyn Implementation + Send); 3],
    /// Bytes of the challenge hash; bits of a coefficient of `z`; polynomials in `z`; bound and polynomials of hints.
    pub challenge: usize,
    pub z_bits: usize,
    pub l: usize,
    pub omega: usize,
    pub k: usize,
    /// `gamma1 - beta`.
    pub z_bound: u32,
    /// Bits of a coefficient of `s1` and `s2`.
    pub eta_bits: usize,
}

/// The three parameter sets (FIPS 204, table 1).
pub fn sets() -> [Set; 3] {
    use karat::schemes::mldsa::{MlDsa44, MlDsa65, MlDsa87};
    [
        Set {
            name: "ML-DSA-44",
            karat: Box::new(MlDsa44::new(Cpu::new()).expect("every CPU has the ring")),
            peers: [&rust_crypto::Set44, &fips::Set44, &libcrux::Set44],
            challenge: 32,
            z_bits: 18,
            l: 4,
            omega: 80,
            k: 4,
            z_bound: (1 << 17) - 78,
            eta_bits: 3,
        },
        Set {
            name: "ML-DSA-65",
            karat: Box::new(MlDsa65::new(Cpu::new()).expect("every CPU has the ring")),
            peers: [&rust_crypto::Set65, &fips::Set65, &libcrux::Set65],
            challenge: 48,
            z_bits: 20,
            l: 5,
            omega: 55,
            k: 6,
            z_bound: (1 << 19) - 196,
            eta_bits: 4,
        },
        Set {
            name: "ML-DSA-87",
            karat: Box::new(MlDsa87::new(Cpu::new()).expect("every CPU has the ring")),
            peers: [&rust_crypto::Set87, &fips::Set87, &libcrux::Set87],
            challenge: 64,
            z_bits: 20,
            l: 7,
            omega: 75,
            k: 8,
            z_bound: (1 << 19) - 120,
            eta_bits: 3,
        },
    ]
}

mod rust_crypto {
    use super::*;
    use ml_dsa::{B32, ExpandedSigningKey, Signature, SigningKey, VerifyingKey};

    macro_rules! set {
        ($Set:ident, $P:ident) => {
            pub struct $Set;

            #[allow(deprecated)] // the expanded form of keys, which vectors use
            impl Implementation for $Set {
                fn name(&self) -> &'static str {
                    "ml-dsa"
                }

                fn keygen(&self, seed: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
                    let key = SigningKey::<ml_dsa::$P>::from_seed(&B32::from(*seed));
                    (key.expanded_key().verifying_key().encode().to_vec(), key.expanded_key().to_expanded().to_vec())
                }

                fn sign(&self, sk: &[u8], message: &[u8], context: &[u8], rnd: &[u8; 32]) -> Option<Vec<u8>> {
                    if context.len() > 255 {
                        return None;
                    }
                    let key = ExpandedSigningKey::<ml_dsa::$P>::from_expanded(sk.try_into().ok()?);
                    let head = [0, context.len() as u8];
                    Some(key.sign_internal(&[&head, context, message], &B32::from(*rnd)).encode().to_vec())
                }

                fn verify(&self, pk: &[u8], message: &[u8], context: &[u8], signature: &[u8]) -> bool {
                    let (Ok(pk), Ok(signature)) = (pk.try_into(), signature.try_into()) else {
                        return false;
                    };
                    let Some(signature) = Signature::<ml_dsa::$P>::decode(signature) else {
                        return false;
                    };
                    VerifyingKey::<ml_dsa::$P>::decode(pk).verify_with_context(message, context, &signature)
                }
            }
        };
    }
    set!(Set44, MlDsa44);
    set!(Set65, MlDsa65);
    set!(Set87, MlDsa87);
}

mod fips {
    use super::*;
    use fips204::traits::{KeyGen, SerDes, Signer, Verifier};

    macro_rules! set {
        ($Set:ident, $module:ident) => {
            pub struct $Set;

            impl Implementation for $Set {
                fn name(&self) -> &'static str {
                    "fips204"
                }

                fn keygen(&self, seed: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
                    let (pk, sk) = fips204::$module::KG::keygen_from_seed(seed);
                    (pk.into_bytes().to_vec(), sk.into_bytes().to_vec())
                }

                fn sign(&self, sk: &[u8], message: &[u8], context: &[u8], rnd: &[u8; 32]) -> Option<Vec<u8>> {
                    let sk = fips204::$module::PrivateKey::try_from_bytes(sk.try_into().ok()?).ok()?;
                    Some(sk.try_sign_with_seed(rnd, message, context).ok()?.to_vec())
                }

                fn verify(&self, pk: &[u8], message: &[u8], context: &[u8], signature: &[u8]) -> bool {
                    let (Ok(pk), Ok(signature)) = (pk.try_into(), signature.try_into()) else {
                        return false;
                    };
                    fips204::$module::PublicKey::try_from_bytes(pk)
                        .is_ok_and(|pk| pk.verify(message, &signature, context))
                }
            }
        };
    }
    set!(Set44, ml_dsa_44);
    set!(Set65, ml_dsa_65);
    set!(Set87, ml_dsa_87);
}

mod libcrux {
    use super::*;
    use libcrux_ml_dsa::{MLDSASignature, MLDSASigningKey, MLDSAVerificationKey};

    macro_rules! set {
        ($Set:ident, $module:ident) => {
            pub struct $Set;

            impl Implementation for $Set {
                fn name(&self) -> &'static str {
                    "libcrux-ml-dsa"
                }

                fn keygen(&self, seed: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
                    let pair = libcrux_ml_dsa::$module::generate_key_pair(*seed);
                    (pair.verification_key.as_ref().to_vec(), pair.signing_key.as_ref().to_vec())
                }

                fn sign(&self, sk: &[u8], message: &[u8], context: &[u8], rnd: &[u8; 32]) -> Option<Vec<u8>> {
                    let sk = MLDSASigningKey::new(sk.try_into().ok()?);
                    let signature = libcrux_ml_dsa::$module::sign(&sk, message, context, *rnd).ok()?;
                    Some(signature.as_ref().to_vec())
                }

                fn verify(&self, pk: &[u8], message: &[u8], context: &[u8], signature: &[u8]) -> bool {
                    let (Ok(pk), Ok(signature)) = (pk.try_into(), signature.try_into()) else {
                        return false;
                    };
                    let (pk, signature) = (MLDSAVerificationKey::new(pk), MLDSASignature::new(signature));
                    libcrux_ml_dsa::$module::verify(&pk, message, context, &signature).is_ok()
                }
            }
        };
    }
    set!(Set44, ml_dsa_44);
    set!(Set65, ml_dsa_65);
    set!(Set87, ml_dsa_87);
}
