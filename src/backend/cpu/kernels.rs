//! What a level of the CPU implements: transforms and products over one modulus, on slices of lanes.

use core::fmt::Debug;
use core::ops::Range;

use zeroize::Zeroize;

use crate::arith::Word;

/// A lane: the machine integer that kernels compute on.
pub(super) trait Lane: bytemuck::Pod + Zeroize + Default + Debug + PartialOrd + Send + Sync + 'static {
    /// The range of *reduced* lanes.
    fn reduced(q: u64) -> Range<Self>;

    /// The range of canonical lanes, `[0, q)`.
    fn canonical(q: u64) -> Range<Self> {
        Self::load(0)..Self::load(q)
    }

    /// Canonical words as lanes in place, where they are the same bits; for vectors.
    #[cfg_attr(not(all(target_arch = "x86_64", feature = "std")), allow(dead_code))]
    fn of_words(words: Words<'_>) -> Option<&[Self]>;

    /// As [`Lane::of_words`].
    #[cfg_attr(not(all(target_arch = "x86_64", feature = "std")), allow(dead_code))]
    fn of_words_mut(words: WordsMut<'_>) -> Option<&mut [Self]>;

    /// Whether a canonical lane is the residue itself.
    const IS_RESIDUE: bool = false;

    /// A canonical residue as a lane.
    fn load(value: u64) -> Self;

    /// A canonical lane as a residue; `i16` lanes of reduced but negative value get `q` added.
    fn store(self, q: u64) -> u64;
}

impl Lane for i16 {
    #[inline(always)]
    fn reduced(q: u64) -> Range<Self> {
        1 - q as i16..q as i16
    }

    #[inline(always)]
    fn load(value: u64) -> Self {
        value as i16
    }

    #[inline(always)]
    fn store(self, q: u64) -> u64 {
        let q = q as i16;
        (self + (q & (self >> 15))) as u64
    }

    #[inline(always)]
    fn of_words(words: Words<'_>) -> Option<&[Self]> {
        if let Words::U16(words) = words { Some(bytemuck::cast_slice(words)) } else { None }
    }

    #[inline(always)]
    fn of_words_mut(words: WordsMut<'_>) -> Option<&mut [Self]> {
        if let WordsMut::U16(words) = words { Some(bytemuck::cast_slice_mut(words)) } else { None }
    }
}

impl Lane for u32 {
    const IS_RESIDUE: bool = true;

    #[inline(always)]
    fn reduced(q: u64) -> Range<Self> {
        Self::canonical(q)
    }

    #[inline(always)]
    fn load(value: u64) -> Self {
        value as u32
    }

    #[inline(always)]
    fn store(self, _q: u64) -> u64 {
        self as u64
    }

    #[inline(always)]
    fn of_words(words: Words<'_>) -> Option<&[Self]> {
        if let Words::U32(words) = words { Some(bytemuck::cast_slice(words)) } else { None }
    }

    #[inline(always)]
    fn of_words_mut(words: WordsMut<'_>) -> Option<&mut [Self]> {
        if let WordsMut::U32(words) = words { Some(bytemuck::cast_slice_mut(words)) } else { None }
    }
}

impl Lane for u64 {
    const IS_RESIDUE: bool = true;

    #[inline(always)]
    fn reduced(q: u64) -> Range<Self> {
        Self::canonical(q)
    }

    #[inline(always)]
    fn load(value: u64) -> Self {
        value
    }

    #[inline(always)]
    fn store(self, _q: u64) -> u64 {
        self
    }

    #[inline(always)]
    fn of_words(words: Words<'_>) -> Option<&[Self]> {
        if let Words::U64(words) = words { Some(bytemuck::cast_slice(words)) } else { None }
    }

    #[inline(always)]
    fn of_words_mut(words: WordsMut<'_>) -> Option<&mut [Self]> {
        if let WordsMut::U64(words) = words { Some(bytemuck::cast_slice_mut(words)) } else { None }
    }
}

impl Lane for f64 {
    #[inline(always)]
    fn reduced(q: u64) -> Range<Self> {
        1.0 - q as f64..q as f64
    }

    #[inline(always)]
    fn load(value: u64) -> Self {
        // Exact below 2^51, and without an instruction that vectors lack.
        f64::from_bits(value + ROUND.to_bits()) - ROUND
    }

    /// Reduced but negative lanes get `q` added; lanes are integers below 2^50.
    #[inline(always)]
    fn store(self, q: u64) -> u64 {
        // Exact, and without a branch: the bits of `x + 1.5·2^52` hold `x` in two's complement.
        let x = (self + ROUND).to_bits().wrapping_sub(ROUND.to_bits());
        x.wrapping_add(q & ((x as i64) >> 63) as u64)
    }

    fn of_words(_: Words<'_>) -> Option<&[Self]> {
        None
    }

    fn of_words_mut(_: WordsMut<'_>) -> Option<&mut [Self]> {
        None
    }
}

/// `1.5·2^52`.
const ROUND: f64 = (3u64 << 51) as f64;

/// Words of any width.
#[derive(Clone, Copy)]
pub(super) enum Words<'a> {
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
}

