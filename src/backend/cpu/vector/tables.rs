//! Tables of one transform, and the plan of its passes.

use alloc::vec::Vec;

use super::Arith;
use crate::Result;
use crate::backend::cpu::lanes::transpose;
use crate::backend::cpu::schedule::{Mode, Schedule};
use crate::ring::ntt::Ntt;

/// A factor in all lanes.
type Factor<T> = [T; 2];
/// A factor in each lane.
pub(super) type Factors<T, const L: usize> = [[T; L]; 2];

/// One transform in the factors of a word class.
pub(in crate::backend::cpu) struct Transform<A: Arith<L>, const L: usize> {
    pub(super) arith: A,
    pub(super) q: u64,
    /// Independent transforms that lie one behind the other.
    pub(super) planes: usize,
    /// Vectors of a plane.
    pub(super) vectors: usize,
    /// Coefficients at a point that stay neighbours in a plane: 1 or 2.
    pub(super) together: usize,
    /// Layers of each pass before the tail, first to last.
    pub(super) passes: Vec<u32>,
    /// Passes that run over the whole plane; the others run over one part after the other.
    pub(super) outer: usize,
    /// Vectors of a tail: 2, 4 or 8.
    pub(super) tail: usize,
    pub(super) forward: Schedule,
    pub(super) inverse: Schedule,
    /// The inverse's modes by layer, the last one's first.
    pub(super) inverse_modes: Vec<Mode>,
    /// `zetas[nodes + i]` of the layers between vectors.
    pub(super) zetas: Vec<Factor<A::T>>,
    pub(super) inverse_zetas: Vec<Factor<A::T>>,
    /// Factors of the layers inside a vector, in the order in which tails use them.
    pub(super) tail_zetas: Vec<Factors<A::T, L>>,
    pub(super) inverse_tail_zetas: Vec<Factors<A::T, L>>,
    /// The slots, and the slots times `2^WIDTH`, in the order of a plane.
    pub(super) slots: Vec<Factors<A::T, L>>,
    pub(super) mont_slots: Vec<Factors<A::T, L>>,
    /// `2^WIDTH`.
    pub(super) mont_one: Factor<A::T>,
    /// What the last inverse layer multiplies sums and differences with.
    pub(super) scale: [Factor<A::T>; 2],
    /// The same with the factor that products leave.
    pub(super) mont_scale: [Factor<A::T>; 2],
    /// The place of each lane in the canonical order.
    pub(super) order: Vec<u32>,
}

/// A part of a plane that stays in the first-level cache with its factors.
const CACHED_BYTES: usize = 1 << 14;

impl<A: Arith<L>, const L: usize> Transform<A, L> {
    /// Whether vectors fit a shape: a tail needs two of them.
    pub(in crate::backend::cpu) fn fits(ntt: &Ntt, together: usize) -> bool {
        A::supports(ntt.modulus().value()) && ntt.shape().points * together >= 2 * L
    }

