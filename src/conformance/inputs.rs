//! Polynomials to multiply: every lane at its bound, and pseudorandom ones.

use alloc::vec::Vec;

use crate::arith::Word;

/// The generator SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014): small,
/// deterministic, the same everywhere. For tests alone.
///
/// ```
/// use karat::conformance::SplitMix64;
/// assert_eq!(SplitMix64::new(0).next_u64(), 0xe220_a839_7b1d_cdaf);
/// assert!(SplitMix64::new(1).below(10) < 10);
/// ```
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `[0, bound)`, nearly uniform.
    ///
    /// # Bounds
    /// `bound >= 1`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((self.next_u64() as u128 * bound as u128) >> 64) as u64
    }
}

/// A kind of polynomial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// All coefficients 0.
    Zero,
    /// The constant 1.
    One,
    /// All at `q - 1`: the largest canonical residue.
    Top,
    /// `q - 1` and 0 in turn.
    TopZero,
    /// 0 and `q - 1` in turn.
    ZeroTop,
    /// All at `floor(q/2)`: the largest centred residue, the worst for a lift.
    Half,
    /// All at `floor(q/2) + 1`: the least centred residue where `q` is odd.
    AboveHalf,
    /// `floor(q/2)` and `floor(q/2) + 1` in turn: centred signs that alternate.
    HalfSigns,
    /// `0, 1, q - 1` in pseudorandom order, as the secrets of schemes.
    Ternary,
    /// Pseudorandom.
    Random,
}

impl Pattern {
    /// Every pattern.
    pub const ALL: [Self; 10] = [
        Self::Zero,
        Self::One,
        Self::Top,
        Self::TopZero,
        Self::ZeroTop,
        Self::Half,
        Self::AboveHalf,
        Self::HalfSigns,
        Self::Ternary,
        Self::Random,
    ];

    /// The name in failures.
    ///
    /// ```
    /// assert_eq!(karat::conformance::Pattern::Top.name(), "all q - 1");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "all 0",
            Self::One => "the constant 1",
            Self::Top => "all q - 1",
            Self::TopZero => "q - 1 and 0 in turn",
            Self::ZeroTop => "0 and q - 1 in turn",
            Self::Half => "all q/2",
            Self::AboveHalf => "all q/2 + 1",
            Self::HalfSigns => "q/2 and q/2 + 1 in turn",
            Self::Ternary => "ternary",
            Self::Random => "random",
        }
    }

    /// `n` canonical coefficients modulo `q`.
    ///
    /// ```
    /// use karat::conformance::{Pattern, SplitMix64};
    /// assert_eq!(Pattern::TopZero.coefficients::<u16>(4, 17, &mut SplitMix64::new(0)), [16, 0, 16, 0]);
    /// ```
    pub fn coefficients<W: Word>(self, n: usize, q: u64, random: &mut SplitMix64) -> Vec<W> {
        let (top, half, above) = (q - 1, q / 2, (q / 2 + 1) % q);
        let value = |i: usize| match self {
            Self::Zero => 0,
            Self::One => u64::from(i == 0),
            Self::Top => top,
            Self::TopZero => [top, 0][i % 2],
            Self::ZeroTop => [0, top][i % 2],
            Self::Half => half,
            Self::AboveHalf => above,
            Self::HalfSigns => [half, above][i % 2],
            Self::Ternary => [0, 1, top][random.below(3) as usize],
            Self::Random => random.below(q),
        };
        (0..n).map(value).map(W::from_u64).collect()
    }
}

/// One coefficient at `q - 1`, all others 0.
pub(super) fn lane<W: Word>(n: usize, q: u64, index: usize) -> Vec<W> {
    let mut out = alloc::vec![W::ZERO; n];
    out[index] = W::from_u64(q - 1);
    out
}

/// Indices of lanes to try: all up to `N = every`, the ends and the neighbours of powers of two up to `N = 2^10`, else
/// a few.
pub(super) fn lanes(n: usize, every: usize) -> Vec<usize> {
    if n > every.max(1 << 10) {
        return alloc::vec![0, 1, n / 2 - 1, n / 2, n - 1];
    }
    let chosen = |i: &usize| n <= every || *i + 2 >= n || i.is_power_of_two() || (i + 1).is_power_of_two();
    (0..n).filter(chosen).collect()
}

/// Pairs of patterns: all that differ in kind where products are cheap, else the worst.
pub(super) fn pairs(n: usize) -> Vec<(Pattern, Pattern)> {
    use Pattern::*;
    if n >= 1 << 11 {
        return alloc::vec![(Top, Top), (Half, Half), (Half, AboveHalf), (HalfSigns, Half), (Random, Random)];
    }
    let mut out = Vec::new();
    for a in Pattern::ALL {
        for b in [a, Top, Half, AboveHalf, Random] {
            if !out.contains(&(a, b)) {
                out.push((a, b));
            }
        }
    }
    out
}
