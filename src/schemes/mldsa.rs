//! ML-DSA (FIPS 204), and Dilithium of NIST's third round.
//!
//! ```
//! use karat::{Cpu, schemes::mldsa::MlDsa65};
//! let dsa = MlDsa65::new(Cpu::new())?;
//! let (pk, sk) = dsa.keygen(&[1; 32]); // the seed: fresh random bytes in real life
//! let signature = dsa.sign(&sk, b"message", b"context", &[2; 32])?; // rnd: random, or zero to sign deterministically
//! assert!(dsa.verify(&pk, b"message", b"context", &signature).is_ok());
//! assert!(dsa.verify(&pk, b"massage", b"context", &signature).is_err());
//! # Ok::<(), karat::schemes::Error>(())
//! ```
//!
//! Besides messages with a context, [`Input`] names what else the standard signs: pre-hashed messages (HashML-DSA),
//! a message representative computed elsewhere (external mu), and the internal interface. A key that is used more than
//! once is read once: [`Dsa::signing_key`] and [`Dsa::verification_key`] keep its matrix (on the heap).

mod batch;
mod encode;
mod input;
mod keygen;
mod params;
#[cfg(feature = "rand_core")]
mod random;
mod round;
mod sample;
mod sign;
#[cfg(all(test, feature = "std"))]
mod trace;
#[cfg(feature = "signature")]
mod traits;
mod verify;

pub use super::hash::PreHash;
pub use input::Input;
pub use params::{
    Dilithium2Params, Dilithium3Params, Dilithium5Params, MlDsa44Params, MlDsa65Params, MlDsa87Params, Parameters,
};
pub use sign::SigningKey;
#[cfg(feature = "signature")]
pub use traits::Signature;
pub use verify::VerificationKey;

use core::fmt;
use core::marker::PhantomData;

use super::{Array, Error, N, Result};
use crate::RingContext;
use crate::backend::{Cpu, RingMul};
use crate::ring::presets::MlDsa;

/// The modulus.
const Q: u32 = 8_380_417;

/// Coefficients, canonical in `[0, q)`.
type Coeffs = [u32; N];

/// A polynomial in the transform domain of a [`Plan`](crate::backend::cpu::Plan): 256 lanes of 32 bits.
pub type Poly = [u64; N / 2];

/// A polynomial of zeros.
const ZERO: Poly = [0; N / 2];

/// A parameter set on a backend.
///
/// Single calls (`keygen`, `sign`, `verify`) exist on the [`Cpu`]; batched ones on every backend.
pub struct Dsa<P, B: RingMul<MlDsa> = Cpu> {
    ring: RingContext<B, MlDsa>,
    params: PhantomData<P>,
}

/// ML-DSA-44.
pub type MlDsa44<B = Cpu> = Dsa<MlDsa44Params, B>;
/// ML-DSA-65.
pub type MlDsa65<B = Cpu> = Dsa<MlDsa65Params, B>;
/// ML-DSA-87.
pub type MlDsa87<B = Cpu> = Dsa<MlDsa87Params, B>;
/// Dilithium2 of round 3.
pub type Dilithium2<B = Cpu> = Dsa<Dilithium2Params, B>;
/// Dilithium3 of round 3.
pub type Dilithium3<B = Cpu> = Dsa<Dilithium3Params, B>;
/// Dilithium5 of round 3.
pub type Dilithium5<B = Cpu> = Dsa<Dilithium5Params, B>;

impl<P: Parameters, B: RingMul<MlDsa>> Dsa<P, B> {
    /// Prepares the ring on a backend.
    ///
    /// # Errors
    /// Where the backend cannot multiply in the ring.
    ///
    /// ```
    /// use karat::{Reference, schemes::mldsa::MlDsa44};
    /// assert!(MlDsa44::new(Reference).is_ok());
    /// ```
    pub fn new(backend: B) -> Result<Self> {
        let ring = RingContext::new(backend, MlDsa)?;
        Ok(Self { ring, params: PhantomData })
    }

    /// Uses a ring that is prepared already: all parameter sets may share one.
    ///
    /// ```
    /// use karat::{Cpu, RingContext, ring::presets::MlDsa, schemes::mldsa::MlDsa44};
    /// let ring = RingContext::new(Cpu::new(), MlDsa)?;
    /// assert_eq!(MlDsa44::with_ring(ring.clone()).name(), "ML-DSA-44");
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn with_ring(ring: RingContext<B, MlDsa>) -> Self {
        Self { ring, params: PhantomData }
    }

    /// The name of the parameter set.
    ///
    /// ```
    /// # use karat::{Cpu, schemes::mldsa::MlDsa87};
    /// assert_eq!(MlDsa87::new(Cpu::new())?.name(), "ML-DSA-87");
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn name(&self) -> &'static str {
        P::NAME
    }

    /// The ring's context.
    pub fn ring(&self) -> &RingContext<B, MlDsa> {
        &self.ring
    }
}

impl<P: Parameters> Dsa<P> {
    /// Makes a public key and a private key from a seed (`ML-DSA.KeyGen_internal`, algorithm 6).
    ///
    /// ```
    /// # use karat::{Cpu, schemes::mldsa::MlDsa65};
    /// let (pk, sk) = MlDsa65::new(Cpu::new())?.keygen(&[1; 32]);
    /// assert_eq!((pk.len(), sk.len()), (1952, 4032));
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn keygen(&self, seed: &[u8; 32]) -> (P::Pk, P::Sk) {
        let mut pk = P::Pk::filled(0);
        let mut sk = P::Sk::filled(0);
        keygen::keygen::<P>(self.ring.plan(), seed, pk.as_mut(), sk.as_mut());
        (pk, sk)
    }

