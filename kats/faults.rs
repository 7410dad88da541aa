//! Faults that implementers of ML-KEM and ML-DSA shipped, one test for each kind.

use karat::Cpu;
use karat::schemes::mldsa::{
    Dsa, Input, MlDsa44, MlDsa44Params, MlDsa65, MlDsa65Params, MlDsa87, MlDsa87Params, PreHash,
};
use karat::schemes::mlkem::{Kem, MlKem512, MlKem512Params, MlKem768, MlKem768Params, MlKem1024, MlKem1024Params};
use karat::schemes::{Array, Error, mldsa, mlkem};
use proptest::prelude::*;
use shake::{ExtendableOutput, Shake256, Update, XofReader};

fn kem<P: mlkem::Parameters>() -> Kem<P> {
    Kem::new(Cpu::new()).unwrap()
}

fn dsa<P: mldsa::Parameters>() -> Dsa<P> {
    Dsa::new(Cpu::new()).unwrap()
}

/// What a rejected ciphertext gives, by the definition.
fn rejection(z: &[u8; 32], ciphertext: &[u8]) -> [u8; 32] {
    let mut hash = Shake256::default();
    hash.update(z);
    hash.update(ciphertext);
    let mut out = [0; 32];
    hash.finalize_xof().read(&mut out);
    out
}

fn sha3_256(bytes: &[u8]) -> [u8; 32] {
    use sha3::Digest;
    sha3::Sha3_256::digest(bytes).into()
}

/// One coefficient of an encapsulation key is `q`: refused, also inside a decapsulation key whose hash matches.
#[test]
fn unreduced_keys() {
    fn check<P: mlkem::Parameters>() {
        let kem = kem::<P>();
        let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
        for coefficient in [0, 1, 2, 127, 254, 255, 256 * P::K - 2, 256 * P::K - 1] {
            let mut bad = ek.clone();
            let at = coefficient * 12 / 8;
            // q = 0xd01.
            let bytes = &mut bad.as_mut()[at..at + 2];
            if coefficient % 2 == 0 {
                bytes[0] = 0x01;
                bytes[1] = bytes[1] & 0xf0 | 0x0d;
            } else {
                bytes[0] = bytes[0] & 0x0f | 0x10;
                bytes[1] = 0xd0;
            }
            assert_eq!(
                kem.encaps(bad.as_ref(), &[3; 32]).err(),
                Some(Error::KeyNotReduced),
                "coefficient {coefficient}"
            );
            let mut bad_dk = dk.clone();
            let (_, rest) = bad_dk.as_mut().split_at_mut(384 * P::K);
            rest[..bad.as_ref().len()].copy_from_slice(bad.as_ref());
            rest[bad.as_ref().len()..][..32].copy_from_slice(&sha3_256(bad.as_ref()));
            assert_eq!(kem.decaps(bad_dk.as_ref(), P::Ct::filled(0).as_ref()), Err(Error::KeyNotReduced));
        }
        let mut bad_dk = dk.clone();
        bad_dk.as_mut()[768 * P::K + 32] ^= 1;
        assert_eq!(kem.decaps(bad_dk.as_ref(), P::Ct::filled(0).as_ref()), Err(Error::KeyHashMismatch));
    }
    check::<MlKem512Params>();
    check::<MlKem768Params>();
    check::<MlKem1024Params>();
}

