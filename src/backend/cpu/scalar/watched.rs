//! Arithmetic that watches every step of the scalar kernels in wide integers: the ranges that the schedules claim are
//! checked lane by lane and layer by layer, and so is every congruence. `2^w` is no multiple of an odd modulus, so a
//! lane that wraps once is wrong modulo `q` for good: a congruence check is an overflow check.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Debug;

use super::super::schedule::{Mode, Schedule};
use super::{Arith, Kernels, Lane, Mont16, Shoup32, Shoup64, Transform};
use crate::Result;
use crate::arith::{Direction, Modulus, is_prime_vartime, ntt_primes};
use crate::ring::ntt::Ntt;
use crate::ring::{Shape, Wrap};

/// A word class whose lanes and sums are read as wide integers.
trait Wide: Arith<T: Debug, Acc: Copy> {
    /// Lanes are signed.
    const SIGNED: bool;

    fn lane(x: Self::T) -> i128;
    fn sum(x: Self::Acc) -> i128;

    /// The bounds of all lanes after each forward layer, exclusive, from what the modes are defined to do.
    fn claims(q: i128, forward: &Schedule) -> Vec<i128>;
}

impl Wide for Mont16 {
    const SIGNED: bool = true;

    fn lane(x: i16) -> i128 {
        x as i128
    }

    fn sum(x: i32) -> i128 {
        x as i128
    }

    fn claims(q: i128, forward: &Schedule) -> Vec<i128> {
        // A product with a centred constant is at most (|x|·q/2 + 2^15·q) / 2^16 in size, and so is a reduced lane:
        // the product of any lane and 1.
        let product = |bound: i128| ((bound * (q / 2) + (q << 15)) >> 16) + 2;
        let mut bound = q;
        let grow = |mode: &Mode| {
            bound = if mode.kind == Mode::FREE { bound } else { product(1 << 15) } + product(bound);
            bound
        };
        forward.modes.iter().map(grow).collect()
    }
}

macro_rules! unsigned {
    ($($Name:ident),*) => {$(
        impl Wide for $Name {
            const SIGNED: bool = false;

            fn lane(x: Self::T) -> i128 {
                x as i128
            }

            fn sum(x: Self::Acc) -> i128 {
                i128::try_from(x).unwrap()
            }

            fn claims(q: i128, forward: &Schedule) -> Vec<i128> {
                let mut bound = 1;
                let grow = |mode: &Mode| {
                    bound = match mode.kind {
                        Mode::FREE => bound + 2,
                        Mode::REDUCE => mode.multiple as i128 + 2,
                        _ => 1,
                    };
                    bound * q
                };
                forward.modes.iter().map(grow).collect()
            }
        }
    )*};
}
unsigned!(Shoup32, Shoup64);

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
struct Watched<A> {
    real: A,
    q: i128,
}

impl<A: Wide> Watched<A> {
    fn congruent(&self, what: &str, got: i128, expected: i128) {
        assert_eq!((got - expected).rem_euclid(self.q), 0, "{what} wraps: q = {}, lane {got}", self.q);
    }

    fn inside(&self, what: &str, x: i128, bound: i128) {
        let least = if A::SIGNED { -bound + 1 } else { 0 };
        assert!(least <= x && x < bound, "{what}: {x} lies outside {least}..{bound}, q = {}", self.q);
    }

    fn reduced(&self, what: &str, x: A::T) -> i128 {
        self.inside(what, A::lane(x), self.q);
        A::lane(x)
    }
}

impl<A: Wide> Arith for Watched<A> {
    type T = A::T;
    type Tw = (A::Tw, u64);
    type Acc = A::Acc;

    const WIDTH: u32 = A::WIDTH;

    fn supports(q: u64) -> bool {
        A::supports(q)
    }

    fn new(q: u64) -> Result<Self> {
        Ok(Self { real: A::new(q)?, q: q as i128 })
    }

    fn schedules(&self, layers: u32) -> (Schedule, Schedule) {
        self.real.schedules(layers)
    }

    fn factor(&self, value: u64) -> Self::Tw {
        (self.real.factor(value), value)
    }

    fn mul(&self, x: A::T, (w, value): Self::Tw) -> A::T {
        let r = self.real.mul(x, w);
        self.congruent("a product", A::lane(r), A::lane(x) * value as i128);
        self.inside("a lazy product", A::lane(r), if A::SIGNED { self.q } else { 2 * self.q });
        r
    }

