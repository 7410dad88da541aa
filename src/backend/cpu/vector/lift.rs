//! Lifted rings whose products fit one auxiliary prime of at most 50 bits: all schemes' rings without a transform of
//! their own. Lanes are those of the level's fastest transform for such a prime; what comes after it is computed in
//! double precision.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::choose;
use crate::Result;
use crate::arith::{Direction, Word, ntt_primes};
use crate::backend::cpu::Level;
use crate::backend::cpu::direct::{Direct, lanes, lanes_mut};
use crate::backend::cpu::kernels::{Kernels, Lane, Layout};
use crate::backend::cpu::lift::{TERMS, bound_bits, lift_shape, load_planes_with};
use crate::backend::cpu::scratch::with_scratch;
use crate::ring::RingSpec;
use crate::ring::ntt::Ntt;

/// Lanes of 64 bits for residues modulo the prime.
pub(in crate::backend::cpu) trait PrimeLane: Lane {
    /// The level's kernels for a prime in such lanes, if it has some.
    fn kernels(level: Level, ntt: &Ntt) -> Result<Option<Box<dyn Kernels<Self>>>>;

    /// `c`, or `c - q` where `negative` is all ones, as a lane modulo `p`.
    fn centred(c: u64, negative: u64, q: u64, p: u64) -> Self;

    /// A canonical lane in double precision.
    fn float(self) -> f64;
}

impl PrimeLane for f64 {
    fn kernels(level: Level, ntt: &Ntt) -> Result<Option<Box<dyn Kernels<Self>>>> {
        choose::float(level, ntt, Layout::Along)
    }

    #[inline(always)]
    fn centred(c: u64, negative: u64, q: u64, _p: u64) -> Self {
        Self::load(c) - Self::load(q & negative)
    }

    #[inline(always)]
    fn float(self) -> f64 {
        self
    }
}

impl PrimeLane for u64 {
    fn kernels(level: Level, ntt: &Ntt) -> Result<Option<Box<dyn Kernels<Self>>>> {
        choose::ifma(level, ntt, Layout::Along)
    }

    #[inline(always)]
    fn centred(c: u64, negative: u64, q: u64, p: u64) -> Self {
        c + ((p - q) & negative)
    }

    #[inline(always)]
    fn float(self) -> f64 {
        f64::load(self)
    }
}

/// A lifted ring over one prime.
pub(in crate::backend::cpu) struct PrimeLift<T> {
    direct: Direct<T>,
    level: Level,
    n: usize,
    /// Coefficients of an integer product: `N`, or `2N - 1` for a linear one.
    used: usize,
    q: u64,
    p: u64,
    /// For a linear product: exponents and negated coefficients of `f` below `x^N`, centred modulo `q`.
    tail: Option<Vec<(usize, f64)>>,
    max_terms: u64,
}

/// Above, sums of products modulo `q` do not stay exact.
const MOST_Q: u64 = 1 << 22;

/// `1.5·2^52`: adding and subtracting it rounds to an integer.
const ROUND: f64 = (3u64 << 51) as f64;

impl<T: PrimeLane> PrimeLift<T> {
    /// The ring, if one prime holds it and the level has kernels for the shape.
    pub(in crate::backend::cpu) fn new(level: Level, spec: &RingSpec) -> Result<Option<Self>> {
        let (n, q) = (spec.n(), spec.q());
        let Some((shape, linear)) = lift_shape(spec) else { return Ok(None) };
        let bits = bound_bits(n, q);
        let prime_bits = (bits + 3 + TERMS.ilog2()).max(30);
        if prime_bits > 50 || q > MOST_Q {
            return Ok(None);
        }
        let Ok(primes) = ntt_primes(prime_bits, 2 * shape.points as u64, 1, Direction::Descending) else {
            return Ok(None);
        };
        let p = primes[0];
        let Some(kernels) = T::kernels(level, &Ntt::new(shape, p, None)?)? else { return Ok(None) };
        let centred = |c: i64| {
            let c = c.rem_euclid(q as i64);
            if c > q as i64 / 2 { (c - q as i64) as f64 } else { c as f64 }
        };
        let tail: Option<Vec<_>> =
            linear.then(|| spec.f().lower_terms().iter().map(|t| (t.exponent, centred(-t.coefficient))).collect());
        // Sums of a run stay exact.
        if tail.as_ref().is_some_and(|tail: &Vec<_>| tail.len() > 64) {
            return Ok(None);
        }
        let max_terms = 1u64 << (p.ilog2() - bits - 2).min(40);
        let used = if linear { 2 * n - 1 } else { n };
        Ok(Some(Self { direct: Direct::new(kernels, p), level, n, used, q, p, tail, max_terms }))
    }