/// Words of any width, to be written.
pub(super) enum WordsMut<'a> {
    U16(&'a mut [u16]),
    U32(&'a mut [u32]),
    U64(&'a mut [u64]),
}

impl<'a> Words<'a> {
    pub(super) fn new<W: Word>(words: &'a [W]) -> Self {
        match W::WIDTH {
            16 => Self::U16(bytemuck::cast_slice(words)),
            32 => Self::U32(bytemuck::cast_slice(words)),
            _ => Self::U64(bytemuck::cast_slice(words)),
        }
    }
}

impl<'a> WordsMut<'a> {
    /// The same words for a while.
    #[cfg_attr(not(all(target_arch = "x86_64", feature = "std")), allow(dead_code))]
    pub(super) fn reborrow(&mut self) -> WordsMut<'_> {
        match self {
            Self::U16(words) => WordsMut::U16(words),
            Self::U32(words) => WordsMut::U32(words),
            Self::U64(words) => WordsMut::U64(words),
        }
    }

    pub(super) fn new<W: Word>(words: &'a mut [W]) -> Self {
        match W::WIDTH {
            16 => Self::U16(bytemuck::cast_slice_mut(words)),
            32 => Self::U32(bytemuck::cast_slice_mut(words)),
            _ => Self::U64(bytemuck::cast_slice_mut(words)),
        }
    }
}

/// Coefficients to lanes: coefficient `j·planes + i` to place `j` of plane `i`.
#[inline(always)]
pub(super) fn load_planes<W: Word, T: Lane>(coefficients: &[W], lanes: &mut [T], planes: usize) {
    if planes == 1 {
        for (lane, c) in lanes.iter_mut().zip(coefficients) {
            *lane = T::load(c.to_u64());
        }
        return;
    }
    let len = lanes.len() / planes;
    for (i, plane) in lanes.chunks_exact_mut(len).enumerate() {
        for (lane, c) in plane.iter_mut().zip(coefficients.chunks_exact(planes)) {
            *lane = T::load(c[i].to_u64());
        }
    }
}

/// The inverse of [`load_planes`].
#[inline(always)]
pub(super) fn store_planes<W: Word, T: Lane>(lanes: &[T], coefficients: &mut [W], planes: usize, q: u64) {
    if planes == 1 {
        for (c, lane) in coefficients.iter_mut().zip(lanes) {
            *c = W::from_u64(lane.store(q));
        }
        return;
    }
    let len = lanes.len() / planes;
    for (i, plane) in lanes.chunks_exact(len).enumerate() {
        for (lane, c) in plane.iter().zip(coefficients.chunks_exact_mut(planes)) {
            c[i] = W::from_u64(lane.store(q));
        }
    }
}

/// How polynomials lie in vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Coefficients of one polynomial in all lanes.
    Along,
    /// A polynomial in each lane, coefficient by coefficient.
    Across,
}

/// Transforms and products modulo one `q`, `len = points · width` lanes a polynomial.
///
/// *Reduced* lanes are in `[0, q)` for unsigned lanes and in `(-q, q)` for `i16` and `f64`.
pub(super) trait Kernels<T: Lane>: Send + Sync {
    /// Lanes of a polynomial.
    fn len(&self) -> usize;

    /// Lanes of a prepared factor: `len` for width 1, else `2·len`.
    fn prepared_len(&self) -> usize;