    fn mul_canonical(&self, x: A::T, (w, value): Self::Tw) -> A::T {
        let r = self.real.mul_canonical(x, w);
        self.congruent("a canonical product", A::lane(r), A::lane(x) * value as i128);
        assert!((0..self.q).contains(&A::lane(r)), "{r:?} is not canonical");
        r
    }

    fn mul_reduced(&self, x: A::T, (w, value): Self::Tw) -> A::T {
        let r = self.real.mul_reduced(x, w);
        let r_wide = self.reduced("a reduced product", r);
        self.congruent("a reduced product", r_wide, A::lane(x) * value as i128);
        r
    }

    fn forward_butterfly<const MODE: u8>(&self, x: A::T, y: A::T, w: Self::Tw, c: A::T) -> (A::T, A::T) {
        let (a, b) = self.real.forward_butterfly::<MODE>(x, y, w.0, c);
        let t = A::lane(y) * w.1 as i128;
        self.congruent("a forward sum", A::lane(a), A::lane(x) + t);
        self.congruent("a forward difference", A::lane(b), A::lane(x) - t);
        LOG.with_borrow_mut(|log| {
            let layer = log.layer[&w.1];
            for r in [A::lane(a), A::lane(b)] {
                self.inside(&format!("forward layer {layer}"), r, log.claims[layer]);
                let seen = &mut log.seen[layer];
                *seen = (seen.0.min(r), seen.1.max(r));
            }
        });
        (a, b)
    }

    fn inverse_butterfly<const MODE: u8>(&self, x: A::T, y: A::T, c: A::T) -> (A::T, A::T) {
        let (sum, difference) = self.real.inverse_butterfly::<MODE>(x, y, c);
        // Unsigned: c is the bound of both operands. Signed: both sums must fit 16 bits.
        let bound = if A::SIGNED { 1 << (A::WIDTH - 2) } else { A::lane(c) };
        self.inside("an inverse operand", A::lane(x), bound);
        self.inside("an inverse operand", A::lane(y), bound);
        self.congruent("an inverse sum", A::lane(sum), A::lane(x) + A::lane(y));
        self.congruent("an inverse difference", A::lane(difference), A::lane(x) - A::lane(y));
        (sum, difference)
    }

    fn inverse_mul<const MODE: u8>(&self, x: A::T, (w, value): Self::Tw) -> A::T {
        let r = self.real.inverse_mul::<MODE>(x, w);
        self.congruent("an inverse product", A::lane(r), A::lane(x) * value as i128);
        r
    }

    fn parameter(&self, multiple: u32) -> A::T {
        let c = self.real.parameter(multiple);
        assert!(A::SIGNED || A::lane(c) == multiple as i128 * self.q, "the parameter {multiple} q wraps");
        c
    }

    fn reduce(&self, x: A::T) -> A::T {
        let r = self.real.reduce(x);
        let r_wide = self.reduced("a reduction", r);
        self.congruent("a reduction", r_wide, A::lane(x));
        r
    }

    fn mac(&self, acc: A::Acc, x: A::T, y: A::T) -> A::Acc {
        let r = self.real.mac(acc, x, y);
        let product = self.reduced("a factor", x) * self.reduced("a factor", y);
        assert_eq!(A::sum(r), A::sum(acc) + product, "a sum of products wraps: q = {}", self.q);
        r
    }

    fn mac_limit(&self) -> usize {
        self.real.mac_limit()
    }

    fn redc(&self, acc: A::Acc) -> A::T {
        let r = self.real.redc(acc);
        // Signed lanes reduce sums below 2^15·q in size, unsigned ones sums below 2^w·q.
        self.inside("a sum of products", A::sum(acc), self.q << (A::WIDTH - A::SIGNED as u32));
        let r_wide = self.reduced("a Montgomery reduction", r);
        self.congruent("a Montgomery reduction", r_wide << A::WIDTH, A::sum(acc));
        r
    }

    fn add(&self, x: A::T, y: A::T) -> A::T {
        let r = self.real.add(x, y);
        let r_wide = self.reduced("a sum", r);
        self.congruent("a sum", r_wide, A::lane(x) + A::lane(y));
        r
    }
}

