//! Layers of butterflies between vectors in registers, and inside them.
// Loops of fixed length over registers: an index says which register.
#![allow(clippy::needless_range_loop)]

use super::Arith;
use super::tables::Factors;
use crate::backend::cpu::schedule::Mode;

/// Butterflies of a layer between vectors from number `start` on: the first vector, the second, and the factor, counted
/// from the layer's first.
const fn butterflies<const M: usize>(vectors: usize, layer: usize, start: usize) -> [[usize; 3]; M] {
    let half = vectors >> (layer + 1);
    let mut out = [[0; 3]; M];
    let mut m = 0;
    while half > 0 && m < M {
        let (block, place) = ((start + m) / half, (start + m) % half);
        out[m] = [block * 2 * half + place, block * 2 * half + place + half, block];
        m += 1;
    }
    out
}

/// Factors of one layer: in registers, or in memory.
pub(super) trait Source<A: Arith<L>, const L: usize>: Copy {
    /// `(x + y·w, x - y·w)` with the factors at `places`.
    fn forward<const M: usize>(
        self,
        arith: &A,
        x: [A::V; M],
        y: [A::V; M],
        places: [usize; M],
    ) -> ([A::V; M], [A::V; M]);

    /// `x·w`.
    fn mul<const M: usize>(self, arith: &A, x: [A::V; M], places: [usize; M]) -> [A::V; M];
}

#[derive(Clone, Copy)]
pub(super) struct InRegisters<'a, W>(&'a [W]);

#[derive(Clone, Copy)]
pub(super) struct InMemory<'a, T, const L: usize>(pub(super) &'a [Factors<T, L>]);

impl<A: Arith<L>, const L: usize> Source<A, L> for InRegisters<'_, A::W> {
    #[inline(always)]
    fn forward<const M: usize>(
        self,
        arith: &A,
        x: [A::V; M],
        y: [A::V; M],
        places: [usize; M],
    ) -> ([A::V; M], [A::V; M]) {
        arith.forward_each(x, y, each!(M: |m| self.0[places[m]]))
    }

    #[inline(always)]
    fn mul<const M: usize>(self, arith: &A, x: [A::V; M], places: [usize; M]) -> [A::V; M] {
        arith.mul_each(x, each!(M: |m| self.0[places[m]]))
    }
}

impl<A: Arith<L>, const L: usize> Source<A, L> for InMemory<'_, A::T, L> {
    #[inline(always)]
    fn forward<const M: usize>(
        self,
        arith: &A,
        x: [A::V; M],
        y: [A::V; M],
        places: [usize; M],
    ) -> ([A::V; M], [A::V; M]) {
        arith.forward_each_loaded(x, y, each!(M: |m| &self.0[places[m]]))
    }

    #[inline(always)]
    fn mul<const M: usize>(self, arith: &A, x: [A::V; M], places: [usize; M]) -> [A::V; M] {
        arith.mul_each_loaded(x, each!(M: |m| &self.0[places[m]]))
    }
}

/// `$group` for the butterflies of a layer, as many abreast as there are and registers hold. Which they are is known
/// when the code is compiled: only then do vectors stay in registers.
macro_rules! groups {
    ($A:ty, $R:ident, $group:ident::<$($generic:ident),*>($($argument:expr),*)) => {
        match ($R, <$A>::ABREAST) {
            (2, _) => $group::<$($generic,)* 1, 0>($($argument),*),
            (4, 1) => {
                $group::<$($generic,)* 1, 0>($($argument),*);
                $group::<$($generic,)* 1, 1>($($argument),*);
            }
            (4, _) => $group::<$($generic,)* 2, 0>($($argument),*),
            (_, 1) => {
                $group::<$($generic,)* 1, 0>($($argument),*);
                $group::<$($generic,)* 1, 1>($($argument),*);
                $group::<$($generic,)* 1, 2>($($argument),*);
                $group::<$($generic,)* 1, 3>($($argument),*);
            }
            (_, 2) => {
                $group::<$($generic,)* 2, 0>($($argument),*);
                $group::<$($generic,)* 2, 2>($($argument),*);
            }
            _ => $group::<$($generic,)* 4, 0>($($argument),*),
        }
    };
}

/// A layer between `R` vectors.
#[inline(always)]
pub(super) fn forward_layer<A: Arith<L>, const L: usize, const R: usize, const LAYER: usize, Z: Source<A, L>>(
    arith: &A,
    x: &mut [A::V; R],
    mode: Mode,
    factors: Z,
) {
    if R >> LAYER > 1 {
        groups!(A, R, forward_group::<A, Z, L, R, LAYER>(arith, x, mode, factors));
    }
}

/// `M` butterflies from number `INDEX` on, step by step: each fills the waits of the others.
#[inline(always)]
fn forward_group<
    A: Arith<L>,
    Z: Source<A, L>,
    const L: usize,
    const R: usize,
    const LAYER: usize,
    const M: usize,
    const INDEX: usize,
