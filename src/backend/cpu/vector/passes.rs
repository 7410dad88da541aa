//! Passes over a plane: several layers while vectors are in registers.
// Loops of fixed length over registers: an index says which register, a counter which node.
#![allow(clippy::needless_range_loop, clippy::explicit_counter_loop)]

use super::Arith;
use super::tables::{Factors, Transform};
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

/// `$body` for each of these half lengths, as a constant.
macro_rules! each_half {
    ($H:ident in $($half:literal)* $body:block) => {$({
        const $H: usize = $half;
        $body
    })*};
}

/// One pass over a part of a plane.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    /// Vectors in registers: 2, 4 or 8.
    pub(super) radix: usize,
    /// Whether it is the tail.
    pub(super) tail: bool,
    /// Its first layer.
    pub(super) layer: u32,
    /// The node of that layer with which the part starts.
    pub(super) first: usize,
}

impl<A: Arith<L>, const L: usize> Transform<A, L> {
    /// Calls `run` for the passes of a forward transform in their order, except the first `skip` ones, 0 or 1.
    #[inline(always)]
    pub(super) fn forward_passes(&self, a: &mut [A::T], skip: usize, run: impl Fn(&mut [[A::T; L]], Pass)) {
        let a = &mut a.as_chunks_mut::<L>().0[..self.planes * self.vectors];
        for plane in 0..self.planes {
            let plane = &mut a[plane * self.vectors..][..self.vectors];
            let mut outer = 0;
            for (pass, layers) in self.passes[..self.outer].iter().enumerate() {
                if pass >= skip {
                    run(plane, Pass { radix: 1 << layers, tail: false, layer: outer, first: 0 });
                }
                outer += *layers;
            }
            let len = self.vectors >> outer;
            for i in 0..1 << outer {
                let part = &mut plane[i * len..][..len];
                let mut layer = outer;
                for (pass, layers) in self.passes[self.outer..].iter().enumerate() {
                    if self.outer + pass >= skip {
                        run(part, Pass { radix: 1 << layers, tail: false, layer, first: i << (layer - outer) });
                    }
                    layer += *layers;
                }
                run(part, Pass { radix: self.tail, tail: true, layer, first: i << (layer - outer) });
            }
        }
    }

    /// Calls `run` for the passes of an inverse transform in their order.
    #[inline(always)]
    pub(super) fn inverse_passes(&self, a: &mut [A::T], run: impl Fn(&mut [[A::T; L]], Pass)) {
        let a = &mut a.as_chunks_mut::<L>().0[..self.planes * self.vectors];
        let outer: u32 = self.passes[..self.outer].iter().sum();
        let len = self.vectors >> outer;
        for plane in 0..self.planes {
            let plane = &mut a[plane * self.vectors..][..self.vectors];
            for i in 0..1 << outer {
                let part = &mut plane[i * len..][..len];
                let mut layer = self.vectors.ilog2() - self.tail.ilog2();
                run(part, Pass { radix: self.tail, tail: true, layer, first: i << (layer - outer) });
                for layers in self.passes[self.outer..].iter().rev() {
                    layer -= *layers;
                    run(part, Pass { radix: 1 << layers, tail: false, layer, first: i << (layer - outer) });
                }
            }
            let mut layer = outer;
            for layers in self.passes[..self.outer].iter().rev() {
                layer -= *layers;
                run(plane, Pass { radix: 1 << layers, tail: false, layer, first: 0 });
            }
        }
    }

    /// What the last inverse layer multiplies with.
    #[inline(always)]
    pub(super) fn scale(&self, mont: bool) -> [A::W; 2] {
        let scale = if mont { &self.mont_scale } else { &self.scale };
        [self.arith.broadcast(&scale[0]), self.arith.broadcast(&scale[1])]
    }

