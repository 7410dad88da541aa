//! Parameter sets.

use core::fmt::Debug;

use super::Poly;
use crate::schemes::Array;

/// A parameter set of ML-DSA or Dilithium (FIPS 204, section 4). Sealed.
///
/// ```
/// use karat::schemes::mldsa::{MlDsa65Params, Parameters};
/// assert_eq!((MlDsa65Params::K, MlDsa65Params::L, MlDsa65Params::BETA), (6, 5, 196));
/// ```
pub trait Parameters: sealed::Sealed + Copy + Debug + Default + Send + Sync + 'static {
    /// The name.
    const NAME: &'static str;
    /// Rows of the matrix.
    const K: usize;
    /// Columns of the matrix.
    const L: usize;
    /// Bound of a secret coefficient.
    const ETA: u32;
    /// Coefficients ±1 of a challenge.
    const TAU: usize;
    /// `log2 gamma1`: coefficients of the mask lie in `(-gamma1, gamma1]`.
    const GAMMA1_BITS: usize;
    /// Half the distance of high bits.
    const GAMMA2: u32;
    /// Most ones in a hint.
    const OMEGA: usize;
    /// Bytes of the challenge's hash.
    const CHALLENGE: usize;
    /// Bytes of the public key's hash.
    const TR: usize;
    /// Dilithium of round 3 instead of FIPS 204.
    const ROUND3: bool;

    /// Bound of a coefficient of challenge times secret.
    const BETA: u32 = Self::TAU as u32 * Self::ETA;
    /// Bound of the mask.
    const GAMMA1: u32 = 1 << Self::GAMMA1_BITS;

    /// An encoded public key.
    type Pk: Array<u8>;
    /// An encoded private key.
    type Sk: Array<u8>;
    /// A signature.
    type Sig: Array<u8>;
    /// `K` polynomials.
    #[doc(hidden)]
    type Rows: Array<Poly>;
    /// `L` polynomials.
    #[doc(hidden)]
    type Columns: Array<Poly>;
    /// `L + 1` polynomials.
    #[doc(hidden)]
    type WideColumns: Array<Poly>;
    /// `K·L` polynomials.
    #[doc(hidden)]
    type Matrix: Array<Poly>;
    /// `K·(L + 1)` polynomials.
    #[doc(hidden)]
    type WideMatrix: Array<Poly>;
}

macro_rules! parameters {
    ($($Type:ident, $name:literal, k = $k:literal, l = $l:literal, eta = $eta:literal, tau = $tau:literal,
        gamma1 = 2^$gamma1:literal, gamma2 = (q - 1) / $m:literal, omega = $omega:literal,
        challenge = $challenge:literal, tr = $tr:literal, $round3:literal;)*) => {$(
        #[doc = concat!("The parameters of ", $name, ".")]
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $Type;

        impl sealed::Sealed for $Type {}

        impl Parameters for $Type {
            const NAME: &'static str = $name;
            const K: usize = $k;
            const L: usize = $l;
            const ETA: u32 = $eta;
            const TAU: usize = $tau;
            const GAMMA1_BITS: usize = $gamma1;
            const GAMMA2: u32 = (super::Q - 1) / $m;
            const OMEGA: usize = $omega;
            const CHALLENGE: usize = $challenge;
            const TR: usize = $tr;
            const ROUND3: bool = $round3;

            type Pk = [u8; 32 + 320 * $k];
            // 3 bits hold [-2, 2], 4 bits hold [-4, 4].
            type Sk = [u8; 64 + $tr + 32 * (($k + $l) * (2 + $eta / 2) + 13 * $k)];
            type Sig = [u8; $challenge + 32 * $l * ($gamma1 + 1) + $omega + $k];
            type Rows = [Poly; $k];
            type Columns = [Poly; $l];
            type WideColumns = [Poly; $l + 1];
            type Matrix = [Poly; $k * $l];
            type WideMatrix = [Poly; $k * ($l + 1)];
        }
    )*};
}

parameters! {
    MlDsa44Params, "ML-DSA-44", k = 4, l = 4, eta = 2, tau = 39, gamma1 = 2^17, gamma2 = (q - 1) / 88, omega = 80, challenge = 32, tr = 64, false;
    MlDsa65Params, "ML-DSA-65", k = 6, l = 5, eta = 4, tau = 49, gamma1 = 2^19, gamma2 = (q - 1) / 32, omega = 55, challenge = 48, tr = 64, false;
    MlDsa87Params, "ML-DSA-87", k = 8, l = 7, eta = 2, tau = 60, gamma1 = 2^19, gamma2 = (q - 1) / 32, omega = 75, challenge = 64, tr = 64, false;
    Dilithium2Params, "Dilithium2", k = 4, l = 4, eta = 2, tau = 39, gamma1 = 2^17, gamma2 = (q - 1) / 88, omega = 80, challenge = 32, tr = 32, true;
    Dilithium3Params, "Dilithium3", k = 6, l = 5, eta = 4, tau = 49, gamma1 = 2^19, gamma2 = (q - 1) / 32, omega = 55, challenge = 32, tr = 32, true;
    Dilithium5Params, "Dilithium5", k = 8, l = 7, eta = 2, tau = 60, gamma1 = 2^19, gamma2 = (q - 1) / 32, omega = 75, challenge = 32, tr = 32, true;
}

mod sealed {
    pub trait Sealed {}
}
