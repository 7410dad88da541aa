//! The traits of the crate `signature` for the keys of ML-DSA and Dilithium.
//!
//! They sign messages with the empty context: [`Signer`] deterministically, [`RandomizedSigner`] hedged. To store a
//! signing key, take its [`seed`](SigningKey::seed) or its [`to_bytes`](SigningKey::to_bytes).

use core::fmt;

use signature::{Keypair, RandomizedSigner, SignatureEncoding, Signer, Verifier};

use super::{Array, Input, Parameters, SigningKey, VerificationKey};
use crate::schemes::{Error, Result, exactly};

/// A signature as a type of its own, for the traits of the crate `signature`.
///
/// ```
/// use karat::{Cpu, schemes::mldsa::{MlDsa44, Signature}};
/// use signature::{Keypair, SignatureEncoding, Signer, Verifier};
/// let key = MlDsa44::new(Cpu::new())?.key_from_seed(&[1; 32]);
/// // The keys' own `sign` and `verify` take a context too: the traits' are called by their full names.
/// let signature = Signer::sign(&key, b"message");
/// let received = Signature::try_from(signature.to_bytes().as_ref())?;
/// assert!(Verifier::verify(&key.verifying_key(), b"message", &received).is_ok());
/// assert!(Verifier::verify(&key.verifying_key(), b"massage", &received).is_err());
/// # Ok::<(), karat::schemes::Error>(())
/// ```
#[derive(Clone)]
pub struct Signature<P: Parameters>(P::Sig);

impl<P: Parameters> Signature<P> {
    /// A signature as [`Dsa::sign`](super::Dsa::sign) gives it.
    pub fn new(bytes: P::Sig) -> Self {
        Self(bytes)
    }
}

impl<P: Parameters> AsRef<[u8]> for Signature<P> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

/// Checks the length, and nothing else: verification does.
impl<P: Parameters> TryFrom<&[u8]> for Signature<P> {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self> {
        exactly("signature", bytes, P::Sig::LEN)?;
        let mut signature = P::Sig::filled(0);
        signature.as_mut().copy_from_slice(bytes);
        Ok(Self(signature))
    }
}

impl<P: Parameters> SignatureEncoding for Signature<P> {
    /// A signature is its own encoding: `as_ref` gives the bytes.
    type Repr = Self;
}

impl<P: Parameters> PartialEq for Signature<P> {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl<P: Parameters> Eq for Signature<P> {}

impl<P: Parameters> fmt::Debug for Signature<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({}, {:02x?})", P::NAME, self.as_ref())
    }
}

/// The crate's error says nothing more: what is wrong with a key or a signature is no business of the caller's peer.
fn opaque(_: Error) -> signature::Error {
    signature::Error::new()
}

fn input(message: &[u8]) -> Input<'_> {
    Input::Message { message, context: &[] }
}

impl<P: Parameters> Signer<Signature<P>> for SigningKey<P> {
    fn try_sign(&self, message: &[u8]) -> signature::Result<Signature<P>> {
        self.sign_input(input(message), &[0; 32]).map(Signature).map_err(opaque)
    }
}

impl<P: Parameters> RandomizedSigner<Signature<P>> for SigningKey<P> {
    fn try_sign_with_rng<R: rand_core::TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        message: &[u8],
    ) -> signature::Result<Signature<P>> {
        self.sign_from_rng(input(message), rng).map(Signature).map_err(opaque)
    }
}

impl<P: Parameters> Verifier<Signature<P>> for VerificationKey<P> {
    fn verify(&self, message: &[u8], signature: &Signature<P>) -> signature::Result<()> {
        self.verify_input(input(message), signature.as_ref()).map_err(opaque)
    }
}

impl<P: Parameters> Keypair for SigningKey<P> {
    type VerifyingKey = VerificationKey<P>;

    fn verifying_key(&self) -> VerificationKey<P> {
        self.verification_key()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;
    use crate::schemes::mldsa::{Dilithium2Params, Dsa, MlDsa44Params, MlDsa65Params, MlDsa87Params};
    use getrandom::{SysRng, rand_core::UnwrapErr};

    /// What any code that is generic over the traits does.
    fn send<S: SignatureEncoding, K: Signer<S> + RandomizedSigner<S> + Keypair<VerifyingKey: Verifier<S>>>(key: &K) {
        let hedged = key.sign_with_rng(&mut UnwrapErr(SysRng), b"message");
        for signature in [key.sign(b"message"), hedged] {
            let bytes = signature.to_bytes();
            let received = S::try_from(bytes.as_ref()).unwrap_or_else(|_| panic!("the right length"));
            assert!(key.verifying_key().verify(b"message", &received).is_ok());
            assert!(key.verifying_key().verify(b"another", &received).is_err());
            assert!(S::try_from(&bytes.as_ref()[1..]).is_err());
        }
    }

    fn check<P: Parameters>() {
        let dsa = Dsa::<P>::new(Cpu::new()).unwrap();
        let key = dsa.key_from_rng(&mut SysRng).unwrap();
        send(&key);
        // Both forms that it can be stored in give it again.
        let again = dsa.key_from_seed(key.seed().unwrap());
        assert_eq!(again.to_bytes(), key.to_bytes());
        let read = dsa.signing_key(&key.to_bytes()).unwrap();
        assert!(read.to_bytes() == key.to_bytes() && read.seed().is_none());
        assert_eq!(read.public_key().as_ref(), key.public_key().as_ref());
        // The public key follows from the private one.
        let (pk, sk) = dsa.keygen(&[5; 32]);
        assert!(dsa.signing_key(sk.as_ref()).unwrap().public_key().as_ref() == pk.as_ref());
        let signature = dsa.sign(sk.as_ref(), b"message", b"", &[0; 32]).unwrap();
        let same: Signature<P> = Signer::sign(&dsa.key_from_seed(&[5; 32]), b"message");
        assert!(same == Signature::new(signature));
    }

    #[test]
    fn generic_code() {
        check::<MlDsa44Params>();
        check::<MlDsa65Params>();
        check::<MlDsa87Params>();
        check::<Dilithium2Params>();
    }
}
