//! What is timed. Each operation has two classes of secrets: a fixed one, and random ones. Both are read, and one of them
//! is put into the same place by masks before the clock starts: work, caches and branch predictors are the same for both,
//! so that nothing but the secret's value differs.

use std::hint::black_box;

use karat::arith::Word;
use karat::ckks::{Chain, Ciphertext, Ckks, Literal, SecretKey, SecretKind, Security, Special};
use karat::ring::presets;
use karat::schemes::mldsa::{Dsa, MlDsa65Params, Parameters as _};
use karat::schemes::mlkem::{Kem, MlKem768Params, Parameters as _};
use karat::{Cpu, Ring, RingContext, RingSpec, UserRing};

use crate::failure::Failure;
use crate::operands::Stream;
use crate::word::{WithWord, with_word};

/// An operation on secrets.
pub trait Operation {
    /// Puts a secret of a class in place: 0 is the fixed one, 1 a random one.
    fn prepare(&mut self, class: usize, random: &mut Stream);

    /// What is timed.
    fn run(&mut self);
}

/// A name and the operation.
pub type Named = (String, Box<dyn Operation>);

/// Everything that handles secrets on a CPU.
pub fn all(cpu: &Cpu) -> Result<Vec<Named>, Failure> {
    let mut out = Vec::new();
    // Every word class, and every method: complete, k-NTT, lifted.
    for name in ["ml-kem", "ml-dsa", "falcon-512", "raccoon", "saber", "sntrup761"] {
        let ring = presets::find(name).ok_or_else(|| Failure::Usage(format!("there is no preset {name}")))?;
        out.push((format!("product in {name}"), with_word(&ring, OfRing(cpu))?));
    }
    out.push(("ML-KEM-768 decapsulation: secret vectors".into(), Box::new(Decapsulation::new(cpu, false)?)));
    out.push(("ML-KEM-768 decapsulation: good ciphertext or not".into(), Box::new(Decapsulation::new(cpu, true)?)));
    out.push(("ML-DSA-65 signing: challenge times s1, s2, t0".into(), Box::new(Signing::new(cpu)?)));
    out.push(("ML-DSA-65 private key: read, public key made".into(), Box::new(PrivateKey::new(cpu)?)));
    out.push(("CKKS decryption".into(), Box::new(Decryption::new(cpu)?)));
    Ok(out)
}

/// Operations that leak: what the statistics must show.
pub fn planted() -> Vec<Named> {
    vec![
        ("planted: a comparison that stops early".into(), Box::new(Planted::new(stops_early))),
        ("planted: a subtraction behind a branch".into(), Box::new(Planted::new(branches))),
    ]
}

/// A product whose first factor is secret.
struct Product<W: Word> {
    ring: RingContext<Cpu, UserRing<W>>,
    a: Vec<W>,
    b: Vec<W>,
    out: Vec<W>,
}

struct OfRing<'a>(&'a Cpu);

impl WithWord for OfRing<'_> {
    type Output = Box<dyn Operation>;

    fn run<W: Word>(self, ring: UserRing<W>) -> Result<Self::Output, Failure> {
        let (n, q) = (ring.spec().n(), ring.spec().q());
        let mut random = Stream(1);
        let b = (0..n).map(|_| W::from_u64(random.next() % q)).collect();
        let ring = RingContext::new(*self.0, ring)?;
        Ok(Box::new(Product { ring, a: vec![W::ZERO; n], b, out: vec![W::ZERO; n] }))
    }
}

impl<W: Word> Operation for Product<W> {
    fn prepare(&mut self, class: usize, random: &mut Stream) {
        let spec: &RingSpec = self.ring.ring().spec();
        for a in &mut self.a {
            // Both classes draw, so that the stream tells nothing apart.
            *a = W::from_u64(random.next() % spec.q() * class as u64);
        }
    }

    fn run(&mut self) {
        let result = self.ring.mul_slices(black_box(&self.a), &self.b, &mut self.out);
        black_box((result.is_ok(), &self.out));
    }
}

/// ML-KEM with one public key: secret vectors differ, or ciphertexts are good or random.
struct Decapsulation {
    kem: Kem<MlKem768Params>,
    ciphertexts: bool,
    key: Vec<u8>,
    ciphertext: Vec<u8>,
    /// The secret vector, or the good ciphertext.
    fixed: Vec<u8>,
}

impl Decapsulation {
    fn new(cpu: &Cpu, ciphertexts: bool) -> Result<Self, Failure> {
        let kem = Kem::<MlKem768Params>::new(*cpu).map_err(scheme)?;
        let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
        let (ciphertext, _) = kem.encaps(ek.as_ref(), &[3; 32]).map_err(scheme)?;
        let (key, ciphertext) = (dk.to_vec(), ciphertext.to_vec());
        let fixed = if ciphertexts { ciphertext.clone() } else { key[..384 * MlKem768Params::K].to_vec() };
        Ok(Self { kem, ciphertexts, key, ciphertext, fixed })
    }
}

