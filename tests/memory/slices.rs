//! Every function on slices of numbers, its inputs and outputs beside guard pages and at every offset.

use karat::arith::Word;
use karat::backend::{Backend, Erase};
use karat::rns::{Limbs, RnsBasis, RnsMul, RnsRing, Search, ViewMut, crt};
use karat::{Cpu, RingContext, RingSpec, UserRing, ring};

use crate::guarded::Place;
use crate::levels;

/// Deterministic residues.
fn residues<W: Word>(count: usize, q: u64, seed: u64) -> Vec<W> {
    (0..count as u64).map(|i| W::from_u64((i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q)).collect()
}

/// All functions of a plan and a context in one ring.
fn of_ring<W: Word>(cpu: &Cpu, spec: &RingSpec) {
    let ring = RingContext::new(*cpu, UserRing::<W>::new(spec.clone()).unwrap()).unwrap();
    let (n, q, plan) = (spec.n(), spec.q(), ring.plan());
    let (a, b) = (residues::<W>(n, q, 1), residues::<W>(n, q, 2));
    let mut product = vec![W::ZERO; n];
    ring.mul_slices(&a, &b, &mut product).unwrap();
    for place in Place::of::<W>() {
        let what = || format!("{spec} on {}, {place:?}", cpu.name());
        let zeros = || place.put(&vec![W::ZERO; n]);
        let domain = |words: usize| place.put(&vec![0u64; words]);
        let (a, b, mut out) = (place.put(&a), place.put(&b), zeros());
        ring.mul_slices(&a, &b, &mut out).unwrap();
        assert!(out[..] == product[..], "mul_slices: {}", what());
        out.fill(W::ZERO);
        plan.multiply(&a[..], &b[..], &mut out[..]);
        assert!(out[..] == product[..], "multiply: {}", what());

        let (mut x, mut y) = (domain(2 * plan.ntt_words()), domain(plan.ntt_words()));
        let (mut prepared, mut z) = (domain(plan.prepared_words()), domain(plan.ntt_words()));
        plan.forward(&a[..], &mut y);
        x[..plan.ntt_words()].copy_from_slice(&y);
        plan.forward(&b[..], &mut y);
        plan.prepare(&y, &mut prepared);
        plan.pointwise_prepared(&x[..plan.ntt_words()], &prepared, &mut z);
        out.fill(W::ZERO);
        plan.inverse(&z, &mut out[..]);
        assert!(out[..] == product[..], "pointwise_prepared: {}", what());
        // One row (a, 0) times (b, b).
        let mut both = domain(2 * plan.ntt_words());
        both[..plan.ntt_words()].copy_from_slice(&y);
        both[plan.ntt_words()..].copy_from_slice(&y);
        plan.mat_vec(2, &x, &both, &mut z);
        plan.inverse(&z, &mut out[..]);
        assert!(out[..] == product[..], "mat_vec: {}", what());
        if spec.method().shape().is_some() {
            plan.export(&z, &mut out[..]);
            plan.import(&out[..], &mut y);
            plan.inverse(&y, &mut out[..]);
            assert!(out[..] == product[..], "export and import: {}", what());
        }

        let batch = ring.mul(&ring.upload(&a).unwrap(), &ring.upload_secret(&b).unwrap()).unwrap();
        out.fill(W::ZERO);
        batch.declassify("the test compares it").download_into(&mut out).unwrap();
        assert!(out[..] == product[..], "batches: {}", what());
    }
}

#[test]
fn rings() {
    let rings = [
        "ml-kem",
        "ml-dsa",
        "falcon-512",
        "raccoon",
        "saber",
        "sntrup761",
        "q=257,f=x^64+1,alpha=3",
        "q=17,f=x^8+1",
        "q=12289,f=x^48+1",
        "q=1152921504606830593,f=x^256+1",
    ];
    for text in rings {
        let spec: RingSpec = text.parse().unwrap();
        for cpu in levels() {
            match spec.word_bits() {
                16 => of_ring::<u16>(&cpu, &spec),
                32 => of_ring::<u32>(&cpu, &spec),
                _ => of_ring::<u64>(&cpu, &spec),
            }
        }
    }
}

/// Bases, residues of big integers, and transforms between copies from and to guarded memory.
#[test]
fn rns() {
    let n = 256;
    for bits in [30, 50, 60] {
        let basis = RnsBasis::generate(n, bits, 3, Search::Descending, &[]).unwrap();
        for place in Place::of::<u64>() {
            let primes = place.put(basis.primes());
            assert_eq!(RnsBasis::new(n, &primes).unwrap().primes(), &primes[..]);
            let value = place.put(&[u64::MAX, 12345, 1]);
            let residues = place.put(&crt::to_residues_vartime(&value, &primes).unwrap());
            let back = crt::from_residues_vartime(&residues, &primes).unwrap();
            assert_eq!(crt::to_residues_vartime(&back, &primes).unwrap(), residues[..]);
            assert!(bits == 30 || back == value[..], "{back:?}");
            for cpu in levels() {
                let ring = RnsRing::<u64>::new(n, &primes[..2], &primes[2..]).unwrap();
                transforms(&cpu, &ring, place);
                if bits == 30 {
                    transforms(&cpu, &RnsRing::<u32>::new(n, &primes[..2], &primes[2..]).unwrap(), place);
                }
            }
        }
    }
}

fn transforms<W: Word>(cpu: &Cpu, ring: &RnsRing<W>, place: Place)
where
    Cpu: RnsMul<W>,
{
    let limbs = Limbs { q: 2, p: 1 };
    let words: Vec<W> = ring.primes().iter().flat_map(|q| residues::<W>(ring.n(), *q, 3)).collect();
    let plan = cpu.rns_plan(ring).unwrap();
    let mut x = cpu.alloc::<W>(words.len(), Erase::No).unwrap();
    cpu.upload(&place.put(&words), &mut x).unwrap();
    cpu.rns_ntt(&plan, limbs, 1, ViewMut::new(&mut x)).unwrap();
    cpu.rns_intt(&plan, limbs, 1, ViewMut::new(&mut x)).unwrap();
    let mut out = place.put(&vec![W::ZERO; words.len()]);
    cpu.download(&x, &mut out).unwrap();
    assert!(out[..] == words[..], "{place:?}");
}

/// The steps of the k-NTT, portable code.
#[test]
fn steps() {
    let spec: RingSpec = "q=12289,f=x^64+1,alpha=2".parse().unwrap();
    let kntt = ring::kntt::Kntt::new(&spec).unwrap();
    let (f, g) = (residues::<u64>(64, spec.q(), 1), residues::<u64>(64, spec.q(), 2));
    let expected = kntt.multiply_schoolbook(&f, &g);
    for place in Place::of::<u64>() {
        let (f, g) = (place.put(&f), place.put(&g));
        assert_eq!(kntt.multiply(&f, &g), expected);
        let mut part = place.put(&kntt.split(&f)[0]);
        let before = part.to_vec();
        kntt.transform(&mut part);
        kntt.inverse(&mut part);
        assert_eq!(part[..], before[..]);
    }
}

#[cfg(feature = "ckks")]
#[test]
fn ckks() {
    use karat::ckks::{Ckks, Complex64, Encoder, KeyPlan, Parameters};

    let parameters = crate::ckks_parameters(8);
    let ckks = Ckks::<_, u64>::new(Cpu::new(), parameters.clone()).unwrap();
    let mut keygen = ckks.keygen();
    let secret = keygen.secret_key().unwrap();
    let public = keygen.public_key(&secret).unwrap();
    let keys = keygen.keys(&secret, &KeyPlan::new(&parameters).relinearisation()).unwrap();
    let reals: Vec<f64> = (0..128).map(|i| f64::from(i) / 64.0 - 1.0).collect();
    let complex: Vec<Complex64> = reals.iter().map(|x| Complex64::new(*x, -*x)).collect();
    let plaintext = ckks.encode_real(&reals).unwrap();
    let ciphertext = ckks.encrypt(&plaintext, &public).unwrap();
    let (plain_bytes, cipher_bytes) = (plaintext.to_bytes().unwrap(), ciphertext.to_bytes().unwrap());
    let (public_bytes, key_bytes) = (public.to_bytes().unwrap(), keys.to_bytes().unwrap());
    let encoder = Encoder::new(8);
    let coefficients = encoder.to_coefficients(&complex).unwrap();
    for place in Place::all() {
        let read = ckks.plaintext_from_bytes(&place.put(&plain_bytes)).unwrap();
        assert_eq!(read.to_bytes().unwrap(), plain_bytes);
        let read = ckks.ciphertext_from_bytes(&place.put(&cipher_bytes)).unwrap();
        assert_eq!(read.to_bytes().unwrap(), cipher_bytes);
        let read = ckks.secret_key_from_bytes(&place.put(&secret.to_bytes())).unwrap();
        assert_eq!(read.to_bytes(), secret.to_bytes());
        assert_eq!(ckks.public_key_from_bytes(&place.put(&public_bytes)).unwrap().to_bytes().unwrap(), public_bytes);
        assert_eq!(ckks.key_set_from_bytes(&place.put(&key_bytes)).unwrap().to_bytes().unwrap(), key_bytes);
        assert_eq!(Parameters::from_bytes(&place.put(&parameters.to_bytes())).unwrap(), parameters);
    }
    for place in Place::of::<f64>() {
        assert_eq!(ckks.encode_real(&place.put(&reals)).unwrap().to_bytes().unwrap(), plain_bytes);
        let scale = parameters.scale(30);
        let coefficients_again = ckks.encode_coefficients(&place.put(&reals), 0, &scale).unwrap();
        assert!((ckks.decode_coefficients(&coefficients_again).unwrap()[5] - reals[5]).abs() < 1e-6);
        assert!(ckks.encode(&place.put(&complex)).is_ok());
        assert!(ckks.encode_at(&place.put(&complex), 0, &scale).is_ok());
        assert_eq!(encoder.to_coefficients(&place.put(&complex)).unwrap(), coefficients);
        assert_eq!(encoder.to_slots(&place.put(&coefficients), 128).unwrap().len(), 128);
    }
}
