//! Operations on one limb, or a part of one, modulo its prime; and which arithmetic serves a prime at a level.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::arith::Arith;
use super::entry::boxed;
use super::ops::Digits;
use crate::arith::{Modulus, Word};
use crate::backend::cpu::Level;
use crate::rns::{Assign, Combine, Scalar};

/// Digits times the two polynomials of a key.
pub(super) struct KeyProduct<'a, W> {
    /// One row a digit.
    pub(super) digits: &'a [&'a [W]],
    /// For both results: a row for each digit.
    pub(super) keys: [&'a [&'a [W]]; 2],
    /// What is added to the first results, times a factor.
    pub(super) addends: &'a [&'a [W]],
    pub(super) factor: u64,
    /// Where each word of digits and addends comes from, where it is not its own place.
    pub(super) places: Option<&'a [u32]>,
}

/// Operations modulo one prime. Slices of one call have one length, a multiple of 8.
///
/// # Bounds
/// Words are canonical, in and out.
pub(super) trait Kernels<W>: Send + Sync {
    fn combine(&self, op: Combine, a: &[W], b: &[W], out: &mut [W]);

    fn assign(&self, op: Assign, a: &[W], out: &mut [W]);

    fn neg(&self, a: &[W], out: &mut [W]);

    fn scalar(&self, op: Scalar, scalar: u64, a: &[W], out: &mut [W]);

    /// `out = (a - out) · factor`.
    fn sub_scale(&self, factor: u64, a: &[W], out: &mut [W]);

    /// `out = (a0·b0, a0·b1 + a1·b0, a1·b1)`.
    fn tensor(&self, a: [&[W]; 2], b: [&[W]; 2], out: [&mut [W]; 3]);

    /// `out[c] = sum of digits_i · keys[c]_i`, and `factor · addends[c]` where there is one, for both `c`.
    fn key_product(&self, product: &KeyProduct<'_, W>, out: [&mut [W]; 2]);
}

/// Sums of digits times factors, modulo several primes of one kind.
pub(super) trait Weigh<W>: Send + Sync {
    /// `out[place][offset + x] = sum over i of digits[i][x] · factor` for each target, `x` below `len`, the length of
    /// a row of `digits`.
    ///
    /// # Bounds
    /// Digits are below the bound that the targets were made for.
    fn weigh(&self, digits: &[W], len: usize, out: &mut [&mut [W]], offset: usize);

    /// The sums of `digits[i][x] · reciprocals[i]`, rounded to the nearest integer.
    fn quotients(&self, digits: &[W], reciprocals: &[f64], out: &mut [W]);
}

/// One target of a conversion: its prime, its place among the results, its factors.
pub(super) struct Target {
    pub(super) m: Modulus<u64>,
    pub(super) place: usize,
    pub(super) factors: Vec<u64>,
}

/// [`Weigh`] in one kind of arithmetic.
pub(super) struct Targets<A: Arith> {
    pub(super) arith: Vec<A>,
    places: Vec<usize>,
    /// `[target][count]`.
    factors: Vec<A::Factor>,
    count: usize,
    terms: usize,
}

impl<A: Arith> Targets<A> {
    pub(super) fn new(bound: u64, targets: &[Target], arith: impl Fn(Modulus<u64>) -> A) -> Self {
        let arith: Vec<A> = targets.iter().map(|target| arith(target.m)).collect();
        Self {
            terms: arith.iter().map(|t| t.terms(bound)).min().unwrap_or(1),
            places: targets.iter().map(|target| target.place).collect(),
            factors: targets.iter().flat_map(|target| &target.factors).map(|factor| A::factor(*factor)).collect(),
            count: targets.first().map_or(0, |target| target.factors.len()),
            arith,
        }
    }

    /// Calls `work` with `T` targets from `first` on.
    #[inline(always)]
    pub(super) fn some<const T: usize>(
        &self,
        first: usize,
        (digits, len): (&[A::W], usize),
        (out, offset): (&mut [&mut [A::W]], usize),
        work: impl Fn([&A; T], Digits<'_, A::W>, [&[A::Factor]; T], [&mut [A::W]; T]),
    ) {
        let each = core::array::from_fn(|t| first + t);
        // Places are distinct and each is one of a result.
        let Ok(rows) = out.get_disjoint_mut(each.map(|t| self.places[t])) else { return };
        work(
            each.map(|t| &self.arith[t]),
            Digits { words: digits, len, terms: self.terms },
            each.map(|t| &self.factors[t * self.count..][..self.count]),
            rows.map(|row| &mut row[offset..][..len]),
        );
    }
}

/// Kinds of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any prime.
    Portable,
    /// Words of 64 bits, primes and digits below `2^50`, AVX2.
    Wide4,
    /// The same, AVX-512.
    Wide8,
    /// Words of 64 bits, primes and digits below `2^61`, AVX2.
    Long4,
    /// The same, AVX-512.
    Long8,
    /// Words of 32 bits, AVX2.
    Narrow4,
    /// Words of 32 bits, AVX-512.
    Narrow8,
}

impl Kind {
    /// The best kind of a level for a prime where first factors of products are below `bound`.
    pub(super) fn of<W: Word>(level: Level, q: u64, bound: u64) -> Self {
        let below = |limit: u64| W::WIDTH == 64 && q < limit && bound <= limit && q % 2 == 1 && q > 2;
        let (wide, long) = (below(WIDE), below(LONG));
        match level {
            Level::Avx512 if W::WIDTH == 32 => Self::Narrow8,
            Level::Avx512 if wide => Self::Wide8,
            Level::Avx512 if long => Self::Long8,
            Level::Avx2 if W::WIDTH == 32 => Self::Narrow4,
            Level::Avx2 if wide => Self::Wide4,
            Level::Avx2 if long => Self::Long4,
            _ => Self::Portable,
        }
    }
}

/// Primes of the wide kinds lie below this,
const WIDE: u64 = 1 << 50;
/// and those of the long kinds below this.
pub(super) const LONG: u64 = 1 << 61;

/// The best kernels of a level for a prime.
pub(super) fn choose<W: Word>(level: Level, m: Modulus<u64>) -> Box<dyn Kernels<W>> {
    boxed::kernels(Kind::of::<W>(level, m.value(), m.value()), m)
}

/// Targets of a conversion by kind; digits are below `bound`.
pub(super) fn weighing<W: Word>(level: Level, bound: u64, targets: Vec<Target>) -> Vec<Box<dyn Weigh<W>>> {
    let mut kinds: Vec<(Kind, Vec<Target>)> = Vec::new();
    for target in targets {
        let kind = Kind::of::<W>(level, target.m.value(), bound);
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, targets)) => targets.push(target),
            None => kinds.push((kind, alloc::vec![target])),
        }
    }
    kinds.into_iter().map(|(kind, targets)| boxed::targets(kind, bound, &targets)).collect()
}