    #[inline(always)]
    pub(super) fn forward_nodes<const R: usize>(&self, part: &mut [[A::T; L]], layer: u32, first: usize) {
        let arith = &{ self.arith };
        let len = self.vectors >> layer;
        let step = len >> R.ilog2();
        let modes = modes::<R>(&self.forward.modes, layer);
        let mut rest = part;
        let mut node = (1 << layer) + first;
        while let Some((part, behind)) = rest.split_at_mut_checked(len) {
            let w = node_factors::<A, L, R>(arith, &self.zetas, node);
            for j in 0..step {
                let mut x = read::<A, L, R>(arith, part, j, step);
                forward_layers(arith, &mut x, &w, &modes);
                write(arith, &x, part, j, step);
            }
            rest = behind;
            node += 1;
            if rest.is_empty() {
                break;
            }
        }
    }

    /// The first pass, from one place to another.
    #[inline(always)]
    pub(super) fn forward_first<const R: usize>(&self, from: &[[A::T; L]], to: &mut [[A::T; L]]) {
        let arith = &{ self.arith };
        let step = self.vectors >> R.ilog2();
        let modes = modes::<R>(&self.forward.modes, 0);
        let w = node_factors::<A, L, R>(arith, &self.zetas, 1);
        for j in 0..step {
            let mut x = read::<A, L, R>(arith, from, j, step);
            forward_layers(arith, &mut x, &w, &modes);
            write(arith, &x, to, j, step);
        }
    }

    #[inline(always)]
    pub(super) fn inverse_nodes<const R: usize, const LAST: bool>(
        &self,
        part: &mut [[A::T; L]],
        layer: u32,
        first: usize,
        mont: bool,
    ) {
        let arith = &{ self.arith };
        let scale = &self.scale(mont);
        let len = self.vectors >> layer;
        let step = len >> R.ilog2();
        let modes = modes::<R>(&self.inverse_modes, layer);
        let mut rest = part;
        let mut node = (1 << layer) + first;
        while let Some((part, behind)) = rest.split_at_mut_checked(len) {
            let w = node_factors::<A, L, R>(arith, &self.inverse_zetas, node);
            for j in 0..step {
                let mut x = read::<A, L, R>(arith, part, j, step);
                inverse_layers::<A, L, R, LAST>(arith, &mut x, &w, &modes, scale);
                write(arith, &x, part, j, step);
            }
            rest = behind;
            node += 1;
            if rest.is_empty() {
                break;
            }
        }
    }

    /// The tails of a part: the remaining layers between vectors, then those inside.
    #[inline(always)]
    pub(super) fn forward_tails<const R: usize>(&self, part: &mut [[A::T; L]], layer: u32, first: usize) {
        let arith = &{ self.arith };
        let modes = modes::<R>(&self.forward.modes, layer);
        let inside = &self.forward.modes[(layer + R.ilog2()) as usize..];
        let per_tail = inside.len() * (R / 2);
        let mut zetas = &self.tail_zetas[first * per_tail..];
        let mut node = (1 << layer) + first;
        for block in part.as_chunks_mut::<R>().0 {
            let w = node_factors::<A, L, R>(arith, &self.zetas, node);
            node += 1;
            let mut x = read::<A, L, R>(arith, block, 0, 1);
            forward_layers(arith, &mut x, &w, &modes);
            let (mine, behind) = zetas.split_at(per_tail);
            zetas = behind;
            let mut steps = Steps { zetas: mine, modes: inside };
            forward_inside::<A, L, R, 16>(arith, &mut x, &mut steps);
            forward_inside::<A, L, R, 8>(arith, &mut x, &mut steps);
            forward_inside::<A, L, R, 4>(arith, &mut x, &mut steps);
            forward_inside::<A, L, R, 2>(arith, &mut x, &mut steps);
            forward_inside::<A, L, R, 1>(arith, &mut x, &mut steps);
            if self.forward.reduce_at_end {
                arith.reduce_end(&mut x);
            }
            write(arith, &x, block, 0, 1);
        }
    }

