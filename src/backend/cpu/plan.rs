//! A ring bound to a level of the CPU.

use alloc::boxed::Box;
use core::fmt;

use super::Level;
use super::direct::Direct;
use super::kernels::{Kernels, Layout};
use super::lift::{Lift, PRIME_BITS};
use super::scalar::{self, Arith};
#[cfg(all(target_arch = "x86_64", feature = "std"))]
use super::vector::{choose, lift::PrimeLift};
use crate::arith::Word;
use crate::ring::ntt::Ntt;
use crate::ring::{Method, RingSpec};
use crate::{Error, Result};

/// Everything that products in one ring need on the CPU. Its functions take slices of one polynomial each, are
/// constant time in the coefficients, and allocate nothing for small `N`.
///
/// # Bounds
/// Coefficients are canonical. Slices have the stated lengths; shorter ones panic, so check at the border
/// ([`RingContext`](crate::RingContext) does).
///
/// ```
/// use karat::{Cpu, RingMul, ring::presets::MlKem};
/// let plan = Cpu::new().plan(&MlKem)?;
/// let mut c = [0u16; 256];
/// plan.multiply(&[1u16; 256], &[1u16; 256], &mut c);
/// assert_eq!(c[255], 256);
/// # Ok::<(), karat::Error>(())
/// ```
pub struct Plan {
    level: Level,
    n: usize,
    engine: Engine,
    /// Products of several polynomials at once, where one alone does not fill vectors.
    across: Option<Engine>,
    method: Method,
}

/// Method and word class.
enum Engine {
    Word16(Direct<i16>),
    Word32(Direct<u32>),
    Word64(Direct<u64>),
    Float(Direct<f64>),
    Lift(Lift<u64>),
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    FloatLift(PrimeLift<f64>),
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    IfmaLift(PrimeLift<u64>),
}

/// Runs one expression on whichever engine there is.
macro_rules! on {
    ($self:expr, $e:ident => $call:expr) => {
        match &$self.engine {
            Engine::Word16($e) => $call,
            Engine::Word32($e) => $call,
            Engine::Word64($e) => $call,
            Engine::Float($e) => $call,
            Engine::Lift($e) => $call,
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Engine::FloatLift($e) => $call,
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Engine::IfmaLift($e) => $call,
        }
    };
}

/// Runs one expression on an engine that works over `Z_q` itself; nothing on a lifted ring.
macro_rules! on_direct {
    ($self:expr, $e:ident => $call:expr) => {
        match &$self.engine {
            Engine::Word16($e) => $call,
            Engine::Word32($e) => $call,
            Engine::Word64($e) => $call,
            Engine::Float($e) => $call,
            _ => {}
        }
    };
}

impl Plan {
    pub(crate) fn new(level: Level, spec: &RingSpec) -> Result<Self> {
        let method = spec.method();
        let (engine, across) = match method.shape() {
            None => (Engine::lift(level, spec)?, None),
            Some(_) => {
                let ntt = Ntt::of_ring(spec)?;
                match Engine::vectors(level, &ntt, Layout::Along)? {
                    Some(engine) => (engine, None),
                    None => (Engine::scalar(&ntt)?, Engine::vectors(level, &ntt, Layout::Across)?),
                }
            }
        };
        Ok(Self { level, n: spec.n(), engine, across, method })
    }

    /// The level that it runs on.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Coefficients of a polynomial.
    pub fn n(&self) -> usize {
        self.n
    }

    /// 64-bit words of a polynomial in the transform domain.
    pub fn ntt_words(&self) -> usize {
        on!(self, e => e.ntt_words())
    }

    /// 64-bit words of a prepared factor.
    pub fn prepared_words(&self) -> usize {
        on!(self, e => e.prepared_words())
    }

    /// As [`RingMul::max_terms`](crate::RingMul::max_terms).
    pub fn max_terms(&self) -> u64 {
        match &self.engine {
            Engine::Lift(e) => e.max_terms(),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Engine::FloatLift(e) => e.max_terms(),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Engine::IfmaLift(e) => e.max_terms(),
            _ => u64::MAX,
        }
    }

    /// Forward transform of `N` coefficients to [`Plan::ntt_words`] words.
    pub fn forward<W: Word>(&self, coefficients: &[W], ntt: &mut [u64]) {
        on!(self, e => e.forward(coefficients, ntt));
    }

