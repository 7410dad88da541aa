//! Tables of one transform, and the plan of its passes.

use alloc::vec::Vec;

use super::Arith;
use super::layers::transposed;
use super::whole::Whole;
use crate::Result;
use crate::backend::cpu::kernels::Lane;
use crate::backend::cpu::schedule::{Mode, Schedule};
use crate::ring::Shape;
use crate::ring::ntt::Ntt;

/// A factor in all lanes.
type Factor<T> = [T; 2];
/// A factor in each lane. Aligned: an access that crosses cache lines costs twice.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(in crate::backend::cpu) struct Factors<T, const L: usize>(pub(super) [[T; L]; 2]);

/// One transform in the factors of a word class.
pub(in crate::backend::cpu) struct Transform<A: Arith<L>, const L: usize> {
    pub(super) arith: A,
    pub(super) q: u64,
    /// Independent transforms that lie one behind the other.
    pub(super) planes: usize,
    /// Vectors of a plane.
    pub(super) vectors: usize,
    /// Coefficients at a point that stay neighbours in a plane: 1, 2, or a vector of them.
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
    /// What a whole product does in each layer, where lanes may stay lazy between the transforms.
    pub(super) whole: Option<Whole>,
    /// All factors of a tail in the order of a whole product: those of the layers between its vectors, as in a heap
    /// from the outermost, then those inside; and for the inverse, inside first.
    pub(super) whole_zetas: Vec<Factors<A::T, L>>,
    pub(super) whole_inverse_zetas: Vec<Factors<A::T, L>>,
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

/// Whole products are compiled up to this many vectors.
const WHOLE_VECTORS: usize = 64;

/// A part of a plane that stays in the first-level cache with its factors.
const CACHED_BYTES: usize = 1 << 14;

impl<A: Arith<L>, const L: usize> Transform<A, L> {
    /// Whether vectors fit a shape: a tail needs two of them.
    pub(in crate::backend::cpu) fn fits(ntt: &Ntt, together: usize) -> bool {
        A::supports(ntt.modulus().value()) && ntt.shape().points * together >= 2 * L
    }

    /// Whether vectors hold a polynomial in each lane.
    pub(in crate::backend::cpu) fn fits_across(ntt: &Ntt) -> bool {
        A::supports(ntt.modulus().value()) && ntt.shape().width == 1 && ntt.shape().points >= 2
    }

    /// The transform of a polynomial in each lane: to the layers, `L` coefficients that stay neighbours at each point.
    pub(in crate::backend::cpu) fn across(level: A::Level, ntt: &Ntt) -> Result<Self> {
        let shape = Shape { width: L, ..ntt.shape() };
        Self::new(level, &Ntt::new(shape, ntt.modulus().value(), None)?, L)
    }

    /// Tables for a transform that [`Transform::fits`]; `together` is the width, or 1
    /// for planes.
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
        let positions = positions::<A, L>(&arith, vectors, together, tail);
        let inverses = ntt.inverse_zetas();
        let one = m.pow(m.reduce(2), A::WIDTH as u64);
        let n_inv = invert(m.reduce(shape.points as u64));
        let first = ntt.zetas().get(1).map_or(0, |z| invert(*z));
        let scale = |s: u64| [arith.factor(s), arith.factor(m.mul(s, first))];
        let uniform = |zetas: &[u64]| zetas[..vectors].iter().map(|z| arith.factor(*z)).collect();
        let last = &positions.1[..];
        let slots = |factor: u64| {
            last.chunks_exact(L)
                .map(|p| gather(&arith, p.iter().map(|p| m.mul(ntt.slots()[*p as usize / together], factor))))
                .collect()
        };
        let tails = |zetas: &[u64], backwards: bool| {
            let layers = &positions.0;
            let mut out = Vec::new();
            for block in 0..vectors / tail {
                for i in 0..layers.len() {
                    let Inside { half, step, places } = &layers[if backwards { layers.len() - 1 - i } else { i }];
                    let nodes = vectors * L / (2 * half);
                    for vector in (0..tail).step_by(*step) {
                        let p = &places[(block * tail + vector) * L..][..L];
                        out.push(gather(&arith, p.iter().map(|p| zetas[nodes + *p as usize / (2 * half)])));
                    }
                }
            }
            out
        };
        let (tail_zetas, inverse_tail_zetas) = (tails(ntt.zetas(), false), tails(&inverses, true));
        let whole_tails = |zetas: &[u64], inside: &[Factors<A::T, L>], backwards: bool| {
            let (blocks, mut out) = (vectors / tail, Vec::new());
            for (block, inside) in inside.chunks_exact(inside.len() / blocks).enumerate() {
                let layers = 0..tail.ilog2();
                let nodes = layers.flat_map(|i| ((blocks + block) << i)..((blocks + block + 1) << i));
                let between = nodes.map(|node| gather(&arith, core::iter::repeat_n(zetas[node], L)));
                if backwards {
                    out.extend(inside);
                    out.extend(between);
                } else {
                    out.extend(between);
                    out.extend(inside);
                }
            }
            out
        };
        let whole = arith.whole_schedules(&forward, shape.layers()).and_then(Whole::new);
        // Across lanes there are no layers inside vectors, and no whole product.
        let small = vectors <= WHOLE_VECTORS && together < L;
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
            whole_zetas: if small { whole_tails(ntt.zetas(), &tail_zetas, false) } else { Vec::new() },
            whole_inverse_zetas: if small { whole_tails(&inverses, &inverse_tail_zetas, true) } else { Vec::new() },
            whole,
            tail_zetas,
            inverse_tail_zetas,
            slots: slots(m.reduce(1)),
            mont_slots: slots(one),
            mont_one: arith.factor(one),
            scale: scale(n_inv),
            mont_scale: scale(m.mul(n_inv, one)),
            order,
            inverse_modes: by_layer(&inverse),
            forward,
            inverse,
            arith,
        })
    }

    pub(super) fn transform(&self) -> &Self {
        self
    }

    /// Layers inside vectors.
    #[inline(always)]
    pub(super) fn inside(&self) -> usize {
        (L.ilog2() - self.together.ilog2()) as usize
    }

    /// Vectors of factors that a tail needs for them.
    #[inline(always)]
    pub(super) fn tail_factors(&self) -> usize {
        let count = transposed::<A, L>(self.inside(), self.tail);
        (self.inside() - count) * (self.tail / 2) + (self.tail >> count) * ((1 << count) - 1)
    }

    /// Lanes of a polynomial.
    pub(super) fn lanes(&self) -> usize {
        self.planes * self.vectors * L
    }
}