    /// Makes a private key from a seed that is ready for use, on the heap.
    ///
    /// ```
    /// # use karat::{Cpu, schemes::mldsa::MlDsa44};
    /// let dsa = MlDsa44::new(Cpu::new())?;
    /// let key = dsa.key_from_seed(&[1; 32]);
    /// assert_eq!(key.public_key(), dsa.keygen(&[1; 32]).0);
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn key_from_seed(&self, seed: &[u8; 32]) -> SigningKey<P> {
        SigningKey::from_seed(&self.ring, seed)
    }

    /// Reads a private key, and expands its matrix, on the heap. Its length and the ranges of its secret coefficients
    /// are checked, and nothing else: that `t0` and the hash of the public key belong to the secrets is not.
    ///
    /// # Errors
    /// `WrongLength`; `InvalidPrivateKey` for a secret coefficient out of range.
    ///
    /// ```
    /// # use karat::{Cpu, schemes::{Error, mldsa::MlDsa44}};
    /// let dsa = MlDsa44::new(Cpu::new())?;
    /// assert!(matches!(dsa.signing_key(&[0xff; 2560]), Err(Error::InvalidPrivateKey)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn signing_key(&self, sk: &[u8]) -> Result<SigningKey<P>> {
        SigningKey::new(&self.ring, sk)
    }

    /// Reads a public key, and expands its matrix, on the heap. Every string of the right length is a key.
    ///
    /// # Errors
    /// `WrongLength`.
    ///
    /// ```
    /// # use karat::{Cpu, schemes::{Error, mldsa::MlDsa44}};
    /// let dsa = MlDsa44::new(Cpu::new())?;
    /// assert!(dsa.verification_key(&[0; 1312]).is_ok());
    /// assert!(matches!(dsa.verification_key(&[0; 1311]), Err(Error::WrongLength { .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn verification_key(&self, pk: &[u8]) -> Result<VerificationKey<P>> {
        VerificationKey::new(&self.ring, pk)
    }

    /// Signs a message with a context of at most 255 bytes (`ML-DSA.Sign`, algorithm 2). `rnd` is 32 random bytes, or
    /// zero to sign deterministically. Dilithium has no context (it must be empty) and always signs deterministically.
    ///
    /// # Errors
    /// As [`Dsa::signing_key`]; `ContextTooLong`; `SigningFailed` for a key that key generation never makes.
    pub fn sign(&self, sk: &[u8], message: &[u8], context: &[u8], rnd: &[u8; 32]) -> Result<P::Sig> {
        self.sign_input(sk, Input::Message { message, context }, rnd)
    }

    /// Signs whatever the standard signs.
    ///
    /// # Errors
    /// As [`Dsa::sign`]; `WrongLength` for a digest or an external mu.
    ///
    /// ```
    /// # use karat::{Cpu, schemes::mldsa::{Input, MlDsa44, PreHash}};
    /// let dsa = MlDsa44::new(Cpu::new())?;
    /// let (pk, sk) = dsa.keygen(&[1; 32]);
    /// let input = Input::Hashed { hash: PreHash::Sha2_512, message: b"a long message", context: b"" };
    /// let signature = dsa.sign_input(&sk, input, &[0; 32])?;
    /// assert!(dsa.verify_input(&pk, input, &signature).is_ok());
    /// // Not to be confused with a signature of the message itself.
    /// assert!(dsa.verify(&pk, b"a long message", b"", &signature).is_err());
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn sign_input(&self, sk: &[u8], input: Input, rnd: &[u8; 32]) -> Result<P::Sig> {
        let mut key = sign::Expanded::<P>::empty();
        key.read(self.ring.plan(), sk)?;
        key.sign(self.ring.plan(), input, rnd)
    }

    /// Verifies a signature of a message with a context (`ML-DSA.Verify`, algorithm 3).
    ///
    /// # Errors
    /// `InvalidSignature`; `WrongLength` for the key or the signature; `ContextTooLong`.
    pub fn verify(&self, pk: &[u8], message: &[u8], context: &[u8], signature: &[u8]) -> Result<()> {
        self.verify_input(pk, Input::Message { message, context }, signature)
    }

    /// Verifies a signature of whatever the standard signs.
    ///
    /// # Errors
    /// As [`Dsa::verify`]; `WrongLength` also for a digest or an external mu.
    pub fn verify_input(&self, pk: &[u8], input: Input, signature: &[u8]) -> Result<()> {
        let mut key = verify::Expanded::<P>::empty();
        key.read(self.ring.plan(), pk)?;
        key.verify(self.ring.plan(), input, signature)
    }
}

impl<P, B: RingMul<MlDsa>> Clone for Dsa<P, B> {
    fn clone(&self) -> Self {
        Self { ring: self.ring.clone(), params: PhantomData }
    }
}

impl<P: Parameters, B: RingMul<MlDsa>> fmt::Debug for Dsa<P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dsa({} on {})", P::NAME, self.ring.backend().name())
    }
}
