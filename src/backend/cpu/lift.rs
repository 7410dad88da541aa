//! Rings without a transform over their own modulus: products over the integers, through auxiliary NTT primes.
//!
//! Operands are centred, so the integer product has coefficients of size at most `B = N·floor(q/2)²`. The primes'
//! product exceeds `2·B·terms + q`; a multiple of `q` is added to every residue so that the integer is not negative,
//! Garner's mixed radix turns the residues into it modulo `q`, and a linear product is reduced modulo `f` last, in
//! `Z_q`. No step depends on a coefficient.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::checked::Checked;
use super::direct::{self, lanes, lanes_mut};
use super::kernels::{Kernels, Lane};
use super::scratch::with_scratch;
use crate::arith::{Direction, Modulus, Shoup, Word, mask_if_less, ntt_primes};
use crate::ring::ntt::Ntt;
use crate::ring::{Method, RingSpec, Shape, Wrap};
use crate::{Error, Result};

/// A lifted ring; lanes of 64 bits.
pub(super) struct Lift<T> {
    n: usize,
    /// Lanes of one residue polynomial.
    len: usize,
    q: Modulus<u64>,
    /// Residues above this are negative when centred.
    half: u64,
    primes: Vec<Prime<T>>,
    /// For a linear product: exponents and negated coefficients of `f` below `x^N`.
    tail: Option<Vec<(usize, Shoup<u64>)>>,
    max_terms: u64,
}

/// One auxiliary prime.
struct Prime<T> {
    kernels: Checked<T>,
    p: Modulus<u64>,
    /// `-q mod p`: turns the residue of `a` into that of `a - q`.
    minus_q: u64,
    /// A multiple of `q`, at least the bound of the product, modulo `p`.
    offset: u64,
    /// Inverse of the product of the primes before this one, modulo `p`.
    garner: Shoup<u64>,
    /// The primes before this one, modulo `p`.
    before: Vec<Shoup<u64>>,
    /// The product of the primes before this one, modulo `q`.
    weight: Shoup<u64>,
}

/// Sums of this many products must fit a lifted ring's primes (ML-DSA-87 needs 7 columns).
pub(super) const TERMS: u64 = 1 << 8;

/// Bits of the auxiliary primes: lazy sums up to 16 times a prime fit 64 bits.
pub(super) const PRIME_BITS: u32 = 60;

impl Lift<u64> {
    /// With primes of `prime_bits` bits, or those of [`PRIME_BITS`] where fewer of them do as well.
    pub(super) fn new(
        spec: &RingSpec,
        prime_bits: u32,
        kernels: impl Fn(&Ntt) -> Result<Box<dyn Kernels<u64>>>,
    ) -> Result<Self> {
        let Method::Lift { inside, .. } = spec.method() else {
            return Err(Error::InvalidRing("this ring needs no lift".into()));
        };
        let (n, q) = (spec.n(), Modulus::<u64>::new(spec.q())?);
        let Some((shape, _)) = lift_shape(spec) else {
            return Err(Error::InvalidRing("this ring needs no lift".into()));
        };
        let bits = bound_bits(n, spec.q());
        let primes = auxiliary_primes(bits, shape, prime_bits)?;
        let product_bits: u32 = primes.iter().map(|p| p.ilog2()).sum();
        let max_terms = 1u64 << (product_bits - bits - 2).min(40);
        let mut out = Vec::new();
        for (i, &p) in primes.iter().enumerate() {
            let before = &primes[..i];
            let m = Modulus::<u64>::new(p)?;
            let product = |m: &Modulus<u64>| before.iter().fold(m.reduce(1), |x, p| m.mul(x, m.reduce(*p)));
            out.push(Prime {
                kernels: Checked::new(kernels(&Ntt::new(shape, p, None)?)?, p),
                p: m,
                minus_q: m.neg(m.reduce(spec.q())),
                // q·2^(s) with s = bits - floor(log2 q) + log2 terms is at least terms·B.
                offset: m.mul(m.reduce(spec.q()), m.pow(2, (bits - spec.q().ilog2() + max_terms.ilog2()) as u64)),
                garner: m.shoup(m.inv_vartime(product(&m)).unwrap_or(0)),
                before: before.iter().map(|p| m.shoup(m.reduce(*p))).collect(),
                weight: q.shoup(product(&q)),
            });
        }
        let tail = inside.is_none().then(|| {
            spec.f()
                .lower_terms()
                .iter()
                .map(|term| (term.exponent, q.shoup(q.neg(q.from_i64_vartime(term.coefficient)))))
                .collect()
        });
        Ok(Self { n, len: shape.len(), q, half: spec.q() / 2, primes: out, tail, max_terms })
    }

    pub(super) fn ntt_words(&self) -> usize {
        self.primes.len() * self.len
    }

    pub(super) fn prepared_words(&self) -> usize {
        self.primes.iter().map(|p| p.kernels.prepared_len()).sum()
    }

