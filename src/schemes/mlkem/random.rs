//! Keys and secrets from a random-number generator (FIPS 203, algorithms 19 and 20).
//!
//! Any generator of `rand_core` will do, also one that may fail: that is the error `NoRandomness`.

use rand_core::TryCryptoRng;

use super::pke::halves;
use super::{DecapsulationKey, Encapsulation, EncapsulationKey, Kem, Parameters};
use crate::schemes::Result;
use crate::schemes::random::draw;

impl<P: Parameters> Kem<P> {
    /// Makes an encapsulation key and a decapsulation key (`ML-KEM.KeyGen`).
    ///
    /// # Errors
    /// `NoRandomness` where the generator fails.
    ///
    /// ```
    /// use getrandom::SysRng;
    /// use karat::{Cpu, schemes::mlkem::MlKem768};
    /// let kem = MlKem768::new(Cpu::new())?;
    /// let (ek, dk) = kem.keygen_from_rng(&mut SysRng)?;
    /// let (ciphertext, secret) = kem.encaps_from_rng(&ek, &mut SysRng)?;
    /// assert_eq!(kem.decaps(&dk, &ciphertext)?, secret);
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn keygen_from_rng<R: TryCryptoRng + ?Sized>(&self, rng: &mut R) -> Result<(P::Ek, P::Dk)> {
        let seed = draw(rng)?;
        let (d, z) = halves(&seed);
        Ok(self.keygen(d, z))
    }

    /// Makes a ciphertext and a shared secret (`ML-KEM.Encaps`).
    ///
    /// # Errors
    /// As [`Kem::encaps`]; `NoRandomness` where the generator fails.
    pub fn encaps_from_rng<R: TryCryptoRng + ?Sized>(&self, ek: &[u8], rng: &mut R) -> Result<Encapsulation<P>> {
        self.encaps(ek, &*draw(rng)?)
    }

    /// As [`Kem::key_from_seed`], from a random seed.
    ///
    /// # Errors
    /// `NoRandomness` where the generator fails.
    ///
    /// ```
    /// use getrandom::SysRng;
    /// use karat::{Cpu, schemes::mlkem::MlKem768};
    /// let key = MlKem768::new(Cpu::new())?.key_from_rng(&mut SysRng)?;
    /// let (ciphertext, secret) = key.encapsulation_key().encaps_from_rng(&mut SysRng)?;
    /// assert_eq!(key.decaps(&ciphertext)?, secret);
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn key_from_rng<R: TryCryptoRng + ?Sized>(&self, rng: &mut R) -> Result<DecapsulationKey<P>> {
        let seed = draw(rng)?;
        let (d, z) = halves(&seed);
        Ok(self.key_from_seed(d, z))
    }
}

impl<P: Parameters> EncapsulationKey<P> {
    /// Makes a ciphertext and a shared secret (`ML-KEM.Encaps`).
    ///
    /// # Errors
    /// `NoRandomness` where the generator fails.
    pub fn encaps_from_rng<R: TryCryptoRng + ?Sized>(&self, rng: &mut R) -> Result<Encapsulation<P>> {
        Ok(self.encaps(&*draw(rng)?))
    }
}
