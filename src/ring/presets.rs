//! The rings of published schemes, by name, each with its source.

use alloc::borrow::Cow;

use super::{Quotient, Ring, RingSpec, Term};

const fn term(exponent: usize, coefficient: i64) -> Term {
    Term { exponent, coefficient }
}

macro_rules! presets {
    ($($Type:ident $word:ty, $name:literal, n = $n:expr, q = $q:expr, $f:expr, $gamma:expr, $source:literal;)*) => {
        $(
            #[doc = concat!("The ring `", $name, "`: N = ", stringify!($n), ", q = ", stringify!($q), ". Source: ", $source, ".")]
            ///
            /// ```
            #[doc = concat!("use karat::{Ring, ring::presets::", stringify!($Type), "};")]
            #[doc = concat!("assert_eq!(", stringify!($Type), ".spec().n(), ", stringify!($n), ");")]
            /// ```
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub struct $Type;

            impl Ring for $Type {
                type Word = $word;

                fn spec(&self) -> &RingSpec {
                    static SPEC: RingSpec = RingSpec::preset($name, $n, $q, $f, $gamma, $source);
                    &SPEC
                }
            }
        )*

        /// Every preset's description, in the order of the table in the README.
        ///
        /// ```
        /// assert!(karat::ring::presets::all().iter().any(|ring| ring.name() == "sntrup761"));
        /// ```
        pub fn all() -> [&'static RingSpec; [$($name),*].len()] {
            [$({
                static RING: $Type = $Type;
                RING.spec()
            }),*]
        }
    };
}

/// `x^N - x - 1`.
const NTRU_PRIME: Quotient = Quotient::Sparse(Cow::Borrowed(&[term(1, -1), term(0, -1)]));
/// `x^N - x^(N/2) + 1`.
macro_rules! ntru_plus {
    ($half:expr) => {
        Quotient::Sparse(Cow::Borrowed(&[term($half, -1), term(0, 1)]))
    };
}

presets! {
    MlKem u16, "ml-kem", n = 256, q = 3329, Quotient::Negacyclic, Some(17), "FIPS 203";
    MlDsa u32, "ml-dsa", n = 256, q = 8380417, Quotient::Negacyclic, Some(1753), "FIPS 204";
    Falcon512 u16, "falcon-512", n = 512, q = 12289, Quotient::Negacyclic, None, "Falcon specification v1.2";
    Falcon1024 u16, "falcon-1024", n = 1024, q = 12289, Quotient::Negacyclic, None, "Falcon specification v1.2";
    NewHope1024 u16, "newhope-1024", n = 1024, q = 12289, Quotient::Negacyclic, None, "NewHope, NIST round 2 submission";
    Haetae u16, "haetae", n = 256, q = 64513, Quotient::Negacyclic, None, "HAETAE, KpqC round 2 submission";
    Raccoon u64, "raccoon", n = 512, q = 549824583172097, Quotient::Negacyclic, None, "Raccoon, NIST additional signatures round 1 submission";
    Saber u16, "saber", n = 256, q = 8192, Quotient::Negacyclic, None, "SABER, NIST round 3 submission";
    SmaugT128 u16, "smaug-t-128", n = 256, q = 1024, Quotient::Negacyclic, None, "SMAUG-T, KpqC round 2 submission";
    SmaugT192 u16, "smaug-t-192", n = 256, q = 2048, Quotient::Negacyclic, None, "SMAUG-T, KpqC round 2 submission";
    SmaugT256 u16, "smaug-t-256", n = 256, q = 2048, Quotient::Negacyclic, None, "SMAUG-T, KpqC round 2 submission";
    NtruHps2048509 u16, "ntru-hps2048509", n = 509, q = 2048, Quotient::Cyclic, None, "NTRU, NIST round 3 submission";
    NtruHps2048677 u16, "ntru-hps2048677", n = 677, q = 2048, Quotient::Cyclic, None, "NTRU, NIST round 3 submission";
    NtruHrss701 u16, "ntru-hrss701", n = 701, q = 8192, Quotient::Cyclic, None, "NTRU, NIST round 3 submission";
    NtruHps4096821 u16, "ntru-hps4096821", n = 821, q = 4096, Quotient::Cyclic, None, "NTRU, NIST round 3 submission";
    Sntrup653 u16, "sntrup653", n = 653, q = 4621, NTRU_PRIME, None, "NTRU Prime, NIST round 3 submission";
    Sntrup761 u16, "sntrup761", n = 761, q = 4591, NTRU_PRIME, None, "NTRU Prime, NIST round 3 submission";
    Sntrup857 u16, "sntrup857", n = 857, q = 5167, NTRU_PRIME, None, "NTRU Prime, NIST round 3 submission";
    Sntrup953 u16, "sntrup953", n = 953, q = 6343, NTRU_PRIME, None, "NTRU Prime, NIST round 3 submission";
    Sntrup1013 u16, "sntrup1013", n = 1013, q = 7177, NTRU_PRIME, None, "NTRU Prime, NIST round 3 submission";
    Sntrup1277 u16, "sntrup1277", n = 1277, q = 7879, NTRU_PRIME, None, "NTRU Prime, NIST round 3 submission";
    NtruPlus576 u16, "ntruplus-576", n = 576, q = 3457, ntru_plus!(288), None, "NTRU+, KpqC round 2 submission";
    NtruPlus768 u16, "ntruplus-768", n = 768, q = 3457, ntru_plus!(384), None, "NTRU+, KpqC round 2 submission";
    NtruPlus864 u16, "ntruplus-864", n = 864, q = 3457, ntru_plus!(432), None, "NTRU+, KpqC round 2 submission";
    NtruPlus1152 u16, "ntruplus-1152", n = 1152, q = 3457, ntru_plus!(576), None, "NTRU+, KpqC round 2 submission";
}

/// The preset of this name.
///
/// ```
/// assert_eq!(karat::ring::presets::find("ml-dsa").unwrap().q(), 8380417);
/// assert!(karat::ring::presets::find("none").is_none());
/// ```
pub fn find(name: &str) -> Option<RingSpec> {
    all().into_iter().find(|ring| ring.name() == name).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::Word;

    #[test]
    fn presets_are_valid_and_unique() {
        let all = all();
        for (i, ring) in all.iter().enumerate() {
            RingSpec::new(ring.n(), ring.q(), ring.f().clone()).unwrap();
            assert!(!ring.source().is_empty());
            assert!(all[..i].iter().all(|other| other.name() != ring.name()));
        }
    }

    #[test]
    fn words_hold_their_residues() {
        fn fits<R: Ring>(ring: R) {
            assert!(ring.spec().word_bits() <= R::Word::WIDTH);
        }
        fits(MlKem);
        fits(MlDsa);
        fits(Haetae);
        fits(Raccoon);
        fits(NtruHrss701);
    }
}
