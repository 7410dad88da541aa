//! ML-DSA. The key comes from the all-zero seed, contexts are empty, signatures deterministic and equal, except those of
//! aws-lc-rs, which are always hedged.
//!
//! A signing row is the mean over all messages. karat, libcrux and aws-lc-rs start from encoded keys in every call, and
//! karat's rows marked `(key)` from keys that were read before; the others have no other way than the latter.

use std::hint::black_box;
use std::path::Path;

use aws_lc_rs::signature::{PqdsaKeyPair, UnparsedPublicKey};
use karat::schemes::mldsa::{MlDsa44, MlDsa65, MlDsa87};

use crate::measure::{Bench, call, cpu};

const SEED: [u8; 32] = [0; 32];
const ZERO: [u8; 32] = [0; 32];

/// CCTV's benchmark messages, or as many of our own.
fn messages(set: &str) -> Vec<Vec<u8>> {
    let Some(folder) = std::env::var_os("KARAT_VECTORS") else {
        println!("KARAT_VECTORS is not set: other messages than CCTV's");
        return (0..100).map(|i| format!("karat's benchmark message {i}").into_bytes()).collect();
    };
    let path = Path::new(&folder).join("cctv/ML-DSA/benchmark").join(format!("{set}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let messages: Vec<String> = serde_json::from_str(&text).expect("an array of messages");
    messages.into_iter().map(String::into_bytes).collect()
}

macro_rules! parameter_set {
    ($bench:ident, $name:literal, $Own:ident, $libcrux:ident, $aws:ident, $aws_signing:ident, $RustCrypto:ident, $fips:ident) => {{
        use fips204::traits::{KeyGen, SerDes, Signer, Verifier};
        use ml_dsa::Keypair;

        let messages: &'static [Vec<u8>] = messages($name).leak();
        let first = &messages[0];
        let dsa = $Own::new(cpu()).expect("the ring");
        let (pk, sk) = dsa.keygen(&SEED);
        let key = dsa.signing_key(&sk).expect("a good key");
        let public = dsa.verification_key(&pk).expect("a good key");
        let signature = key.sign(first, b"", &ZERO).expect("a signature");

        let pair = libcrux_ml_dsa::$libcrux::generate_key_pair(SEED);
        let libcrux_signature =
            libcrux_ml_dsa::$libcrux::sign(&pair.signing_key, first, b"", ZERO).expect("a signature");
        assert!(libcrux_signature.as_ref() == &signature);

        let aws = PqdsaKeyPair::from_seed(&aws_lc_rs::signature::$aws_signing, &SEED).expect("a key");
        let aws_public = UnparsedPublicKey::new(&aws_lc_rs::signature::$aws, pk);
        aws_public.verify(first, &signature).expect("a good signature");

        let rust = ml_dsa::ExpandedSigningKey::<ml_dsa::$RustCrypto>::from_seed(&ml_dsa::Seed::from(SEED));
        let rust_public = rust.verifying_key();
        let rust_signature = rust.sign_deterministic(first, b"").expect("a signature");
        assert!(rust_signature.encode().as_slice() == &signature);

        let (fips_pk, fips_sk) = fips204::$fips::KG::keygen_from_seed(&SEED);
        assert!(fips_sk.try_sign_with_seed(&ZERO, first, b"").expect("a signature") == signature);
        assert!(fips_pk.clone().into_bytes() == pk);

        let own = dsa.clone();
        $bench.measure(
            concat!($name, "/keygen"),
            1,
            [
                call("karat", move || {
                    black_box(own.keygen(black_box(&SEED)));
                }),
                call("aws-lc-rs", || {
                    let key = PqdsaKeyPair::from_seed(&aws_lc_rs::signature::$aws_signing, black_box(&SEED));
                    black_box(key.expect("a key"));
                }),
                call("libcrux-ml-dsa", || {
                    black_box(libcrux_ml_dsa::$libcrux::generate_key_pair(black_box(SEED)));
                }),
                call("ml-dsa", || {
                    let key =
                        ml_dsa::SigningKey::<ml_dsa::$RustCrypto>::from_seed(black_box(&ml_dsa::Seed::from(SEED)));
                    black_box(key.verifying_key());
                }),
                call("fips204", || {
                    black_box(fips204::$fips::KG::keygen_from_seed(black_box(&SEED)));
                }),
            ],
        );
        let (own, own_sk, libcrux_sk) = (dsa.clone(), sk, pair.signing_key.clone());
        let mut out = vec![0; signature.len()];
        $bench.measure(
            concat!($name, "/sign"),
            messages.len(),
            [
                call("karat", move || {
                    for m in messages {
                        let _ = black_box(own.sign(&own_sk, m, b"", &ZERO));
                    }
                }),
                call("karat (key)", move || {
                    for m in messages {
                        let _ = black_box(key.sign(m, b"", &ZERO));
                    }
                }),
                call("aws-lc-rs", move || {
                    for m in messages {
                        let _ = black_box(aws.sign(m, &mut out));
                    }
                }),
                call("libcrux-ml-dsa", move || {
                    for m in messages {
                        let _ = black_box(libcrux_ml_dsa::$libcrux::sign(&libcrux_sk, m, b"", ZERO));
                    }
                }),
                call("ml-dsa (key)", move || {
                    for m in messages {
                        let _ = black_box(rust.sign_deterministic(m, b""));
                    }
                }),
                call("fips204 (key)", move || {
                    for m in messages {
                        let _ = black_box(fips_sk.try_sign_with_seed(&ZERO, m, b""));
                    }
                }),
            ],
        );
        $bench.measure(
            concat!($name, "/verify"),
            1,
            [
                call("karat", move || {
                    assert!(dsa.verify(&pk, first, b"", black_box(&signature)).is_ok());
                }),
                call("karat (key)", move || {
                    assert!(public.verify(first, b"", black_box(&signature)).is_ok());
                }),
                call("aws-lc-rs", move || {
                    assert!(aws_public.verify(first, black_box(&signature)).is_ok());
                }),
                call("libcrux-ml-dsa", move || {
                    let result = libcrux_ml_dsa::$libcrux::verify(
                        &pair.verification_key,
                        first,
                        b"",
                        black_box(&libcrux_signature),
                    );
                    assert!(result.is_ok());
                }),
                call("ml-dsa (key)", move || {
                    assert!(rust_public.verify_with_context(first, b"", black_box(&rust_signature)));
                }),
                call("fips204 (key)", move || {
                    assert!(fips_pk.verify(first, black_box(&signature), b""));
                }),
            ],
        );
    }};
}

pub fn all(bench: &mut Bench) {
    parameter_set!(bench, "ML-DSA-44", MlDsa44, ml_dsa_44, ML_DSA_44, ML_DSA_44_SIGNING, MlDsa44, ml_dsa_44);
    parameter_set!(bench, "ML-DSA-65", MlDsa65, ml_dsa_65, ML_DSA_65, ML_DSA_65_SIGNING, MlDsa65, ml_dsa_65);
    parameter_set!(bench, "ML-DSA-87", MlDsa87, ml_dsa_87, ML_DSA_87, ML_DSA_87_SIGNING, MlDsa87, ml_dsa_87);
}
