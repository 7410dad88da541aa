//! The machine words that hold residues.

use core::fmt::{Debug, Display};

use zeroize::{DefaultIsZeroes, Zeroize};

/// An unsigned machine word that stores residues: `u16`, `u32` or `u64`. Sealed.
///
/// ```
/// use karat::arith::Word;
/// assert_eq!(u16::BITS, <u16 as Word>::WIDTH);
/// assert_eq!(u32::from_u64(7).to_u64(), 7);
/// ```
pub trait Word:
    sealed::Sealed
    + bytemuck::Pod
    + Debug
    + Display
    + Default
    + Copy
    + Eq
    + Ord
    + Send
    + Sync
    + Zeroize
    + DefaultIsZeroes
    + 'static
{
    /// Bits in a word.
    const WIDTH: u32;
    /// Zero.
    const ZERO: Self;

    /// Widens to 64 bits.
    fn to_u64(self) -> u64;

    /// Keeps the low bits.
    ///
    /// # Bounds
    /// The caller makes sure that `value` fits, else high bits are lost.
    fn from_u64(value: u64) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! word {
    ($($W:ty),*) => {$(
        impl sealed::Sealed for $W {}
        impl Word for $W {
            const WIDTH: u32 = <$W>::BITS;
            const ZERO: Self = 0;
            #[inline(always)]
            fn to_u64(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn from_u64(value: u64) -> Self {
                value as $W
            }
        }
    )*};
}
word!(u16, u32, u64);