/// The modes of an inverse by layer, the last one's first.
pub(super) fn by_layer(inverse: &Schedule) -> Vec<Mode> {
    core::iter::once(inverse.last).chain(inverse.modes.iter().rev().copied()).collect()
}

/// Splits the layers between vectors: those of the passes, then the vectors of a tail. Eight vectors a tail, because
/// four leave only two butterflies at a time to hide the latency of a chain of layers.
fn plan(layers: u32, radix: u32) -> (Vec<u32>, usize) {
    let tail = layers.min(3);
    let mut rest = layers - tail;
    let mut passes = Vec::new();
    while rest > 0 {
        // Three layers of eight vectors beat two passes even where there are registers for four only.
        let count = if rest == 3 { 1 } else { rest.div_ceil(radix) };
        passes.push(rest.div_ceil(count));
        rest -= rest.div_ceil(count);
    }
    (passes, 1 << tail)
}

/// A layer inside vectors.
struct Inside {
    half: usize,
    /// Vectors from one that has factors of its own to the next.
    step: usize,
    /// The place of every lane in the canonical order when the layer runs.
    places: Vec<u32>,
}

/// The layers inside vectors, and the place of every lane in the canonical order after them.
fn positions<A: Arith<L>, const L: usize>(
    arith: &A,
    vectors: usize,
    together: usize,
    tail: usize,
) -> (Vec<Inside>, Vec<u32>) {
    let mut lanes: Vec<u32> = (0..(vectors * L) as u32).collect();
    let exchange = |lanes: &mut [u32], half: usize, distance: usize| {
        let places = places::<A, L>(arith, half);
        for block in lanes.chunks_exact_mut(2 * distance * L) {
            let before = block.to_vec();
            let lane = |vector: usize, i: usize| (vector + i / L * distance) * L + i % L;
            for vector in 0..distance {
                for (i, place) in places.iter().enumerate() {
                    block[lane(vector, i)] = before[lane(vector, *place)];
                }
            }
        }
    };
    let halves: Vec<usize> = (0..L.ilog2()).map(|i| (L / 2) >> i).filter(|half| *half >= together).collect();
    let (alone, last) = halves.split_at(halves.len() - transposed::<A, L>(halves.len(), tail));
    let mut out = Vec::new();
    for &half in alone {
        exchange(&mut lanes, half, 1);
        out.push(Inside { half, step: 2, places: lanes.clone() });
    }
    for half in last {
        exchange(&mut lanes, *half, half / together);
    }
    out.extend(last.iter().map(|half| Inside { half: *half, step: 2 * half / together, places: lanes.clone() }));
    (out, lanes)
}

/// Where each lane of two vectors comes from when they are split.
fn places<A: Arith<L>, const L: usize>(arith: &A, half: usize) -> Vec<usize> {
    let vector = |first: usize| arith.load(&core::array::from_fn(|i| A::T::load((first + i) as u64)));
    let (x, y) = (vector(0), vector(L));
    let (x, y) = match half {
        1 => arith.split::<1>(x, y),
        2 => arith.split::<2>(x, y),
        4 => arith.split::<4>(x, y),
        8 => arith.split::<8>(x, y),
        _ => arith.split::<16>(x, y),
    };
    let mut out = [[A::T::default(); L]; 2];
    arith.store(x, &mut out[0]);
    arith.store(y, &mut out[1]);
    // Places are not negative: no modulus is added.
    out.as_flattened().iter().map(|place| place.store(0) as usize).collect()
}

/// Factors, one for each lane.
fn gather<A: Arith<L>, const L: usize>(arith: &A, values: impl Iterator<Item = u64>) -> Factors<A::T, L> {
    let mut out = [[A::T::default(); L]; 2];
    for (i, value) in values.enumerate() {
        let [first, second] = arith.factor(value);
        (out[0][i], out[1][i]) = (first, second);
    }
    Factors(out)
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
                assert!(passes.iter().all(|p| (1..=3).contains(p)) && tail >= 2);
                // What `entry.rs` takes for granted.
                assert!(passes.is_empty() || tail == 8);
                assert!(!passes.contains(&1) || passes.len() == 1);
            }
        }
    }
}
