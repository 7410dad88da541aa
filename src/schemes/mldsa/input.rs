//! What is signed.

use super::{Error, Parameters, PreHash, Result};
use crate::schemes::{exactly, hash};

/// Something that can be signed (FIPS 204, sections 5.2 to 5.4 and 6.2). A signature of one form never verifies as
/// another one, except that `Mu` stands for any of them.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// A message with a context of at most 255 bytes: `ML-DSA.Sign`.
    Message {
        /// The message.
        message: &'a [u8],
        /// The context.
        context: &'a [u8],
    },
    /// A message that is hashed first: `HashML-DSA.Sign`.
    Hashed {
        /// The hash function.
        hash: PreHash,
        /// The message.
        message: &'a [u8],
        /// The context.
        context: &'a [u8],
    },
    /// The digest of a message: `HashML-DSA.Sign` where the message was hashed elsewhere.
    Digest {
        /// The hash function.
        hash: PreHash,
        /// Its digest.
        digest: &'a [u8],
        /// The context.
        context: &'a [u8],
    },
    /// The message representative of 64 bytes, computed elsewhere from the public key and the message.
    Mu(&'a [u8]),
    /// The formatted message of the internal interface, `ML-DSA.Sign_internal`. For tests, and for Dilithium.
    Internal(&'a [u8]),
}

/// Checks a context, and gives its length as a byte.
fn context_len<P: Parameters>(context: &[u8]) -> Result<u8> {
    if P::ROUND3 && !context.is_empty() {
        return Err(Error::NotDefined { set: P::NAME, what: "context" });
    }
    u8::try_from(context.len()).map_err(|_| Error::ContextTooLong { got: context.len() })
}

impl Input<'_> {
    /// The message representative: `mu = H(tr ‖ M')`, `tr` the hash of the public key.
    pub(super) fn mu<P: Parameters>(self, tr: &[u8]) -> Result<[u8; 64]> {
        let mut mu = [0; 64];
        match self {
            Self::Message { message, context } => {
                let header = [0, context_len::<P>(context)?];
                let header = if P::ROUND3 { &[] } else { &header[..] };
                hash::shake256(&[tr, header, context, message], &mut mu);
            }
            Self::Hashed { hash, message, context } => {
                let digest = hash.digest(message);
                return Input::Digest { hash, digest: &digest[..hash.digest_len()], context }.mu::<P>(tr);
            }
            Self::Digest { hash, digest, context } => {
                if P::ROUND3 {
                    return Err(Error::NotDefined { set: P::NAME, what: "pre-hashed form" });
                }
                exactly("digest", digest, hash.digest_len())?;
                let header = [1, context_len::<P>(context)?];
                hash::shake256(&[tr, &header, context, &hash.oid(), digest], &mut mu);
            }
            Self::Mu(given) => {
                exactly("external mu", given, 64)?;
                mu.copy_from_slice(given);
            }
            Self::Internal(message) => hash::shake256(&[tr, message], &mut mu),
        }
        Ok(mu)
    }
}