    #[inline(always)]
    pub(super) fn inverse_tails<const R: usize, const LAST: bool>(
        &self,
        part: &mut [[A::T; L]],
        layer: u32,
        first: usize,
        mont: bool,
    ) {
        let arith = &{ self.arith };
        let scale = &self.scale(mont);
        let modes = modes::<R>(&self.inverse_modes, layer);
        let between = (layer + R.ilog2()) as usize;
        let inside = &self.inverse.modes[..self.forward.modes.len() - between];
        let per_tail = inside.len() * (R / 2);
        let mut zetas = &self.inverse_tail_zetas[first * per_tail..];
        let mut node = (1 << layer) + first;
        for block in part.as_chunks_mut::<R>().0 {
            let w = node_factors::<A, L, R>(arith, &self.inverse_zetas, node);
            node += 1;
            let mut x = read::<A, L, R>(arith, block, 0, 1);
            let (mine, behind) = zetas.split_at(per_tail);
            zetas = behind;
            let mut steps = Steps { zetas: mine, modes: inside };
            if self.together == 1 {
                inverse_inside::<A, L, R, 1>(arith, &mut x, &mut steps);
            }
            inverse_inside::<A, L, R, 2>(arith, &mut x, &mut steps);
            inverse_inside::<A, L, R, 4>(arith, &mut x, &mut steps);
            inverse_inside::<A, L, R, 8>(arith, &mut x, &mut steps);
            inverse_inside::<A, L, R, 16>(arith, &mut x, &mut steps);
            inverse_layers::<A, L, R, LAST>(arith, &mut x, &w, &modes, scale);
            write(arith, &x, block, 0, 1);
        }
    }

    /// Canonical order to that of the tails: the exchanges of the layers inside vectors, without their butterflies.
    #[inline(always)]
    pub(super) fn arrange(&self, a: &mut [A::T]) {
        let arith = &{ self.arith };
        for [x, y] in a.as_chunks_mut::<L>().0.as_chunks_mut::<2>().0 {
            let mut pair = (arith.load(x), arith.load(y));
            each_half!(H in 16 8 4 2 1 {
                if H < L && H >= self.together {
                    pair = arith.split::<H>(pair.0, pair.1);
                }
            });
            arith.store(pair.0, x);
            arith.store(pair.1, y);
        }
    }

    /// The inverse of [`Transform::arrange`].
    #[inline(always)]
    pub(super) fn arrange_canonically(&self, a: &mut [A::T]) {
        let arith = &{ self.arith };
        for [x, y] in a.as_chunks_mut::<L>().0.as_chunks_mut::<2>().0 {
            let mut pair = (arith.load(x), arith.load(y));
            each_half!(H in 1 2 4 8 16 {
                if H < L && H >= self.together {
                    pair = arith.join::<H>(pair.0, pair.1);
                }
            });
            arith.store(pair.0, x);
            arith.store(pair.1, y);
        }
    }
}

/// Modes of the layers of a pass, first to last.
#[inline(always)]
fn modes<const R: usize>(all: &[Mode], layer: u32) -> [Mode; 3] {
    let mut out = [Mode::NONE; 3];
    for i in 0..R.ilog2() as usize {
        out[i] = all[layer as usize + i];
    }
    out
}

/// What the layers inside vectors still need: factors and modes, in their order.
struct Steps<'a, T, const L: usize> {
    zetas: &'a [Factors<T, L>],
    modes: &'a [Mode],
}

