//! What a level of the CPU implements: transforms and products over one modulus, on slices of lanes.

use core::fmt::Debug;
use core::ops::Range;

use zeroize::Zeroize;

/// A lane: the machine integer that kernels compute on.
pub(super) trait Lane: bytemuck::Pod + Zeroize + Default + Debug + PartialOrd + Send + Sync + 'static {
    /// The range of *reduced* lanes.
    fn reduced(q: u64) -> Range<Self>;

    /// The range of canonical lanes, `[0, q)`.
    fn canonical(q: u64) -> Range<Self> {
        Self::load(0)..Self::load(q)
    }

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
}

impl Lane for u32 {
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
}

impl Lane for u64 {
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
}

/// Transforms and products modulo one `q`, `len = points · width` lanes a polynomial.
///
/// *Reduced* lanes are in `[0, q)` for unsigned lanes and in `(-q, q)` for `i16`.
pub(super) trait Kernels<T: Lane>: Send + Sync {
    /// Lanes of a polynomial.
    fn len(&self) -> usize;

    /// Lanes of a prepared factor: `len` for width 1, else `2·len`.
    fn prepared_len(&self) -> usize;

    /// Forward transform.
    ///
    /// # Bounds
    /// Reduced in, reduced out.
    fn forward(&self, a: &mut [T]);

    /// Inverse transform, scaled; `mont` removes the factor that [`Kernels::product`] leaves.
    ///
    /// # Bounds
    /// Reduced in, canonical out.
    fn inverse(&self, a: &mut [T], mont: bool);

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
