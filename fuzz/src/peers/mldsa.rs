//! ML-DSA by `ml-dsa` (RustCrypto), `fips204` (integritychain), `libcrux-ml-dsa` (Cryspen) and, with the feature
//! `aws-lc`, `aws-lc-rs`.

/// One implementation of one parameter set.
pub struct Peer {
    pub name: &'static str,
    /// Public and private key from a seed.
    pub keygen: fn(&[u8; 32]) -> (Vec<u8>, Vec<u8>),
    /// Key, message, context, `rnd`, where it can; `None` where it refuses key or context.
    pub sign: Option<fn(&[u8], &[u8], &[u8], &[u8; 32]) -> Option<Vec<u8>>>,
    /// Key, message, context, signature.
    pub verify: fn(&[u8], &[u8], &[u8], &[u8]) -> bool,
    /// Whether it takes contexts.
    pub contexts: bool,
}

macro_rules! rust_crypto {
    ($P:ident) => {{
        use ml_dsa::{B32, ExpandedSigningKey, Signature, SigningKey, VerifyingKey, $P as P};
        #[allow(deprecated)] // the expanded form of keys, which vectors use
        let peer = Peer {
            name: "ml-dsa",
            keygen: |seed| {
                let key = SigningKey::<P>::from_seed(&B32::from(*seed));
                (key.expanded_key().verifying_key().encode().to_vec(), key.expanded_key().to_expanded().to_vec())
            },
            sign: Some(|sk, message, context, rnd| {
                let head = [0, u8::try_from(context.len()).ok()?];
                let key = ExpandedSigningKey::<P>::from_expanded(sk.try_into().ok()?);
                Some(key.sign_internal(&[&head, context, message], &B32::from(*rnd)).encode().to_vec())
            }),
            verify: |pk, message, context, signature| {
                let (Ok(pk), Ok(signature)) = (pk.try_into(), signature.try_into()) else { return false };
                Signature::<P>::decode(signature).is_some_and(|signature| {
                    VerifyingKey::<P>::decode(pk).verify_with_context(message, context, &signature)
                })
            },
            contexts: true,
        };
        peer
    }};
}

macro_rules! fips {
    ($module:ident) => {{
        use fips204::traits::{KeyGen, SerDes, Signer, Verifier};
        use fips204::$module::*;
        Peer {
            name: "fips204",
            keygen: |seed| {
                let (pk, sk) = KG::keygen_from_seed(seed);
                (pk.into_bytes().to_vec(), sk.into_bytes().to_vec())
            },
            sign: Some(|sk, message, context, rnd| {
                let sk = PrivateKey::try_from_bytes(sk.try_into().ok()?).ok()?;
                Some(sk.try_sign_with_seed(rnd, message, context).ok()?.to_vec())
            }),
            verify: |pk, message, context, signature| {
                let (Ok(pk), Ok(signature)) = (pk.try_into(), signature.try_into()) else { return false };
                PublicKey::try_from_bytes(pk).is_ok_and(|pk| pk.verify(message, &signature, context))
            },
            contexts: true,
        }
    }};
}

macro_rules! libcrux {
    ($module:ident) => {{
        use libcrux_ml_dsa::{MLDSASignature, MLDSASigningKey, MLDSAVerificationKey, $module::*};
        Peer {
            name: "libcrux-ml-dsa",
            keygen: |seed| {
                let pair = generate_key_pair(*seed);
                (pair.verification_key.as_ref().to_vec(), pair.signing_key.as_ref().to_vec())
            },
            sign: Some(|sk, message, context, rnd| {
                let sk = MLDSASigningKey::new(sk.try_into().ok()?);
                Some(sign(&sk, message, context, *rnd).ok()?.as_ref().to_vec())
            }),
            verify: |pk, message, context, signature| {
                let (Ok(pk), Ok(signature)) = (pk.try_into(), signature.try_into()) else { return false };
                verify(&MLDSAVerificationKey::new(pk), message, context, &MLDSASignature::new(signature)).is_ok()
            },
            contexts: true,
        }
    }};
}

#[cfg(feature = "aws-lc")]
macro_rules! aws_lc {
    ($verifying:ident, $signing:ident) => {{
        use aws_lc_rs::encoding::AsRawBytes;
        use aws_lc_rs::signature::{KeyPair, PqdsaKeyPair, UnparsedPublicKey, $signing, $verifying};
        Peer {
            name: "aws-lc-rs",
            keygen: |seed| {
                let key = PqdsaKeyPair::from_seed(&$signing, seed).expect("any seed makes a key");
                let sk = key.private_key().as_raw_bytes().expect("a private key has bytes");
                (key.public_key().as_ref().to_vec(), sk.as_ref().to_vec())
            },
            sign: None,
            verify: |pk, message, _, signature| {
                UnparsedPublicKey::new(&$verifying, pk).verify(message, signature).is_ok()
            },
            contexts: false,
        }
    }};
}

/// The peers of each parameter set.
pub fn peers() -> [Vec<Peer>; 3] {
    let rust = [
        vec![rust_crypto!(MlDsa44), fips!(ml_dsa_44), libcrux!(ml_dsa_44)],
        vec![rust_crypto!(MlDsa65), fips!(ml_dsa_65), libcrux!(ml_dsa_65)],
        vec![rust_crypto!(MlDsa87), fips!(ml_dsa_87), libcrux!(ml_dsa_87)],
    ];
    #[cfg(feature = "aws-lc")]
    let rust = {
        let aws = [
            aws_lc!(ML_DSA_44, ML_DSA_44_SIGNING),
            aws_lc!(ML_DSA_65, ML_DSA_65_SIGNING),
            aws_lc!(ML_DSA_87, ML_DSA_87_SIGNING),
        ];
        let mut all = rust;
        all.iter_mut().zip(aws).for_each(|(set, peer)| set.push(peer));
        all
    };
    rust
}