    /// Inverse transform, scaled.
    pub fn inverse<W: Word>(&self, ntt: &[u64], coefficients: &mut [W]) {
        on!(self, e => e.inverse(ntt, coefficients));
    }

    /// The whole product of `N` coefficients each.
    pub fn multiply<W: Word>(&self, a: &[W], b: &[W], out: &mut [W]) {
        on!(self, e => e.multiply(a, b, out));
    }

    /// Polynomials that [`Plan::multiply_group`] multiplies; 1 where there is nothing in it.
    pub(super) fn group(&self) -> usize {
        match &self.across {
            Some(Engine::Word16(e)) => e.kernels().len() / self.n,
            Some(Engine::Word32(e)) => e.kernels().len() / self.n,
            Some(Engine::Word64(e)) => e.kernels().len() / self.n,
            Some(Engine::Float(e)) => e.kernels().len() / self.n,
            _ => 1,
        }
    }

    /// [`Plan::multiply`] of each of [`Plan::group`] polynomials.
    pub(super) fn multiply_group<W: Word>(&self, a: &[W], b: &[W], out: &mut [W]) {
        match &self.across {
            Some(Engine::Word16(e)) => e.multiply_across(self.n, a, b, out),
            Some(Engine::Word32(e)) => e.multiply_across(self.n, a, b, out),
            Some(Engine::Word64(e)) => e.multiply_across(self.n, a, b, out),
            Some(Engine::Float(e)) => e.multiply_across(self.n, a, b, out),
            _ => self.multiply(a, b, out),
        }
    }

    /// Prepares a factor: [`Plan::ntt_words`] to [`Plan::prepared_words`] words.
    pub fn prepare(&self, ntt: &[u64], prepared: &mut [u64]) {
        on!(self, e => e.prepare(ntt, prepared));
    }

    /// `a · prepared` in the transform domain.
    pub fn pointwise_prepared(&self, a: &[u64], prepared: &[u64], out: &mut [u64]) {
        on!(self, e => e.pointwise_prepared(a, prepared, out));
    }

    /// `[rows][columns]` polynomials times `[columns]`, in the transform domain.
    pub fn mat_vec(&self, columns: usize, matrix: &[u64], vector: &[u64], out: &mut [u64]) {
        on!(self, e => e.mat_vec(columns, matrix, vector, out));
    }

    /// Forward transform of canonical residues in place, which leaves them in the order of [`Plan::lane_order`].
    /// Nothing in a lifted ring.
    pub(crate) fn forward_words<W: Word>(&self, words: &mut [W]) {
        on_direct!(self, e => e.forward_words(words));
    }

    /// The inverse of [`Plan::forward_words`].
    pub(crate) fn inverse_words<W: Word>(&self, words: &mut [W]) {
        on_direct!(self, e => e.inverse_words(words));
    }

    /// [`Plan::forward_words`] of other words.
    pub(crate) fn forward_words_from<W: Word>(&self, from: &[W], words: &mut [W]) {
        on_direct!(self, e => e.forward_words_from(from, words));
    }

    /// [`Plan::inverse_words`] of other words.
    pub(crate) fn inverse_words_from<W: Word>(&self, from: &[W], words: &mut [W]) {
        on_direct!(self, e => e.inverse_words_from(from, words));
    }

    /// The canonical slot of each lane, where lanes do not lie in canonical order.
    pub(crate) fn lane_order(&self) -> Option<&[u32]> {
        match &self.engine {
            Engine::Word16(e) => e.order(),
            Engine::Word32(e) => e.order(),
            Engine::Word64(e) => e.order(),
            Engine::Float(e) => e.order(),
            _ => None,
        }
    }