    /// Tables for a transform that [`Transform::fits`]; `together` is the width, or 1 for planes.
    pub(in crate::backend::cpu) fn new(level: A::Level, ntt: &Ntt, together: usize) -> Result<Self> {
        let (m, shape) = (ntt.modulus(), ntt.shape());
        let (arith, forward, inverse) = A::new(level, m.value(), shape.layers())?;
        let invert = |x: u64| m.inv_vartime(x).unwrap_or(0);
        let vectors = shape.points * together / L;
        let (passes, tail) = plan(vectors.ilog2(), A::RADIX.ilog2());
        let mut part = vectors * L * size_of::<A::T>();
        let mut outer = 0;
        while outer < passes.len() && part > CACHED_BYTES {
            part >>= passes[outer];
            outer += 1;
        }
        let positions = positions::<L>(vectors, tail, together);
        let inverses: Vec<u64> = ntt.zetas().iter().map(|z| invert(*z)).collect();
        let one = m.pow(m.reduce(2), A::WIDTH as u64);
        let n_inv = invert(m.reduce(shape.points as u64));
        let first = ntt.zetas().get(1).map_or(0, |z| invert(*z));
        let scale = |s: u64| [arith.factor(s), arith.factor(m.mul(s, first))];
        let uniform = |zetas: &[u64]| zetas[..vectors].iter().map(|z| arith.factor(*z)).collect();
        let last = positions.last().map_or(&[][..], |(_, p)| p);
        let slots = |factor: u64| {
            last.chunks_exact(L)
                .map(|p| gather(&arith, p.iter().map(|p| m.mul(ntt.slots()[*p as usize / together], factor))))
                .collect()
        };
        let tails = |zetas: &[u64], backwards: bool| {
            let layers: Vec<_> = positions[..positions.len() - 1].iter().collect();
            let mut out = Vec::new();
            for block in 0..vectors / tail {
                for i in 0..layers.len() {
                    let (half, p) = layers[if backwards { layers.len() - 1 - i } else { i }];
                    let nodes = vectors * L / (2 * half);
                    for pair in 0..tail / 2 {
                        let p = &p[(block * tail + 2 * pair) * L..][..L];
                        out.push(gather(&arith, p.iter().map(|p| zetas[nodes + *p as usize / (2 * half)])));
                    }
                }
            }
            out
        };
        let planes = shape.width / together;
        let order = (0..planes as u32).flat_map(|plane| last.iter().map(move |p| p * planes as u32 + plane)).collect();
        Ok(Self {
            q: m.value(),
            planes,
            vectors,
            together,
            passes,
            outer,
            tail,
            zetas: uniform(ntt.zetas()),
            inverse_zetas: uniform(&inverses),
            tail_zetas: tails(ntt.zetas(), false),
            inverse_tail_zetas: tails(&inverses, true),
            slots: slots(m.reduce(1)),
            mont_slots: slots(one),
            mont_one: arith.factor(one),
            scale: scale(n_inv),
            mont_scale: scale(m.mul(n_inv, one)),
            order,
            inverse_modes: core::iter::once(inverse.last).chain(inverse.modes.iter().rev().copied()).collect(),
            forward,
            inverse,
            arith,
        })
    }

    /// Lanes of a polynomial.
    pub(super) fn lanes(&self) -> usize {
        self.planes * self.vectors * L
    }
}

/// Splits the layers between vectors: those of the passes, then the vectors of a tail.
fn plan(layers: u32, radix: u32) -> (Vec<u32>, usize) {
    let tail = match layers {
        _ if layers <= radix => layers,
        // A pass of one layer alone would be all loads and stores.
        _ if layers == radix + 1 && radix > 2 => radix - 1,
        _ => radix,
    };
    let mut rest = layers - tail;
    let mut passes = Vec::new();
    while rest > 0 {
        let count = rest.div_ceil(radix);
        passes.push(rest.div_ceil(count));
        rest -= rest.div_ceil(count);
    }
    (passes, 1 << tail)
}

/// The place of every lane in the canonical order, as seen by each layer inside a vector (with its half length), and
/// after the last one (half length 0).
fn positions<const L: usize>(vectors: usize, tail: usize, together: usize) -> Vec<(usize, Vec<u32>)> {
    let mut lanes: Vec<u32> = (0..(vectors * L) as u32).collect();
    let mut out = Vec::new();
    let mut half = L / 2;
    while half >= together {
        for pair in lanes.chunks_exact_mut(2 * L) {
            let (x, y) = pair.split_at_mut(L);
            transpose(half, x, y);
        }
        out.push((half, lanes.clone()));
        half /= 2;
    }
    debug_assert!(vectors.is_multiple_of(tail));
    out.push((0, lanes));
    out
}

/// Factors, one for each lane.
fn gather<A: Arith<L>, const L: usize>(arith: &A, values: impl Iterator<Item = u64>) -> Factors<A::T, L> {
    let mut out = [[A::T::default(); L]; 2];
    for (i, value) in values.enumerate() {
        let [first, second] = arith.factor(value);
        (out[0][i], out[1][i]) = (first, second);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_cover_all_layers() {
        for radix in [2, 3] {
            for layers in 1..20 {
                let (passes, tail) = plan(layers, radix);
                assert_eq!(passes.iter().sum::<u32>() + tail.ilog2(), layers);
                assert!(passes.iter().all(|p| (1..=radix).contains(p)) && tail >= 2);
            }
        }
    }

    #[test]
    fn positions_are_a_permutation() {
        for together in [1, 2] {
            let positions = positions::<16>(8, 4, together);
            let mut last = positions.last().unwrap().1.clone();
            last.sort_unstable();
            assert!(last.iter().enumerate().all(|(i, p)| i == *p as usize));
        }
    }
}
