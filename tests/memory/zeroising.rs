//! Secrets are overwritten before their memory is given back: every type that holds some, and all scratch memory.

use std::hint::black_box;

use karat::arith::Word;
use karat::context::{Coeff, Secret};
use karat::schemes::{Array, mldsa, mlkem};
use karat::{Backend, Cpu, PolyBatch, Ring, RingContext, RingSpec, SecretVec, UserRing, ring::presets};
use shake::{ExtendableOutput, Shake256, Update, XofReader};

use crate::freed::{dirt, leaves};
use crate::levels;

/// The first 16 bytes, in memory's order.
fn head<T: Word>(values: &[T]) -> [u8; 16] {
    *bytemuck::cast_slice::<T, u8>(values).first_chunk().unwrap()
}

fn start(bytes: &[u8]) -> [u8; 16] {
    *bytes.first_chunk().unwrap()
}

/// Bytes that no other value has.
fn seed<const LEN: usize>(number: u8) -> [u8; LEN] {
    std::array::from_fn(|i| number.wrapping_mul(37).wrapping_add((i as u8).wrapping_mul(89)) ^ 0xa5)
}

fn shake256(parts: &[&[u8]], out: &mut [u8]) {
    let mut hash = Shake256::default();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize_xof().read(out);
}

/// `count` little-endian numbers of some bits each.
fn unpack(bytes: &[u8], bits: usize, count: usize) -> Vec<u32> {
    let bit = |at: usize| u32::from(bytes[at / 8] >> (at % 8) & 1);
    (0..count).map(|i| (0..bits).fold(0, |value, j| value | bit(i * bits + j) << j)).collect()
}

/// Rings of every word class and method: nothing but zeros is given back, whatever the operation needed on its way.
#[test]
fn ring_operations() {
    for text in ["ml-kem", "ml-dsa", "falcon-1024", "raccoon", "saber", "sntrup761", "q=1000,f=x^2000+x+1"] {
        let spec: RingSpec = text.parse().unwrap();
        for cpu in levels() {
            match spec.word_bits() {
                16 => of_ring::<u16>(cpu, &spec),
                32 => of_ring::<u32>(cpu, &spec),
                _ => of_ring::<u64>(cpu, &spec),
            }
        }
    }
}

/// Smaller blocks hold what describes a batch, which is public.
const LEAST: usize = 64;

fn of_ring<W: Word>(cpu: Cpu, spec: &RingSpec) {
    let name = cpu.name();
    let ring = RingContext::new(cpu.single_threaded(), UserRing::<W>::new(spec.clone()).unwrap()).unwrap();
    let n = ring.ring().spec().n();
    let values: Vec<W> = (0..2 * n as u64).map(|i| W::from_u64((i * i + 7 * i + 1) % spec.q())).collect();
    let clean = |what: &str, work: &dyn Fn()| {
        assert_eq!(dirt(LEAST, work), (0, 0), "{what} in {spec} on {name}");
    };
    let secret = || ring.upload_secret(&values).unwrap();
    clean("a batch", &|| drop(secret()));
    clean("a product", &|| drop(ring.mul(&secret(), &secret()).unwrap()));
    clean("a product into a batch", &|| {
        let mut out: PolyBatch<_, _, Coeff, Secret> = ring.zeros(2).unwrap();
        ring.mul_into(&secret(), &secret(), &mut out).unwrap();
    });
    clean("a transform and back", &|| drop(ring.intt(&ring.ntt(&secret()).unwrap()).unwrap()));
    clean("pointwise products", &|| {
        let (x, y) = (ring.ntt(&secret()).unwrap(), ring.ntt(&secret()).unwrap());
        drop(ring.intt(&ring.pointwise(&x, &y).unwrap()).unwrap());
        drop(ring.pointwise_acc(2, &x, &y).unwrap());
        let prepared = ring.prepare(&y).unwrap();
        drop(ring.intt(&ring.pointwise_prepared(&x, &prepared).unwrap()).unwrap());
    });
    if spec.method().shape().is_some() {
        clean("export and import", &|| {
            drop(ring.import_ntt(&ring.export_ntt(&ring.ntt(&secret()).unwrap()).unwrap()).unwrap());
        });
    }
    clean("what is downloaded", &|| drop(secret().download_secret().unwrap()));
    let mut out = vec![W::ZERO; n];
    let work = || ring.mul_slices(&values[..n], &values[n..], &mut out).unwrap();
    assert_eq!(dirt(LEAST, work), (0, 0), "a single product in {spec} on {name}");
    let kept = values.clone();
    assert_eq!(dirt(1, || drop(SecretVec::from(kept))), (0, 0));
}