/// Operands at the ends of the reduced range: all, alternating, one lane alone, and pseudorandom ones.
fn operands<A: Wide>(len: usize, q: u64) -> Vec<Vec<A::T>> {
    let range = A::T::reduced(q);
    let high = A::T::load(q - 1);
    // For signed lanes the other end of the range; for unsigned ones zero.
    let low = if A::SIGNED { range.start } else { A::T::default() };
    let zero = A::T::default();
    let fill = |f: &dyn Fn(usize) -> A::T| (0..len).map(f).collect::<Vec<_>>();
    let mut out = vec![fill(&|_| high), fill(&|_| low), fill(&|_| zero)];
    for step in (0..len.ilog2() + 1).map(|bit| 1 << bit) {
        out.push(fill(&|i| if i & step == 0 { high } else { low }));
        out.push(fill(&|i| if i & step == 0 { low } else { high }));
    }
    // One lane alone: each of a short transform, else the first, the last and those next to powers of two.
    for lane in (0..len).filter(|i| len <= 64 || i.is_power_of_two() || (i + 1).is_power_of_two()) {
        out.push(fill(&|i| if i == lane { high } else { zero }));
        out.push(fill(&|i| if i == lane { low } else { high }));
    }
    let mut state = q;
    for _ in 0..8 {
        // Knuth's linear congruential generator (MMIX).
        let random = |_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let x = (state >> 2) % (q - 1) + 1;
            A::T::load(if A::SIGNED && state >> 63 == 1 { x.wrapping_sub(q) } else { x })
        };
        out.push((0..len).map(random).collect());
    }
    out
}

/// Runs every kernel of a transform on every operand.
fn watch<A: Wide>(shape: Shape, q: u64) {
    let ntt = Ntt::new(shape, q, None).unwrap();
    let watched = Transform::<Watched<A>>::new(&ntt).unwrap();
    let (forward, _) = A::new(q).unwrap().schedules(shape.layers());
    let mut log = Log { claims: A::claims(q as i128, &forward), ..Log::default() };
    let word = 1i128 << (A::WIDTH - A::SIGNED as u32);
    assert!(log.claims.iter().all(|bound| *bound <= word), "the schedule of q = {q} claims more than a lane holds");
    for layer in ntt.layers() {
        log.layer.extend((layer.nodes..2 * layer.nodes).map(|node| (ntt.zetas()[node], layer.nodes.ilog2() as usize)));
        log.seen.push((i128::MAX, i128::MIN));
    }
    LOG.set(log);

    let reduced = |what: &str, lanes: &[A::T]| {
        assert!(lanes.iter().all(|x| A::T::reduced(q).contains(x)), "{what} of {shape:?} modulo {q}")
    };
    let canonical = |lanes: &[A::T]| lanes.iter().map(|x| A::lane(*x).rem_euclid(q as i128)).collect::<Vec<_>>();
    let operands = operands::<A>(shape.len(), q);
    let mut scratch = vec![A::T::default(); watched.product_scratch()];
    let mut prepared = vec![A::T::default(); watched.prepared_len()];
    for a in &operands {
        let mut x = a.clone();
        watched.forward(&mut x);
        reduced("a forward transform", &x);
        watched.inverse(&mut x, false);
        assert!(x.iter().all(|x| A::T::canonical(q).contains(x)));
        assert_eq!(canonical(&x), canonical(a), "round trip, {shape:?} modulo {q}");

        // The same lanes as values of the transform domain: inverse, product, sums of the ranks of ML-KEM and ML-DSA.
        let mut x = a.clone();
        watched.inverse(&mut x, true);
        let mut x = a.clone();
        watched.product(&mut x, a, &mut scratch);
        reduced("a product", &x);
        watched.inverse(&mut x, true);
        watched.prepare(a, &mut prepared);
        for columns in if shape.len() <= 64 { &[1, 4, 7, 33][..] } else { &[7][..] } {
            let columns = *columns;
            watched.dot(columns, &a.repeat(columns), &prepared.repeat(columns), &mut x);
            reduced("a sum of products", &x);
            watched.inverse(&mut x, false);
        }
    }
    // A claim that nothing comes near to would watch nothing: values reach a quarter of every claim.
    LOG.with_borrow(|log| {
        for (layer, (seen, claim)) in log.seen.iter().zip(&log.claims).enumerate() {
            assert!(seen.0 <= seen.1, "layer {layer} of {shape:?} modulo {q} never ran");
            assert!(4 * seen.1 >= *claim, "layer {layer} of {shape:?} modulo {q}: {seen:?} of {claim}");
        }
    });
}