/// The comparison of the ciphertext looks at all of it.
#[test]
fn one_bit_of_a_ciphertext() {
    fn check<P: mlkem::Parameters>() {
        let kem = kem::<P>();
        let z = [2; 32];
        let (ek, dk) = kem.keygen(&[1; 32], &z);
        let dk = kem.decapsulation_key(dk.as_ref()).unwrap();
        let (ciphertext, secret) = kem.encaps(ek.as_ref(), &[3; 32]).unwrap();
        assert_eq!(dk.decaps(ciphertext.as_ref()), Ok(secret));
        for block in 0..ciphertext.as_ref().len() / 32 {
            let mut flipped = ciphertext.clone();
            flipped.as_mut()[32 * block + block % 32] ^= 1 << (block % 8);
            assert_eq!(dk.decaps(flipped.as_ref()), Ok(rejection(&z, flipped.as_ref())), "block {block}");
        }
    }
    check::<MlKem512Params>();
    check::<MlKem768Params>();
    check::<MlKem1024Params>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Every string of the right length gives a secret.
    #[test]
    fn every_ciphertext_decapsulates(seed: [u8; 32], start: [u8; 32], byte: u8) {
        let kem = kem::<MlKem768Params>();
        let (_, dk) = kem.keygen(&seed, &seed);
        let mut ciphertext = [byte; 1088];
        ciphertext[..32].copy_from_slice(&start);
        prop_assert_eq!(kem.decaps(&dk, &ciphertext), Ok(rejection(&seed, &ciphertext)));
    }

    #[test]
    fn batches_agree_with_single_calls(seeds in proptest::collection::vec(any::<[u8; 32]>(), 1..4)) {
        let kem = kem::<MlKem512Params>();
        let keys = kem.keygen_batch(&seeds.iter().map(|s| [*s, *s].concat().try_into().unwrap()).collect::<Vec<_>>()).unwrap();
        for (seed, key) in seeds.iter().zip(keys) {
            prop_assert_eq!(key, kem.keygen(seed, seed));
        }
        let dsa = dsa::<MlDsa44Params>();
        for (seed, key) in seeds.iter().zip(dsa.keygen_batch(&seeds).unwrap()) {
            prop_assert_eq!(key, dsa.keygen(seed));
        }
    }

    /// A changed signature, message or key is never valid.
    #[test]
    fn changed_signatures(at in 0usize..2420, bit in 0u8..8) {
        let dsa = dsa::<MlDsa44Params>();
        let (pk, sk) = dsa.keygen(&[1; 32]);
        let mut signature = dsa.sign(&sk, b"message", b"", &[0; 32]).unwrap();
        signature[at] ^= 1 << bit;
        prop_assert_eq!(dsa.verify(&pk, b"message", b"", &signature), Err(Error::InvalidSignature));
    }
}

#[test]
fn wrong_lengths_are_typed_errors() {
    let kem = kem::<MlKem512Params>();
    let dsa = dsa::<MlDsa44Params>();
    let (pk, sk) = dsa.keygen(&[1; 32]);
    let (_, dk) = kem.keygen(&[1; 32], &[2; 32]);
    for change in [-1isize, 1] {
        let bytes = |len: usize| vec![0u8; len.checked_add_signed(change).unwrap()];
        let is_length = |error: Option<Error>| assert!(matches!(error, Some(Error::WrongLength { .. })), "{error:?}");
        is_length(kem.encaps(&bytes(800), &[0; 32]).err());
        is_length(kem.decaps(&bytes(1632), &[0; 768]).err());
        is_length(kem.decaps(&dk, &bytes(768)).err());
        is_length(dsa.sign(&bytes(2560), b"", b"", &[0; 32]).err());
        is_length(dsa.verify(&bytes(1312), b"", b"", &[0; 2420]).err());
        is_length(dsa.verify(&pk, b"", b"", &bytes(2420)).err());
        is_length(dsa.sign_input(&sk, Input::Mu(&bytes(64)), &[0; 32]).err());
        is_length(dsa.verify_input(&pk, Input::Mu(&bytes(64)), &[0; 2420]).err());
        for hash in PreHash::ALL {
            let input = Input::Digest { hash, digest: &bytes(hash.digest_len()), context: b"" };
            is_length(dsa.sign_input(&sk, input, &[0; 32]).err());
        }
    }
    assert!(matches!(kem.encaps_batch(&[[0; 800]], &[]), Err(Error::WrongBatch { .. })));
    assert!(matches!(dsa.sign_batch(&[sk], &[], &[]), Err(Error::WrongBatch { .. })));
    assert!(matches!(dsa.verify_batch(&[pk], &[Input::Internal(b"")], &[[0; 0]; 0]), Err(Error::WrongBatch { .. })));
}

/// Secret coefficients outside `[-eta, eta]` are an error, in every polynomial.
#[test]
fn secrets_out_of_range() {
    fn check<P: mldsa::Parameters>(width: usize) {
        let dsa = dsa::<P>();
        let (_, sk) = dsa.keygen(&[1; 32]);
        for polynomial in 0..P::K + P::L {
            for coefficient in [0, 255] {
                let mut bad = sk.clone();
                let bits = (polynomial * 256 + coefficient) * width;
                for bit in bits..bits + width {
                    bad.as_mut()[128 + bit / 8] |= 1 << (bit % 8);
                }
                assert_eq!(dsa.sign(bad.as_ref(), b"", b"", &[0; 32]).err(), Some(Error::InvalidPrivateKey));
            }
        }
    }
    check::<MlDsa44Params>(3);
    check::<MlDsa65Params>(4);
    check::<MlDsa87Params>(3);
}