    pub(super) fn max_terms(&self) -> u64 {
        self.max_terms
    }

    /// Centred coefficients modulo a prime.
    fn load<W: Word>(&self, prime: &Prime<u64>, coefficients: &[W], out: &mut [u64]) {
        let small = self.q.value() <= prime.p.value();
        load_planes_with(coefficients, out, prime.kernels.planes(), |c: W| {
            let c = c.to_u64();
            let residue = if small { c } else { prime.p.reduce(c) };
            let negative = mask_if_less(self.half, c);
            prime.p.csub(residue + (prime.minus_q & negative))
        });
    }

    pub(super) fn forward<W: Word>(&self, coefficients: &[W], out: &mut [u64]) {
        for (prime, out) in self.primes.iter().zip(out.chunks_exact_mut(self.len)) {
            self.load(prime, &coefficients[..self.n], out);
            prime.kernels.forward(out);
        }
    }

    pub(super) fn inverse<W: Word>(&self, ntt: &[u64], out: &mut [W]) {
        with_scratch((self.primes.len() + 1) * self.len, |scratch: &mut [u64]| {
            let (residues, rest) = scratch.split_at_mut(self.primes.len() * self.len);
            residues.copy_from_slice(&ntt[..residues.len()]);
            for (prime, a) in self.primes.iter().zip(residues.chunks_exact_mut(self.len)) {
                prime.kernels.inverse(a, false);
            }
            self.finish(residues, rest, out);
        });
    }

    pub(super) fn multiply<W: Word>(&self, a: &[W], b: &[W], out: &mut [W]) {
        let len = self.len;
        let extra = self.primes.iter().map(|p| p.kernels.product_scratch()).max().unwrap_or(0);
        with_scratch((self.primes.len() + 1) * len + extra, |scratch: &mut [u64]| {
            let (residues, rest) = scratch.split_at_mut(self.primes.len() * len);
            let (b_lanes, rest) = rest.split_at_mut(len);
            for (prime, a_lanes) in self.primes.iter().zip(residues.chunks_exact_mut(len)) {
                self.load(prime, a, a_lanes);
                prime.kernels.forward(a_lanes);
                self.load(prime, b, b_lanes);
                prime.kernels.forward(b_lanes);
                prime.kernels.product(a_lanes, b_lanes, rest);
                prime.kernels.inverse(a_lanes, true);
            }
            self.finish(residues, b_lanes, out);
        });
    }

    /// Integer products in residues to coefficients of the ring; both slices are used up.
    fn finish<W: Word>(&self, residues: &mut [u64], scratch: &mut [u64], out: &mut [W]) {
        let used = if self.tail.is_some() { 2 * self.n - 1 } else { self.n };
        let planes = self.primes[0].kernels.planes();
        let plane = self.len / planes;
        let integers = &mut scratch[..used];
        for (i, x) in integers.iter_mut().enumerate() {
            // Its place in the first prime's residues, and then in each other's.
            let place = if planes == 1 { i } else { i % planes * plane + i / planes };
            let mut lanes = residues.iter().skip(place).step_by(self.len);
            *x = self.garner(lanes.next().copied().unwrap_or(0), lanes);
        }
        if let Some(tail) = &self.tail {
            self.reduce_by_f(integers, tail);
        }
        for (c, x) in out.iter_mut().zip(integers) {
            *c = W::from_u64(*x);
        }
    }

