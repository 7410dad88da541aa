//! Presets: the smallest secure ring for a depth, for each class of primes.

use super::{Chain, Literal, SecretKind, Security, Special, log2};
use crate::ckks::{Error, Result};
use crate::rns::MAX_PRIMES;

/// The class of primes of a preset.
///
/// ```
/// use karat::ckks::{Literal, Prime};
/// let parameters = Literal::preset(Prime::Bits30, 4)?.validate()?;
/// assert!(parameters.q().iter().all(|prime| *prime < 1 << 31));
/// # Ok::<(), karat::ckks::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Prime {
    /// Primes below 2^31 in 32-bit words, two for each level: a scale of 2^56, and 6 bits for the integer part.
    Bits30,
    /// Primes below 2^50, which vector units multiply by double-precision or 52-bit arithmetic: a scale of 2^40, and 9
    /// bits for the integer part.
    Bits50,
    /// Primes to 60 bits in 64-bit words: a scale of 2^50, and 10 bits for the integer part.
    Bits60,
}

/// More digits than this make key switching slower than a larger ring would; more are taken where nothing else is left.
const MOST_DIGITS: usize = 8;

impl Literal {
    /// Parameters for products of a depth, 128 bits against classical attacks, a ternary secret, with the smallest ring
    /// and the fewest digits that are secure.
    ///
    /// # Bounds
    /// `depth` in `[1, 30]`.
    ///
    /// # Errors
    /// `Parameters` outside.
    ///
    /// ```
    /// use karat::ckks::{Literal, Prime};
    /// assert_eq!(Literal::preset(Prime::Bits50, 2)?.log_n, 13);
    /// assert!(Literal::preset(Prime::Bits50, 31).is_err());
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn preset(prime: Prime, depth: usize) -> Result<Self> {
        if !(1..=30).contains(&depth) {
            return Err(Error::Parameters(format!("presets have depths 1 to 30, not {depth}")));
        }
        let (base, split, log_scale, special): (Vec<u32>, _, _, _) = match prime {
            Prime::Bits30 => (vec![31, 31], 2, 56, 31),
            Prime::Bits50 => (vec![49], 1, 40, 49),
            Prime::Bits60 => (vec![60], 1, 50, 60),
        };
        let primes = base.len() + depth * split;
        let per_prime = f64::from(log_scale) / split as f64;
        let base_bits = f64::from(base.iter().sum::<u32>());
        let tries = [MOST_DIGITS, primes].into_iter().flat_map(|most| (11..=17).map(move |log_n| (log_n, most)));
        for (log_n, most) in tries {
            let limit = Security::Classical128.max_log_qp(log_n, SecretKind::Ternary).map_or(0.0, f64::from);
            for digits in 1..=primes.min(most) {
                let alpha = primes.div_ceil(digits);
                // The lowest digit holds the base.
                let digit = base_bits + alpha.saturating_sub(base.len()) as f64 * per_prime;
                let count = ((digit - 1.0) / f64::from(special)).ceil().max(1.0) as usize;
                let literal = Self {
                    log_n,
                    chain: Chain::Scaled { base: base.clone(), depth },
                    split,
                    special: Special::Bits(vec![special; count]),
                    digits,
                    log_scale,
                    secret: SecretKind::Ternary,
                    security: Security::Classical128,
                };
                let bits = base_bits + depth as f64 * f64::from(log_scale) + count as f64 * f64::from(special);
                if primes + count > MAX_PRIMES {
                    continue;
                }
                // The primes are not exactly as large as asked for.
                if bits <= limit + 1.0
                    && let Ok(parameters) = literal.validate()
                    && log2(parameters.p()) + log2(parameters.q()) <= limit
                {
                    return Ok(literal);
                }
            }
        }
        Err(Error::Parameters(format!("no ring to N = 2^17 is secure at depth {depth}")))
    }
}