#[test]
fn ml_kem() {
    for cpu in levels() {
        let kem = mlkem::MlKem768::new(cpu).unwrap();
        let (d, z, message) = (seed::<32>(1), seed::<32>(2), seed::<32>(3));
        let (ek, dk) = kem.keygen(&d, &z);
        let (ciphertext, shared) = kem.encaps(&ek, &message).unwrap();
        // The secret vector in the standard's transform domain, and as lanes of this level.
        let s: Vec<u16> = unpack(&dk[..384], 12, 256).into_iter().map(|c| c as u16).collect();
        let mut lanes = [0u64; 64];
        kem.ring().plan().import(&s[..], &mut lanes);
        let mut seeds = [0; 64];
        {
            use sha3::Digest;
            let hash = sha3::Sha3_512::new().chain_update(d).chain_update([3]);
            seeds.copy_from_slice(&hash.finalize());
        }
        let patterns = [
            start(&d),
            start(&z),
            start(&message),
            start(&shared),
            start(&dk[..]),
            head(&s),
            head(&lanes),
            start(&seeds[32..]),
        ];
        let clean = |what: &str, work: &dyn Fn()| {
            let found = leaves(&patterns, work);
            assert!(found.iter().all(|count| *count == 0), "{what}: {found:?}");
        };
        clean("a key from a seed", &|| drop(kem.key_from_seed(&d, &z)));
        clean("a key that is read", &|| drop(kem.decapsulation_key(&dk).unwrap()));
        clean("a clone of a key", &|| drop(kem.decapsulation_key(&dk).unwrap().clone()));
        let joint = *[d, z].concat().first_chunk::<64>().unwrap();
        // What a batch returns is its caller's to erase.
        // More than are computed at once.
        clean("many keys", &|| kem.keygen_batch(&[joint; 257]).unwrap().iter_mut().for_each(|key| key.1.erase()));
        clean("keys in a batch", &|| kem.keygen_batch(&[joint; 2]).unwrap().iter_mut().for_each(|key| key.1.erase()));
        clean("encapsulation in a batch", &|| {
            let mut all = kem.encaps_batch(&[ek; 2], &[message; 2]).unwrap();
            all.iter_mut().flatten().for_each(|(_, shared)| shared.erase());
        });
        clean("decapsulation in a batch", &|| {
            let mut all = kem.decaps_batch(&[dk; 2], &[ciphertext; 2]).unwrap();
            all.iter_mut().flatten().for_each(|shared| shared.erase());
        });
        clean("single calls", &|| {
            let key = kem.decapsulation_key(&dk).unwrap();
            assert!(key.decaps(&ciphertext) == Ok(shared));
            black_box(kem.encapsulation_key(&ek).unwrap().encaps(&message));
        });
    }
}