impl Operation for Decapsulation {
    fn prepare(&mut self, class: usize, random: &mut Stream) {
        let into = if self.ciphertexts { &mut self.ciphertext[..] } else { &mut self.key[..self.fixed.len()] };
        choose(into, &self.fixed, class, random);
    }

    fn run(&mut self) {
        let shared = self.kem.decaps(black_box(&self.key), black_box(&self.ciphertext));
        black_box(shared.is_ok());
        black_box(shared.unwrap_or_default());
    }
}

/// The products of a signing attempt: secrets in the transform domain times a challenge. How many attempts there are
/// depends on the masks, and is public.
struct Signing {
    ring: RingContext<Cpu, presets::MlDsa>,
    secrets: Vec<u32>,
    challenge: Vec<u32>,
}

impl Signing {
    fn new(cpu: &Cpu) -> Result<Self, Failure> {
        let ring = RingContext::new(cpu.single_threaded(), presets::MlDsa)?;
        let n = ring.ring().spec().n();
        // Signs in every fifth place, as many as the set has.
        let challenge = (0..n).map(|i| u32::from(i % 5 == 0)).collect();
        Ok(Self { ring, secrets: vec![0; (MlDsa65Params::L + 2 * MlDsa65Params::K) * n], challenge })
    }
}

impl Operation for Signing {
    fn prepare(&mut self, class: usize, random: &mut Stream) {
        let (q, eta) = (self.ring.ring().spec().q(), u64::from(MlDsa65Params::ETA));
        let mask = mask(class);
        for s in &mut self.secrets {
            let value = random.next() % (2 * eta + 1);
            *s = ((eta ^ ((eta ^ value) & mask)) + q - eta) as u32 % q as u32;
        }
    }

    fn run(&mut self) {
        let result = (|| {
            let ring = &self.ring;
            let (s, c) = (ring.upload_secret(black_box(&self.secrets))?, ring.upload(&self.challenge)?);
            let rows = s.batch();
            let matrix = karat::backend::Matrix { batch: 1, rows, columns: 1, shared: false };
            let product = ring.intt(&ring.mat_vec(matrix, &ring.ntt(&s)?, &ring.ntt(&c)?)?)?;
            product.download_secret()
        })();
        black_box(result.is_ok_and(|product| !product.is_empty()));
    }
}

/// ML-DSA's private keys over one matrix: unpacking, transforms, `A·s1 + s2`, rounding, packing.
struct PrivateKey {
    dsa: Dsa<MlDsa65Params>,
    key: Vec<u8>,
    fixed: Vec<u8>,
}

/// Bytes before the packed secrets: the seed of the matrix, K, and the public key's hash.
const BEFORE_SECRETS: usize = 128;

impl PrivateKey {
    fn new(cpu: &Cpu) -> Result<Self, Failure> {
        let dsa = Dsa::<MlDsa65Params>::new(*cpu).map_err(scheme)?;
        let (_, sk) = dsa.keygen(&[1; 32]);
        Ok(Self { dsa, key: sk.to_vec(), fixed: sk.to_vec() })
    }
}

impl Operation for PrivateKey {
    fn prepare(&mut self, class: usize, random: &mut Stream) {
        // Two coefficients of four bits a byte, in [0, 2·eta]; then t0, where every byte is good.
        let small = (MlDsa65Params::L + MlDsa65Params::K) * 128;
        choose(&mut self.key[BEFORE_SECRETS..], &self.fixed[BEFORE_SECRETS..], class, random);
        for byte in &mut self.key[BEFORE_SECRETS..][..small] {
            let most = 2 * MlDsa65Params::ETA as u8;
            *byte = ((*byte & 15) % (most + 1)) | (((*byte >> 4) % (most + 1)) << 4);
        }
    }

    fn run(&mut self) {
        if let Ok(key) = self.dsa.signing_key(black_box(&self.key)) {
            black_box(key.public_key());
        }
    }
}

/// One ciphertext and many secret keys.
struct Decryption {
    ckks: Ckks<Cpu>,
    ciphertext: Ciphertext<Cpu>,
    fixed: Vec<u8>,
    /// Bytes of random keys.
    random: Vec<Vec<u8>>,
    /// Those of the key in use.
    bytes: Vec<u8>,
    key: Option<SecretKey<Cpu>>,
}

/// Random keys to choose from: each is read again before each use, to the same place.
const KEYS: u8 = 64;

