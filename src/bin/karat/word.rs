//! From a ring chosen at run time to code for its word.

use karat::arith::Word;
use karat::{RingSpec, UserRing};

use crate::failure::Failure;

/// Code that runs for whichever word stores a ring's coefficients.
pub trait WithWord {
    /// What it gives.
    type Output;

    /// The code.
    fn run<W: Word>(self, ring: UserRing<W>) -> Result<Self::Output, Failure>;
}

/// Runs code with the smallest word that stores the ring's coefficients.
pub fn with_word<V: WithWord>(spec: &RingSpec, code: V) -> Result<V::Output, Failure> {
    match spec.word_bits() {
        16 => code.run(UserRing::<u16>::new(spec.clone())?),
        32 => code.run(UserRing::<u32>::new(spec.clone())?),
        _ => code.run(UserRing::<u64>::new(spec.clone())?),
    }
}