    pub(in crate::backend::cpu) fn ntt_words(&self) -> usize {
        self.direct.ntt_words()
    }

    pub(in crate::backend::cpu) fn prepared_words(&self) -> usize {
        self.direct.prepared_words()
    }

    pub(in crate::backend::cpu) fn max_terms(&self) -> u64 {
        self.max_terms
    }

    pub(in crate::backend::cpu) fn prepare(&self, ntt: &[u64], out: &mut [u64]) {
        self.direct.prepare(ntt, out);
    }

    pub(in crate::backend::cpu) fn pointwise_prepared(&self, a: &[u64], prepared: &[u64], out: &mut [u64]) {
        self.direct.pointwise_prepared(a, prepared, out);
    }

    pub(in crate::backend::cpu) fn mat_vec(&self, columns: usize, matrix: &[u64], vector: &[u64], out: &mut [u64]) {
        self.direct.mat_vec(columns, matrix, vector, out);
    }

    pub(in crate::backend::cpu) fn forward<W: Word>(&self, coefficients: &[W], out: &mut [u64]) {
        let kernels = self.direct.kernels();
        let out = lanes_mut::<T>(out, kernels.len());
        self.load(coefficients, out);
        kernels.forward(out);
    }

    pub(in crate::backend::cpu) fn inverse<W: Word>(&self, ntt: &[u64], out: &mut [W]) {
        let kernels = self.direct.kernels();
        let len = kernels.len();
        with_scratch(2 * len, |scratch: &mut [T]| {
            let (a, rest) = scratch.split_at_mut(len);
            a.copy_from_slice(lanes(ntt, len));
            kernels.inverse(a, false);
            self.finish(a, rest, out);
        });
    }

    pub(in crate::backend::cpu) fn multiply<W: Word>(&self, a: &[W], b: &[W], out: &mut [W]) {
        let kernels = self.direct.kernels();
        let len = kernels.len();
        with_scratch(2 * len + kernels.product_scratch(), |scratch: &mut [T]| {
            let (a_lanes, rest) = scratch.split_at_mut(len);
            let (b_lanes, rest) = rest.split_at_mut(len);
            self.load(a, a_lanes);
            kernels.forward(a_lanes);
            self.load(b, b_lanes);
            kernels.forward(b_lanes);
            kernels.product(a_lanes, b_lanes, rest);
            kernels.inverse(a_lanes, true);
            self.finish(a_lanes, b_lanes, out);
        });
    }

    /// Centred coefficients as lanes, in planes, zero behind them.
    fn load<W: Word>(&self, coefficients: &[W], out: &mut [T]) {
        let planes = self.direct.kernels().planes();
        let coefficients = &coefficients[..self.n];
        match self.level {
            // SAFETY: kernels of a level exist only where its token does, which proves the CPU's features.
            Level::Avx512 => unsafe { load_avx512(coefficients, out, planes, (self.q, self.p)) },
            // SAFETY: as above.
            _ => unsafe { load_avx2(coefficients, out, planes, (self.q, self.p)) },
        }
    }

