//! Products in a ring that is known only at run time.

use std::vec::Vec;

use crate::arith::Word;
use crate::{AnyBackend, Result, RingContext, RingSpec, UserRing};

/// A [`RingContext`] whose word is chosen by the ring: coefficients are `u64` outside.
///
/// ```
/// use karat::{AnyBackend, kat::Multiplier};
/// let ring = Multiplier::new(&AnyBackend::from_name("scalar")?, &"n=2,q=17,f=x^2+1".parse()?)?;
/// assert_eq!(ring.mul(&[2, 6, 0, 1], &[5, 1, 0, 1])?, [4, 15, 16, 0]); // two products
/// # Ok::<(), karat::Error>(())
/// ```
pub struct Multiplier(Context);

enum Context {
    W16(RingContext<AnyBackend, UserRing<u16>>),
    W32(RingContext<AnyBackend, UserRing<u32>>),
    W64(RingContext<AnyBackend, UserRing<u64>>),
}

impl Multiplier {
    /// Prepares a ring on a backend.
    ///
    /// # Errors
    /// Where the backend cannot multiply in this ring.
    pub fn new(backend: &AnyBackend, ring: &RingSpec) -> Result<Self> {
        let (backend, ring) = (backend.clone(), ring.clone());
        Ok(Self(match ring.word_bits() {
            16 => Context::W16(RingContext::new(backend, UserRing::new(ring)?)?),
            32 => Context::W32(RingContext::new(backend, UserRing::new(ring)?)?),
            _ => Context::W64(RingContext::new(backend, UserRing::new(ring)?)?),
        }))
    }

    /// Products `a[i] · b[i]` of batches `[batch][N]`, canonical in `[0, q)`, lowest degree first.
    ///
    /// # Errors
    /// `WrongLength` unless both hold the same positive multiple of `N`; `Unreduced`.
    pub fn mul(&self, a: &[u64], b: &[u64]) -> Result<Vec<u64>> {
        match &self.0 {
            Context::W16(context) => mul(context, a, b),
            Context::W32(context) => mul(context, a, b),
            Context::W64(context) => mul(context, a, b),
        }
    }
}

fn mul<W: Word>(context: &RingContext<AnyBackend, UserRing<W>>, a: &[u64], b: &[u64]) -> Result<Vec<u64>> {
    // Checked before words are narrowed: high bits would be lost.
    let q = crate::Ring::spec(context.ring()).q();
    let narrow = |words: &[u64]| {
        crate::context::check_reduced(words, q)?;
        context.upload(&words.iter().map(|word| W::from_u64(*word)).collect::<Vec<_>>())
    };
    let product = context.mul(&narrow(a)?, &narrow(b)?)?.download()?;
    Ok(product.into_iter().map(W::to_u64).collect())
}
