//! Ciphertexts, plaintexts, keys and parameters as bytes.
//!
//! # Format, version 1
//! All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `KCKS` |
//! | 2 | version, 1 |
//! | 1 | kind: 1 parameters, 2 plaintext, 3 ciphertext, 4 secret key, 5 public key, 6 key set |
//! | 1 | 0 |
//! | 16 | fingerprint of the parameters: SHAKE128 of their own bytes without it; 0 for parameters |
//!
//! Residues follow as packed bits, `ceil(log2 q)` for each, limb by limb, each limb rounded up to whole bytes, in the
//! NTT domain in its canonical (bit-reversed) order, whatever the backend's order is. Uniform polynomials are written as
//! their 32-byte seeds where they have one.
//!
//! Reading checks the length that the head announces against the bytes that are there before anything is allocated, and
//! every residue against its prime.

mod bits;
mod bytes;
mod objects;
mod parameters;

pub(super) use bits::{pack, packed_len, unpack};
pub(super) use bytes::{Reader, Writer};

use super::{Error, Parameters, Result};

/// The version that this build writes and reads.
pub const FORMAT_VERSION: u16 = 1;

/// What follows a head.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Parameters = 1,
    Plaintext = 2,
    Ciphertext = 3,
    SecretKey = 4,
    PublicKey = 5,
    KeySet = 6,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Parameters => "parameter set",
            Self::Plaintext => "plaintext",
            Self::Ciphertext => "ciphertext",
            Self::SecretKey => "secret key",
            Self::PublicKey => "public key",
            Self::KeySet => "key set",
        }
    }
}

const MAGIC: [u8; 4] = *b"KCKS";

/// Starts an object.
fn head(writer: &mut Writer, kind: Kind, fingerprint: [u8; 16]) {
    writer.bytes(&MAGIC);
    writer.bytes(&FORMAT_VERSION.to_le_bytes());
    writer.bytes(&[kind as u8, 0]);
    writer.bytes(&fingerprint);
}

/// Checks a head.
fn open<'a>(bytes: &'a [u8], kind: Kind, fingerprint: [u8; 16]) -> Result<Reader<'a>> {
    let mut reader = Reader::new(bytes, kind.name());
    if reader.array::<4>()? != MAGIC {
        return Err(reader.wrong("it does not start with KCKS"));
    }
    let version = u16::from_le_bytes(reader.array()?);
    if version != FORMAT_VERSION {
        return Err(reader.wrong(format!("it is of version {version} and this build reads version {FORMAT_VERSION}")));
    }
    let [found, zero] = reader.array()?;
    if found != kind as u8 || zero != 0 {
        return Err(reader.wrong("it is an object of another kind"));
    }
    if reader.array::<16>()? != fingerprint {
        return Err(reader.wrong("it was made with other parameters"));
    }
    Ok(reader)
}

impl Parameters {
    /// Sixteen bytes that other parameters do not have.
    ///
    /// ```
    /// use karat::ckks::{Literal, Prime};
    /// let a = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// let b = Literal::preset(Prime::Bits60, 2)?.validate()?;
    /// assert_ne!(a.fingerprint(), b.fingerprint());
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn fingerprint(&self) -> [u8; 16] {
        use shake::digest::{ExtendableOutput, Update};
        let mut body = Writer::default();
        self.write(&mut body);
        let mut out = [0; 16];
        let mut hash = shake::Shake128::default();
        hash.update(&body.finish());
        hash.finalize_xof_into(&mut out);
        out
    }
}

/// For lengths that no memory holds.
fn too_long(what: &'static str) -> Error {
    Error::Format { what, reason: "its length overflows".into() }
}