/// A key whose `t0` no key generation makes ends in an error, not in an endless loop.
#[test]
fn hostile_keys_end() {
    let dsa = dsa::<MlDsa44Params>();
    let (_, mut sk) = dsa.keygen(&[1; 32]);
    // All coefficients 2^12 or -2^12 + 1, at random: hints have some 110 ones where 80 are allowed.
    let mut signs = [0; 128];
    Shake256::default().finalize_xof().read(&mut signs);
    let t0 = &mut sk[2560 - 4 * 416..];
    for bit in 0..t0.len() * 8 {
        let sign = signs[bit / 13 / 8] >> (bit / 13 % 8) & 1;
        t0[bit / 8] = t0[bit / 8] & !(1 << (bit % 8)) | sign << (bit % 8);
    }
    let result = dsa.sign(&sk, b"", b"", &[0; 32]);
    assert!(matches!(result, Err(Error::SigningFailed { attempts: 814 })));
    let batch = dsa.sign_batch(&[sk], &[Input::Message { message: b"", context: b"" }], &[[0; 32]]).unwrap();
    assert!(matches!(batch[0], Err(Error::SigningFailed { .. })));
}

/// Contexts of 0, 1 and 255 bytes work and differ; 256 are refused, wherever a context goes in.
#[test]
fn contexts() {
    let dsa = dsa::<MlDsa44Params>();
    let (pk, sk) = dsa.keygen(&[1; 32]);
    let long = [7; 256];
    let forms = |context| {
        let digest = &[0; 32];
        [
            Input::Message { message: b"m", context },
            Input::Hashed { hash: PreHash::Sha2_256, message: b"m", context },
            Input::Digest { hash: PreHash::Sha3_256, digest, context },
        ]
    };
    let mut seen = Vec::new();
    for len in [0, 1, 255] {
        for input in forms(&long[..len]) {
            let signature = dsa.sign_input(&sk, input, &[0; 32]).unwrap();
            assert_eq!(dsa.verify_input(&pk, input, &signature), Ok(()));
            assert_eq!(dsa.sign_batch(&[sk], &[input], &[[0; 32]]).unwrap(), [Ok(signature)]);
            assert_eq!(dsa.verify_batch(&[pk], &[input], &[signature]).unwrap(), [Ok(())]);
            seen.push(signature);
        }
    }
    for (i, signature) in seen.iter().enumerate() {
        assert!(!seen[..i].contains(signature));
        for (j, input) in [0, 1, 255].iter().flat_map(|len| forms(&long[..*len])).enumerate() {
            assert_eq!(dsa.verify_input(&pk, input, signature).is_ok(), i == j);
        }
    }
    let too_long = Some(Error::ContextTooLong { got: 256 });
    for input in forms(&long) {
        assert_eq!(dsa.sign_input(&sk, input, &[0; 32]).err(), too_long);
        assert_eq!(dsa.verify_input(&pk, input, &seen[0]).err(), too_long);
        assert_eq!(dsa.verification_key(&pk).unwrap().mu(input).err(), too_long);
        assert_eq!(dsa.sign_batch(&[sk], &[input], &[[0; 32]]).unwrap()[0].clone().err(), too_long);
        assert_eq!(dsa.verify_batch(&[pk], &[input], &[seen[0]]).unwrap()[0].clone().err(), too_long);
    }
}

/// One item of a batch that is refused leaves the others alone.
#[test]
fn bad_items_of_a_batch() {
    let kem = kem::<MlKem512Params>();
    let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
    let (ciphertext, secret) = kem.encaps(&ek, &[3; 32]).unwrap();
    let mut bad = ek;
    bad[..384].fill(0xff);
    let results = kem.encaps_batch(&[&ek[..], &bad, &[], &ek], &[[3; 32]; 4]).unwrap();
    assert_eq!(results[0], Ok((ciphertext, secret)));
    assert_eq!(results[1], Err(Error::KeyNotReduced));
    assert!(matches!(results[2], Err(Error::WrongLength { .. })));
    assert_eq!(results[3], results[0]);
    let results =
        kem.decaps_batch(&[&dk[..], &dk[1..], &dk], &[&ciphertext[..], &ciphertext, &ciphertext[1..]]).unwrap();
    assert_eq!(results[0], Ok(secret));
    assert!(results[1..].iter().all(|result| matches!(result, Err(Error::WrongLength { .. }))));
    assert_eq!(kem.keygen_batch(&[]).unwrap(), []);
}

#[test]
fn debug_shows_no_key_bytes() {
    let kem = kem::<MlKem512Params>();
    let dsa = dsa::<MlDsa44Params>();
    let dk = kem.decapsulation_key(&kem.keygen(&[0xab; 32], &[0xab; 32]).1).unwrap();
    let sk = dsa.signing_key(&dsa.keygen(&[0xab; 32]).1).unwrap();
    assert_eq!(
        format!("{dk:?} {:?} {sk:?}", dk.encapsulation_key()),
        "DecapsulationKey(ML-KEM-512) EncapsulationKey(ML-KEM-512) SigningKey(ML-DSA-44)"
    );
}

