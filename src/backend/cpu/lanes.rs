//! What a level offers per lane type: one method per instruction, for all vector kernels.
//!
//! The methods of a level's token are safe because a token exists only on a CPU that has the level's features. All are
//! `#[inline(always)]`: they become single instructions in functions that enable these features.

/// Vectors of `L` lanes of type `T`: what all lanes have in common.
pub(crate) trait Lanes<T, const L: usize>: Copy + Send + Sync + 'static {
    /// A vector.
    type V: Copy;

    fn load(self, a: &[T; L]) -> Self::V;
    fn store(self, x: Self::V, a: &mut [T; L]);
    fn splat(self, x: T) -> Self::V;
    /// Asks for the memory of a vector, which need not exist.
    #[inline(always)]
    fn prefetch(self, _place: *const [T; L]) {}
    fn add(self, x: Self::V, y: Self::V) -> Self::V;
    fn sub(self, x: Self::V, y: Self::V) -> Self::V;
    /// Brings lanes that are `H` apart, a power of two below `L`, to the same places of two vectors. Where lanes go is
    /// the level's choice.
    fn split<const H: usize>(self, x: Self::V, y: Self::V) -> (Self::V, Self::V);
    /// The inverse of `split`, which is `split` itself where it exchanges lanes.
    #[inline(always)]
    fn join<const H: usize>(self, x: Self::V, y: Self::V) -> (Self::V, Self::V) {
        self.split::<H>(x, y)
    }
}

/// Vectors of `L` lanes of 16 bits.
pub(super) trait Lanes16<const L: usize>: Lanes<i16, L> {
    /// Low halves of products.
    fn mul_low(self, x: Self::V, y: Self::V) -> Self::V;
    /// High halves of signed products.
    fn mul_high(self, x: Self::V, y: Self::V) -> Self::V;
    /// High halves of signed products with lanes in memory.
    fn mul_high_loaded(self, x: Self::V, y: &[i16; L]) -> Self::V;
    /// `round(x·y / 2^15)`, signed.
    fn mul_round(self, x: Self::V, y: Self::V) -> Self::V;
    /// Lesser of unsigned lanes.
    fn min(self, x: Self::V, y: Self::V) -> Self::V;
    /// Sums of products of neighbours, signed, as 32-bit lanes.
    fn mul_pairs(self, x: Self::V, y: Self::V) -> Self::V;
    /// Sums of 32-bit lanes.
    fn add32(self, x: Self::V, y: Self::V) -> Self::V;
    /// Low halves of 32-bit lanes, those of `x` in even places, those of `y` in odd ones.
    fn low_halves(self, x: Self::V, y: Self::V) -> Self::V;
    /// High halves of 32-bit lanes, those of `x` in even places, those of `y` in odd ones.
    fn high_halves(self, x: Self::V, y: Self::V) -> Self::V;
    /// Neighbours exchanged.
    fn swap_pairs(self, x: Self::V) -> Self::V;
}

/// Vectors of `L` lanes of 32 bits.
pub(super) trait Lanes32<const L: usize>: Lanes<u32, L> {
    /// Low halves of products.
    fn mul_low(self, x: Self::V, y: Self::V) -> Self::V;
    /// Lesser of unsigned lanes.
    fn min(self, x: Self::V, y: Self::V) -> Self::V;
    /// Products of even lanes, as 64-bit lanes.
    fn mul_even(self, x: Self::V, y: Self::V) -> Self::V;
    /// Odd lanes in even places; odd places are unspecified.
    fn odd(self, x: Self::V) -> Self::V;
    /// High halves of 64-bit lanes, those of `even` in even places, those of `odd` in odd ones.
    fn high_halves(self, even: Self::V, odd: Self::V) -> Self::V;
    /// Sums of 64-bit lanes.
    fn add64(self, x: Self::V, y: Self::V) -> Self::V;
}

/// Vectors of `L` lanes of double precision.
pub(super) trait LanesF64<const L: usize>: Lanes<f64, L> {
    fn mul(self, x: Self::V, y: Self::V) -> Self::V;
    /// `x·y + z`, rounded once.
    fn mul_add(self, x: Self::V, y: Self::V, z: Self::V) -> Self::V;
    /// `x·y - z`, rounded once.
    fn mul_sub(self, x: Self::V, y: Self::V, z: Self::V) -> Self::V;
    /// `z - x·y`, rounded once.
    fn sub_mul(self, x: Self::V, y: Self::V, z: Self::V) -> Self::V;
    /// `x` where it is not negative, else `y`.
    fn if_negative(self, x: Self::V, y: Self::V) -> Self::V;
}

/// Vectors of `L` lanes of 64 bits.
pub(crate) trait Lanes64<const L: usize>: Lanes<u64, L> {
    fn and(self, x: Self::V, y: Self::V) -> Self::V;
    /// Low halves of products.
    fn mul_low(self, x: Self::V, y: Self::V) -> Self::V;
    /// One number in the low half of every lane; upper halves are unspecified.
    fn splat_half(self, x: u32) -> Self::V;
    /// Products of low halves.
    fn mul_half(self, x: Self::V, y: Self::V) -> Self::V;
    /// Low halves of `x·w - e·q`.
    fn mul_low_difference(self, x: Self::V, w: Self::V, e: Self::V, q: Self::V) -> Self::V;
    /// `x` where it is not negative as a signed lane, else `y`, which is not negative.
    fn unless_negative(self, x: Self::V, y: Self::V) -> Self::V;
    /// High halves in low places, zero above.
    fn high(self, x: Self::V) -> Self::V;
}

/// Vectors of `L` lanes of 64 bits whose low 52 bits are factors.
pub(super) trait Lanes52<const L: usize>: Lanes64<L> {
    /// `acc` and the low 52 bits of the product of 52 bits each.
    fn add_low(self, acc: Self::V, x: Self::V, y: Self::V) -> Self::V;
    /// `acc` and bits 52 to 103 of the product of 52 bits each.
    fn add_high(self, acc: Self::V, x: Self::V, y: Self::V) -> Self::V;
    /// What stands above 52 bits.
    fn carry(self, x: Self::V) -> Self::V;
    /// `x - y` where `x` has a bit of `bits`, else `x`.
    fn sub_where(self, x: Self::V, bits: Self::V, y: Self::V) -> Self::V;
}

/// Vectors of `L` lanes of 64 bits, with shifts and with double precision beside them.
pub(crate) trait LanesMixed<const L: usize>: Lanes64<L> {
    /// A vector of `L` numbers in double precision.
    type Float: Copy;

    /// `x · 2^by`, its low 64 bits; 0 where `by` is 64 or more.
    fn shift_left(self, x: Self::V, by: u32) -> Self::V;
    /// `floor(x / 2^by)`; 0 where `by` is 64 or more.
    fn shift_right(self, x: Self::V, by: u32) -> Self::V;
    fn float(self, x: f64) -> Self::Float;
    fn float_add(self, x: Self::Float, y: Self::Float) -> Self::Float;
    fn float_mul(self, x: Self::Float, y: Self::Float) -> Self::Float;
    /// Unsigned lanes, rounded to nearest.
    fn to_float(self, x: Self::V) -> Self::Float;
    /// The integers below numbers in `[0, 2^51)`, or the numbers themselves.
    fn floor(self, x: Self::Float) -> Self::V;
}
