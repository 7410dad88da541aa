//! Rings `Z_Q[x]/(x^N + 1)` whose modulus is a product of primes, one residue polynomial (*limb*) for each prime.
//!
//! [`RnsBasis`] finds or checks primes, [`RnsRing`] names the ring, [`RnsMul`] computes in it on a backend.
//!
//! # Layout
//! Words are canonical residues in `[0, q_i)`, in both domains, and lie as `[polynomial][limb][N]` in a backend's
//! buffer. [`View`] and [`ViewMut`] say where the polynomials start and how many limbs lie between them, so that a
//! lower level reads the first limbs of each polynomial and nothing is copied. In the coefficient domain the lowest
//! degree comes first; in the NTT domain the order belongs to the backend ([`RnsMul::rns_order`]).
//!
//! [`Limbs`] names the primes of an operand: the first `q` primes of `Q`, then the first `p` special primes of `P`.
//!
//! ```
//! use karat::backend::{Backend, Cpu, Erase};
//! use karat::rns::{Combine, Limbs, RnsBasis, RnsMul, RnsRing, Search, View, ViewMut};
//!
//! let basis = RnsBasis::generate(1024, 50, 3, Search::Alternating, &[])?;
//! let ring = RnsRing::<u64>::new(1024, basis.primes(), &[])?;
//! let cpu = Cpu::new();
//! let plan = cpu.rns_plan(&ring)?;
//! let limbs = Limbs { q: 3, p: 0 };
//!
//! // x^1023 · x = -1, in all three limbs.
//! let mut a = cpu.alloc::<u64>(3 * 1024, Erase::No)?;
//! let mut b = cpu.alloc::<u64>(3 * 1024, Erase::No)?;
//! let mut c = cpu.alloc::<u64>(3 * 1024, Erase::No)?;
//! for limb in 0..3 {
//!     a[limb * 1024 + 1023] = 1;
//!     b[limb * 1024 + 1] = 1;
//! }
//! cpu.rns_ntt(&plan, limbs, 1, ViewMut::new(&mut a))?;
//! cpu.rns_ntt(&plan, limbs, 1, ViewMut::new(&mut b))?;
//! cpu.rns_combine(&plan, limbs, 1, Combine::Mul, View::new(&a), View::new(&b), ViewMut::new(&mut c))?;
//! cpu.rns_intt(&plan, limbs, 1, ViewMut::new(&mut c))?;
//! assert_eq!(c[2 * 1024], ring.prime(2) - 1);
//! # Ok::<(), karat::Error>(())
//! ```

mod any;
mod basis;
pub(crate) mod check;
pub(crate) mod convert;
pub mod cpu;
pub mod crt;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod galois;
mod ring;
mod view;

pub use any::{AnyConversion, AnyKeySwitch, AnyModDown, AnyRnsPlan};
pub use basis::{RnsBasis, Search};
pub use ring::{Limbs, RnsRing};
pub use view::{Addend, View, ViewMut};

use alloc::vec::Vec;

use crate::Result;
use crate::arith::Word;
use crate::backend::Backend;

/// The primes of one ring at most.
pub const MAX_PRIMES: usize = 64;

/// The domain of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Coefficients, lowest degree first.
    Coefficient,
    /// Values at the points, in the backend's order.
    Ntt,
}

/// How two operands become a third.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// `out = a + b`.
    Add,
    /// `out = a - b`.
    Sub,
    /// `out = a · b`, word by word.
    Mul,
    /// `out = out + a · b`, word by word.
    MulAdd,
}

/// How an operand changes the result in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assign {
    /// `out = out + a`.
    Add,
    /// `out = out - a`.
    Sub,
    /// `out = a - out`.
    SubFrom,
}

/// What a scalar does to every word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// `out = a + s`.
    Add,
    /// `out = a · s`.
    Mul,
    /// `out = out + a · s`.
    MulAdd,
}

