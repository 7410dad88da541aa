//! Arithmetic that watches every step of the vector kernels in wide integers, as `scalar/watched.rs` does for the
//! scalar ones: the ranges that the schedules claim, lane by lane and layer by layer, and every congruence, which no lane
//! that wraps once keeps. Classes of AVX2 run on its vectors where this CPU has them, those of AVX-512 on modelled ones.
//! Pairs of 16-bit lanes have no arithmetic of their own to watch: `model.rs` checks their sums.

mod classes;

use std::cell::RefCell;
use std::collections::HashMap;

use self::classes::Wide;
use super::model::Model;
use super::tables::{Factors, Transform};
use super::{Arith, Float, Ifma, Mont16, Shoup32, Shoup64, passes};
use crate::Result;
use crate::arith::Modulus;
use crate::backend::cpu::avx2::Avx2;
use crate::backend::cpu::kernels::Lane;
use crate::backend::cpu::scalar::watched::moduli;
use crate::backend::cpu::schedule::Schedule;
use crate::ring::ntt::Ntt;
use crate::ring::{Shape, Wrap};

/// What a test knows of the layers: which one a twiddle belongs to, what may be there, what was seen there.
#[derive(Default)]
struct Log {
    layer: HashMap<u64, usize>,
    claims: Vec<i128>,
    /// Least and greatest lane after each forward layer.
    seen: Vec<(i128, i128)>,
}

thread_local! {
    static LOG: RefCell<Log> = RefCell::default();
}

/// `A`, watched.
#[derive(Clone, Copy)]
struct Watched<A, const L: usize> {
    real: A,
    m: Modulus<u64>,
    /// Turns the value of a factor into the residue for which it stands.
    unit: u64,
}

impl<A: Wide<L>, const L: usize> Watched<A, L> {
    fn q(&self) -> i128 {
        self.m.value() as i128
    }

    fn residue(&self, x: i128) -> u64 {
        x.rem_euclid(self.q()) as u64
    }

    fn lanes(&self, x: A::V) -> [i128; L] {
        let mut out = [A::T::default(); L];
        self.real.store(x, &mut out);
        out.map(A::wide)
    }

    fn congruent(&self, what: &str, got: A::V, expected: impl Fn(usize) -> i128) {
        for (i, x) in self.lanes(got).into_iter().enumerate() {
            assert_eq!(self.residue(x), self.residue(expected(i)), "{what} wraps: q = {}, lane {x}", self.q());
        }
    }

    fn inside(&self, what: &str, x: A::V, bound: i128) {
        for x in self.lanes(x) {
            let least = if A::SIGNED { -bound } else { 0 };
            let most = if A::SIGNED { bound } else { bound - 1 };
            assert!((least..=most).contains(&x), "{what}: {x} lies outside {least}..={most}, q = {}", self.q());
        }
    }

    fn reduced(&self, what: &str, x: A::V) {
        self.inside(what, x, if A::SIGNED { self.q() - 1 } else { self.q() });
    }

    /// A forward butterfly's results.
    fn forward_layer(&self, x: A::V, y: A::V, w: &[u64; L], (a, b): (A::V, A::V)) {
        let (x, y) = (self.lanes(x), self.lanes(y));
        self.congruent("a forward sum", a, |i| x[i] + y[i] * w[i] as i128);
        self.congruent("a forward difference", b, |i| x[i] - y[i] * w[i] as i128);
        LOG.with_borrow_mut(|log| {
            let layer = log.layer[&w[0]];
            assert!(w.iter().all(|w| log.layer[w] == layer), "factors of several layers in one vector");
            for r in [a, b] {
                self.inside(&format!("forward layer {layer}"), r, log.claims[layer]);
                let seen = &mut log.seen[layer];
                for x in self.lanes(r) {
                    *seen = (seen.0.min(x), seen.1.max(x));
                }
            }
        });
    }
}

impl<A: Wide<L>, const L: usize> Arith<L> for Watched<A, L> {
    type Level = A::Level;
    type T = A::T;
    type V = A::V;
    type W = (A::W, [u64; L]);
    type Acc = (A::Acc, [i128; L]);

    const WIDTH: u32 = A::WIDTH;
    const RADIX: usize = A::RADIX;
    const TRANSPOSED: bool = A::TRANSPOSED;
    const ABREAST: usize = A::ABREAST;

    fn supports(q: u64) -> bool {
        A::supports(q)
    }