/// Inputs that begin at any address.
#[test]
fn unaligned_inputs() {
    let (kem, dsa) = (kem::<MlKem768Params>(), dsa::<MlDsa65Params>());
    let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
    let (ciphertext, secret) = kem.encaps(&ek, &[3; 32]).unwrap();
    let (pk, sk) = dsa.keygen(&[1; 32]);
    let signature = dsa.sign(&sk, b"m", b"", &[0; 32]).unwrap();
    for offset in 1..32 {
        let at = |bytes: &[u8]| [&vec![0; offset], bytes].concat();
        let (ek, dk, ct, pk, sk, sig) = (at(&ek), at(&dk), at(&ciphertext), at(&pk), at(&sk), at(&signature));
        assert_eq!(kem.encaps(&ek[offset..], &[3; 32]), Ok((ciphertext, secret)));
        assert_eq!(kem.decaps(&dk[offset..], &ct[offset..]), Ok(secret));
        assert_eq!(dsa.verify(&pk[offset..], b"m", b"", &sig[offset..]), Ok(()));
        assert_eq!(dsa.sign(&sk[offset..], b"m", b"", &[0; 32]), Ok(signature));
    }
}

/// The largest parameter sets run on a small stack, also when this test is built without optimisation.
#[test]
fn small_stack() {
    let work = || {
        let kem = MlKem1024::new(Cpu::new()).unwrap();
        let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
        let (ciphertext, secret) = kem.encaps(&ek, &[3; 32]).unwrap();
        assert_eq!(kem.decaps(&dk, &ciphertext), Ok(secret));
        let dsa = MlDsa87::new(Cpu::new()).unwrap();
        let (pk, sk) = dsa.keygen(&[1; 32]);
        let signature = dsa.sign(&sk, b"m", b"", &[0; 32]).unwrap();
        assert_eq!(dsa.verify(&pk, b"m", b"", &signature), Ok(()));
        let signature = dsa.signing_key(&sk).unwrap().sign(b"m", b"", &[0; 32]).unwrap();
        assert_eq!(dsa.verification_key(&pk).unwrap().verify(b"m", b"", &signature), Ok(()));
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap().join().unwrap();
}

/// Lengths of the standards: a change would break keys that users keep.
#[test]
fn lengths() {
    fn of_kem<P: mlkem::Parameters>() -> [usize; 3] {
        [P::Ek::LEN, P::Dk::LEN, P::Ct::LEN]
    }
    fn of_dsa<P: mldsa::Parameters>() -> [usize; 3] {
        [P::Pk::LEN, P::Sk::LEN, P::Sig::LEN]
    }
    assert_eq!(of_kem::<MlKem512Params>(), [800, 1632, 768]);
    assert_eq!(of_kem::<MlKem768Params>(), [1184, 2400, 1088]);
    assert_eq!(of_kem::<MlKem1024Params>(), [1568, 3168, 1568]);
    assert_eq!(of_dsa::<MlDsa44Params>(), [1312, 2560, 2420]);
    assert_eq!(of_dsa::<MlDsa65Params>(), [1952, 4032, 3309]);
    assert_eq!(of_dsa::<MlDsa87Params>(), [2592, 4896, 4627]);
    assert_eq!(of_dsa::<mldsa::Dilithium2Params>(), [1312, 2528, 2420]);
    assert_eq!(of_dsa::<mldsa::Dilithium3Params>(), [1952, 4000, 3293]);
    assert_eq!(of_dsa::<mldsa::Dilithium5Params>(), [2592, 4864, 4595]);
    let _ = (MlKem512::new(Cpu::new()), MlKem768::new(Cpu::new()), MlDsa44::new(Cpu::new()), MlDsa65::new(Cpu::new()));
}

/// Dilithium signs messages only.
#[test]
fn round_3_has_no_contexts() {
    let dsa = mldsa::Dilithium2::new(Cpu::new()).unwrap();
    let (pk, sk) = dsa.keygen(&[1; 32]);
    let signature = dsa.sign(&sk, b"m", b"", &[0; 32]).unwrap();
    assert_eq!(dsa.verify(&pk, b"m", b"", &signature), Ok(()));
    assert_eq!(dsa.sign_input(&sk, Input::Internal(b"m"), &[9; 32]), Ok(signature));
    assert!(matches!(dsa.sign(&sk, b"m", b"c", &[0; 32]), Err(Error::NotDefined { .. })));
    let hashed = Input::Hashed { hash: PreHash::Sha2_256, message: b"m", context: b"" };
    assert!(matches!(dsa.sign_input(&sk, hashed, &[0; 32]), Err(Error::NotDefined { .. })));
}
