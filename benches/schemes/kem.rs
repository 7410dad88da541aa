//! ML-KEM. All but aws-lc-rs take the same seeds and must give the same results.
//!
//! karat, libcrux and aws-lc-rs start from encoded keys in every call, and karat's rows marked `(key)` from keys that
//! were read before; the others have no other way than the latter.

use std::hint::black_box;

use karat::schemes::mlkem::{MlKem512, MlKem768, MlKem1024};

use crate::measure::{Bench, call, cpu};

const D: [u8; 32] = [1; 32];
const Z: [u8; 32] = [2; 32];
const M: [u8; 32] = [3; 32];

/// `D ‖ Z`.
const SEED: [u8; 64] = {
    let mut out = [1; 64];
    let mut i = 32;
    while i < 64 {
        out[i] = 2;
        i += 1;
    }
    out
};

macro_rules! parameter_set {
    ($bench:ident, $name:literal, $Own:ident, $libcrux:ident, $aws:ident, $RustCrypto:ident, $fips:ident) => {{
        use fips203::traits::{Decaps, Encaps, KeyGen, SerDes};
        use ml_kem::kem::{Decapsulate, KeyExport};

        let kem = $Own::new(cpu()).expect("the ring");
        let (ek, dk) = kem.keygen(&D, &Z);
        let (ciphertext, secret) = kem.encaps(&ek, &M).expect("a good key");
        let key = kem.decapsulation_key(&dk).expect("a good key");

        let pair = libcrux_ml_kem::$libcrux::generate_key_pair(SEED);
        let (libcrux_ct, libcrux_secret) = libcrux_ml_kem::$libcrux::encapsulate(pair.public_key(), M);
        assert!(pair.pk() == &ek && libcrux_ct.as_slice() == &ciphertext && libcrux_secret == secret);

        let aws_dk = aws_lc_rs::kem::DecapsulationKey::generate(&aws_lc_rs::kem::$aws).expect("a key");
        let aws_ek = aws_lc_rs::kem::EncapsulationKey::new(&aws_lc_rs::kem::$aws, &ek).expect("a good key");
        let aws_own = aws_dk.encapsulation_key().expect("a key");
        let (aws_ct, aws_secret) = aws_own.encapsulate().expect("a secret");
        let aws_ct = aws_ct.as_ref().to_vec();
        let back = aws_dk.decapsulate(aws_ct.as_slice().into()).expect("a secret");
        assert!(back.as_ref() == aws_secret.as_ref());

        type RustCryptoKey = ml_kem::DecapsulationKey<ml_kem::$RustCrypto>;
        let rust_dk = RustCryptoKey::from_seed(ml_kem::array::Array(SEED));
        let rust_ek = rust_dk.encapsulation_key().clone();
        assert!(rust_ek.to_bytes().as_slice() == &ek);
        let (rust_ct, rust_secret) = rust_ek.encapsulate_deterministic(&ml_kem::array::Array(M));
        assert!(rust_ct.as_slice() == &ciphertext && rust_secret.as_slice() == &secret);

        let (fips_ek, fips_dk) = fips203::$fips::KG::keygen_from_seed(D, Z);
        let (fips_secret, fips_ct) = fips_ek.encaps_from_seed(&M);
        assert!(fips_secret.into_bytes() == secret && fips_ct.clone().into_bytes() == ciphertext);

        let own = kem.clone();
        $bench.measure(
            concat!($name, "/keygen"),
            1,
            [
                call("karat", move || {
                    black_box(own.keygen(black_box(&D), &Z));
                }),
                call("aws-lc-rs", || {
                    black_box(aws_lc_rs::kem::DecapsulationKey::generate(&aws_lc_rs::kem::$aws).expect("a key"));
                }),
                call("libcrux-ml-kem", || {
                    black_box(libcrux_ml_kem::$libcrux::generate_key_pair(black_box(SEED)));
                }),
                call("ml-kem", || {
                    black_box(RustCryptoKey::from_seed(black_box(ml_kem::array::Array(SEED))));
                }),
                call("fips203", || {
                    black_box(fips203::$fips::KG::keygen_from_seed(black_box(D), Z));
                }),
            ],
        );
        let (own, own_key, own_ek, libcrux_pk) = (kem.clone(), key.clone(), ek, pair.public_key().clone());
        $bench.measure(
            concat!($name, "/encaps"),
            1,
            [
                call("karat", move || {
                    black_box(own.encaps(black_box(&own_ek), &M).expect("a good key"));
                }),
                call("karat (key)", move || {
                    black_box(own_key.encapsulation_key().encaps(black_box(&M)));
                }),
                call("aws-lc-rs", move || {
                    black_box(aws_ek.encapsulate().expect("a secret"));
                }),
                call("libcrux-ml-kem", move || {
                    black_box(libcrux_ml_kem::$libcrux::encapsulate(&libcrux_pk, black_box(M)));
                }),
                call("ml-kem (key)", move || {
                    black_box(rust_ek.encapsulate_deterministic(black_box(&ml_kem::array::Array(M))));
                }),
                call("fips203 (key)", move || {
                    black_box(fips_ek.encaps_from_seed(black_box(&M)));
                }),
            ],
        );
        $bench.measure(
            concat!($name, "/decaps"),
            1,
            [
                call("karat", move || {
                    black_box(kem.decaps(black_box(&dk), &ciphertext).expect("a good key"));
                }),
                call("karat (key)", move || {
                    black_box(key.decaps(black_box(&ciphertext)).expect("the right length"));
                }),
                call("aws-lc-rs", move || {
                    black_box(aws_dk.decapsulate(aws_ct.as_slice().into()).expect("a secret"));
                }),
                call("libcrux-ml-kem", move || {
                    black_box(libcrux_ml_kem::$libcrux::decapsulate(pair.private_key(), black_box(&libcrux_ct)));
                }),
                call("ml-kem (key)", move || {
                    black_box(rust_dk.decapsulate(black_box(&rust_ct)));
                }),
                call("fips203 (key)", move || {
                    black_box(fips_dk.try_decaps(black_box(&fips_ct)).expect("a secret"));
                }),
            ],
        );
    }};
}

pub fn all(bench: &mut Bench) {
    parameter_set!(bench, "ML-KEM-512", MlKem512, mlkem512, ML_KEM_512, MlKem512, ml_kem_512);
    parameter_set!(bench, "ML-KEM-768", MlKem768, mlkem768, ML_KEM_768, MlKem768, ml_kem_768);
    parameter_set!(bench, "ML-KEM-1024", MlKem1024, mlkem1024, ML_KEM_1024, MlKem1024, ml_kem_1024);
}
