//! Objects as bytes: they come back on every backend, hostile ones are refused, and the format stays what it is.

use karat::Cpu;
use karat::ckks::{Ckks, Error};
use karat::rns::RnsMul;
use sha2::{Digest, Sha256};

use crate::setup::{Setup, literal, random, values};

/// Written on one backend, read on another, written again.
pub fn objects_come_back<B: RnsMul<u64>>(backend: B) {
    let literal = literal(10, 2);
    let setup = Setup::new(backend, &literal, |plan| plan.rotations(&[1]));
    let other = Ckks::<_, u64>::new(Cpu::scalar(), literal.validate().unwrap()).unwrap();
    let a = values(512, 0.5);
    let plaintext = setup.ckks.encode(&a).unwrap();
    let seeded = setup.ckks.encrypt_secret_with(&plaintext, &setup.secret, &mut random(3)).unwrap();
    let secret = other.secret_key_from_bytes(&setup.secret.to_bytes()).unwrap();
    assert_eq!(secret.to_bytes(), setup.secret.to_bytes());
    let public = other.public_key_from_bytes(&setup.public.to_bytes().unwrap()).unwrap();
    assert_eq!(public.to_bytes().unwrap(), setup.public.to_bytes().unwrap());
    let keys = other.key_set_from_bytes(&setup.keys.to_bytes().unwrap()).unwrap();
    assert_eq!(keys.to_bytes().unwrap(), setup.keys.to_bytes().unwrap());
    let back = other.plaintext_from_bytes(&plaintext.to_bytes().unwrap()).unwrap();
    assert_eq!(back.to_bytes().unwrap(), plaintext.to_bytes().unwrap());

    let manual = setup.ckks.manual_evaluator(&setup.keys).unwrap();
    let three = manual.square(&seeded).unwrap();
    let mut dropped = seeded.copy().unwrap();
    dropped.drop_to_level(1).unwrap();
    for ciphertext in [&seeded, &setup.encrypt(&a), &three, &dropped] {
        let bytes = ciphertext.to_bytes().unwrap();
        let read = other.ciphertext_from_bytes(&bytes).unwrap();
        assert_eq!(read.to_bytes().unwrap(), bytes);
        assert_eq!((read.level(), read.parts()), (ciphertext.level(), ciphertext.parts()));
        let got = other.decode(&other.decrypt(&read, &secret).unwrap()).unwrap();
        assert_eq!(got, setup.decrypt(ciphertext));
    }
    // What was read computes the same, bit for bit.
    let evaluator = other.evaluator(&keys).unwrap();
    let read = other.ciphertext_from_bytes(&seeded.to_bytes().unwrap()).unwrap();
    let own = setup.ckks.evaluator(&setup.keys).unwrap();
    let (there, here) = (evaluator.square(&read).unwrap(), own.square(&seeded).unwrap());
    assert_eq!(there.to_bytes().unwrap(), here.to_bytes().unwrap());
    let (there, here) = (evaluator.rotate(&read, 1).unwrap(), own.rotate(&seeded, 1).unwrap());
    assert_eq!(there.to_bytes().unwrap(), here.to_bytes().unwrap());
    let public = other.encrypt_with(&back, &public, &mut random(2)).unwrap();
    assert_eq!(public.to_bytes().unwrap(), setup.encrypt(&a).to_bytes().unwrap());
}

