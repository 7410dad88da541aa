//! How large a modulus may be: the tables of the 2024 guideline.
//!
//! Bossuat, Cammarota, Chillotti, Curtis, Dai, Gong, Hales, Kim, Kumara, Lee, Lu, Maple, Pedrouzo-Ulloa, Player,
//! Polyakov, Lopez, Song, Yhee and Yoon, *Security Guidelines for Implementing Homomorphic Encryption* (IACR ePrint
//! 2024/463), Table 5.2, error with standard deviation 3.19.
//!
//! - Classical rows: as the guideline prints them.
//! - Quantum rows: the guideline's scripts have been run with two cost models of quantum sieving; the smaller numbers
//!   (SparseLWEkit, a table made with those scripts) are taken here.
//! - Sparse secrets: the estimates for Hamming weights 128 and 256 in the scripts of the guideline's authors
//!   (gong-cr/FHE-Security-Guidelines, `sparse-tables.py`), classical attacks. A weight between two rows counts as the
//!   lower one; weights below 128, other degrees and quantum attacks have no entry and are refused.

use super::SecretKind;

/// The level of security that parameters must reach.
///
/// ```
/// use karat::ckks::{SecretKind, Security};
/// assert_eq!(Security::Classical128.max_log_qp(15, SecretKind::Ternary), Some(868));
/// assert_eq!(Security::Classical128.max_log_qp(9, SecretKind::Ternary), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Security {
    /// 128 bits against classical attacks.
    Classical128,
    /// 192 bits against classical attacks.
    Classical192,
    /// 256 bits against classical attacks.
    Classical256,
    /// 128 bits against quantum attacks.
    Quantum128,
    /// 192 bits against quantum attacks.
    Quantum192,
    /// 256 bits against quantum attacks.
    Quantum256,
    /// Nothing is checked: for tests and comparisons.
    Insecure,
}

/// Ternary secrets, N = 2^10 to 2^17; 0 where there is no entry.
const TERNARY: [(Security, [u32; 8]); 6] = [
    (Security::Classical128, [26, 53, 106, 214, 430, 868, 1747, 3523]),
    (Security::Classical192, [0, 36, 73, 147, 297, 597, 1199, 2411]),
    (Security::Classical256, [0, 27, 56, 114, 230, 462, 929, 1866]),
    (Security::Quantum128, [20, 40, 80, 161, 322, 644, 1289, 2578]),
    (Security::Quantum192, [0, 29, 59, 119, 239, 479, 959, 1920]),
    (Security::Quantum256, [0, 22, 47, 95, 192, 385, 773, 0]),
];

/// Sparse secrets of at least this weight, N = 2^14 to 2^17, heaviest first.
const SPARSE: [(Security, u32, [u32; 4]); 6] = [
    (Security::Classical128, 256, [413, 818, 1637, 3325]),
    (Security::Classical128, 128, [361, 718, 1450, 2950]),
    (Security::Classical192, 256, [270, 531, 1068, 2187]),
    (Security::Classical192, 128, [202, 404, 821, 1700]),
    (Security::Classical256, 256, [194, 378, 772, 1531]),
    (Security::Classical256, 128, [125, 245, 493, 1018]),
];

impl Security {
    /// The level in words.
    ///
    /// ```
    /// assert_eq!(karat::ckks::Security::Classical128.name(), "128 bits against classical attacks");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Classical128 => "128 bits against classical attacks",
            Self::Classical192 => "192 bits against classical attacks",
            Self::Classical256 => "256 bits against classical attacks",
            Self::Quantum128 => "128 bits against quantum attacks",
            Self::Quantum192 => "192 bits against quantum attacks",
            Self::Quantum256 => "256 bits against quantum attacks",
            Self::Insecure => "insecure",
        }
    }

    /// The largest `log2 QP`, or `None` where the tables have no entry (always for [`Security::Insecure`]).
    pub fn max_log_qp(self, log_n: u32, secret: SecretKind) -> Option<u32> {
        let entry = match secret {
            SecretKind::Ternary => {
                let row = TERNARY.iter().find(|(level, _)| *level == self)?;
                *row.1.get(log_n.checked_sub(10)? as usize)?
            }
            SecretKind::Sparse { weight } => {
                let row = SPARSE.iter().find(|(level, least, _)| *level == self && weight >= *least)?;
                *row.2.get(log_n.checked_sub(14)? as usize)?
            }
        };
        (entry > 0).then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_grow_with_n_and_shrink_with_security() {
        for (_, row) in TERNARY {
            let entries: Vec<u32> = row.into_iter().filter(|e| *e > 0).collect();
            assert!(entries.windows(2).all(|w| w[1] >= 2 * w[0] - 4 && w[1] <= 2 * w[0] + 40), "{entries:?}");
        }
        for i in 0..8 {
            assert!(TERNARY[0].1[i] > TERNARY[1].1[i] && TERNARY[0].1[i] > TERNARY[3].1[i]);
        }
        for (level, _, row) in SPARSE {
            for (i, entry) in row.into_iter().enumerate() {
                assert!(entry < level.max_log_qp(14 + i as u32, SecretKind::Ternary).unwrap());
            }
        }
    }

    #[test]
    fn sparse_secrets_without_an_estimate_are_refused() {
        let limit = |log_n, weight| Security::Classical128.max_log_qp(log_n, SecretKind::Sparse { weight });
        assert_eq!(limit(16, 192), Some(1450));
        assert_eq!(limit(16, 256), Some(1637));
        assert_eq!(limit(16, 64), None);
        assert_eq!(limit(13, 192), None);
        assert_eq!(Security::Quantum128.max_log_qp(16, SecretKind::Sparse { weight: 192 }), None);
        assert_eq!(Security::Insecure.max_log_qp(16, SecretKind::Ternary), None);
    }
}