/// Which representative of a residue class modulo the product `D` of the source primes a conversion takes.
///
/// Both start from the digits `y_i = a · (D/q_i)^-1 mod q_i`, for which `sum of y_i · D/q_i` is congruent to `a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// The sum itself: `a + u·D` with `0 <= u < count`, `a` in `[0, D)`. From one prime: `a`.
    Fast,
    /// Centred: the sum minus `u·D`, `u` the sum of `y_i / q_i` rounded in double precision. The result is congruent
    /// to `a` and its absolute value at most `(1/2 + 2^-41)·D`; from one prime it is the centred residue exactly.
    Exact,
}

/// The primes that a modulus loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drop {
    /// All special primes: `Q_level · P` to `Q_level`.
    Special,
    /// The last primes of `Q`: `Q_level` to `Q_{level - count}`, which is a rescale.
    Last(usize),
    /// Both: `Q_level · P` to `Q_{level - count}`, a key switch's end and a rescale in one, rounded once.
    SpecialAndLast(usize),
}

/// Computation in an [`RnsRing`] on a backend.
///
/// Operands are [`View`]s of `polys` polynomials of [`Limbs::count`] limbs. In every operation inputs may be of any
/// stride (0 shares one polynomial), outputs must not overlap themselves.
///
/// # Bounds
/// Words are canonical, in and out. Test builds check the words that go in.
///
/// # Errors
/// `WrongLength` where a view reaches beyond its buffer, `InvalidLimbs` where limbs, levels or strides are impossible,
/// `Foreign` for parts of another plan or backend where that can be seen, or what a device reports. Nothing is
/// computed then.
///
/// # Constant time
/// No implementation branches on, indexes by or divides words.
///
/// A key switch: digits of `a`, their products with a key, division by `P`. With the key `(P·c, 0)` in every digit's own
/// limbs the result is `a·c` and 0, up to rounding.
///
/// ```
/// use karat::backend::{Backend, Cpu, Erase};
/// use karat::rns::{Drop, Limbs, RnsMul, RnsRing, Rounding, View, ViewMut};
///
/// let (n, cpu) = (8, Cpu::new());
/// let ring = RnsRing::<u64>::new(n, &[97, 113], &[193])?;
/// let plan = cpu.rns_plan(&ring)?;
/// let key_switch = cpu.rns_key_switch(&plan, 2, 1, Rounding::Exact)?;
/// let special = cpu.rns_mod_down_tables(&plan, 2, Drop::Special)?;
///
/// // The constant 7 is 7 at every point; so is the factor P·2, in limb d of the key of digit d.
/// let mut a = cpu.alloc::<u64>(2 * n, Erase::No)?;
/// a.fill(7);
/// let mut key = cpu.alloc::<u64>(2 * 2 * 3 * n, Erase::No)?;
/// key[..n].fill(193 * 2 % 97);
/// key[(2 * 3 + 1) * n..][..n].fill(193 * 2 % 113);
///
/// let mut digits = cpu.alloc::<u64>(2 * 3 * n, Erase::No)?;
/// let mut sums = cpu.alloc::<u64>(2 * 3 * n, Erase::No)?;
/// let mut out = cpu.alloc::<u64>(2 * 2 * n, Erase::No)?;
/// cpu.rns_mod_up(&plan, &key_switch, View::new(&a), ViewMut::new(&mut digits))?;
/// cpu.rns_key_product(&plan, &key_switch, None, View::new(&digits), View::new(&key), None, ViewMut::new(&mut sums))?;
/// cpu.rns_mod_down(&plan, &special, 2, View::new(&sums), ViewMut::new(&mut out))?;
/// assert_eq!(out[..2 * n], [14; 16]);
/// assert_eq!(out[2 * n..], [0; 16]);
/// # Ok::<(), karat::Error>(())
/// ```
pub trait RnsMul<W: Word>: Backend {
    /// Tables of all primes of a ring.
    type RnsPlan: Send + Sync;
    /// Tables of a base conversion.
    type Conversion: Send + Sync;
    /// Tables of a key switch.
    type KeySwitch: Send + Sync;
    /// Tables of a division by dropped primes.
    type ModDown: Send + Sync;

    /// Prepares a ring.
    ///
    /// # Errors
    /// `Unsupported` where the backend has no RNS arithmetic.
    fn rns_plan(&self, ring: &RnsRing<W>) -> Result<Self::RnsPlan>;

