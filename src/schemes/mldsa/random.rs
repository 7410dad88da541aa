//! Keys and hedged signatures from a random-number generator (FIPS 204, algorithms 1 and 2).
//!
//! Any generator of `rand_core` will do, also one that may fail: that is the error `NoRandomness`.

use rand_core::TryCryptoRng;

use super::{Dsa, Input, Parameters, Result, SigningKey};
use crate::schemes::random::draw;

impl<P: Parameters> Dsa<P> {
    /// Makes a public key and a private key (`ML-DSA.KeyGen`).
    ///
    /// # Errors
    /// `NoRandomness` where the generator fails.
    ///
    /// ```
    /// use getrandom::SysRng;
    /// use karat::{Cpu, schemes::mldsa::MlDsa65};
    /// let dsa = MlDsa65::new(Cpu::new())?;
    /// let (pk, sk) = dsa.keygen_from_rng(&mut SysRng)?;
    /// let signature = dsa.sign_from_rng(&sk, b"message", b"", &mut SysRng)?;
    /// assert!(dsa.verify(&pk, b"message", b"", &signature).is_ok());
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn keygen_from_rng<R: TryCryptoRng + ?Sized>(&self, rng: &mut R) -> Result<(P::Pk, P::Sk)> {
        Ok(self.keygen(&*draw(rng)?))
    }

    /// Signs a message with a context, hedged (`ML-DSA.Sign`).
    ///
    /// # Errors
    /// As [`Dsa::sign`]; `NoRandomness` where the generator fails.
    pub fn sign_from_rng<R: TryCryptoRng + ?Sized>(
        &self,
        sk: &[u8],
        message: &[u8],
        context: &[u8],
        rng: &mut R,
    ) -> Result<P::Sig> {
        self.sign(sk, message, context, &*draw(rng)?)
    }

    /// As [`Dsa::key_from_seed`], from a random seed.
    ///
    /// # Errors
    /// `NoRandomness` where the generator fails.
    ///
    /// ```
    /// use getrandom::SysRng;
    /// use karat::{Cpu, schemes::mldsa::{Input, MlDsa65}};
    /// let key = MlDsa65::new(Cpu::new())?.key_from_rng(&mut SysRng)?;
    /// let input = Input::Message { message: b"message", context: b"" };
    /// let signature = key.sign_from_rng(input, &mut SysRng)?;
    /// assert!(key.verification_key().verify_input(input, &signature).is_ok());
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn key_from_rng<R: TryCryptoRng + ?Sized>(&self, rng: &mut R) -> Result<SigningKey<P>> {
        Ok(self.key_from_seed(&*draw(rng)?))
    }
}

impl<P: Parameters> SigningKey<P> {
    /// Signs whatever the standard signs, hedged.
    ///
    /// # Errors
    /// As [`SigningKey::sign_input`]; `NoRandomness` where the generator fails.
    pub fn sign_from_rng<R: TryCryptoRng + ?Sized>(&self, input: Input, rng: &mut R) -> Result<P::Sig> {
        self.sign_input(input, &*draw(rng)?)
    }
}