impl Decryption {
    fn new(cpu: &Cpu) -> Result<Self, Failure> {
        let literal = Literal {
            log_n: 10,
            chain: Chain::Bits(vec![58, 45]),
            split: 1,
            special: Special::Bits(Vec::new()),
            digits: 1,
            log_scale: 40,
            secret: SecretKind::Ternary,
            security: Security::Insecure,
        };
        let ckks = Ckks::new(cpu.single_threaded(), literal.validate()?)?;
        let mut keygen = ckks.keygen();
        let secret = keygen.secret_key()?;
        let ciphertext = ckks.encrypt_secret(&ckks.encode_real(&[0.5])?, &secret)?;
        let random = (0..KEYS).map(|_| Ok(keygen.secret_key()?.to_bytes().to_vec()));
        let random = random.collect::<Result<_, Failure>>()?;
        let fixed = secret.to_bytes().to_vec();
        Ok(Self { bytes: fixed.clone(), fixed, ckks, ciphertext, random, key: None })
    }
}

impl Operation for Decryption {
    fn prepare(&mut self, class: usize, random: &mut Stream) {
        let other = (random.next() % u64::from(KEYS)) as usize;
        select(&mut self.bytes, &self.fixed, &self.random[other], class);
        self.key = None;
        self.key = self.ckks.secret_key_from_bytes(&self.bytes).ok();
    }

    fn run(&mut self) {
        if let Some(key) = black_box(&self.key) {
            black_box(self.ckks.decrypt(&self.ciphertext, key).is_ok());
        }
    }
}

/// Code that looks at 32 secret bytes in a careless way.
struct Planted {
    leak: fn(&[u8; 32]) -> u32,
    secret: [u8; 32],
}

impl Planted {
    fn new(leak: fn(&[u8; 32]) -> u32) -> Self {
        Self { leak, secret: [0; 32] }
    }
}

/// Repeats of the leak, so that it is longer than a step of the clock.
const REPEATS: u32 = 16;

impl Operation for Planted {
    fn prepare(&mut self, class: usize, random: &mut Stream) {
        choose(&mut self.secret, &[0; 32], class, random);
    }

    fn run(&mut self) {
        for _ in 0..REPEATS {
            black_box((self.leak)(black_box(&self.secret)));
        }
    }
}

fn stops_early(secret: &[u8; 32]) -> u32 {
    u32::from(secret.iter().all(|byte| *black_box(byte) == 0))
}

fn branches(secret: &[u8; 32]) -> u32 {
    let mut sum = 0;
    for byte in secret {
        sum += u32::from(*byte);
        if sum >= 251 {
            sum -= black_box(251);
        }
    }
    sum
}

/// All bits for class 1 and none for class 0, as a number that the compiler knows nothing of and makes no branch from.
fn mask(class: usize) -> u64 {
    black_box((class as u64).wrapping_neg())
}

/// Bytes of a class: the fixed ones, or random ones.
fn choose(into: &mut [u8], fixed: &[u8], class: usize, random: &mut Stream) {
    for (into, fixed) in into.chunks_mut(8).zip(fixed.chunks(8)) {
        select(into, fixed, &random.next().to_le_bytes(), class);
    }
}

/// The fixed bytes or the others, after reading both.
fn select(into: &mut [u8], fixed: &[u8], other: &[u8], class: usize) {
    let mask = mask(class) as u8;
    for ((into, fixed), other) in into.iter_mut().zip(fixed).zip(other) {
        *into = fixed ^ ((fixed ^ other) & mask);
    }
}

fn scheme(error: karat::schemes::Error) -> Failure {
    Failure::Usage(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both classes do what is to be timed: no operation is refused early.
    #[test]
    fn operations_accept_what_they_are_given() {
        let cpu = Cpu::new();
        let mut random = Stream(3);
        for ciphertexts in [false, true] {
            let mut decapsulation = Decapsulation::new(&cpu, ciphertexts).unwrap();
            let mut secrets = Vec::new();
            for class in [0, 1, 0] {
                decapsulation.prepare(class, &mut random);
                secrets.push(decapsulation.kem.decaps(&decapsulation.key, &decapsulation.ciphertext).unwrap());
            }
            assert!(secrets[0] == secrets[2] && secrets[0] != secrets[1]);
        }
        let mut key = PrivateKey::new(&cpu).unwrap();
        key.prepare(1, &mut random);
        assert_ne!(key.key, key.fixed);
        assert!(key.dsa.signing_key(&key.key).is_ok());
        key.prepare(0, &mut random);
        assert_eq!(key.key, key.fixed);
        let mut signing = Signing::new(&cpu).unwrap();
        for class in [0, 1] {
            signing.prepare(class, &mut random);
            assert!(signing.ring.upload_secret(&signing.secrets).is_ok());
        }
        let mut decryption = Decryption::new(&cpu).unwrap();
        for class in [0, 1] {
            decryption.prepare(class, &mut random);
            assert!(decryption.key.is_some());
        }
        for (name, mut operation) in all(&cpu).unwrap().into_iter().chain(planted()) {
            for class in [0, 1] {
                operation.prepare(class, &mut random);
                operation.run();
            }
            assert!(!name.is_empty());
        }
    }
}
