//! CKKS with secret randomness: samplers of secret keys (ternary and sparse) and of errors, keys of all kinds, encryption,
//! decryption. What is secret begins at the bytes that the source of randomness gives; all else follows from them.
//!
//! Encoding and decoding are not here: see SECURITY.md.

use std::convert::Infallible;

use karat::arith::Word;
use karat::ckks::{Chain, Ckks, Flooding, KeyPlan, Literal, Result, SecretKind, Security, Special};
use karat::rns::RnsMul;
use karat::{Cpu, memcheck};
use rand_core::{TryCryptoRng, TryRng};

/// Errors that memcheck finds with primes of both word sizes at one level of the CPU.
pub fn leaks(cpu: Cpu) -> u64 {
    let wide = Chain::Bits(vec![58, 45, 45]);
    let narrow = Chain::Bits(vec![30, 30, 28, 28]);
    [
        of::<u64>(cpu, wide.clone(), 60, 40, SecretKind::Ternary),
        of::<u64>(cpu, wide, 60, 40, SecretKind::Sparse { weight: 32 }),
        of::<u32>(cpu, narrow, 30, 26, SecretKind::Ternary),
    ]
    .into_iter()
    .map(|found| found.expect("parameters and keys"))
    .sum()
}

/// Bytes of a fixed sequence, secret ones.
struct Secrets(u64);

impl Secrets {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (self.0 ^ self.0 >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }
}

impl TryRng for Secrets {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        Ok(self.word() as u32)
    }

    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        Ok(self.word())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Infallible> {
        bytes.iter_mut().for_each(|byte| *byte = self.word() as u8);
        memcheck::secret(bytes);
        Ok(())
    }
}

impl TryCryptoRng for Secrets {}

fn of<W: Word>(cpu: Cpu, chain: Chain, special: u32, log_scale: u32, secret: SecretKind) -> Result<u64>
where
    Cpu: RnsMul<W>,
{
    let parameters = Literal {
        log_n: 8,
        chain,
        split: 1,
        special: Special::Bits(vec![special; 2]),
        digits: 2,
        log_scale,
        secret,
        security: Security::Insecure,
    };
    let ckks = Ckks::<_, W>::new(cpu, parameters.validate()?)?;
    let plaintext = ckks.encode_real(&[0.5, -0.25, 3.0])?;
    let before = memcheck::errors();

    let mut keygen = ckks.keygen_with(Secrets(1));
    let secret = ckks.secret_key_from_bytes(&keygen.secret_key()?.to_bytes())?;
    let public = keygen.public_key(&secret)?;
    let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).relinearisation().rotations(&[1]))?;
    let random = &mut Secrets(2);
    let ciphertexts =
        [ckks.encrypt_with(&plaintext, &public, random)?, ckks.encrypt_secret_with(&plaintext, &secret, random)?];
    for ciphertext in &ciphertexts {
        drop(ckks.decrypt(ciphertext, &secret)?);
    }
    // The same path for the three parts of a product, and for switched keys.
    let evaluator = ckks.manual_evaluator(&keys)?;
    let product = evaluator.multiply(&ciphertexts[0], &ciphertexts[1])?;
    drop(ckks.decrypt(&product, &secret)?);
    drop(ckks.decrypt(&evaluator.rotate(&ciphertexts[0], 1)?, &secret)?);
    // The noise that hides a result is drawn from a secret seed and added to the message.
    let flooding = Flooding { deviation: 1.0, decryptions: 1, bits: 30 };
    drop(ckks.decode_to_publish_with(&plaintext, &flooding, &mut Secrets(3))?);
    Ok(memcheck::errors() - before)
}