    /// The place of each transform-domain lane in the canonical order, where it is not that order itself.
    fn order(&self) -> Option<&[u32]>;

    /// Brings transform-domain lanes, plane by plane, from the canonical order to this one.
    fn arrange(&self, _a: &mut [T]) {}

    /// The inverse of [`Kernels::arrange`].
    fn arrange_canonically(&self, _a: &mut [T]) {}

    /// Sub-polynomials that lie one behind the other: coefficient `j·planes + i` is at place `j` of plane `i`.
    fn planes(&self) -> usize;

    /// Canonical coefficients to lanes.
    fn load(&self, coefficients: Words<'_>, lanes: &mut [T]);

    /// Canonical or reduced lanes to canonical coefficients.
    fn store(&self, lanes: &[T], coefficients: WordsMut<'_>);

    /// Forward transform.
    ///
    /// # Bounds
    /// Reduced in, reduced out.
    fn forward(&self, a: &mut [T]);

    /// [`Kernels::load`] and [`Kernels::forward`], without passing over the lanes for the first alone where words are
    /// lanes.
    fn forward_from(&self, coefficients: Words<'_>, a: &mut [T]) {
        self.load(coefficients, a);
        self.forward(a);
    }

    /// Inverse transform, scaled; `mont` removes the factor that [`Kernels::product`] leaves.
    ///
    /// # Bounds
    /// Reduced in, canonical out.
    fn inverse(&self, a: &mut [T], mont: bool);

    /// [`Kernels::inverse`] of `ntt` into `a`.
    fn inverse_from(&self, ntt: &[T], a: &mut [T]) {
        a.copy_from_slice(ntt);
        self.inverse(a, false);
    }

    /// [`Kernels::inverse`] of `ntt` to canonical coefficients; `scratch` has [`Kernels::len`] lanes. Without passing over
    /// the lanes for copies alone where words are lanes.
    fn inverse_to(&self, ntt: &[T], scratch: &mut [T], out: WordsMut<'_>) {
        scratch.copy_from_slice(ntt);
        self.inverse(scratch, false);
        self.store(scratch, out);
    }

    /// The product of canonical coefficients, to canonical coefficients or, without `out`, to canonical lanes in `a`;
    /// `a` and `b` are lanes to work in.
    fn product_of(
        &self,
        (first, second): (Words<'_>, Words<'_>),
        a: &mut [T],
        b: &mut [T],
        scratch: &mut [T],
        out: Option<WordsMut<'_>>,
    ) {
        self.forward_from(first, a);
        self.forward_from(second, b);
        self.product(a, b, scratch);
        self.inverse(a, true);
        if let Some(out) = out {
            self.store(a, out);
        }
    }

    /// The whole product of canonical coefficients, where there is one function for it; else nothing, and `false`.
    fn multiply(&self, _a: Words<'_>, _b: Words<'_>, _out: WordsMut<'_>) -> bool {
        false
    }

    /// `out = sum over j < columns of a[j] · b[j]` with nothing prepared, where there is one function for it; else
    /// nothing, and `false`.
    ///
    /// # Bounds
    /// Reduced in, reduced out; any number of columns.
    fn sum(&self, _columns: usize, _a: &[T], _b: &[T], _out: &mut [T]) -> bool {
        false
    }

    /// `a · b`, up to the factor that `inverse(.., mont: true)` removes, into `a`; `scratch` has
    /// [`Kernels::product_scratch`] lanes.
    ///
    /// # Bounds
    /// Reduced in, reduced out.
    fn product(&self, a: &mut [T], b: &[T], scratch: &mut [T]);

    /// Lanes of scratch memory that [`Kernels::product`] needs.
    fn product_scratch(&self) -> usize;

    /// Prepares a factor for [`Kernels::dot`].
    ///
    /// # Bounds
    /// Reduced in, reduced out.
    fn prepare(&self, b: &[T], prepared: &mut [T]);

    /// `out = sum over j < columns of a[j] · prepared[j]`.
    ///
    /// # Bounds
    /// Reduced in, reduced out; any number of columns.
    fn dot(&self, columns: usize, a: &[T], prepared: &[T], out: &mut [T]);
}
