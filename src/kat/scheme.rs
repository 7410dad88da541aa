//! Vectors of schemes: operations with inputs and known answers, whatever file format they come from.
//!
//! | operation | inputs | outputs |
//! |---|---|---|
//! | `keygen` (ML-KEM) | `seed` = `d ‖ z` | `ek`, `dk` |
//! | `encaps` | `ek`, `m` | `c`, `k` |
//! | `decaps` | `dk` or `seed`; `c` | `k` |
//! | `check-ek`, `check-dk` | `ek`, `dk` | none |
//! | `keygen` (ML-DSA) | `seed` | `pk`, `sk` |
//! | `sign`, `sign-internal`, `sign-mu`, `sign-hash:NAME` | `sk` or `seed`; `message` or `mu`; `context`; `rnd` | `signature` |
//! | `verify`, `verify-internal`, `verify-mu`, `verify-hash:NAME` | `pk`; `message` or `mu`; `context`; `signature` | none |
//!
//! `context` belongs to the forms without suffix and with `-hash`; `NAME` is the name of a
//! [`PreHash`](crate::schemes::mldsa::PreHash). A refusal (a key that fails its check, a signature that is not valid,
//! an input of the wrong length) is an answer of its own.

mod builtin;
mod command;
mod own;

pub use builtin::{Digest, builtin, digests};
pub use command::Command;
pub use own::Own;

use std::string::String;
use std::vec::Vec;

/// Named byte strings.
pub type Values = Vec<(&'static str, Vec<u8>)>;

/// One operation with its inputs and its known answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The parameter set, as its standard writes it.
    pub scheme: String,
    /// The operation; see the [module](self).
    pub op: String,
    /// The inputs.
    pub inputs: Values,
    /// The known answer.
    pub expected: Expected,
}

impl Case {
    /// An input by name.
    ///
    /// ```
    /// use karat::kat::scheme::{Case, Expected};
    /// let case = Case {
    ///     scheme: "ML-KEM-512".into(),
    ///     op: "check-ek".into(),
    ///     inputs: vec![("ek", vec![0; 800])],
    ///     expected: Expected::Values(vec![]),
    /// };
    /// assert_eq!(case.input("ek").map(<[u8]>::len), Some(800));
    /// assert_eq!(case.input("dk"), None);
    /// ```
    pub fn input(&self, name: &str) -> Option<&[u8]> {
        self.inputs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_slice())
    }
}

/// A known answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// These outputs; others may come with them.
    Values(Values),
    /// A refusal.
    Refusal,
}

/// What an implementation answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Outputs.
    Values(Vec<(String, Vec<u8>)>),
    /// A refusal, in words.
    Refusal(String),
    /// No answer at all: it died, hung, or answered nonsense. Never right.
    Failure(String),
    /// It does not know the parameter set or the operation: the case is skipped.
    Unknown(String),
}

/// Something that can be checked against vectors.
pub trait Implementation {
    /// How many cases it likes to get at once.
    fn batch(&self) -> usize {
        1
    }

    /// Whether this is somebody else's, which cannot multiply in rings.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Answers every case, in order.
    fn answer(&mut self, cases: &[&Case]) -> Vec<Answer>;
}

/// A record of a file: it passes if all its operations do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// How the file names it.
    pub id: String,
    /// The operations.
    pub cases: Vec<Case>,
}

/// What was found for one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The answer is right.
    Right,
    /// The answer is wrong; why.
    Wrong(String),
    /// Not checked; why.
    Skipped(String),
}

/// Compares an answer.
///
/// ```
/// use karat::kat::scheme::{Answer, Expected, Verdict, judge};
/// let expected = Expected::Values(vec![("k", vec![1, 2])]);
/// assert_eq!(judge(&expected, &Answer::Values(vec![("k".into(), vec![1, 2])])), Verdict::Right);
/// assert!(matches!(judge(&expected, &Answer::Refusal("no".into())), Verdict::Wrong(_)));
/// assert!(matches!(judge(&Expected::Refusal, &Answer::Failure("died".into())), Verdict::Wrong(_)));
/// ```
pub fn judge(expected: &Expected, answer: &Answer) -> Verdict {
    match (expected, answer) {
        (_, Answer::Unknown(why)) => Verdict::Skipped(why.clone()),
        (_, Answer::Failure(why)) => Verdict::Wrong(why.clone()),
        (Expected::Refusal, Answer::Refusal(_)) => Verdict::Right,
        (Expected::Refusal, Answer::Values(_)) => Verdict::Wrong("accepted what must be refused".into()),
        (Expected::Values(_), Answer::Refusal(why)) => {
            Verdict::Wrong(std::format!("refused where it must be accepted: {why}"))
        }
        (Expected::Values(expected), Answer::Values(got)) => {
            for (name, expected) in expected {
                let Some((_, got)) = got.iter().find(|(key, _)| key == name) else {
                    return Verdict::Wrong(std::format!("`{name}` is missing in the answer"));
                };
                if expected.len() != got.len() {
                    let (expected, got) = (expected.len(), got.len());
                    return Verdict::Wrong(std::format!("`{name}` has {got} bytes where {expected} are expected"));
                }
                if let Some(at) = expected.iter().zip(got).position(|(a, b)| a != b) {
                    let (expected, got) = (expected[at], got[at]);
                    let what =
                        std::format!("`{name}` differs at byte {at}: {got:02x} where {expected:02x} is expected");
                    return Verdict::Wrong(what);
                }
            }
            Verdict::Right
        }
    }
}