#[test]
fn ml_dsa() {
    const Q: u32 = 8_380_417;
    for cpu in levels() {
        let dsa = mldsa::MlDsa65::new(cpu).unwrap();
        let (xi, rnd) = (seed::<32>(4), seed::<32>(5));
        let (_, sk) = dsa.keygen(&xi);
        let mut seeds = [0; 128];
        shake256(&[&xi, &[6, 5]], &mut seeds);
        assert_eq!(seeds[96..], sk[32..64]);
        // eta = 4: four bits a coefficient.
        let s1: Vec<u32> = unpack(&sk[128..256], 4, 256).into_iter().map(|c| (Q + 4 - c) % Q).collect();
        let mut s1_lanes = [0u64; 128];
        dsa.ring().plan().forward(&s1[..], &mut s1_lanes);
        // The masks of the first attempt: y leads from a response to the secret.
        let (mut mu, mut mask_seed, mut mask) = ([0; 64], [0; 64], [0; 640]);
        shake256(&[&sk[64..128], &[0, 0], b"message"], &mut mu);
        shake256(&[&sk[32..64], &rnd, &mu], &mut mask_seed);
        shake256(&[&mask_seed, &[0, 0]], &mut mask);
        let y: Vec<u32> = unpack(&mask, 20, 256).into_iter().map(|v| (Q + (1 << 19) - v) % Q).collect();
        let mut y_lanes = [0u64; 128];
        dsa.ring().plan().forward(&y[..], &mut y_lanes);
        let patterns = [
            start(&xi),
            start(&rnd),
            start(&seeds[32..]),
            start(&sk[32..]),
            start(&sk[128..]),
            head(&s1),
            head(&s1_lanes),
            start(&mask_seed),
            start(&mask),
            head(&y),
            head(&y_lanes),
        ];
        let clean = |what: &str, work: &dyn Fn()| {
            let found = leaves(&patterns, work);
            assert!(found.iter().all(|count| *count == 0), "{what}: {found:?}");
        };
        let input = mldsa::Input::Message { message: b"message", context: b"" };
        clean("a key from a seed", &|| drop(dsa.key_from_seed(&xi)));
        clean("a key that is read", &|| drop(dsa.signing_key(&sk).unwrap()));
        clean("a clone of a key", &|| drop(dsa.signing_key(&sk).unwrap().clone()));
        clean("a public key", &|| drop(dsa.signing_key(&sk).unwrap().verification_key()));
        clean("signing", &|| assert!(dsa.signing_key(&sk).unwrap().sign_input(input, &rnd).is_ok()));
        clean("keys in a batch", &|| dsa.keygen_batch(&[xi; 2]).unwrap().iter_mut().for_each(|key| key.1.erase()));
        clean("signing in a batch", &|| assert!(dsa.sign_batch(&[sk; 9], &[input; 9], &[rnd; 9]).unwrap()[0].is_ok()));
    }
}

/// What the searches above look for is there to be found: lanes and residues are those that the code uses.
#[test]
fn patterns_are_those_of_the_code() {
    let ring = RingContext::new(Cpu::new(), presets::MlKem).unwrap();
    let values: Vec<u16> = (0..256).map(|i| i * 13 % 3329).collect();
    let mut lanes = [0u64; 64];
    ring.plan().forward(&values[..], &mut lanes);
    let work = || drop(ring.ntt(&ring.upload(&values).unwrap()).unwrap());
    assert_eq!(leaves(&[head(&values), head(&lanes)], work), [1, 1]);
}

#[cfg(feature = "ckks")]
mod ckks {
    use karat::Cpu;
    use karat::backend::{Backend, Erase};
    use karat::ckks::{Ckks, Complex64, Encoder, KeyPlan};
    use karat::rns::{RnsMul, RnsRing, ViewMut};

    use super::{head, leaves, start};

    fn doubles(values: &[f64]) -> [u8; 16] {
        let bytes: Vec<u8> = values.iter().take(2).flat_map(|x| x.to_ne_bytes()).collect();
        start(&bytes)
    }

    /// The second half of an integer and the first of the next: one alone may be a number that is not secret.
    fn across(values: &[i128]) -> [u8; 16] {
        let bytes: Vec<u8> = values.iter().take(2).flat_map(|x| x.to_ne_bytes()).collect();
        start(&bytes[8..])
    }