    pub(super) fn check_exportable(&self) -> Result<()> {
        match &self.method {
            Method::Lift { reason, .. } => {
                Err(Error::Unsupported { what: "transform over its own modulus", reason: reason.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Transform-domain values as `N` canonical residues, in the order of
    /// [`RingMul::export_ntt`](crate::RingMul::export_ntt). Nothing in a lifted ring, which has none.
    pub fn export<W: Word>(&self, ntt: &[u64], out: &mut [W]) {
        on_direct!(self, e => e.export(ntt, out));
    }

    /// The inverse of [`Plan::export`].
    pub fn import<W: Word>(&self, residues: &[W], out: &mut [u64]) {
        on_direct!(self, e => e.import(residues, out));
    }
}

impl Engine {
    /// One prime of 50 bits in vectors where they and the ring allow it, else primes in 64-bit lanes.
    fn lift(level: Level, spec: &RingSpec) -> Result<Self> {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        {
            if let Some(lift) = PrimeLift::new(level, spec)? {
                return Ok(Self::IfmaLift(lift));
            }
            if let Some(lift) = PrimeLift::new(level, spec)? {
                return Ok(Self::FloatLift(lift));
            }
        }
        let narrow = if level >= Level::Avx512 { IFMA_BITS } else { PRIME_BITS };
        let kernels = |ntt: &Ntt| match choose::ifma(level, ntt, Layout::Along)? {
            Some(kernels) => Ok(kernels),
            None => kernels64(level, ntt),
        };
        Ok(Self::Lift(Lift::new(spec, narrow, kernels)?))
    }

    /// The level's vectors of the narrowest word class that holds the modulus, where it has some for the class and the
    /// shape.
    fn vectors(level: Level, ntt: &Ntt, layout: Layout) -> Result<Option<Self>> {
        let q = ntt.modulus().value();
        if scalar::Mont16::supports(q) {
            return Ok(choose::lanes16(level, ntt, layout)?.map(|kernels| Self::Word16(Direct::new(kernels, q))));
        }
        if let Some(kernels) = choose::lanes32(level, ntt, layout)? {
            return Ok(Some(Self::Word32(Direct::new(kernels, q))));
        }
        // Vectors hold 30 bits in lanes of 32, then 50 bits in lanes of 64 or in double precision.
        if let Some(kernels) = choose::ifma(level, ntt, layout)? {
            return Ok(Some(Self::Word64(Direct::new(kernels, q))));
        }
        if let Some(kernels) = choose::float(level, ntt, layout)? {
            return Ok(Some(Self::Float(Direct::new(kernels, q))));
        }
        Ok(choose::lanes64(level, ntt, layout)?.map(|kernels| Self::Word64(Direct::new(kernels, q))))
    }

    /// Scalar kernels of the narrowest word class that holds the modulus.
    fn scalar(ntt: &Ntt) -> Result<Self> {
        let q = ntt.modulus().value();
        if scalar::Mont16::supports(q) {
            return Ok(Self::Word16(Direct::new(Box::new(scalar::Transform::<scalar::Mont16>::new(ntt)?), q)));
        }
        if scalar::Shoup32::supports(q) {
            return Ok(Self::Word32(Direct::new(Box::new(scalar::Transform::<scalar::Shoup32>::new(ntt)?), q)));
        }
        Ok(Self::Word64(Direct::new(Box::new(scalar::Transform::<scalar::Shoup64>::new(ntt)?), q)))
    }
}

/// Bits of the primes that the 52-bit multiplier of AVX-512 holds.
const IFMA_BITS: u32 = 50;

fn kernels64(level: Level, ntt: &Ntt) -> Result<Box<dyn Kernels<u64>>> {
    match choose::lanes64(level, ntt, Layout::Along)? {
        Some(kernels) => Ok(kernels),
        None => Ok(Box::new(scalar::Transform::<scalar::Shoup64>::new(ntt)?)),
    }
}

/// Machines without vector kernels.
#[cfg(not(all(target_arch = "x86_64", feature = "std")))]
mod choose {
    use super::{Box, Kernels, Layout, Level, Ntt, Result};

    type Choice<T> = Result<Option<Box<dyn Kernels<T>>>>;

    pub(super) fn lanes16(_: Level, _: &Ntt, _: Layout) -> Choice<i16> {
        Ok(None)
    }

    pub(super) fn lanes32(_: Level, _: &Ntt, _: Layout) -> Choice<u32> {
        Ok(None)
    }

    pub(super) fn float(_: Level, _: &Ntt, _: Layout) -> Choice<f64> {
        Ok(None)
    }

    pub(super) fn ifma(_: Level, _: &Ntt, _: Layout) -> Choice<u64> {
        Ok(None)
    }

    pub(super) fn lanes64(_: Level, _: &Ntt, _: Layout) -> Choice<u64> {
        Ok(None)
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan(N = {}, {})", self.n, self.method)
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernels::Lane;

    #[test]
    fn lanes_keep_their_sign() {
        for value in -3328i16..3329 {
            assert_eq!(value.store(3329) as i64, (value as i64).rem_euclid(3329));
        }
    }
}
