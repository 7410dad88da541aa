//! Parameters: what a person writes ([`Literal`]), and what has been checked ([`Parameters`]).

mod chain;
mod presets;
mod security;

pub use presets::Prime;
pub use security::Security;

use std::sync::Arc;

use super::scale::Scale;
use super::{Error, Result};
use crate::arith::is_prime_vartime;
use crate::rns::MAX_PRIMES;

/// How the primes of the ciphertext modulus are given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Chain {
    /// Base primes of these sizes in bits, and for each of `depth` levels primes whose product lies next to the scale,
    /// chosen so that the scale stays in place over all levels. What automatic mode needs.
    Scaled {
        /// Bits of the base primes, which stay to the end.
        base: Vec<u32>,
        /// Number of levels.
        depth: usize,
    },
    /// One prime next to `2^bits` for each entry, the base first.
    Bits(Vec<u32>),
    /// These primes, the base first.
    Primes(Vec<u64>),
}

/// How the special primes of key switching are given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Special {
    /// One prime next to `2^bits` for each entry.
    Bits(Vec<u32>),
    /// These primes.
    Primes(Vec<u64>),
}

/// The distribution of secret keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SecretKind {
    /// Coefficients uniform in {-1, 0, 1}.
    Ternary,
    /// Exactly `weight` coefficients are ±1, the others 0.
    Sparse {
        /// Number of coefficients that are not zero.
        weight: u32,
    },
}

/// Parameters as a person writes them; [`Literal::validate`] checks them.
///
/// ```
/// use karat::ckks::{Chain, Literal, SecretKind, Security, Special};
/// let literal = Literal {
///     log_n: 13,
///     chain: Chain::Scaled { base: vec![50], depth: 3 },
///     split: 1,
///     special: Special::Bits(vec![50]),
///     digits: 4,
///     log_scale: 37,
///     secret: SecretKind::Ternary,
///     security: Security::Classical128,
/// };
/// let parameters = literal.validate()?;
/// assert_eq!((parameters.n(), parameters.max_level(), parameters.slots()), (8192, 3, 4096));
/// # Ok::<(), karat::ckks::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Literal {
    /// Logarithm of the ring's degree N.
    pub log_n: u32,
    /// Primes of the ciphertext modulus Q.
    pub chain: Chain,
    /// Primes that one rescale drops: 1, or 2 where primes of 30 bits carry scales of twice their size.
    pub split: usize,
    /// Special primes P of key switching. Their product must reach that of the largest digit, less one bit.
    pub special: Special,
    /// Digits of key switching (dnum).
    pub digits: usize,
    /// Bits of the scale of fresh encodings.
    pub log_scale: u32,
    /// Distribution of the secret.
    pub secret: SecretKind,
    /// What the parameters must reach.
    pub security: Security,
}

impl Literal {
    /// Checks everything and finds the primes.
    ///
    /// # Errors
    /// `Parameters` where something does not fit together, `Insecure` below the asked level of security, and the
    /// engine's `NoRoot` where there are too few primes of a size.
    ///
    /// ```
    /// use karat::ckks::{Chain, Error, Literal, Prime};
    /// let mut literal = Literal::preset(Prime::Bits60, 2)?;
    /// literal.chain = Chain::Primes(vec![97, 97]);
    /// assert!(matches!(literal.validate(), Err(Error::Parameters(_))));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn validate(&self) -> Result<Parameters> {
        let wrong = |text: String| Err(Error::Parameters(text));
        if !(3..=17).contains(&self.log_n) {
            return wrong(format!("log N = {} is not in 3..=17", self.log_n));
        }
        if !(1..=4).contains(&self.split) {
            return wrong(format!("a rescale drops 1 to 4 primes, not {}", self.split));
        }
        if !(1..=120).contains(&self.log_scale) {
            return wrong(format!("a scale of 2^{} is not in 2^1..=2^120", self.log_scale));
        }
        if let SecretKind::Sparse { weight } = self.secret
            && !(1..=1 << self.log_n).contains(&weight)
        {
            return wrong(format!("a secret of weight {weight} does not exist at N = {}", 1 << self.log_n));
        }
        let (q, p) = chain::find(self)?;
        if q.is_empty() || q.len() + p.len() > MAX_PRIMES {
            return wrong(format!("{} + {} primes: at least one in Q, {MAX_PRIMES} in all", q.len(), p.len()));
        }
        let order = 2u64 << self.log_n;
        for (i, prime) in q.iter().chain(&p).enumerate() {
            if q.iter().chain(&p).take(i).any(|earlier| earlier == prime) {
                return wrong(format!("the prime {prime} occurs twice: all of Q and P must be distinct"));
            }
            if !is_prime_vartime(*prime) || prime % order != 1 {
                return wrong(format!("{prime} is no prime below 2^62 with 2N = {order} dividing it less one"));
            }
        }
        self.finish(q, p)
    }

    fn finish(&self, q: Vec<u64>, p: Vec<u64>) -> Result<Parameters> {
        let wrong = |text: String| Err(Error::Parameters(text));
        if self.digits == 0 || self.digits > q.len() {
            return wrong(format!("{} digits cannot be made of {} primes", self.digits, q.len()));
        }
        let max_level = (q.len() - 1) / self.split;
        let base = q.len() - max_level * self.split;
        let parameters = Parameters {
            log_n: self.log_n,
            q: q.into(),
            p: p.into(),
            split: self.split,
            base,
            max_level,
            alpha: 0,
            log_scale: self.log_scale,
            secret: self.secret,
            security: self.security,
        };
        let alpha = parameters.q.len().div_ceil(self.digits);
        let parameters = Parameters { alpha, ..parameters };
        let room = parameters.log_q(0);
        if room < f64::from(self.log_scale) + 1.0 {
            return wrong(format!("the base of {room:.1} bits must exceed the scale of 2^{} by a bit", self.log_scale));
        }
        let special = log2(&parameters.p);
        let digit = parameters.q.chunks(alpha).map(log2).fold(0.0, f64::max);
        if !parameters.p.is_empty() && special + 1.0 < digit {
            return wrong(format!(
                "special primes of {special:.1} bits are less than the largest digit of {digit:.1}: take more of them, or more digits"
            ));
        }
        parameters.check_security()?;
        Ok(parameters)
    }
}

