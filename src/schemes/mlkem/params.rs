//! Parameter sets.

use core::fmt::Debug;

use super::Poly;
use crate::schemes::Array;

/// A parameter set of ML-KEM or Kyber (FIPS 203, section 8). Sealed.
///
/// ```
/// use karat::schemes::mlkem::{MlKem768Params, Parameters};
/// assert_eq!((MlKem768Params::K, MlKem768Params::DU, MlKem768Params::DV), (3, 10, 4));
/// ```
pub trait Parameters: sealed::Sealed + Copy + Debug + Default + Ord + Send + Sync + 'static {
    /// The name.
    const NAME: &'static str;
    /// Rank: polynomials in a vector.
    const K: usize;
    /// Width of the binomial distribution of the secret (that of the noise is 2).
    const ETA1: usize;
    /// Bits of a compressed coefficient of `u`.
    const DU: usize;
    /// Bits of a compressed coefficient of `v`.
    const DV: usize;
    /// Kyber of round 3 instead of FIPS 203: another key derivation.
    const ROUND3: bool;

    /// An encoded encapsulation key.
    type Ek: Array<u8>;
    /// An encoded decapsulation key.
    type Dk: Array<u8>;
    /// A ciphertext.
    type Ct: Array<u8>;
    /// `K` polynomials.
    #[doc(hidden)]
    type Vector: Array<Poly>;
    /// `(K + 1)·K` polynomials: the matrix, and one row more.
    #[doc(hidden)]
    type Matrix: Array<Poly>;
}

macro_rules! parameters {
    ($($Type:ident, $name:literal, k = $k:literal, eta1 = $eta1:literal, du = $du:literal, dv = $dv:literal, $round3:literal;)*) => {$(
        #[doc = concat!("The parameters of ", $name, ".")]
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $Type;

        impl sealed::Sealed for $Type {}

        impl Parameters for $Type {
            const NAME: &'static str = $name;
            const K: usize = $k;
            const ETA1: usize = $eta1;
            const DU: usize = $du;
            const DV: usize = $dv;
            const ROUND3: bool = $round3;

            type Ek = [u8; 384 * $k + 32];
            type Dk = [u8; 768 * $k + 96];
            type Ct = [u8; 32 * ($k * $du + $dv)];
            type Vector = [Poly; $k];
            type Matrix = [Poly; ($k + 1) * $k];
        }
    )*};
}

parameters! {
    MlKem512Params, "ML-KEM-512", k = 2, eta1 = 3, du = 10, dv = 4, false;
    MlKem768Params, "ML-KEM-768", k = 3, eta1 = 2, du = 10, dv = 4, false;
    MlKem1024Params, "ML-KEM-1024", k = 4, eta1 = 2, du = 11, dv = 5, false;
    Kyber512Params, "Kyber512", k = 2, eta1 = 3, du = 10, dv = 4, true;
    Kyber768Params, "Kyber768", k = 3, eta1 = 2, du = 10, dv = 4, true;
    Kyber1024Params, "Kyber1024", k = 4, eta1 = 2, du = 11, dv = 5, true;
}

mod sealed {
    pub trait Sealed {}
}