/// Supported primes `1 mod order` next to `2^bits` on both sides and at every sixteenth of the way to `2^(bits+1)`, as far as
/// they exist: all limits of lazy sums that a word has.
pub(in crate::backend::cpu) fn moduli(bits: u32, order: u64, supports: impl Fn(u64) -> bool) -> Vec<u64> {
    let mut out: Vec<u64> = [Direction::Descending, Direction::Ascending]
        .into_iter()
        .filter_map(|direction| ntt_primes(bits, order, 1, direction).ok())
        .flatten()
        .collect();
    for sixteenth in 1..16 {
        let start = (1u64 << bits) + (sixteenth << bits >> 4);
        let candidates = (start / order..).map(|k| k * order + 1).take_while(|p| *p < 2 << bits);
        out.extend(candidates.take(1 << 10).find(|p| is_prime_vartime(*p)));
    }
    out.retain(|q| supports(*q));
    out.sort_unstable();
    out.dedup();
    out
}

fn negacyclic(points: usize, width: usize) -> Shape {
    Shape { points, width, wrap: Wrap::Negacyclic }
}

/// Every limit, short transforms of every width; and long ones, in which bounds reach their limit.
fn watch_bits<A: Wide>(bits: impl Iterator<Item = u32>) {
    for bits in bits {
        for q in moduli(bits, 32, A::supports) {
            for width in [1, 2, 4] {
                watch::<A>(negacyclic(16, width), q);
            }
        }
        for q in moduli(bits, 512, A::supports) {
            watch::<A>(negacyclic(256, 1), q);
        }
    }
}

#[test]
fn lanes_of_16_bits() {
    watch_bits::<Mont16>(7..14);
    for q in [3329, 7681, 12289] {
        watch::<Mont16>(negacyclic(128, 2), q);
    }
    watch::<Mont16>(negacyclic(1024, 1), 12289);
}

#[test]
fn lanes_of_32_bits() {
    watch_bits::<Shoup32>((7..31).step_by(4));
    watch::<Shoup32>(negacyclic(256, 1), 8380417);
}

#[test]
fn lanes_of_32_bits_with_little_room() {
    watch_bits::<Shoup32>(26..31);
}

#[test]
fn lanes_of_64_bits() {
    watch_bits::<Shoup64>((10..56).step_by(9));
}

#[test]
fn lanes_of_64_bits_with_little_room() {
    watch_bits::<Shoup64>(57..62);
}

/// Every lane times every twiddle of ML-KEM's ring, both directions.
#[test]
fn every_lane_times_every_twiddle_of_ml_kem() {
    let ntt = Ntt::of_ring(&"ml-kem".parse().unwrap()).unwrap();
    let (q, m) = (3329i64, Modulus::<u64>::new(3329).unwrap());
    let arith = Mont16::new(3329).unwrap();
    for zeta in ntt.zetas().iter().chain(ntt.slots()).filter(|zeta| **zeta != 0) {
        for z in [*zeta, m.inv_vartime(*zeta).unwrap()] {
            let w = arith.factor(z);
            for x in i16::MIN..=i16::MAX {
                let r = arith.mul(x, w) as i64;
                assert!((r - x as i64 * z as i64) % q == 0 && -q < r && r < q, "{x} times {z}: {r}");
                assert_eq!(arith.mul_canonical(x, w) as i64, r.rem_euclid(q));
            }
        }
    }
}

/// Sums at both ends of what a Montgomery reduction takes, and one inside them.
#[test]
fn both_ends_of_montgomery_reduction() {
    for q in [257, 3329, 7681, 12289] {
        let watched = Watched::<Mont16>::new(q).unwrap();
        for end in [(q as i32) << 15, (q as i32) << 14, q as i32] {
            for sum in [end - 1, end - 2, 1 - end, 2 - end, 0] {
                watched.redc(sum);
            }
        }
    }
    for q in moduli(30, 2, Shoup32::supports) {
        let (watched, end) = (Watched::<Shoup32>::new(q).unwrap(), q << 32);
        for sum in [0, 1, end - 1, end - 2, end / 2] {
            watched.redc(sum);
        }
    }
    for q in moduli(61, 2, Shoup64::supports) {
        let (watched, end) = (Watched::<Shoup64>::new(q).unwrap(), (q as u128) << 64);
        for sum in [0, 1, end - 1, end - 2, end / 2] {
            watched.redc(sum);
        }
    }
}
