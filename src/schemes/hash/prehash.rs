//! The hash functions that HashML-DSA may use before signing (FIPS 204, section 5.4).

use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use sha3::digest::{Digest, ExtendableOutput, XofReader};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use shake::{Shake128, Shake256};

/// Longest digest of a [`PreHash`], in bytes.
pub(in crate::schemes) const MAX_DIGEST: usize = 64;

macro_rules! pre_hashes {
    ($($(#[$doc:meta])* $Variant:ident, $name:literal, $arc:literal, $len:literal;)*) => {
        /// A hash function that HashML-DSA may use.
        ///
        /// ```
        /// use karat::schemes::mldsa::PreHash;
        /// assert_eq!(PreHash::Shake128.digest_len(), 32);
        /// assert_eq!(PreHash::from_name("SHA2-512/256"), Some(PreHash::Sha2_512_256));
        /// assert_eq!(PreHash::ALL.len(), 12);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum PreHash {
            $($(#[$doc])* $Variant,)*
        }

        impl PreHash {
            /// All twelve.
            pub const ALL: [Self; 12] = [$(Self::$Variant),*];

            /// The name that NIST's vectors use.
            ///
            /// ```
            /// assert_eq!(karat::schemes::mldsa::PreHash::Sha3_256.name(), "SHA3-256");
            /// ```
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)*
                }
            }

            /// Bytes of a digest. SHAKE-128 gives 256 bits and SHAKE-256 gives 512.
            pub fn digest_len(self) -> usize {
                match self {
                    $(Self::$Variant => $len,)*
                }
            }

            /// The DER encoding of the object identifier 2.16.840.1.101.3.4.2.x.
            pub(in crate::schemes) fn oid(self) -> [u8; 11] {
                let arc = match self {
                    $(Self::$Variant => $arc,)*
                };
                [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, arc]
            }
        }
    };
}

pre_hashes! {
    /// SHA-224.
    Sha2_224, "SHA2-224", 4, 28;
    /// SHA-256.
    Sha2_256, "SHA2-256", 1, 32;
    /// SHA-384.
    Sha2_384, "SHA2-384", 2, 48;
    /// SHA-512.
    Sha2_512, "SHA2-512", 3, 64;
    /// SHA-512/224.
    Sha2_512_224, "SHA2-512/224", 5, 28;
    /// SHA-512/256.
    Sha2_512_256, "SHA2-512/256", 6, 32;
    /// SHA3-224.
    Sha3_224, "SHA3-224", 7, 28;
    /// SHA3-256.
    Sha3_256, "SHA3-256", 8, 32;
    /// SHA3-384.
    Sha3_384, "SHA3-384", 9, 48;
    /// SHA3-512.
    Sha3_512, "SHA3-512", 10, 64;
    /// SHAKE-128 with 256 bits of output.
    Shake128, "SHAKE-128", 11, 32;
    /// SHAKE-256 with 512 bits of output.
    Shake256, "SHAKE-256", 12, 64;
}

impl PreHash {
    /// The function of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| hash.name() == name)
    }

    /// Hashes a message: the digest is the first [`PreHash::digest_len`] bytes.
    ///
    /// ```
    /// use karat::schemes::mldsa::PreHash;
    /// let digest = PreHash::Sha2_256.digest(b"abc");
    /// assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
    /// ```
    pub fn digest(self, message: &[u8]) -> [u8; MAX_DIGEST] {
        let mut out = [0; MAX_DIGEST];
        let digest = &mut out[..self.digest_len()];
        match self {
            Self::Sha2_224 => digest.copy_from_slice(&Sha224::digest(message)),
            Self::Sha2_256 => digest.copy_from_slice(&Sha256::digest(message)),
            Self::Sha2_384 => digest.copy_from_slice(&Sha384::digest(message)),
            Self::Sha2_512 => digest.copy_from_slice(&Sha512::digest(message)),
            Self::Sha2_512_224 => digest.copy_from_slice(&Sha512_224::digest(message)),
            Self::Sha2_512_256 => digest.copy_from_slice(&Sha512_256::digest(message)),
            Self::Sha3_224 => digest.copy_from_slice(&Sha3_224::digest(message)),
            Self::Sha3_256 => digest.copy_from_slice(&Sha3_256::digest(message)),
            Self::Sha3_384 => digest.copy_from_slice(&Sha3_384::digest(message)),
            Self::Sha3_512 => digest.copy_from_slice(&Sha3_512::digest(message)),
            Self::Shake128 => extend(Shake128::default(), message, digest),
            Self::Shake256 => extend(Shake256::default(), message, digest),
        }
        out
    }
}

fn extend(mut state: impl ExtendableOutput, message: &[u8], digest: &mut [u8]) {
    state.update(message);
    state.finalize_xof().read(digest);
}
