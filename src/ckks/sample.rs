//! Random polynomials, each from a 32-byte seed.
//!
//! A seed is expanded by ChaCha20 (RFC 8439) with a 64-bit stream number, so that the same seed gives any limb of any
//! polynomial on its own. Seeds of public polynomials travel in their place; those of secrets are drawn, used once and
//! erased. Secret samplers take the same steps whatever they draw.

mod gauss;
mod ternary;

pub(super) use gauss::{SIGMA, gaussian, wide_gaussian};
pub(super) use ternary::{sparse_ternary, ternary};

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng, TryCryptoRng};
use zeroize::Zeroizing;

use super::encoder::for_each_limb;
use super::{Error, Result};
use crate::arith::Word;

/// Draws a seed.
pub(super) fn draw_seed(random: &mut impl TryCryptoRng) -> Result<Zeroizing<[u8; 32]>> {
    let mut seed = Zeroizing::new([0; 32]);
    random.try_fill_bytes(&mut *seed).map_err(|error| Error::Random(error.to_string()))?;
    Ok(seed)
}

/// The expansion of a seed. Erased when dropped.
pub(super) struct Expander(ChaCha20Rng);

impl Expander {
    /// One of the streams of a seed.
    pub(super) fn new(seed: &[u8; 32], stream: u64) -> Self {
        let mut expander = ChaCha20Rng::from_seed(*seed);
        expander.set_stream(stream);
        Self(expander)
    }

    /// A uniform word.
    pub(super) fn word(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// The uniform polynomial of this number under a public seed: residues `[limb][N]` in the NTT domain, in the canonical
/// order. `indices[l]` is the place of limb `l` among all primes, and selects its stream.
///
/// Words of the prime's bits are drawn until one is below the prime: what is rejected says nothing about the rest.
pub(super) fn uniform<W: Word>(seed: &[u8; 32], number: u64, primes: &[u64], indices: &[usize], n: usize) -> Vec<W> {
    let mut out = vec![W::ZERO; primes.len() * n];
    let place = |prime: &u64| primes.iter().position(|other| other == prime).unwrap_or(0);
    for_each_limb(primes, &mut out, n, |(prime, out)| {
        // 64 primes at most in a ring.
        let mut expander = Expander::new(seed, number << 8 | indices[place(prime)] as u64);
        let mask = u64::MAX >> prime.leading_zeros();
        for word in out {
            *word = loop {
                let candidate = expander.word() & mask;
                if candidate < *prime {
                    break W::from_u64(candidate);
                }
            };
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIMES: [u64; 3] = [97, 1125899906826241, 4611686018326724609];

    #[test]
    fn uniform_residues_fill_their_range() {
        let out = uniform::<u64>(&[7; 32], 0, &PRIMES, &[0, 1, 2], 1 << 12);
        for (prime, limb) in PRIMES.iter().zip(out.chunks(1 << 12)) {
            assert!(limb.iter().all(|x| x < prime));
            let mean = limb.iter().map(|x| *x as f64 / *prime as f64).sum::<f64>() / limb.len() as f64;
            // Six standard deviations.
            assert!((mean - 0.5).abs() < 6.0 / (12.0 * limb.len() as f64).sqrt(), "{mean}");
        }
    }

    #[test]
    fn limbs_stand_alone() {
        let all = uniform::<u64>(&[7; 32], 3, &PRIMES, &[0, 1, 5], 64);
        assert_eq!(all[128..], uniform::<u64>(&[7; 32], 3, &PRIMES[2..], &[5], 64));
        assert_ne!(all[128..], uniform::<u64>(&[7; 32], 4, &PRIMES[2..], &[5], 64));
        assert_ne!(all[128..], uniform::<u64>(&[8; 32], 3, &PRIMES[2..], &[5], 64));
    }

    #[test]
    fn a_source_that_fails_is_an_error() {
        struct Broken;
        impl rand_core::TryRng for Broken {
            type Error = std::fmt::Error;
            fn try_next_u32(&mut self) -> core::result::Result<u32, Self::Error> {
                Err(std::fmt::Error)
            }
            fn try_next_u64(&mut self) -> core::result::Result<u64, Self::Error> {
                Err(std::fmt::Error)
            }
            fn try_fill_bytes(&mut self, _: &mut [u8]) -> core::result::Result<(), Self::Error> {
                Err(std::fmt::Error)
            }
        }
        impl TryCryptoRng for Broken {}
        assert!(matches!(draw_seed(&mut Broken), Err(Error::Random(_))));
    }
}
