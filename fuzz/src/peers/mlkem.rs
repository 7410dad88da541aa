//! ML-KEM by `ml-kem` (RustCrypto), `fips203` (integritychain), `libcrux-ml-kem` (Cryspen) and, with the feature
//! `aws-lc`, `aws-lc-rs`.

/// A ciphertext and a shared secret.
pub type Encapsulated = (Vec<u8>, [u8; 32]);

/// One implementation of one parameter set. `None` is a key or ciphertext that it refuses.
pub struct Peer {
    pub name: &'static str,
    /// Encapsulation and decapsulation key from `d` and `z`, where it can.
    pub keygen: Option<fn(&[u8; 32], &[u8; 32]) -> (Vec<u8>, Vec<u8>)>,
    /// With the randomness `m`; or with its own.
    pub encaps: Encapsulation,
    pub decaps: fn(&[u8], &[u8]) -> Option<[u8; 32]>,
    /// Whether every unreduced coefficient inside a decapsulation key is refused.
    pub checks_keys: bool,
}

/// With the caller's randomness, or with its own.
#[derive(Clone, Copy)]
pub enum Encapsulation {
    Seeded(fn(&[u8], &[u8; 32]) -> Option<Encapsulated>),
    Random(fn(&[u8]) -> Option<Encapsulated>),
}

macro_rules! rust_crypto {
    ($module:ident) => {{
        #[allow(deprecated)] // the expanded form of keys, which vectors use
        use ml_kem::ExpandedKeyEncoding;
        use ml_kem::{B32, Decapsulate, KeyExport, Seed, $module::*};
        #[allow(deprecated)]
        let peer = Peer {
            name: "ml-kem",
            keygen: Some(|d, z| {
                let mut seed = Seed::default();
                seed[..32].copy_from_slice(d);
                seed[32..].copy_from_slice(z);
                let dk = DecapsulationKey::from_seed(seed);
                (dk.encapsulation_key().to_bytes().to_vec(), dk.to_expanded_bytes().to_vec())
            }),
            encaps: Encapsulation::Seeded(|ek, m| {
                let ek = EncapsulationKey::new(ek.try_into().ok()?).ok()?;
                let (ciphertext, secret) = ek.encapsulate_deterministic(&B32::from(*m));
                Some((ciphertext.to_vec(), secret.into()))
            }),
            decaps: |dk, ciphertext| {
                let dk = DecapsulationKey::from_expanded(dk.try_into().ok()?).ok()?;
                Some(dk.decapsulate(ciphertext.try_into().ok()?).into())
            },
            checks_keys: true,
        };
        peer
    }};
}

macro_rules! fips {
    ($module:ident) => {{
        use fips203::traits::{Decaps, Encaps, KeyGen, SerDes};
        use fips203::$module::*;
        Peer {
            name: "fips203",
            keygen: Some(|d, z| {
                let (ek, dk) = KG::keygen_from_seed(*d, *z);
                (ek.into_bytes().to_vec(), dk.into_bytes().to_vec())
            }),
            encaps: Encapsulation::Seeded(|ek, m| {
                let (secret, ciphertext) = EncapsKey::try_from_bytes(ek.try_into().ok()?).ok()?.encaps_from_seed(m);
                Some((ciphertext.into_bytes().to_vec(), secret.into_bytes()))
            }),
            decaps: |dk, ciphertext| {
                let dk = DecapsKey::try_from_bytes(dk.try_into().ok()?).ok()?;
                let ciphertext = CipherText::try_from_bytes(ciphertext.try_into().ok()?).ok()?;
                Some(dk.try_decaps(&ciphertext).ok()?.into_bytes())
            },
            checks_keys: true,
        }
    }};
}

macro_rules! libcrux {
    ($module:ident) => {{
        use libcrux_ml_kem::{MlKemCiphertext, MlKemPrivateKey, MlKemPublicKey, $module::*};
        Peer {
            name: "libcrux-ml-kem",
            keygen: Some(|d, z| {
                let mut seed = [0; 64];
                seed[..32].copy_from_slice(d);
                seed[32..].copy_from_slice(z);
                let pair = generate_key_pair(seed);
                (pair.pk().to_vec(), pair.sk().to_vec())
            }),
            encaps: Encapsulation::Seeded(|ek, m| {
                let ek = MlKemPublicKey::try_from(ek).ok()?;
                let (ciphertext, secret) = validate_public_key(&ek).then(|| encapsulate(&ek, *m))?;
                Some((ciphertext.as_ref().to_vec(), secret))
            }),
            decaps: |dk, ciphertext| {
                let (dk, ciphertext) =
                    (MlKemPrivateKey::try_from(dk).ok()?, MlKemCiphertext::try_from(ciphertext).ok()?);
                validate_private_key(&dk, &ciphertext).then(|| decapsulate(&dk, &ciphertext))
            },
            // It looks at the hash, not at the coefficients of the key inside.
            checks_keys: false,
        }
    }};
}

#[cfg(feature = "aws-lc")]
macro_rules! aws_lc {
    ($set:ident) => {{
        use aws_lc_rs::kem::{DecapsulationKey, EncapsulationKey, $set};
        Peer {
            name: "aws-lc-rs",
            keygen: None,
            encaps: Encapsulation::Random(|ek| {
                let (ciphertext, secret) = EncapsulationKey::new(&$set, ek).ok()?.encapsulate().ok()?;
                Some((ciphertext.as_ref().to_vec(), secret.as_ref().try_into().ok()?))
            }),
            decaps: |dk, ciphertext| {
                let secret = DecapsulationKey::new(&$set, dk).ok()?.decapsulate(ciphertext.into()).ok()?;
                secret.as_ref().try_into().ok()
            },
            checks_keys: false,
        }
    }};
}

/// The peers of each parameter set.
pub fn peers() -> [Vec<Peer>; 3] {
    let rust = [
        vec![rust_crypto!(ml_kem_512), fips!(ml_kem_512), libcrux!(mlkem512)],
        vec![rust_crypto!(ml_kem_768), fips!(ml_kem_768), libcrux!(mlkem768)],
        vec![rust_crypto!(ml_kem_1024), fips!(ml_kem_1024), libcrux!(mlkem1024)],
    ];
    #[cfg(feature = "aws-lc")]
    let rust = {
        let aws = [aws_lc!(ML_KEM_512), aws_lc!(ML_KEM_768), aws_lc!(ML_KEM_1024)];
        let mut all = rust;
        all.iter_mut().zip(aws).for_each(|(set, peer)| set.push(peer));
        all
    };
    rust
}
