//! ML-KEM (FIPS 203), and Kyber of NIST's third round.
//!
//! ```
//! use karat::{Cpu, schemes::mlkem::MlKem768};
//! let kem = MlKem768::new(Cpu::new())?;
//! let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]); // d and z: fresh random bytes in real life
//! let (ciphertext, secret) = kem.encaps(&ek, &[3; 32])?; // m: as well
//! assert_eq!(kem.decaps(&dk, &ciphertext)?, secret);
//! # Ok::<(), karat::schemes::Error>(())
//! ```
//!
//! Keys have two forms: the seed `(d, z)`, which [`Kem::keygen`] expands, and the encoded form of the standard. A key
//! that is used more than once is read once: [`Kem::encapsulation_key`] and [`Kem::decapsulation_key`] check it and
//! keep its matrix (on the heap).
#![cfg_attr(
    feature = "kem",
    doc = "
With the feature `kem`, a parameter set is a [`kem::Kem`] and its keys have that crate's traits:

```
use getrandom::{SysRng, rand_core::UnwrapErr};
use karat::schemes::mlkem::MlKem768Params;
use kem::{Decapsulate, Encapsulate, Kem};
let rng = &mut UnwrapErr(SysRng);
let (dk, ek) = MlKem768Params::generate_keypair_from_rng(rng);
let (ciphertext, secret) = ek.encapsulate_with_rng(rng);
assert_eq!(dk.decapsulate(&ciphertext), secret);
```"
)]

mod batch;
mod key;
mod noise;
mod params;
mod pke;
#[cfg(feature = "rand_core")]
mod random;
#[cfg(feature = "kem")]
mod traits;

pub use batch::Encapsulation;
pub use key::{DecapsulationKey, EncapsulationKey};
pub use params::{
    Kyber512Params, Kyber768Params, Kyber1024Params, MlKem512Params, MlKem768Params, MlKem1024Params, Parameters,
};

use core::fmt;
use core::marker::PhantomData;

use super::{Array, Erased, N, Result, hash};
use crate::RingContext;
use crate::backend::{Cpu, RingMul};
use crate::ring::presets::MlKem;

/// The modulus.
const Q: u16 = 3329;

/// Coefficients, canonical in `[0, q)`.
type Coeffs = [u16; N];

/// A polynomial in the transform domain of a [`Plan`](crate::backend::cpu::Plan): 256 lanes of 16 bits.
pub type Poly = [u64; N / 4];

/// A shared secret.
pub type SharedSecret = [u8; 32];

/// A parameter set on a backend.
///
/// Single calls (`keygen`, `encaps`, `decaps`) exist on the [`Cpu`]; batched ones on every backend.
pub struct Kem<P, B: RingMul<MlKem> = Cpu> {
    ring: RingContext<B, MlKem>,
    params: PhantomData<P>,
}

/// ML-KEM-512.
pub type MlKem512<B = Cpu> = Kem<MlKem512Params, B>;
/// ML-KEM-768.
pub type MlKem768<B = Cpu> = Kem<MlKem768Params, B>;
/// ML-KEM-1024.
pub type MlKem1024<B = Cpu> = Kem<MlKem1024Params, B>;
/// Kyber-512 of round 3.
pub type Kyber512<B = Cpu> = Kem<Kyber512Params, B>;
/// Kyber-768 of round 3.
pub type Kyber768<B = Cpu> = Kem<Kyber768Params, B>;
/// Kyber-1024 of round 3.
pub type Kyber1024<B = Cpu> = Kem<Kyber1024Params, B>;

impl<P: Parameters, B: RingMul<MlKem>> Kem<P, B> {
    /// Prepares the ring on a backend.
    ///
    /// # Errors
    /// Where the backend cannot multiply in the ring.
    ///
    /// ```
    /// use karat::{Reference, schemes::mlkem::MlKem512};
    /// assert!(MlKem512::new(Reference).is_ok());
    /// ```
    pub fn new(backend: B) -> Result<Self> {
        let ring = RingContext::new(backend, MlKem)?;
        Ok(Self { ring, params: PhantomData })
    }

    /// Uses a ring that is prepared already: all parameter sets may share one.
    ///
    /// ```
    /// use karat::{Cpu, RingContext, ring::presets::MlKem, schemes::mlkem::MlKem512};
    /// let ring = RingContext::new(Cpu::new(), MlKem)?;
    /// assert_eq!(MlKem512::with_ring(ring.clone()).name(), "ML-KEM-512");
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn with_ring(ring: RingContext<B, MlKem>) -> Self {
        Self { ring, params: PhantomData }
    }

    /// The name of the parameter set.
    ///
    /// ```
    /// # use karat::{Cpu, schemes::mlkem::MlKem512};
    /// assert_eq!(MlKem512::new(Cpu::new())?.name(), "ML-KEM-512");
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn name(&self) -> &'static str {
        P::NAME
    }

    /// The ring's context.
    pub fn ring(&self) -> &RingContext<B, MlKem> {
        &self.ring
    }
}

