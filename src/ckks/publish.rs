//! Decoding of values that will be published.
//!
//! A decryption is the message and the ciphertext's error, and the error is a linear equation in the secret key: whoever
//! sees enough decryptions in full precision solves for the key (Li and Micciancio, *On the Security of Homomorphic
//! Encryption on Approximate Numbers*, 2021). Gaussian noise that drowns the error takes that away (Li, Micciancio,
//! Schultz and Sorrell, *Securing Approximate Homomorphic Encryption Using Differential Privacy*, 2022).

use getrandom::SysRng;
use rand_core::TryCryptoRng;
use zeroize::Zeroizing;

use super::sample::{Expander, draw_seed, wide_gaussian};
use super::{Ckks, Complex64, Error, Plaintext, Result};
use crate::arith::Word;
use crate::rns::RnsMul;

/// How much noise drowns an error: deviation `sqrt(12·decryptions) · 2^(bits/2)` times that of the error.
///
/// ```
/// use karat::ckks::Flooding;
/// let flooding = Flooding { deviation: 2f64.powi(10), decryptions: 1, bits: 30 };
/// assert!((flooding.noise().log2() - 26.8).abs() < 0.1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flooding {
    /// A bound on the standard deviation of the error's coefficients, in units of one integer: of the whole computation
    /// that gave the plaintext, for the worst inputs. [`Noise`](crate::ckks::Noise) helps to find it.
    pub deviation: f64,
    /// Decryptions under one key that will ever be published.
    pub decryptions: u32,
    /// Bits of statistical security; 30 at least.
    pub bits: u32,
}

/// Bits that a 64-bit sampler leaves for noise.
const MOST_BITS: f64 = 56.0;

impl Flooding {
    /// The deviation of the noise, in units of one integer coefficient.
    pub fn noise(&self) -> f64 {
        self.deviation * (12.0 * f64::from(self.decryptions)).sqrt() * (f64::from(self.bits) / 2.0).exp2()
    }

    fn check(&self) -> Result<f64> {
        let noise = self.noise();
        if self.deviation.is_nan() || self.deviation <= 0.0 || self.decryptions == 0 || self.bits < 30 {
            return Err(Error::Argument(
                "flooding needs a positive deviation, at least one decryption and at least 30 bits".into(),
            ));
        }
        match noise.log2() < MOST_BITS {
            true => Ok(noise),
            false => Err(Error::TooLarge { what: "the flooding noise", bits: noise.log2(), room: MOST_BITS }),
        }
    }
}

impl<B: RnsMul<W>, W: Word> Ckks<B, W> {
    /// The slots of a plaintext with noise that drowns its error: what may be shown to anyone.
    ///
    /// # Errors
    /// `Argument` for flooding that hides nothing, `TooLarge` for noise beyond `2^56`, `Foreign`, `Random`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Flooding, Literal, Noise, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let secret = ckks.keygen().secret_key()?;
    /// let ciphertext = ckks.encrypt_secret(&ckks.encode_real(&[0.5])?, &secret)?;
    /// let plaintext = ckks.decrypt(&ciphertext, &secret)?;
    /// let deviation = Noise::new(ckks.parameters()).fresh_secret();
    /// let values = ckks.decode_to_publish(&plaintext, &Flooding { deviation, decryptions: 100, bits: 30 })?;
    /// assert!((values[0].re - 0.5).abs() < 1e-4);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn decode_to_publish(&self, plaintext: &Plaintext<B, W>, flooding: &Flooding) -> Result<Vec<Complex64>> {
        self.decode_to_publish_with(plaintext, flooding, &mut SysRng)
    }

    /// As [`Ckks::decode_to_publish`], with another source of randomness.
    pub fn decode_to_publish_with(
        &self,
        plaintext: &Plaintext<B, W>,
        flooding: &Flooding,
        random: &mut impl TryCryptoRng,
    ) -> Result<Vec<Complex64>> {
        let noise = flooding.check()?;
        let mut coefficients = Zeroizing::new(self.decode_coefficients(plaintext)?);
        let seed = draw_seed(random)?;
        let noise = wide_gaussian(&mut Expander::new(&seed, 0), coefficients.len(), noise);
        let (mantissa, exponent) = plaintext.scale.value();
        let unit = (-(exponent as f64)).exp2() / mantissa;
        coefficients.iter_mut().zip(noise.iter()).for_each(|(c, noise)| *c += *noise as f64 * unit);
        self.encoder.to_slots(&coefficients, plaintext.slots)
    }
}