impl<'a, T, const L: usize> Steps<'a, T, L> {
    /// Factors of one layer for `count` pairs of vectors, and its mode.
    #[inline(always)]
    fn next(&mut self, count: usize) -> Option<(&'a [Factors<T, L>], Mode)> {
        let (mode, modes) = self.modes.split_first()?;
        let (zetas, behind) = self.zetas.split_at(count);
        (self.zetas, self.modes) = (behind, modes);
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

#[inline(always)]
pub(super) fn read<A: Arith<L>, const L: usize, const R: usize>(
    arith: &A,
    node: &[[A::T; L]],
    j: usize,
    step: usize,
) -> [A::V; R] {
    assert!(j < step && step * R <= node.len());
    let mut x = [arith.load(&node[j]); R];
    for k in 1..R {
        // SAFETY: `j + k·step < R·step`, which was checked.
        x[k] = arith.load(unsafe { node.get_unchecked(j + k * step) });
    }
    x
}

#[inline(always)]
pub(super) fn write<A: Arith<L>, const L: usize, const R: usize>(
    arith: &A,
    x: &[A::V; R],
    node: &mut [[A::T; L]],
    j: usize,
    step: usize,
) {
    assert!(j < step && step * R <= node.len());
    for k in 0..R {
        // SAFETY: `j + k·step < R·step`, which was checked.
        arith.store(x[k], unsafe { node.get_unchecked_mut(j + k * step) });
    }
}

/// Layers between `R` vectors.
#[inline(always)]
pub(super) fn forward_layers<A: Arith<L>, const L: usize, const R: usize>(
    arith: &A,
    x: &mut [A::V; R],
    w: &[A::W; R],
    modes: &[Mode; 3],
) {
    macro_rules! step {
        ($layer:literal) => {
            if modes[$layer].kind == Mode::REDUCE {
                layer!(R, $layer, |I, _J, _K| { x[I] = arith.reduce_by(x[I], modes[$layer].multiple) });
            }
            layer!(R, $layer, |I, J, K| {
                (x[I], x[J]) = arith.forward(x[I], x[J], w[K]);
            });
        };
    }
    step!(0);
    step!(1);
    step!(2);
}

#[inline(always)]
pub(super) fn inverse_layers<A: Arith<L>, const L: usize, const R: usize, const LAST: bool>(
    arith: &A,
    x: &mut [A::V; R],
    w: &[A::W; R],
    modes: &[Mode; 3],
    scale: &[A::W; 2],
) {
    macro_rules! step {
        ($layer:literal) => {
            if LAST && $layer == 0 {
                layer!(R, $layer, |I, J, _K| {
                    let (sum, difference) = arith.inverse_butterfly(x[I], x[J], modes[$layer].multiple);
                    x[I] = arith.mul_canonical(sum, scale[0]);
                    x[J] = arith.mul_canonical(difference, scale[1]);
                });
            } else {
                layer!(R, $layer, |I, J, K| {
                    let (sum, difference) = arith.inverse_butterfly(x[I], x[J], modes[$layer].multiple);
                    x[I] = sum;
                    x[J] = arith.mul(difference, w[K]);
                });
                if modes[$layer].kind == Mode::REDUCE {
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
fn forward_inside<A: Arith<L>, const L: usize, const R: usize, const H: usize>(
    arith: &A,
    x: &mut [A::V; R],
    steps: &mut Steps<'_, A::T, L>,
) {
    if H >= L {
        return;
    }
    let Some((zetas, mode)) = steps.next(R / 2) else { return };
    for k in 0..R / 2 {
        let (mut low, high) = arith.split::<H>(x[2 * k], x[2 * k + 1]);
        if mode.kind == Mode::REDUCE {
            low = arith.reduce_by(low, mode.multiple);
        }
        (x[2 * k], x[2 * k + 1]) = arith.forward_loaded(low, high, &zetas[k]);
    }
}

#[inline(always)]
fn inverse_inside<A: Arith<L>, const L: usize, const R: usize, const H: usize>(
    arith: &A,
    x: &mut [A::V; R],
    steps: &mut Steps<'_, A::T, L>,
) {
    if H >= L {
        return;
    }
    let Some((zetas, mode)) = steps.next(R / 2) else { return };
    for k in 0..R / 2 {
        let (mut sum, difference) = arith.inverse_butterfly(x[2 * k], x[2 * k + 1], mode.multiple);
        let difference = arith.mul_loaded(difference, &zetas[k]);
        if mode.kind == Mode::REDUCE {
            sum = arith.reduce_sum(sum, mode.multiple);
        }
        (x[2 * k], x[2 * k + 1]) = arith.join::<H>(sum, difference);
    }
}