    fn new(level: A::Level, q: u64, layers: u32) -> Result<(Self, Schedule, Schedule)> {
        let (real, forward, inverse) = A::new(level, q, layers)?;
        let m = Modulus::<u64>::new(q)?;
        // Montgomery's factors of 16 bits hold 2^16 as well.
        let one = real.factor(1)[A::VALUE];
        let unit = m.inv_vartime(A::wide(one).rem_euclid(q as i128) as u64).unwrap();
        Ok((Self { real, m, unit }, forward, inverse))
    }

    fn level(&self) -> A::Level {
        self.real.level()
    }

    fn factor(&self, value: u64) -> [A::T; 2] {
        self.real.factor(value)
    }

    fn broadcast(&self, factor: &[A::T; 2]) -> Self::W {
        let value = self.m.mul(self.residue(A::wide(factor[A::VALUE])), self.unit);
        (self.real.broadcast(factor), [value; L])
    }

    fn factors(&self, factors: &Factors<A::T, L>) -> Self::W {
        let values = factors.0[A::VALUE].map(|x| self.m.mul(self.residue(A::wide(x)), self.unit));
        (self.real.factors(factors), values)
    }

    fn mul(&self, x: A::V, w: Self::W) -> A::V {
        self.mul_each([x], [w])[0]
    }

    fn mul_canonical(&self, x: A::V, (w, values): Self::W) -> A::V {
        let r = self.real.mul_canonical(x, w);
        let lanes = self.lanes(x);
        self.congruent("a canonical product", r, |i| lanes[i] * values[i] as i128);
        assert!(self.lanes(r).iter().all(|x| (0..self.q()).contains(x)), "canonical");
        r
    }

    fn mul_reduced(&self, x: A::V, (w, values): Self::W) -> A::V {
        let r = self.real.mul_reduced(x, w);
        let lanes = self.lanes(x);
        self.congruent("a reduced product", r, |i| lanes[i] * values[i] as i128);
        self.reduced("a reduced product", r);
        r
    }

    fn mul_each<const M: usize>(&self, x: [A::V; M], w: [Self::W; M]) -> [A::V; M] {
        let r = self.real.mul_each(x, w.map(|w| w.0));
        for i in 0..M {
            let lanes = self.lanes(x[i]);
            self.congruent("a product", r[i], |lane| lanes[lane] * w[i].1[lane] as i128);
            self.inside("a lazy product", r[i], A::PRODUCT * self.q());
        }
        r
    }

    fn mul_each_loaded<const M: usize>(&self, x: [A::V; M], w: [&Factors<A::T, L>; M]) -> [A::V; M] {
        let r = self.real.mul_each_loaded(x, w);
        let watched = self.mul_each(x, w.map(|w| self.factors(w)));
        for i in 0..M {
            assert_eq!(self.lanes(r[i]), self.lanes(watched[i]), "factors from memory");
        }
        r
    }

    fn forward_each<const M: usize>(&self, x: [A::V; M], y: [A::V; M], w: [Self::W; M]) -> ([A::V; M], [A::V; M]) {
        let r = self.real.forward_each(x, y, w.map(|w| w.0));
        for i in 0..M {
            self.forward_layer(x[i], y[i], &w[i].1, (r.0[i], r.1[i]));
        }
        r
    }

    fn forward_each_loaded<const M: usize>(
        &self,
        x: [A::V; M],
        y: [A::V; M],
        w: [&Factors<A::T, L>; M],
    ) -> ([A::V; M], [A::V; M]) {
        let r = self.real.forward_each_loaded(x, y, w);
        for i in 0..M {
            self.forward_layer(x[i], y[i], &self.factors(w[i]).1, (r.0[i], r.1[i]));
        }
        r
    }

    fn inverse_butterfly(&self, x: A::V, y: A::V, multiple: u32) -> (A::V, A::V) {
        let r = self.real.inverse_butterfly(x, y, multiple);
        // Unsigned: the bound of both operands. Signed: both results must fit a lane.
        let bound = if A::SIGNED { A::MOST / 2 } else { multiple as i128 * self.q() };
        self.inside("an inverse operand", x, bound);
        self.inside("an inverse operand", y, bound);
        let (x, y) = (self.lanes(x), self.lanes(y));
        self.congruent("an inverse sum", r.0, |i| x[i] + y[i]);
        self.congruent("an inverse difference", r.1, |i| x[i] - y[i]);
        r
    }

    fn reduce_by(&self, x: A::V, multiple: u32) -> A::V {
        let r = self.real.reduce_by(x, multiple);
        let lanes = self.lanes(x);
        self.congruent("a reduction", r, |i| lanes[i]);
        r
    }