/// Bits of a product.
fn log2(primes: &[u64]) -> f64 {
    primes.iter().map(|prime| (*prime as f64).log2()).sum()
}

/// Validated parameters. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Parameters {
    log_n: u32,
    q: Arc<[u64]>,
    p: Arc<[u64]>,
    split: usize,
    base: usize,
    max_level: usize,
    alpha: usize,
    log_scale: u32,
    secret: SecretKind,
    security: Security,
}

impl Parameters {
    fn check_security(&self) -> Result<()> {
        if self.security == Security::Insecure {
            return Ok(());
        }
        let limit = self.security.max_log_qp(self.log_n, self.secret);
        let log_qp = self.log_qp();
        match limit {
            Some(limit) if log_qp <= f64::from(limit) => Ok(()),
            _ => Err(Error::Insecure {
                log_n: self.log_n,
                log_qp,
                target: self.security.name(),
                limit: limit.map_or("there is no published estimate for this secret and N".into(), |limit| {
                    format!("the bound is {limit} bits")
                }),
            }),
        }
    }

    /// Logarithm of the ring's degree.
    pub fn log_n(&self) -> u32 {
        self.log_n
    }

    /// The ring's degree N.
    pub fn n(&self) -> usize {
        1 << self.log_n
    }

    /// Slots of a full packing: N/2.
    pub fn slots(&self) -> usize {
        self.n() / 2
    }

    /// Primes of the ciphertext modulus, the base first.
    pub fn q(&self) -> &[u64] {
        &self.q
    }

    /// Special primes.
    pub fn p(&self) -> &[u64] {
        &self.p
    }

    /// Primes that one rescale drops.
    pub fn split(&self) -> usize {
        self.split
    }

    /// Number of rescales that a fresh ciphertext allows.
    pub fn max_level(&self) -> usize {
        self.max_level
    }

    /// Primes in use at a level.
    ///
    /// # Bounds
    /// `level` in `[0, max_level]`.
    pub fn limbs(&self, level: usize) -> usize {
        self.base + level * self.split
    }

    /// The primes that a rescale from a level drops, as places in the chain.
    pub(super) fn dropped(&self, level: usize) -> core::ops::Range<usize> {
        self.limbs(level) - self.split..self.limbs(level)
    }

    /// Primes of one digit of key switching.
    pub fn alpha(&self) -> usize {
        self.alpha
    }

    /// Digits of key switching at the highest level (dnum).
    pub fn digits(&self) -> usize {
        self.q.len().div_ceil(self.alpha)
    }

    /// Bits of the scale of fresh encodings.
    pub fn log_scale(&self) -> u32 {
        self.log_scale
    }

    /// Distribution of the secret.
    pub fn secret(&self) -> SecretKind {
        self.secret
    }

    /// The level of security that was checked.
    pub fn security(&self) -> Security {
        self.security
    }

    /// Bits of the modulus at a level.
    pub fn log_q(&self, level: usize) -> f64 {
        log2(&self.q[..self.limbs(level.min(self.max_level))])
    }

    /// Bits of the whole modulus with the special primes: what security depends on.
    pub fn log_qp(&self) -> f64 {
        log2(&self.q) + log2(&self.p)
    }

    /// The scale `2^bits`.
    pub fn scale(&self, bits: u32) -> Scale {
        Scale::power_of_two(&self.q, i64::from(bits))
    }

    /// The scale of fresh encodings.
    pub fn default_scale(&self) -> Scale {
        self.scale(self.log_scale)
    }

    /// A scale with these exponents of two and of each prime, or `None` for the wrong number of them.
    pub(super) fn scale_of(&self, two: i64, exponents: Vec<i64>) -> Option<Scale> {
        Scale::from_exponents(&self.q, two, exponents)
    }

    /// Whether all primes fit 32-bit words.
    pub(super) fn fits_u32(&self) -> bool {
        self.q.iter().chain(self.p.iter()).all(|prime| *prime < 1 << 31)
    }

    /// The scale of each level in automatic mode: `S_{l-1} = S_l^2 / q_l`, from the default scale at the top.
    ///
    /// # Errors
    /// `Drift` where it leaves the default by more than half a bit.
    pub(super) fn automatic_scales(&self) -> Result<Vec<Scale>> {
        let mut scales = vec![self.default_scale()];
        for level in (1..=self.max_level).rev() {
            let above = &scales[scales.len() - 1];
            let drift = |bits| Error::Drift { level: level - 1, bits, log_scale: self.log_scale };
            let next = above.times(above).and_then(|square| square.shifted(self.dropped(level), -1));
            let next = next.ok_or_else(|| drift(f64::INFINITY))?;
            if (next.log2() - f64::from(self.log_scale)).abs() > 0.5 {
                return Err(drift(next.log2()));
            }
            scales.push(next);
        }
        scales.reverse();
        Ok(scales)
    }
}
