//! Layers of butterflies between vectors in registers, and inside them.
// Loops of fixed length over registers: an index says which register.
#![allow(clippy::needless_range_loop)]

use super::Arith;
use super::tables::Factors;
use crate::backend::cpu::schedule::Mode;

/// `$body` for each butterfly `(first, second, node)` of a layer of `R` vectors, unrolled.
macro_rules! layer {
    ($R:expr, $layer:expr, |$i:ident, $j:ident, $k:ident| $body:block) => {
        layer!(@go $R, $layer, $i, $j, $k, $body,
            (2, 0; 0 1 1)
            (4, 0; 0 2 1, 1 3 1) (4, 1; 0 1 2, 2 3 3)
            (8, 0; 0 4 1, 1 5 1, 2 6 1, 3 7 1) (8, 1; 0 2 2, 1 3 2, 4 6 3, 5 7 3) (8, 2; 0 1 4, 2 3 5, 4 5 6, 6 7 7))
    };
    (@go $R:expr, $layer:expr, $i:ident, $j:ident, $k:ident, $body:block,
        $(($r:literal, $l:literal; $($a:literal $b:literal $c:literal),*))*) => {$(
        if $R == $r && $layer == $l {
            $({
                const $i: usize = $a;
                const $j: usize = $b;
                const $k: usize = $c;
                $body
            })*
        }
    )*};
}

pub(super) use layer;

/// What the layers inside vectors still need: factors of one tail after the other, and modes, in their order.
pub(super) struct Steps<'a, T, const L: usize> {
    pub(super) zetas: &'a [Factors<T, L>],
    pub(super) per_tail: usize,
    pub(super) modes: &'a [Mode],
}

impl<'a, T, const L: usize> Steps<'a, T, L> {
    /// Factors of one layer for `count` pairs of vectors of `S` tails, and its mode.
    #[inline(always)]
    fn next<const S: usize>(&mut self, count: usize) -> Option<([&'a [Factors<T, L>]; S], Mode)> {
        let (mode, modes) = self.modes.split_first()?;
        let mut zetas = [&self.zetas[..count]; S];
        for s in 1..S {
            zetas[s] = &self.zetas[s * self.per_tail..][..count];
        }
        (self.zetas, self.modes) = (&self.zetas[count..], modes);
        Some((zetas, *mode))
    }
}

/// The factors of a node's layers, as in a heap: entry 1 the node's own, 2 and 3 its children's; entry 0 is unused.
/// `node` counts from the number of nodes in its layer.
#[inline(always)]
pub(super) fn node_factors<A: Arith<L>, const L: usize, const R: usize>(
    arith: &A,
    zetas: &[[A::T; 2]],
    node: usize,
) -> [A::W; R] {
    let mut w = [arith.broadcast(&zetas[node]); R];
    if R > 2 {
        let children = &zetas[2 * node..][..2];
        w[2] = arith.broadcast(&children[0]);
        w[3] = arith.broadcast(&children[1]);
    }
    if R > 4 {
        let children = &zetas[4 * node..][..4];
        w[4] = arith.broadcast(&children[0]);
        w[5] = arith.broadcast(&children[1]);
        w[6] = arith.broadcast(&children[2]);
        w[7] = arith.broadcast(&children[3]);
    }
    w
}

/// Layers between `R` vectors, of `S` sets with factors of their own or the same ones.
#[inline(always)]
pub(super) fn forward_layers<A: Arith<L>, const L: usize, const R: usize, const S: usize>(
    arith: &A,
    x: &mut [[A::V; R]; S],
    w: &[[A::W; R]],
    modes: &[Mode; 3],
) {
    macro_rules! step {
        ($layer:literal) => {
            if modes[$layer].kind == Mode::REDUCE {
                for x in x.iter_mut() {
                    layer!(R, $layer, |I, _J, _K| { x[I] = arith.reduce_by(x[I], modes[$layer].multiple) });
                }
            }
            for s in 0..S {
                let (x, w) = (&mut x[s], &w[s % w.len()]);
                layer!(R, $layer, |I, J, K| {
                    (x[I], x[J]) = arith.forward(x[I], x[J], w[K]);
                });
            }
        };
    }
    step!(0);
    step!(1);
    step!(2);
}

#[inline(always)]
pub(super) fn inverse_layers<A: Arith<L>, const L: usize, const R: usize, const S: usize, const LAST: bool>(
    arith: &A,
    x: &mut [[A::V; R]; S],
    w: &[[A::W; R]],
    modes: &[Mode; 3],
    scale: &[A::W; 2],
) {
    macro_rules! step {
        ($layer:literal) => {
            for s in 0..S {
                let (x, w) = (&mut x[s], &w[s % w.len()]);
                layer!(R, $layer, |I, J, K| {
                    let (sum, difference) = arith.inverse_butterfly(x[I], x[J], modes[$layer].multiple);
                    if LAST && $layer == 0 {
                        x[I] = arith.mul_canonical(sum, scale[0]);
                        x[J] = arith.mul_canonical(difference, scale[1]);
                    } else {
                        x[I] = sum;
                        x[J] = arith.mul(difference, w[K]);
                    }
                });
            }
            if !(LAST && $layer == 0) && modes[$layer].kind == Mode::REDUCE {
                for x in x.iter_mut() {
                    layer!(R, $layer, |I, _J, _K| { x[I] = arith.reduce_sum(x[I], modes[$layer].multiple) });
                }
            }
        };
    }
    step!(2);
    step!(1);
    step!(0);
}

/// The layer of half length `H` inside vectors, if there is one.
#[inline(always)]
pub(super) fn forward_inside<A: Arith<L>, const L: usize, const R: usize, const S: usize, const H: usize>(
    arith: &A,
    x: &mut [[A::V; R]; S],
    steps: &mut Steps<'_, A::T, L>,
) {
    if H >= L {
        return;
    }
    let Some((zetas, mode)) = steps.next::<S>(R / 2) else { return };
    for (x, zetas) in x.iter_mut().zip(zetas) {
        for k in 0..R / 2 {
            let (mut low, high) = arith.split::<H>(x[2 * k], x[2 * k + 1]);
            if mode.kind == Mode::REDUCE {
                low = arith.reduce_by(low, mode.multiple);
            }
            (x[2 * k], x[2 * k + 1]) = arith.forward_loaded(low, high, &zetas[k]);
        }
    }
}

#[inline(always)]
pub(super) fn inverse_inside<A: Arith<L>, const L: usize, const R: usize, const S: usize, const H: usize>(
    arith: &A,
    x: &mut [[A::V; R]; S],
    steps: &mut Steps<'_, A::T, L>,
) {
    if H >= L {
        return;
    }
    let Some((zetas, mode)) = steps.next::<S>(R / 2) else { return };
    for (x, zetas) in x.iter_mut().zip(zetas) {
        for k in 0..R / 2 {
            let (mut sum, difference) = arith.inverse_butterfly(x[2 * k], x[2 * k + 1], mode.multiple);
            let difference = arith.mul_loaded(difference, &zetas[k]);
            if mode.kind == Mode::REDUCE {
                sum = arith.reduce_sum(sum, mode.multiple);
            }
            (x[2 * k], x[2 * k + 1]) = arith.join::<H>(sum, difference);
        }
    }
}