/// Truncation at every byte of the head and many of the rest, wrong versions, unknown kinds, huge numbers, residues that
/// are not reduced, other parameters: an error each, and no memory for what is not there.
pub fn hostile_bytes<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend.clone(), &literal(10, 1), |plan| plan.rotations(&[1]));
    let ckks = &setup.ckks;
    let plaintext = ckks.encode(&values(512, 0.5)).unwrap();
    let ciphertext = ckks.encrypt_secret_with(&plaintext, &setup.secret, &mut random(3)).unwrap();
    type Read<'a> = Box<dyn Fn(&[u8]) -> Option<Error> + 'a>;
    let objects: Vec<(Vec<u8>, Read<'_>)> = vec![
        (plaintext.to_bytes().unwrap(), Box::new(|b| ckks.plaintext_from_bytes(b).err())),
        (ciphertext.to_bytes().unwrap(), Box::new(|b| ckks.ciphertext_from_bytes(b).err())),
        (setup.secret.to_bytes().to_vec(), Box::new(|b| ckks.secret_key_from_bytes(b).err())),
        (setup.public.to_bytes().unwrap(), Box::new(|b| ckks.public_key_from_bytes(b).err())),
        (setup.keys.to_bytes().unwrap(), Box::new(|b| ckks.key_set_from_bytes(b).err())),
    ];
    let other = Ckks::<_, u64>::new(backend, literal(10, 2).validate().unwrap()).unwrap();
    for (kind, (bytes, read)) in objects.iter().enumerate() {
        assert!(read(bytes).is_none());
        let refuse = |bytes: &[u8], what: &str| {
            let error = read(bytes).unwrap_or_else(|| panic!("object {kind} was read: {what}"));
            assert!(matches!(error, Error::Format { .. } | Error::ScaleExhausted { .. }), "{what}: {error}");
            error.to_string()
        };
        for len in (0..bytes.len().min(120)).chain((120..bytes.len()).step_by(997)).chain([bytes.len() - 1]) {
            refuse(&bytes[..len], "truncated");
        }
        refuse(&[&bytes[..], &[0]].concat(), "too long");
        let with = |i: usize, byte: u8| {
            let mut changed = bytes.clone();
            changed[i] = byte;
            changed
        };
        assert!(refuse(&with(4, 2), "version").contains("version 2"));
        refuse(&with(0, b'X'), "magic");
        refuse(&with(6, 9), "kind");
        refuse(&with(7, 1), "reserved byte");
        assert!(refuse(&with(8, bytes[8] ^ 1), "fingerprint").contains("other parameters"));
        // A number of 2^63 in every place of the head after the fingerprint.
        for i in 24..30 {
            let huge = [&bytes[..i], &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1], &bytes[i..]].concat();
            refuse(&huge, "huge number");
        }
        // All ones: no residue is that large, no coefficient of a secret is 3.
        let mut ones = bytes.clone();
        let len = ones.len();
        ones[len - 200..].fill(0xff);
        refuse(&ones, "not reduced");
    }
    assert!(other.ciphertext_from_bytes(&objects[1].0).is_err());
}

/// Lengths and hashes of version 1: what was written stays readable, and means the same on every backend, in debug and
/// in release builds.
pub fn golden_bytes<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 1), |plan| plan.rotations(&[1]));
    let plaintext = setup.ckks.encode_coefficients(&[1.0, -2.0, 0.5], 1, &setup.ckks.parameters().scale(45)).unwrap();
    let seeded = setup.ckks.encrypt_secret_with(&plaintext, &setup.secret, &mut random(3)).unwrap();
    let public = setup.ckks.encrypt_with(&plaintext, &setup.public, &mut random(2)).unwrap();
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let square = evaluator.square(&seeded).unwrap();
    let rotated = evaluator.rotate(&seeded, 1).unwrap();
    let objects = [
        setup.ckks.parameters().to_bytes(),
        plaintext.to_bytes().unwrap(),
        seeded.to_bytes().unwrap(),
        public.to_bytes().unwrap(),
        square.to_bytes().unwrap(),
        rotated.to_bytes().unwrap(),
        setup.secret.to_bytes().to_vec(),
        setup.public.to_bytes().unwrap(),
        setup.keys.to_bytes().unwrap(),
    ];
    let got: Vec<(usize, String)> =
        objects.iter().map(|bytes| (bytes.len(), hex::encode(&Sha256::digest(bytes)[..8]))).collect();
    let golden: Vec<(usize, String)> = GOLDEN.iter().map(|(len, hash)| (*len, hash.to_string())).collect();
    assert_eq!(got, golden);
}

const GOLDEN: [(usize, &str); 9] = [
    (64, "d1b30ccc0ceca76c"),
    (13341, "0341275668ea7e36"),
    (13375, "50d2c4fd75d8178c"),
    (26655, "d9f347321b6b7dee"),
    (14880, "b06db7c5f505d0e6"),
    (26655, "97d1113c64874a20"),
    (280, "c00621bb19de7a5b"),
    (13368, "a1000bc46065660a"),
    (57694, "78c51b30c78cac12"),
];