>(
    arith: &A,
    x: &mut [A::V; R],
    mode: Mode,
    factors: Z,
) {
    let at = const { butterflies::<M>(R, LAYER, INDEX) };
    let low = if mode.kind == Mode::REDUCE {
        each!(M: |m| arith.reduce_by(x[at[m][0]], mode.multiple))
    } else {
        each!(M: |m| x[at[m][0]])
    };
    let high = each!(M: |m| x[at[m][1]]);
    let (sums, differences) = factors.forward(arith, low, high, each!(M: |m| at[m][2]));
    for m in 0..M {
        (x[at[m][0]], x[at[m][1]]) = (sums[m], differences[m]);
    }
}

#[inline(always)]
pub(super) fn inverse_layer<A: Arith<L>, const L: usize, const R: usize, const LAYER: usize, Z: Source<A, L>>(
    arith: &A,
    x: &mut [A::V; R],
    mode: Mode,
    factors: Z,
) {
    if R >> LAYER > 1 {
        groups!(A, R, inverse_group::<A, Z, L, R, LAYER>(arith, x, mode, factors));
    }
}

#[inline(always)]
fn inverse_group<
    A: Arith<L>,
    Z: Source<A, L>,
    const L: usize,
    const R: usize,
    const LAYER: usize,
    const M: usize,
    const INDEX: usize,
>(
    arith: &A,
    x: &mut [A::V; R],
    mode: Mode,
    factors: Z,
) {
    let at = const { butterflies::<M>(R, LAYER, INDEX) };
    let both = each!(M: |m| arith.inverse_butterfly(x[at[m][0]], x[at[m][1]], mode.multiple));
    let products = factors.mul(arith, each!(M: |m| both[m].1), each!(M: |m| at[m][2]));
    for m in 0..M {
        let sum = both[m].0;
        x[at[m][0]] = if mode.kind == Mode::REDUCE { arith.reduce_sum(sum, mode.multiple) } else { sum };
        x[at[m][1]] = products[m];
    }
}

/// The inverse's last layer, whose results are canonical.
#[inline(always)]
pub(super) fn inverse_last_layer<A: Arith<L>, const L: usize, const R: usize>(
    arith: &A,
    x: &mut [A::V; R],
    mode: Mode,
    scale: &[A::W; 2],
) {
    for i in 0..R / 2 {
        let (sum, difference) = arith.inverse_butterfly(x[i], x[i + R / 2], mode.multiple);
        x[i] = arith.mul_canonical(sum, scale[0]);
        x[i + R / 2] = arith.mul_canonical(difference, scale[1]);
    }
}

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
    macro_rules! layers {
        ($($LAYER:literal)*) => {$(
            if R >> $LAYER > 1 {
                for s in 0..S {
                    let factors = InRegisters(&w[s % w.len()][1 << $LAYER..]);
                    forward_layer::<A, L, R, $LAYER, _>(arith, &mut x[s], modes[$LAYER], factors);
                }
            }
        )*};
    }
    layers!(0 1 2);
}

#[inline(always)]
pub(super) fn inverse_layers<A: Arith<L>, const L: usize, const R: usize, const S: usize, const LAST: bool>(
    arith: &A,
    x: &mut [[A::V; R]; S],
    w: &[[A::W; R]],
    modes: &[Mode; 3],
    scale: &[A::W; 2],
) {
    macro_rules! layers {
        ($($LAYER:literal)*) => {$(
            if R >> $LAYER > 1 {
                for s in 0..S {
                    if LAST && $LAYER == 0 {
                        inverse_last_layer(arith, &mut x[s], modes[0], scale);
                    } else {
                        let factors = InRegisters(&w[s % w.len()][1 << $LAYER..]);
                        inverse_layer::<A, L, R, $LAYER, _>(arith, &mut x[s], modes[$LAYER], factors);
                    }
                }
            }
        )*};
    }
    layers!(2 1 0);
}

/// Layers inside vectors that a tail brings between them all at once, where the class does; those before exchange lanes
/// of neighbours one by one. Then one vector of factors serves several butterflies.
#[inline(always)]
pub(super) fn transposed<A: Arith<L>, const L: usize>(inside: usize, tail: usize) -> usize {
    if A::TRANSPOSED { inside.min(tail.ilog2() as usize) } else { 0 }
}

/// Exchanges lanes and vectors for the last `count` layers inside vectors, or back. Coefficients `together` stay
/// neighbours.
#[inline(always)]
pub(super) fn transpose<A: Arith<L>, const L: usize, const R: usize, const BACK: bool>(
    arith: &A,
    x: &mut [A::V; R],
    count: usize,
    together: usize,
) {
    macro_rules! exchange {
        ($($D:literal, $TWICE:literal;)*) => {$(
            if 2 * $D <= R && $D < 1 << count {
                for i in 0..R {
                    if i & $D == 0 {
                        let pair = (x[i], x[i + $D]);
                        (x[i], x[i + $D]) = match (together == 1, BACK) {
                            (true, false) => arith.split::<$D>(pair.0, pair.1),
                            (true, true) => arith.join::<$D>(pair.0, pair.1),
                            (false, false) => arith.split::<$TWICE>(pair.0, pair.1),
                            (false, true) => arith.join::<$TWICE>(pair.0, pair.1),
                        };
                    }
                }
            }
        )*};
    }
    if BACK {
        exchange!(1, 2; 2, 4; 4, 8;);
    } else {
        exchange!(4, 8; 2, 4; 1, 2;);
    }
}