    fn reduce_sum(&self, x: A::V, multiple: u32) -> A::V {
        let r = self.real.reduce_sum(x, multiple);
        let lanes = self.lanes(x);
        self.congruent("a reduced sum", r, |i| lanes[i]);
        r
    }

    fn reduce_end<const R: usize>(&self, x: &mut [A::V; R]) {
        let before = *x;
        self.real.reduce_end(x);
        for (x, before) in x.iter().zip(before) {
            let before = self.lanes(before);
            self.congruent("a last reduction", *x, |i| before[i]);
            self.reduced("a last reduction", *x);
        }
    }

    fn zero(&self) -> Self::Acc {
        (self.real.zero(), [0; L])
    }

    fn mac(&self, (acc, sums): Self::Acc, x: A::V, y: A::V) -> Self::Acc {
        self.reduced("a factor", x);
        self.reduced("a factor", y);
        let (lanes, others) = (self.lanes(x), self.lanes(y));
        (self.real.mac(acc, x, y), std::array::from_fn(|i| sums[i] + lanes[i] * others[i]))
    }

    fn mac_limit(&self) -> usize {
        self.real.mac_limit()
    }

    fn redc(&self, (acc, sums): Self::Acc) -> A::V {
        let r = self.real.redc(acc);
        self.reduced("a sum of products", r);
        for (x, sum) in self.lanes(r).into_iter().zip(sums) {
            assert_eq!(self.residue(self.residue(x) as i128 * (1i128 << A::WIDTH)), self.residue(sum), "a sum wraps");
        }
        r
    }

    fn add_reduced(&self, x: A::V, y: A::V) -> A::V {
        let r = self.real.add_reduced(x, y);
        self.reduced("a sum", r);
        let (x, y) = (self.lanes(x), self.lanes(y));
        self.congruent("a sum", r, |i| x[i] + y[i]);
        r
    }
}

fn forward<A: Arith<L>, const L: usize>(t: &Transform<A, L>, a: &mut [A::T]) {
    t.forward_passes(a, 0, |part, pass| match (pass.radix, pass.tail) {
        (2, false) => t.forward_nodes::<2, 1>(part, pass.layer, pass.first),
        (4, false) => t.forward_nodes::<4, 1>(part, pass.layer, pass.first),
        (_, false) => t.forward_nodes::<8, 1>(part, pass.layer, pass.first),
        (2, true) => t.forward_tails::<2, 1>(part, pass.layer, pass.first),
        (4, true) => t.forward_tails::<4, 1>(part, pass.layer, pass.first),
        (_, true) => t.forward_tails::<8, 1>(part, pass.layer, pass.first),
    });
}

fn inverse<A: Arith<L>, const L: usize>(t: &Transform<A, L>, a: &mut [A::T], mont: bool) {
    t.inverse_passes(a, 0, |part, pass| {
        let (layer, first) = (pass.layer, pass.first);
        macro_rules! run {
            (nodes $($c:tt),*) => { t.inverse_nodes::<$($c),*>(part, layer, first, mont) };
            (tails $R:literal, $LAST:literal) => {
                t.inverse_tails::<$R, 1, $LAST>(part, layer, first, mont, |_, x| passes::read(&t.arith, x, 0, 1))
            };
        }
        match (pass.radix, pass.tail, layer == 0) {
            (2, false, _) => run!(nodes 2, 1, true),
            (4, false, true) => run!(nodes 4, 1, true),
            (4, false, false) => run!(nodes 4, 1, false),
            (_, false, true) => run!(nodes 8, 1, true),
            (_, false, false) => run!(nodes 8, 1, false),
            (2, true, _) => run!(tails 2, true),
            (4, true, _) => run!(tails 4, true),
            (_, true, true) => run!(tails 8, true),
            (_, true, false) => run!(tails 8, false),
        }
    });
}

/// Reduced lanes at their ends: all, in turn by each step, one alone; and pseudorandom ones.
fn operands<A: Wide<L>, const L: usize>(len: usize, q: i128) -> Vec<Vec<A::T>> {
    let (high, low) = (q - 1, if A::SIGNED { 1 - q } else { 0 });
    let fill = |f: &mut dyn FnMut(usize) -> i128| (0..len).map(|i| A::narrow(f(i))).collect::<Vec<_>>();
    let mut out = vec![fill(&mut |_| high), fill(&mut |_| low), fill(&mut |_| 0)];
    for bit in 0..=len.ilog2() {
        out.push(fill(&mut |i| if i >> bit & 1 == 0 { high } else { low }));
    }
    for lane in [0, 1, len / 2, len - 1] {
        out.push(fill(&mut |i| if i == lane { high } else { 0 }));
    }
    let mut state = q as u64;
    for _ in 0..6 {
        out.push(fill(&mut |_| {
            // Knuth's linear congruential generator (MMIX).
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            low + (((state >> 1) as u128 * (high - low + 1) as u128) >> 63) as i128
        }));
    }
    out
}

