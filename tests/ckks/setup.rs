//! Contexts and keys for the checks, from fixed seeds.

use chacha20::ChaCha20Rng;
use karat::AnyBackend;
use karat::arith::Word;
use karat::ckks::{
    Chain, Ciphertext, Ckks, Complex64, KeyPlan, KeySet, Literal, Parameters, PrecisionReport, PublicKey, SecretKey,
    SecretKind, Security, Special,
};
use karat::rns::RnsMul;
use rand_core::SeedableRng;

/// The backend of this name, or the reason why the check is skipped.
pub fn backend(name: &str) -> Option<AnyBackend> {
    match AnyBackend::from_name(name) {
        Ok(backend) => Some(backend),
        Err(error) => {
            let required = std::env::var("KARAT_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|required| required.trim() == name), "KARAT_REQUIRE: {error}");
            println!("skipped: {error}");
            None
        }
    }
}

/// The same for checks that take minutes, which must be asked for.
pub fn long(name: &str) -> Option<AnyBackend> {
    if std::env::var_os("KARAT_LONG").is_none() {
        println!("skipped: it takes minutes; set KARAT_LONG=1 to run it");
        return None;
    }
    backend(name)
}

/// Small parameters, for tests alone.
pub fn literal(log_n: u32, depth: usize) -> Literal {
    Literal {
        log_n,
        chain: Chain::Scaled { base: vec![58], depth },
        split: 1,
        special: Special::Bits(vec![60; 2]),
        digits: (depth + 1).div_ceil(2),
        log_scale: 45,
        secret: SecretKind::Ternary,
        security: Security::Insecure,
    }
}

/// A source of randomness from a fixed seed.
pub fn random(seed: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([seed; 32])
}

/// A context with keys.
pub struct Setup<B: RnsMul<W>, W: Word = u64> {
    pub ckks: Ckks<B, W>,
    pub secret: SecretKey<B, W>,
    pub public: PublicKey<B, W>,
    pub keys: KeySet<B, W>,
}

impl<B: RnsMul<W>, W: Word> Setup<B, W> {
    /// Keys for relinearisation and what `plan` adds.
    pub fn new(backend: B, literal: &Literal, plan: impl Fn(KeyPlan) -> KeyPlan) -> Self {
        let parameters: Parameters = literal.validate().unwrap();
        let plan = plan(KeyPlan::new(&parameters).relinearisation());
        let ckks = Ckks::new(backend, parameters).unwrap();
        let mut keygen = ckks.keygen_with(random(1));
        let secret = keygen.secret_key().unwrap();
        let public = keygen.public_key(&secret).unwrap();
        let keys = keygen.keys(&secret, &plan).unwrap();
        Self { ckks, secret, public, keys }
    }

    pub fn encrypt(&self, values: &[Complex64]) -> Ciphertext<B, W> {
        let plaintext = self.ckks.encode(values).unwrap();
        self.ckks.encrypt_with(&plaintext, &self.public, &mut random(2)).unwrap()
    }

    pub fn decrypt(&self, ciphertext: &Ciphertext<B, W>) -> Vec<Complex64> {
        self.ckks.decode(&self.ckks.decrypt(ciphertext, &self.secret).unwrap()).unwrap()
    }

    /// Checks the slots of a ciphertext to some bits.
    #[track_caller]
    pub fn expect(&self, ciphertext: &Ciphertext<B, W>, wanted: &[Complex64], bits: f64) {
        let got = self.decrypt(ciphertext);
        assert_eq!(got.len(), wanted.len());
        for (j, (got, wanted)) in got.iter().zip(wanted).enumerate() {
            assert!(
                (got - wanted).norm() < (-bits).exp2(),
                "slot {j}: {got} where {wanted} was wanted; {ciphertext:?}"
            );
        }
    }
}

/// Bits of the errors' standard deviation, over both parts of all slots.
pub fn measured(wanted: &[Complex64], got: &[Complex64]) -> f64 {
    let report = PrecisionReport::new(wanted, got);
    (report.real.std + report.imaginary.std) / 2.0
}

/// Distinct complex values of at most 1, deterministic.
pub fn values(count: usize, phase: f64) -> Vec<Complex64> {
    (0..count).map(|j| Complex64::from_polar(0.3 + 0.7 * j as f64 / count as f64, 2.4 * j as f64 + phase)).collect()
}

/// Distinct real values in [-1, 1].
pub fn reals(count: usize) -> Vec<f64> {
    (0..count).map(|j| 2.0 * (j as f64 + 0.5) / count as f64 - 1.0).collect()
}

pub fn complex(values: &[f64]) -> Vec<Complex64> {
    values.iter().map(|value| Complex64::new(*value, 0.0)).collect()
}