    /// Keys: as numbers, as residues, in the transform domain, as bytes.
    #[test]
    fn keys() {
        let parameters = crate::ckks_parameters(8);
        let n = parameters.n();
        let cpu = Cpu::new().single_threaded();
        let ckks = Ckks::<_, u64>::new(cpu, parameters.clone()).unwrap();
        let secret = ckks.keygen_with(crate::Fixed(7)).secret_key().unwrap();
        let bytes = secret.to_bytes();
        // Two bits a coefficient, at the end.
        let packed = &bytes[bytes.len() - n / 4..];
        let ternary: Vec<i8> =
            (0..n).map(|i| packed[i / 4] >> (2 * (i % 4)) & 3).map(|v| [0, 1, -1][v as usize]).collect();
        let wide: Vec<i128> = ternary.iter().map(|x| i128::from(*x)).collect();
        let residues =
            |q: u64| -> Vec<u64> { ternary.iter().map(|x| if *x < 0 { q - 1 } else { *x as u64 }).collect() };
        let coefficients = residues(parameters.q()[0]);
        let ring = RnsRing::<u64>::new(n, parameters.q(), parameters.p()).unwrap();
        let plan = cpu.rns_plan(&ring).unwrap();
        let mut words = cpu.alloc::<u64>(ring.primes().len() * n, Erase::No).unwrap();
        cpu.upload(&ring.primes().iter().flat_map(|q| residues(*q)).collect::<Vec<_>>(), &mut words).unwrap();
        let limbs = karat::rns::Limbs { q: parameters.q().len(), p: parameters.p().len() };
        cpu.rns_ntt(&plan, limbs, 1, ViewMut::new(&mut words)).unwrap();

        let ternary_bytes: Vec<u8> = ternary.iter().map(|x| *x as u8).collect();
        let drawn = crate::Fixed(7).bytes();
        // A -1 before a 1, and half of each of them.
        let turn = ternary.windows(2).position(|pair| pair == [-1, 1]).unwrap();
        let patterns = [
            start(&drawn),
            start(&ternary_bytes),
            start(packed),
            head(&coefficients[turn..]),
            head(&words[..n]),
            head(&words[n..]),
            across(&wide[turn..]),
        ];
        let clean = |what: &str, work: &dyn Fn()| {
            let found = leaves(&patterns, work);
            assert!(found.iter().all(|count| *count == 0), "{what}: {found:?}");
        };
        clean("a new secret key", &|| drop(ckks.keygen_with(crate::Fixed(7)).secret_key().unwrap()));
        clean("a secret key that is read", &|| drop(ckks.secret_key_from_bytes(&bytes).unwrap()));
        clean("a secret key as bytes", &|| drop(secret.to_bytes()));
        clean("a public key", &|| drop(ckks.keygen_with(crate::Fixed(8)).public_key(&secret).unwrap()));
        let plan = KeyPlan::new(&parameters).relinearisation().rotations(&[1, 3]);
        clean("switching keys", &|| drop(ckks.keygen_with(crate::Fixed(9)).keys(&secret, &plan).unwrap()));
        let plaintext = ckks.encode_real(&[0.5, 0.25]).unwrap();
        let ciphertext = ckks.encrypt_secret(&plaintext, &secret).unwrap();
        clean("encryption with a secret key", &|| drop(ckks.encrypt_secret(&plaintext, &secret).unwrap()));
        clean("decryption", &|| drop(ckks.decrypt(&ciphertext, &secret).unwrap()));
    }

    /// Messages: slots, coefficients, integers; what is decoded is another number in its last bits.
    #[test]
    fn messages() {
        let parameters = crate::ckks_parameters(8);
        let n = parameters.n();
        let ckks = Ckks::<_, u64>::new(Cpu::new().single_threaded(), parameters.clone()).unwrap();
        let message: Vec<f64> = (0..n / 2).map(|i| (i as f64 * 0.37 + 0.1).sin()).collect();
        let complex: Vec<Complex64> = message.iter().map(|x| Complex64::new(*x, 0.0)).collect();
        let coefficients = Encoder::new(8).to_coefficients(&complex).unwrap();
        let integers: Vec<i128> = coefficients.iter().map(|c| (c * 2f64.powi(40)).round_ties_even() as i128).collect();
        let plaintext = ckks.encode_real(&message).unwrap();
        let bytes = plaintext.to_bytes().unwrap();
        let decoded = ckks.decode(&plaintext).unwrap();
        let patterns = [
            doubles(&message[1..]),
            doubles(&coefficients),
            across(&integers),
            doubles(&ckks.decode_coefficients(&plaintext).unwrap()),
            doubles(&ckks.decode_real(&plaintext).unwrap()[1..]),
            doubles(&[decoded[1].re, decoded[1].im]),
            // Inside the first limb.
            start(&bytes[100..]),
        ];
        let clean = |what: &str, work: &dyn Fn()| {
            let found = leaves(&patterns, work);
            assert!(found.iter().all(|count| *count == 0), "{what}: {found:?}");
        };
        clean("an encoded message", &|| drop(ckks.encode_real(&message).unwrap()));
        clean("an encoded polynomial", &|| {
            drop(ckks.encode_coefficients(&coefficients[..n / 2], 0, &parameters.scale(30)).unwrap());
        });
        clean("a plaintext that is read", &|| drop(ckks.plaintext_from_bytes(&bytes).unwrap()));
        clean("a plaintext as bytes", &|| plaintext.to_bytes().unwrap().fill(0));
        // What decoding returns is its caller's.
        clean("a decoded message", &|| ckks.decode_real(&plaintext).unwrap().fill(0.0));
    }
}
