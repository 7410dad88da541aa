//! Parameters as bytes.

use super::{Kind, Writer, head, open};
use crate::ckks::params::{Chain, Literal, SecretKind, Security, Special};
use crate::ckks::{Parameters, Result};

/// The levels of security by number.
const SECURITY: [Security; 7] = [
    Security::Insecure,
    Security::Classical128,
    Security::Classical192,
    Security::Classical256,
    Security::Quantum128,
    Security::Quantum192,
    Security::Quantum256,
];

impl Parameters {
    pub(super) fn write(&self, writer: &mut Writer) {
        writer.number(u64::from(self.log_n()));
        writer.number(self.split() as u64);
        writer.number(self.digits() as u64);
        writer.number(u64::from(self.log_scale()));
        writer.number(match self.secret() {
            SecretKind::Ternary => 0,
            SecretKind::Sparse { weight } => u64::from(weight),
        });
        writer.number(SECURITY.iter().position(|level| *level == self.security()).unwrap_or(0) as u64);
        for primes in [self.q(), self.p()] {
            writer.number(primes.len() as u64);
            primes.iter().for_each(|prime| writer.bytes(&prime.to_le_bytes()));
        }
    }

    /// The parameters as bytes.
    ///
    /// ```
    /// use karat::ckks::{Literal, Parameters, Prime};
    /// let parameters = Literal::preset(Prime::Bits50, 3)?.validate()?;
    /// assert_eq!(Parameters::from_bytes(&parameters.to_bytes())?, parameters);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        head(&mut writer, Kind::Parameters, [0; 16]);
        self.write(&mut writer);
        writer.finish()
    }

    /// Reads parameters and validates them anew.
    ///
    /// # Errors
    /// `Format`, and those of [`Literal::validate`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = open(bytes, Kind::Parameters, [0; 16])?;
        let log_n = reader.within("log N", 3..=17)? as u32;
        let split = reader.within("a split", 1..=4)?;
        let digits = reader.within("a number of digits", 1..=64)?;
        let log_scale = reader.within("a scale", 1..=120)? as u32;
        let secret = match reader.within("a weight", 0..=1 << 17)? as u32 {
            0 => SecretKind::Ternary,
            weight => SecretKind::Sparse { weight },
        };
        let security = SECURITY[reader.within("a level of security", 0..=SECURITY.len() as u64 - 1)?];
        let mut primes = [Vec::new(), Vec::new()];
        for primes in &mut primes {
            for _ in 0..reader.within("a number of primes", 0..=64)? {
                primes.push(u64::from_le_bytes(reader.array()?));
            }
        }
        reader.expect(Some(0))?;
        let [q, p] = primes;
        let (chain, special) = (Chain::Primes(q), Special::Primes(p));
        Literal { log_n, chain, split, special, digits, log_scale, secret, security }.validate()
    }
}