/// The layers inside vectors that [`transpose`] has brought between them.
#[inline(always)]
pub(super) fn forward_transposed<A: Arith<L>, const L: usize, const R: usize, const S: usize>(
    arith: &A,
    x: &mut [[A::V; R]; S],
    steps: &mut Steps<'_, A::T, L>,
) {
    macro_rules! layers {
        ($($LAYER:literal)*) => {$(
            let distance = R >> ($LAYER + 1);
            if A::TRANSPOSED && distance > 0 && distance >> steps.modes.len() == 0 {
                let Some((zetas, mode)) = steps.next::<S>(1 << $LAYER) else { return };
                for (x, zetas) in x.iter_mut().zip(zetas) {
                    forward_layer::<A, L, R, $LAYER, _>(arith, x, mode, InMemory(zetas));
                }
            }
        )*};
    }
    layers!(0 1 2);
}

#[inline(always)]
pub(super) fn inverse_transposed<A: Arith<L>, const L: usize, const R: usize, const S: usize>(
    arith: &A,
    x: &mut [[A::V; R]; S],
    steps: &mut Steps<'_, A::T, L>,
    count: usize,
) {
    macro_rules! layers {
        ($($LAYER:literal)*) => {$(
            let distance = R >> ($LAYER + 1);
            if A::TRANSPOSED && distance > 0 && distance >> count == 0 {
                let Some((zetas, mode)) = steps.next::<S>(1 << $LAYER) else { return };
                for (x, zetas) in x.iter_mut().zip(zetas) {
                    inverse_layer::<A, L, R, $LAYER, _>(arith, x, mode, InMemory(zetas));
                }
            }
        )*};
    }
    layers!(2 1 0);
}

/// The layer of the closest vectors.
macro_rules! neighbours {
    ($R:ident, $layer:ident::<$A:ident, $L:ident>($($argument:expr),*)) => {
        match $R {
            2 => $layer::<$A, $L, $R, 0, _>($($argument),*),
            4 => $layer::<$A, $L, $R, 1, _>($($argument),*),
            _ => $layer::<$A, $L, $R, 2, _>($($argument),*),
        }
    };
}

/// The layer of half length `H` inside vectors, if there is one before the transposed ones, which start below `end`.
/// Its butterflies are between neighbours.
#[inline(always)]
pub(super) fn forward_inside<A: Arith<L>, const L: usize, const R: usize, const S: usize, const H: usize>(
    arith: &A,
    x: &mut [[A::V; R]; S],
    steps: &mut Steps<'_, A::T, L>,
    end: usize,
) {
    if H >= L || H < end {
        return;
    }
    let Some((zetas, mode)) = steps.next::<S>(R / 2) else { return };
    for (x, zetas) in x.iter_mut().zip(zetas) {
        split_neighbours::<A, L, R, H>(arith, x);
        neighbours!(R, forward_layer::<A, L>(arith, x, mode, InMemory(zetas)));
    }
}

#[inline(always)]
pub(super) fn inverse_inside<A: Arith<L>, const L: usize, const R: usize, const S: usize, const H: usize>(
    arith: &A,
    x: &mut [[A::V; R]; S],
    steps: &mut Steps<'_, A::T, L>,
    end: usize,
) {
    if H >= L || H < end {
        return;
    }
    let Some((zetas, mode)) = steps.next::<S>(R / 2) else { return };
    for (x, zetas) in x.iter_mut().zip(zetas) {
        neighbours!(R, inverse_layer::<A, L>(arith, x, mode, InMemory(zetas)));
        join_neighbours::<A, L, R, H>(arith, x);
    }
}

/// Exchanges lanes that are `H` apart between neighbours.
#[inline(always)]
pub(super) fn split_neighbours<A: Arith<L>, const L: usize, const R: usize, const H: usize>(
    arith: &A,
    x: &mut [A::V; R],
) {
    for k in 0..R / 2 {
        (x[2 * k], x[2 * k + 1]) = arith.split::<H>(x[2 * k], x[2 * k + 1]);
    }
}

/// The inverse of [`split_neighbours`].
#[inline(always)]
pub(super) fn join_neighbours<A: Arith<L>, const L: usize, const R: usize, const H: usize>(
    arith: &A,
    x: &mut [A::V; R],
) {
    for k in 0..R / 2 {
        (x[2 * k], x[2 * k + 1]) = arith.join::<H>(x[2 * k], x[2 * k + 1]);
    }
}