impl<P: Parameters> Kem<P> {
    /// Makes an encapsulation key and a decapsulation key from the seed `d`, `z` (`ML-KEM.KeyGen_internal`,
    /// algorithm 16).
    ///
    /// ```
    /// # use karat::{Cpu, schemes::mlkem::MlKem768};
    /// let (ek, dk) = MlKem768::new(Cpu::new())?.keygen(&[1; 32], &[2; 32]);
    /// assert_eq!((ek.len(), dk.len()), (1184, 2400));
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn keygen(&self, d: &[u8; 32], z: &[u8; 32]) -> (P::Ek, P::Dk) {
        let mut ek = P::Ek::filled(0);
        let mut dk = P::Dk::filled(0);
        let (secret, rest) = dk.as_mut().split_at_mut(384 * P::K);
        pke::keygen::<P>(self.ring.plan(), d, ek.as_mut(), secret);
        let (public, rest) = rest.split_at_mut(P::Ek::LEN);
        let (hashed, rejection) = rest.split_at_mut(32);
        public.copy_from_slice(ek.as_ref());
        hashed.copy_from_slice(&hash_of(ek.as_ref()));
        rejection.copy_from_slice(z);
        (ek, dk)
    }

    /// Makes a key pair from the seed `d`, `z` that is ready for use: the encapsulation key lies in the decapsulation
    /// key, on the heap.
    ///
    /// ```
    /// # use karat::{Cpu, schemes::mlkem::MlKem768};
    /// let kem = MlKem768::new(Cpu::new())?;
    /// let key = kem.key_from_seed(&[1; 32], &[2; 32]);
    /// assert_eq!(key.encapsulation_key().to_bytes(), kem.keygen(&[1; 32], &[2; 32]).0);
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn key_from_seed(&self, d: &[u8; 32], z: &[u8; 32]) -> DecapsulationKey<P> {
        DecapsulationKey::from_seed(&self.ring, d, z)
    }

    /// Reads and checks an encapsulation key (section 7.2), and expands its matrix, on the heap.
    ///
    /// # Errors
    /// `WrongLength`; `KeyNotReduced` for a coefficient that is `q` or more.
    ///
    /// ```
    /// # use karat::{Cpu, schemes::{Error, mlkem::MlKem512}};
    /// let kem = MlKem512::new(Cpu::new())?;
    /// assert!(matches!(kem.encapsulation_key(&[0xff; 800]), Err(Error::KeyNotReduced)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn encapsulation_key(&self, ek: &[u8]) -> Result<EncapsulationKey<P>> {
        EncapsulationKey::new(&self.ring, ek)
    }

    /// Reads and checks a decapsulation key (section 7.3, and section 7.2 for the key inside), and expands its matrix, on the heap.
    ///
    /// # Errors
    /// `WrongLength`; `KeyHashMismatch`; `KeyNotReduced`.
    ///
    /// ```
    /// # use karat::{Cpu, schemes::{Error, mlkem::MlKem512}};
    /// let kem = MlKem512::new(Cpu::new())?;
    /// assert!(matches!(kem.decapsulation_key(&[0; 1632]), Err(Error::KeyHashMismatch)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn decapsulation_key(&self, dk: &[u8]) -> Result<DecapsulationKey<P>> {
        DecapsulationKey::new(&self.ring, dk)
    }

    /// Makes a ciphertext and a shared secret from the random `m` (`ML-KEM.Encaps_internal`, algorithm 17, after the
    /// checks of section 7.2).
    ///
    /// # Errors
    /// As [`Kem::encapsulation_key`].
    pub fn encaps(&self, ek: &[u8], m: &[u8; 32]) -> Result<Encapsulation<P>> {
        let mut key = key::Public::<P>::empty();
        key.read(self.ring.plan(), ek)?;
        Ok(key.encaps(self.ring.plan(), m))
    }

    /// Recovers the shared secret (`ML-KEM.Decaps`, algorithm 21). A ciphertext that was not made with the key gives
    /// a secret that nobody else knows (implicit rejection), never an error.
    ///
    /// # Errors
    /// As [`Kem::decapsulation_key`]; `WrongLength` for the ciphertext.
    pub fn decaps(&self, dk: &[u8], ciphertext: &[u8]) -> Result<SharedSecret> {
        key::decaps_once::<P>(self.ring.plan(), dk, ciphertext)
    }
}

impl<P, B: RingMul<MlKem>> Clone for Kem<P, B> {
    fn clone(&self) -> Self {
        Self { ring: self.ring.clone(), params: PhantomData }
    }
}

impl<P: Parameters, B: RingMul<MlKem>> fmt::Debug for Kem<P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kem({} on {})", P::NAME, self.ring.backend().name())
    }
}

/// `H` of the standard.
fn hash_of(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    hash::sha3_256(&[bytes], &mut out);
    out
}
