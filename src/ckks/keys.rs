//! Keys: the secret, the public key, and keys for key switching.

mod generate;
mod plan;

pub use generate::KeyGenerator;
pub use plan::KeyPlan;
pub(super) use plan::inner_sum_steps as plan_inner_sum_steps;

use std::collections::BTreeMap;

use super::context::Pooled;
use super::{Ckks, Error, Result};
use crate::SecretVec;
use crate::arith::Word;
use crate::rns::{RnsMul, View, galois};

/// The secret key. Erased when it is dropped; `Debug` prints no contents.
pub struct SecretKey<B: RnsMul<W>, W: Word = u64> {
    pub(super) context: Ckks<B, W>,
    /// Coefficients in {-1, 0, 1}.
    pub(super) ternary: SecretVec<i8>,
    /// In the NTT domain modulo Q and P.
    pub(super) words: B::Buffer<W>,
}

/// The public key `(-a·s + e, a)` modulo Q, `a` from a seed.
pub struct PublicKey<B: RnsMul<W>, W: Word = u64> {
    pub(super) context: Ckks<B, W>,
    pub(super) words: Pooled<B, W>,
    pub(super) seed: [u8; 32],
}

/// A key that switches from one secret to another: for each digit `(-a_j·s + e_j + P·g_j·s', a_j)`, modulo Q and P, the
/// `a_j` from a seed.
pub(super) struct SwitchKey<B: RnsMul<W>, W: Word> {
    pub(super) words: Pooled<B, W>,
    pub(super) seed: [u8; 32],
}

/// The keys that an evaluator works with: relinearisation and Galois keys.
pub struct KeySet<B: RnsMul<W>, W: Word = u64> {
    pub(super) context: Ckks<B, W>,
    pub(super) relinearisation: Option<SwitchKey<B, W>>,
    pub(super) galois: BTreeMap<u32, SwitchKey<B, W>>,
}

impl<B: RnsMul<W>, W: Word> core::fmt::Debug for SecretKey<B, W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "SecretKey({:?})", self.context.parameters.secret())
    }
}

impl<B: RnsMul<W>, W: Word> core::fmt::Debug for PublicKey<B, W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "PublicKey(N = {})", self.context.parameters.n())
    }
}

impl<B: RnsMul<W>, W: Word> core::fmt::Debug for KeySet<B, W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let relinearisation = self.relinearisation.is_some();
        write!(f, "KeySet(relinearisation: {relinearisation}, {} Galois keys)", self.galois.len())
    }
}

impl<B: RnsMul<W>, W: Word> SecretKey<B, W> {
    /// The polynomial, as often as wanted.
    pub(super) fn view(&self) -> View<'_, B::Buffer<W>> {
        View::new(&self.words).every(0)
    }
}

impl<B: RnsMul<W>, W: Word> SwitchKey<B, W> {
    /// The key as `[digit][2][|Q| + |P|][N]`.
    pub(super) fn view(&self, context: &Ckks<B, W>) -> View<'_, B::Buffer<W>> {
        self.words.view(0, context.full().count())
    }
}

impl<B: RnsMul<W>, W: Word> KeySet<B, W> {
    /// A set without keys: enough for sums, and for products that are decrypted in three parts.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, KeySet, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// assert_eq!(KeySet::empty(&ckks).galois_elements().count(), 0);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn empty(context: &Ckks<B, W>) -> Self {
        Self { context: context.clone(), relinearisation: None, galois: BTreeMap::new() }
    }

    /// Whether products can be relinearised.
    pub fn has_relinearisation(&self) -> bool {
        self.relinearisation.is_some()
    }

    /// The Galois elements that there are keys for.
    pub fn galois_elements(&self) -> impl Iterator<Item = u32> + '_ {
        self.galois.keys().copied()
    }

    /// Takes the keys of another set in; where both have one, the other's.
    ///
    /// # Errors
    /// `Foreign`.
    pub fn extend(&mut self, other: Self) -> Result<()> {
        self.context.own("key set", &other.context)?;
        if other.relinearisation.is_some() {
            self.relinearisation = other.relinearisation;
        }
        self.galois.extend(other.galois);
        Ok(())
    }

    /// The relinearisation key.
    pub(super) fn relinearisation(&self) -> Result<&SwitchKey<B, W>> {
        self.relinearisation
            .as_ref()
            .ok_or_else(|| Error::MissingKey { what: "relinearisation key".into(), hint: "relinearisation()".into() })
    }

    /// The key of a Galois element.
    pub(super) fn galois(&self, element: u32) -> Result<&SwitchKey<B, W>> {
        self.galois.get(&element).ok_or_else(|| missing(element, self.context.parameters.n()))
    }
}

/// Names a Galois element by what it does.
fn missing(element: u32, n: usize) -> Error {
    if element == 2 * n as u32 - 1 {
        return Error::MissingKey {
            what: format!("Galois key for element {element} (conjugation)"),
            hint: "conjugation()".into(),
        };
    }
    let step = (0..n as i64 / 2).find(|step| galois::rotation(*step, n) == element);
    match step {
        Some(step) => Error::MissingKey {
            what: format!("Galois key for element {element} (rotation by {step}, or by {})", step - n as i64 / 2),
            hint: format!("rotations(&[{step}])"),
        },
        None => {
            Error::MissingKey { what: format!("Galois key for element {element}"), hint: format!("element({element})") }
        }
    }
}