/// Every kernel of a transform on every operand.
fn watch<A: Wide<L>, const L: usize>(level: A::Level, shape: Shape, q: u64) {
    let ntt = Ntt::new(shape, q, None).unwrap();
    let t = Transform::<Watched<A, L>, L>::new(level, &ntt, 1).unwrap();
    let mut log = Log { claims: A::claims(q as i128, &t.forward), ..Log::default() };
    assert!(log.claims.iter().all(|bound| *bound <= A::MOST), "the schedule of q = {q} claims more than a lane holds");
    for layer in ntt.layers() {
        log.layer.extend((layer.nodes..2 * layer.nodes).map(|node| (ntt.zetas()[node], layer.nodes.ilog2() as usize)));
        log.seen.push((i128::MAX, i128::MIN));
    }
    LOG.set(log);
    let residues = |lanes: &[A::T]| lanes.iter().map(|x| A::wide(*x).rem_euclid(q as i128)).collect::<Vec<_>>();
    let mut scratch = vec![A::T::default(); t.scratch_lanes()];
    let mut prepared = vec![A::T::default(); t.prepared_lanes()];
    for a in operands::<A, L>(t.lanes(), q as i128) {
        let mut x = a.clone();
        forward(&t, &mut x);
        inverse(&t, &mut x, false);
        assert!(x.iter().all(|x| A::T::canonical(q).contains(x)));
        assert_eq!(residues(&x), residues(&a), "round trip, {shape:?} modulo {q}");
        // The same lanes as values of the transform domain.
        let mut x = a.clone();
        t.product_all(&mut x, &a, &mut scratch);
        inverse(&t, &mut x, true);
        t.prepare_all(&a, &mut prepared);
        for columns in [1, 4, 7] {
            t.dot_all(columns, &a.repeat(columns), &prepared.repeat(columns), &mut x);
            inverse(&t, &mut x, false);
        }
        if t.sums() {
            t.sum_all(33, &a.repeat(33), &a.repeat(33), &mut x);
        }
    }
    // A claim that nothing comes near to would watch nothing.
    LOG.with_borrow(|log| {
        for (layer, (seen, claim)) in log.seen.iter().zip(&log.claims).enumerate() {
            assert!(seen.0 <= seen.1, "layer {layer} of {shape:?} modulo {q} never ran");
            assert!(4 * seen.1 >= *claim, "layer {layer} of {shape:?} modulo {q}: {seen:?} of {claim}");
        }
    });
}

/// Primes at every limit of lazy sums, in a short transform of planes and one whose bounds reach their limit.
fn watch_bits<A: Wide<L>, const L: usize>(level: A::Level, bits: impl Iterator<Item = u32>) {
    let shape = |points, width| Shape { points, width, wrap: Wrap::Negacyclic };
    for bits in bits {
        for q in moduli(bits, 4 * L as u64, A::supports) {
            watch::<A, L>(level, shape(2 * L, 2), q);
        }
        for q in moduli(bits, 32 * L as u64, A::supports).into_iter().step_by(3) {
            watch::<A, L>(level, shape(16 * L, 1), q);
        }
    }
}

#[test]
fn lanes_of_avx2() {
    let Some(level) = Avx2::detect() else { return eprintln!("skipped: this CPU lacks AVX2") };
    watch_bits::<Mont16<Avx2, 16>, 16>(level, 9..14);
    watch_bits::<Shoup32<Avx2, 8>, 8>(level, [9, 20, 26, 28, 29].into_iter());
    watch_bits::<Float<Avx2, 4>, 4>(level, [12, 40, 46, 48, 49].into_iter());
    watch_bits::<Shoup64<Avx2, 4, false>, 4>(level, [20, 50, 58, 60].into_iter());
    watch_bits::<Shoup64<Avx2, 4, true>, 4>(level, [60, 61].into_iter());
}

#[test]
fn lanes_of_avx512() {
    watch_bits::<Mont16<Model, 32>, 32>(Model, 10..14);
    watch_bits::<Ifma<Model, 8>, 8>(Model, [12, 40, 46, 48, 49].into_iter());
    watch_bits::<Shoup64<Model, 8, false>, 8>(Model, [20, 50, 58, 60].into_iter());
    watch_bits::<Shoup64<Model, 8, true>, 8>(Model, [60, 61].into_iter());
}