    /// The integer with these residues (offset included), modulo `q`.
    #[inline(always)]
    fn garner<'a>(&self, first: u64, others: impl Iterator<Item = &'a u64>) -> u64 {
        let mut digits = [0u64; MAX_PRIMES];
        digits[0] = self.primes[0].p.add(first, self.primes[0].offset);
        let mut sum = self.q.reduce(digits[0]);
        for (i, (prime, residue)) in self.primes[1..].iter().zip(others).enumerate() {
            let p = &prime.p;
            // What the digits so far stand for, modulo this prime, by Horner's rule from the last digit.
            let mut known = p.reduce(digits[i]);
            for j in (0..i).rev() {
                known = p.add(p.mul_shoup(known, prime.before[j]), p.reduce(digits[j]));
            }
            let target = p.add(*residue, prime.offset);
            digits[i + 1] = p.mul_shoup(p.sub(target, known), prime.garner);
            sum = self.q.add(sum, self.q.mul_shoup(digits[i + 1], prime.weight));
        }
        sum
    }

    /// A linear product modulo `f`, from the top, in runs whose targets lie below the run.
    fn reduce_by_f(&self, c: &mut [u64], tail: &[(usize, Shoup<u64>)]) {
        let n = self.n;
        let gap = n - tail.first().map_or(0, |(exponent, _)| *exponent);
        let mut end = c.len();
        while end > n {
            let start = end.saturating_sub(gap).max(n);
            let (low, high) = c.split_at_mut(start);
            let run = &high[..end - start];
            for (exponent, factor) in tail {
                let targets = &mut low[start - n + exponent..][..run.len()];
                for (target, x) in targets.iter_mut().zip(run) {
                    *target = self.q.add(*target, self.q.mul_shoup(*x, *factor));
                }
            }
            end = start;
        }
    }

    pub(super) fn prepare(&self, ntt: &[u64], out: &mut [u64]) {
        let mut out = out;
        for (prime, a) in self.primes.iter().zip(ntt.chunks_exact(self.len)) {
            let (part, rest) = out.split_at_mut(prime.kernels.prepared_len());
            prime.kernels.prepare(a, part);
            out = rest;
        }
    }

    pub(super) fn pointwise_prepared(&self, a: &[u64], prepared: &[u64], out: &mut [u64]) {
        let mut prepared = prepared;
        let polynomials = a.chunks_exact(self.len).zip(out.chunks_exact_mut(self.len));
        for (prime, (a, out)) in self.primes.iter().zip(polynomials) {
            let (part, rest) = prepared.split_at(prime.kernels.prepared_len());
            prime.kernels.dot(1, lanes(a, self.len), part, lanes_mut(out, self.len));
            prepared = rest;
        }
    }

    pub(super) fn mat_vec(&self, columns: usize, matrix: &[u64], vector: &[u64], out: &mut [u64]) {
        let stride = self.ntt_words();
        for (i, prime) in self.primes.iter().enumerate() {
            direct::mat_vec(&prime.kernels, columns, (stride, i * self.len), matrix, vector, out);
        }
    }
}

/// Primes for the largest bound: 17 + 2·61 bits, terms and sign.
const MAX_PRIMES: usize = 4;

/// The shape of a lifted ring's transforms, and whether the product is linear; nothing for a ring without a lift.
pub(super) fn lift_shape(spec: &RingSpec) -> Option<(Shape, bool)> {
    let Method::Lift { inside, .. } = spec.method() else { return None };
    let n = spec.n();
    Some(match inside {
        Some(wrap) => {
            let points = 1 << n.trailing_zeros();
            (Shape { points, width: n / points, wrap }, false)
        }
        None => (linear_shape(n), true),
    })
}

/// `ceil(log2(N·floor(q/2)²))`, at least 1.
pub(super) fn bound_bits(n: usize, q: u64) -> u32 {
    let half = (q / 2) as u128;
    let square = half * half;
    (128 - square.leading_zeros() + usize::BITS - (n - 1).leading_zeros()).max(1)
}

/// A negacyclic length that holds a linear product of `N`-coefficient operands: `width·2^k >= 2N - 1` with the least
/// estimated cost.
fn linear_shape(n: usize) -> Shape {
    let need = 2 * n - 1;
    (1..=MAX_LIFT_WIDTH)
        .map(|width| {
            let points = need.div_ceil(width).next_power_of_two();
            Shape { points, width, wrap: Wrap::Negacyclic }
        })
        // A layer costs about as much as a product at a point: three transforms, `width` products.
        .min_by_key(|shape| shape.len() * (3 * shape.layers() as usize + 2 * shape.width))
        .unwrap_or(Shape { points: need.next_power_of_two(), width: 1, wrap: Wrap::Negacyclic })
}

const MAX_LIFT_WIDTH: usize = 8;

/// Distinct primes whose product exceeds `2^(bits + 2) · TERMS`. Narrower ones than the widest are chosen because their
/// transforms take half the time: not where they are twice as many.
fn auxiliary_primes(bits: u32, shape: Shape, narrow: u32) -> Result<Vec<u64>> {
    let need = bits + 2 + TERMS.ilog2();
    let count = |prime_bits: u32| need.div_ceil(prime_bits - 1).max(1) as usize;
    let prime_bits = if count(narrow) < 2 * count(PRIME_BITS) { narrow } else { PRIME_BITS };
    ntt_primes(prime_bits, 2 * shape.points as u64, count(prime_bits), Direction::Descending)
}

/// `lane` of each coefficient, that of coefficient `j·planes + i` at place `j` of plane `i`, zeros behind them.
#[inline(always)]
pub(super) fn load_planes_with<W: Copy, T: Lane>(
    coefficients: &[W],
    out: &mut [T],
    planes: usize,
    lane: impl Fn(W) -> T,
) {
    let len = out.len() / planes;
    for (i, plane) in out.chunks_exact_mut(len).enumerate() {
        let count = (coefficients.len() + planes - 1 - i) / planes;
        let (filled, rest) = plane.split_at_mut(count);
        if planes == 1 {
            for (out, c) in filled.iter_mut().zip(coefficients) {
                *out = lane(*c);
            }
        } else {
            for (j, out) in filled.iter_mut().enumerate() {
                *out = lane(coefficients[j * planes + i]);
            }
        }
        rest.fill(T::default());
    }
}