    /// The ring of a plan.
    fn rns_ring<'a>(&self, plan: &'a Self::RnsPlan) -> &'a RnsRing<W>;

    /// The order of the NTT domain modulo the prime of this index: the place of each canonical slot. Canonical slot
    /// `t` holds the value at `gamma^(2·brv(t) + 1)`, `gamma` the least root with `gamma^N = -1`.
    ///
    /// # Errors
    /// `InvalidLimbs` where there is no such prime.
    fn rns_order(&self, plan: &Self::RnsPlan, prime: usize) -> Result<Vec<u32>>;

    /// Forward transforms in place.
    fn rns_ntt(&self, plan: &Self::RnsPlan, limbs: Limbs, polys: usize, x: ViewMut<'_, Self::Buffer<W>>) -> Result<()>;

    /// Inverse transforms in place, scaled.
    fn rns_intt(&self, plan: &Self::RnsPlan, limbs: Limbs, polys: usize, x: ViewMut<'_, Self::Buffer<W>>)
    -> Result<()>;

    /// Forward transforms of `src` into `out`.
    fn rns_ntt_from(
        &self,
        plan: &Self::RnsPlan,
        limbs: Limbs,
        polys: usize,
        src: View<'_, Self::Buffer<W>>,
        mut out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()> {
        self.rns_copy(plan, limbs, polys, src, out.reborrow())?;
        self.rns_ntt(plan, limbs, polys, out)
    }

    /// Inverse transforms of `src` into `out`, scaled.
    fn rns_intt_from(
        &self,
        plan: &Self::RnsPlan,
        limbs: Limbs,
        polys: usize,
        src: View<'_, Self::Buffer<W>>,
        mut out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()> {
        self.rns_copy(plan, limbs, polys, src, out.reborrow())?;
        self.rns_intt(plan, limbs, polys, out)
    }

    /// Copies polynomials.
    fn rns_copy(
        &self,
        plan: &Self::RnsPlan,
        limbs: Limbs,
        polys: usize,
        a: View<'_, Self::Buffer<W>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()>;

    /// `out = -a`.
    fn rns_neg(
        &self,
        plan: &Self::RnsPlan,
        limbs: Limbs,
        polys: usize,
        a: View<'_, Self::Buffer<W>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()>;

    /// Sums, differences and word-by-word products.
    #[allow(clippy::too_many_arguments)]
    fn rns_combine(
        &self,
        plan: &Self::RnsPlan,
        limbs: Limbs,
        polys: usize,
        op: Combine,
        a: View<'_, Self::Buffer<W>>,
        b: View<'_, Self::Buffer<W>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()>;

    /// Sums and differences in place.
    fn rns_assign(
        &self,
        plan: &Self::RnsPlan,
        limbs: Limbs,
        polys: usize,
        op: Assign,
        a: View<'_, Self::Buffer<W>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()>;

    /// One scalar a limb, a host value: `scalars[l]` is canonical modulo the prime of limb `l`.
    ///
    /// # Errors
    /// `Unreduced` where a scalar is not canonical, `WrongLength` where scalars are missing.
    #[allow(clippy::too_many_arguments)]
    fn rns_scalar(
        &self,
        plan: &Self::RnsPlan,
        limbs: Limbs,
        polys: usize,
        op: Scalar,
        scalars: &[W],
        a: View<'_, Self::Buffer<W>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()>;

    /// `(a0·b0, a0·b1 + a1·b0, a1·b1)` in the NTT domain: two polynomials each in, three out.
    fn rns_tensor(
        &self,
        plan: &Self::RnsPlan,
        limbs: Limbs,
        a: View<'_, Self::Buffer<W>>,
        b: View<'_, Self::Buffer<W>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()>;

    /// `(a0², 2·a0·a1, a1²)` in the NTT domain.
    fn rns_square(
        &self,
        plan: &Self::RnsPlan,
        limbs: Limbs,
        a: View<'_, Self::Buffer<W>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()> {
        self.rns_tensor(plan, limbs, a, a, out)
    }

    /// The automorphism `x -> x^g`, in either domain.
    ///
    /// # Errors
    /// `InvalidGalois` where `g` is even.
    #[allow(clippy::too_many_arguments)]
    fn rns_automorphism(
        &self,
        plan: &Self::RnsPlan,
        limbs: Limbs,
        polys: usize,
        g: u32,
        domain: Domain,
        a: View<'_, Self::Buffer<W>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()>;

    /// Tables that convert residues modulo the primes `from` to residues modulo the primes `to`, indices into
    /// [`RnsRing::primes`], distinct.
    ///
    /// # Errors
    /// `InvalidLimbs` where indices are out of range, repeated or missing.
    fn rns_conversion(
        &self,
        plan: &Self::RnsPlan,
        from: &[usize],
        to: &[usize],
        rounding: Rounding,
    ) -> Result<Self::Conversion>;

    /// Converts `polys` polynomials in the coefficient domain: limbs in the order of `from`, then of `to`.
    fn rns_convert(
        &self,
        plan: &Self::RnsPlan,
        conversion: &Self::Conversion,
        polys: usize,
        a: View<'_, Self::Buffer<W>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()>;

    /// Tables of a key switch at a level: digit `j` has the primes `q_{j·alpha}` up to `q_{min((j+1)·alpha, level)}`.
    /// `rounding` says which representative of a digit is extended; `Exact` gives digits, and noise, of half the size
    /// or less.
    ///
    /// # Errors
    /// `InvalidLimbs` where the level or `alpha` is 0 or the level has more primes than `Q`.
    fn rns_key_switch(
        &self,
        plan: &Self::RnsPlan,
        level: usize,
        alpha: usize,
        rounding: Rounding,
    ) -> Result<Self::KeySwitch>;

    /// How many digits a key switch has.
    fn rns_digits(&self, key_switch: &Self::KeySwitch) -> usize;

    /// Splits one polynomial of `level` limbs into digits and extends each to `Q_level · P`: NTT domain in and out,
    /// `out` holds one polynomial of `level + |P|` limbs for each digit.
    fn rns_mod_up(
        &self,
        plan: &Self::RnsPlan,
        key_switch: &Self::KeySwitch,
        a: View<'_, Self::Buffer<W>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()>;

    /// `out[c] = sum over digits d of digits[d] · key[2d + c]`, `c < 2`, in the NTT domain. Digits and result have
    /// `level + |P|` limbs. A key's polynomials have all limbs of the ring, `|Q| + |P|`: limb `i` of `Q` is read at
    /// `i` and limb `j` of `P` at `|Q| + j`, whatever the level. With `g` the digits are replaced by their
    /// automorphic images first, in the same pass.
    ///
    /// An addend is multiplied by `P` and added to the limbs of `Q`, its automorphic image with `g`: what the division
    /// by `P` gives then has it added, and no pass of its own does that.
    ///
    /// # Errors
    /// `InvalidGalois` where `g` is even, `InvalidLimbs` where an addend has no polynomials or more than two.
    #[allow(clippy::too_many_arguments)]
    fn rns_key_product(
        &self,
        plan: &Self::RnsPlan,
        key_switch: &Self::KeySwitch,
        g: Option<u32>,
        digits: View<'_, Self::Buffer<W>>,
        key: View<'_, Self::Buffer<W>>,
        addend: Option<Addend<'_, Self::Buffer<W>>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()>;

    /// Tables of a division by the dropped primes at a level.
    ///
    /// # Errors
    /// `InvalidLimbs` where nothing would be dropped or nothing would stay.
    fn rns_mod_down_tables(&self, plan: &Self::RnsPlan, level: usize, drop: Drop) -> Result<Self::ModDown>;

    /// `round(a / D)` with `D` the product of the dropped primes, NTT domain in and out: `(a - r)/D` with `r` the
    /// representative that [`Rounding::Exact`] takes.
    fn rns_mod_down(
        &self,
        plan: &Self::RnsPlan,
        mod_down: &Self::ModDown,
        polys: usize,
        a: View<'_, Self::Buffer<W>>,
        out: ViewMut<'_, Self::Buffer<W>>,
    ) -> Result<()>;
}
