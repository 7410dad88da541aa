//! Leveled CKKS: approximate arithmetic on encrypted vectors of real or complex numbers.
//!
//! Cheon, Kim, Kim and Song, *Homomorphic Encryption for Arithmetic of Approximate Numbers* (2017), in its RNS form
//! (Cheon, Han, Kim, Kim and Song 2018) with hybrid key switching (Han and Ki 2020), over
//! the RNS layer and generic over its backends.

mod ciphertext;
mod context;
mod encode;
mod encoder;
mod encrypt;
mod error;
mod evaluator;
mod keys;
mod linear;
mod noise;
mod params;
mod polyeval;
mod polynomial;
mod precision;
mod publish;
mod sample;
mod scale;
mod serial;

pub use ciphertext::{Ciphertext, Plaintext};
pub use context::Ckks;
pub use encoder::Encoder;
pub use error::{Error, Result};
pub use evaluator::{Evaluator, Mode};
pub use getrandom::SysRng;
pub use keys::{KeyGenerator, KeyPlan, KeySet, PublicKey, SecretKey};
pub use linear::{LinearTransform, PreparedTransform};
pub use noise::Noise;
pub use params::{Chain, Literal, Parameters, Prime, SecretKind, Security, Special};
pub use polyeval::Powers;
pub use polynomial::{Basis, Polynomial};
pub use precision::{PrecisionReport, PrecisionStats};
pub use publish::Flooding;
pub use rand_core::TryCryptoRng;
pub use rustfft::num_complex::Complex64;
pub use scale::Scale;
pub use serial::FORMAT_VERSION;