    /// Integer products modulo `p` to coefficients of the ring; both slices are used up.
    fn finish<W: Word>(&self, a: &mut [T], scratch: &mut [T], out: &mut [W]) {
        match self.level {
            // SAFETY: as for `load`.
            Level::Avx512 => unsafe { finish_avx512(self, a, scratch, out) },
            // SAFETY: as for `load`.
            _ => unsafe { finish_avx2(self, a, scratch, out) },
        }
    }
}

/// The same function for both levels.
macro_rules! for_levels {
    ($all:ident, $avx2:ident, $avx512:ident, ($($x:ident: $X:ty),*)) => {
        #[target_feature(enable = "avx2,fma")]
        fn $avx2<T: PrimeLane, W: Word>($($x: $X),*) {
            $all($($x),*);
        }

        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
        fn $avx512<T: PrimeLane, W: Word>($($x: $X),*) {
            $all($($x),*);
        }
    };
}

for_levels!(load_all, load_avx2, load_avx512, (coefficients: &[W], out: &mut [T], planes: usize, moduli: (u64, u64)));
for_levels!(finish_all, finish_avx2, finish_avx512, (lift: &PrimeLift<T>, a: &mut [T], scratch: &mut [T], out: &mut [W]));

#[inline(always)]
fn load_all<T: PrimeLane, W: Word>(coefficients: &[W], out: &mut [T], planes: usize, (q, p): (u64, u64)) {
    let half = q / 2;
    load_planes_with(coefficients, out, planes, |c: W| {
        let c = c.to_u64();
        // All ones where c > half.
        let negative = ((half.wrapping_sub(c) as i64) >> 63) as u64;
        T::centred(c, negative, q, p)
    });
}

/// `x` modulo `m`, centred up to a little more; `|x| < 2^51` an integer.
#[inline(always)]
fn centre(x: f64, m: f64, inverse: f64) -> f64 {
    let quotient = (x * inverse + ROUND) - ROUND;
    x - quotient * m
}

#[inline(always)]
fn finish_all<T: PrimeLane, W: Word>(lift: &PrimeLift<T>, a: &mut [T], scratch: &mut [T], out: &mut [W]) {
    let (p, q) = (lift.p as f64, lift.q as f64);
    let q_inverse = 1.0 / q;
    let planes = lift.direct.kernels().planes();
    let p_inverse = 1.0 / p;
    // A residue above p/2 stands for a negative integer. That integer is exact, and so is its residue modulo q.
    let integer = |x: T| centre(centre(x.float(), p, p_inverse), q, q_inverse);
    let x = if planes == 1 {
        let x: &mut [f64] = &mut bytemuck::cast_slice_mut(a)[..lift.used];
        for x in x.iter_mut() {
            *x = integer(bytemuck::cast(*x));
        }
        x
    } else {
        let len = a.len() / planes;
        let x: &mut [f64] = &mut bytemuck::cast_slice_mut(scratch)[..lift.used];
        for (i, plane) in a.chunks_exact(len).enumerate() {
            for (x, y) in x[i..].iter_mut().step_by(planes).zip(plane) {
                *x = integer(*y);
            }
        }
        x
    };
    if let Some(tail) = &lift.tail {
        // From the top, in runs whose targets lie below the run.
        let gap = lift.n - tail.first().map_or(0, |(exponent, _)| *exponent);
        let mut end = x.len();
        while end > lift.n {
            let start = end.saturating_sub(gap).max(lift.n);
            let (low, high) = x.split_at_mut(start);
            let run = &high[..end - start];
            for (exponent, factor) in tail {
                let targets = &mut low[start - lift.n + exponent..][..run.len()];
                for (target, x) in targets.iter_mut().zip(run) {
                    *target += x * factor;
                }
            }
            end = start;
            for x in &mut low[start - lift.n..] {
                *x = centre(*x, q, q_inverse);
            }
        }
    }
    for (c, x) in out.iter_mut().zip(x) {
        *c = W::from_u64(x.store(lift.q));
    }
}
