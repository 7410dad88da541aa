//! Passes over a plane: several layers while vectors are in registers.

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

impl<A: Arith<L>, const L: usize> Transform<A, L> {
    /// Forward transform of all planes, reduced to reduced.
    #[inline(always)]
    pub(super) fn forward_all(&self, a: &mut [A::T]) {
        let arith = self.arith;
        for plane in a[..self.lanes()].as_chunks_mut::<L>().0.chunks_exact_mut(self.vectors) {
            let mut layer = 0;
            for radix in &self.passes[..self.outer] {
                self.forward_pass(&arith, plane, layer, *radix, 0);
                layer += *radix;
            }
            let part = self.vectors >> layer;
            for (i, part) in plane.chunks_exact_mut(part).enumerate() {
                let mut layer = layer;
                for radix in &self.passes[self.outer..] {
                    self.forward_pass(&arith, part, layer, *radix, i);
                    layer += *radix;
                }
                match self.tail {
                    2 => self.forward_tails::<2>(&arith, part, layer, i),
                    4 => self.forward_tails::<4>(&arith, part, layer, i),
                    _ => self.forward_tails::<8>(&arith, part, layer, i),
                }
            }
        }
    }

    /// Inverse transform of all planes, reduced to canonical.
    #[inline(always)]
    pub(super) fn inverse_all(&self, a: &mut [A::T], mont: bool) {
        let arith = self.arith;
        let scale = if mont { &self.mont_scale } else { &self.scale };
        let whole = self.passes.is_empty();
        for plane in a[..self.lanes()].as_chunks_mut::<L>().0.chunks_exact_mut(self.vectors) {
            let outer: u32 = self.passes[..self.outer].iter().sum();
            let part = self.vectors >> outer;
            for (i, part) in plane.chunks_exact_mut(part).enumerate() {
                let mut layer = self.vectors.ilog2() - self.tail.ilog2();
                match (self.tail, whole) {
                    (2, false) => self.inverse_tails::<2, false>(&arith, part, layer, i, scale),
                    (4, false) => self.inverse_tails::<4, false>(&arith, part, layer, i, scale),
                    (_, false) => self.inverse_tails::<8, false>(&arith, part, layer, i, scale),
                    (2, true) => self.inverse_tails::<2, true>(&arith, part, layer, i, scale),
                    (4, true) => self.inverse_tails::<4, true>(&arith, part, layer, i, scale),
                    (_, true) => self.inverse_tails::<8, true>(&arith, part, layer, i, scale),
                }
                for radix in self.passes[self.outer..].iter().rev() {
                    layer -= *radix;
                    self.inverse_pass(&arith, part, layer, *radix, i, scale);
                }
            }
            let mut layer = outer;
            for radix in self.passes[..self.outer].iter().rev() {
                layer -= *radix;
                self.inverse_pass(&arith, plane, layer, *radix, 0, scale);
            }
        }
    }

    /// `radix` layers from `layer` on, over a part of a plane: the `index`th of equal ones.
    #[inline(always)]
    fn forward_pass(&self, arith: &A, part: &mut [[A::T; L]], layer: u32, radix: u32, index: usize) {
        match radix {
            1 => self.forward_nodes::<2>(arith, part, layer, index),
            2 => self.forward_nodes::<4>(arith, part, layer, index),
            _ => self.forward_nodes::<8>(arith, part, layer, index),
        }
    }

    #[inline(always)]
    fn inverse_pass(
        &self,
        arith: &A,
        part: &mut [[A::T; L]],
        layer: u32,
        radix: u32,
        index: usize,
        scale: &[[A::T; 2]; 2],
    ) {
        match (radix, layer) {
            (1, 0) => self.inverse_nodes::<2, true>(arith, part, layer, index, scale),
            (2, 0) => self.inverse_nodes::<4, true>(arith, part, layer, index, scale),
            (_, 0) => self.inverse_nodes::<8, true>(arith, part, layer, index, scale),
            (1, _) => self.inverse_nodes::<2, false>(arith, part, layer, index, scale),
            (2, _) => self.inverse_nodes::<4, false>(arith, part, layer, index, scale),
            _ => self.inverse_nodes::<8, false>(arith, part, layer, index, scale),
        }
    }

    #[inline(always)]
    fn forward_nodes<const R: usize>(&self, arith: &A, part: &mut [[A::T; L]], layer: u32, index: usize) {
        let len = self.vectors >> layer;
        let first = index * (part.len() / len);
        let modes = self.forward_modes::<R>(layer);
        for (i, node) in part.chunks_exact_mut(len).enumerate() {
            let w = node_factors::<A, L, R>(arith, &self.zetas, 1 << layer, first + i);
            let step = len / R;
            for j in 0..step {
                let mut x = read::<A, L, R>(arith, node, j, step);
                forward_layers(arith, &mut x, &w, &modes);
                write(arith, &x, node, j, step);
            }
        }
    }

    #[inline(always)]
    fn inverse_nodes<const R: usize, const LAST: bool>(
        &self,
        arith: &A,
        part: &mut [[A::T; L]],
        layer: u32,
        index: usize,
        scale: &[[A::T; 2]; 2],
    ) {
        let len = self.vectors >> layer;
        let first = index * (part.len() / len);
        let modes = self.inverse_modes::<R>(layer);
        let scale = [arith.broadcast(&scale[0]), arith.broadcast(&scale[1])];
        for (i, node) in part.chunks_exact_mut(len).enumerate() {
            let w = node_factors::<A, L, R>(arith, &self.inverse_zetas, 1 << layer, first + i);
            let step = len / R;
            for j in 0..step {
                let mut x = read::<A, L, R>(arith, node, j, step);
                inverse_layers::<A, L, R, LAST>(arith, &mut x, &w, &modes, &scale);
                write(arith, &x, node, j, step);
            }
        }
    }

    /// The tails of a part: the remaining layers between vectors, then those inside.
    #[inline(always)]
    fn forward_tails<const R: usize>(&self, arith: &A, part: &mut [[A::T; L]], layer: u32, index: usize) {
        let count = part.len() / R;
        let modes = self.forward_modes::<R>(layer);
        let inside = &self.forward.modes[(layer + R.ilog2()) as usize..];
        let per_tail = inside.len() * (R / 2);
        let zetas = self.tail_zetas[index * count * per_tail..].chunks_exact(per_tail);
        for (i, (block, zetas)) in part.as_chunks_mut::<R>().0.iter_mut().zip(zetas).enumerate() {
            let w = node_factors::<A, L, R>(arith, &self.zetas, 1 << layer, index * count + i);
            let mut x = read::<A, L, R>(arith, block, 0, 1);
            forward_layers(arith, &mut x, &w, &modes);
            let mut steps = zetas.chunks_exact(R / 2).zip(inside);
            forward_inside::<A, L, R, 16>(arith, &mut x, &mut steps);
            forward_inside::<A, L, R, 8>(arith, &mut x, &mut steps);
            forward_inside::<A, L, R, 4>(arith, &mut x, &mut steps);
            forward_inside::<A, L, R, 2>(arith, &mut x, &mut steps);
            forward_inside::<A, L, R, 1>(arith, &mut x, &mut steps);
            if self.forward.reduce_at_end {
                x = x.map(|x| arith.reduce_end(x));
            }
            write(arith, &x, block, 0, 1);
        }
    }

    #[inline(always)]
    fn inverse_tails<const R: usize, const LAST: bool>(
        &self,
        arith: &A,
        part: &mut [[A::T; L]],
        layer: u32,
        index: usize,
        scale: &[[A::T; 2]; 2],
    ) {
        let count = part.len() / R;
        let modes = self.inverse_modes::<R>(layer);
        let scale = [arith.broadcast(&scale[0]), arith.broadcast(&scale[1])];
        let between = (layer + R.ilog2()) as usize;
        let inside = &self.inverse.modes[..self.forward.modes.len() - between];
        let per_tail = inside.len() * (R / 2);
        let zetas = self.inverse_tail_zetas[index * count * per_tail..].chunks_exact(per_tail);
        for (i, (block, zetas)) in part.as_chunks_mut::<R>().0.iter_mut().zip(zetas).enumerate() {
            let w = node_factors::<A, L, R>(arith, &self.inverse_zetas, 1 << layer, index * count + i);
            let mut x = read::<A, L, R>(arith, block, 0, 1);
            let mut steps = zetas.chunks_exact(R / 2).zip(inside);
            if self.together == 1 {
                inverse_inside::<A, L, R, 1>(arith, &mut x, &mut steps);
            }
            inverse_inside::<A, L, R, 2>(arith, &mut x, &mut steps);
            inverse_inside::<A, L, R, 4>(arith, &mut x, &mut steps);
            inverse_inside::<A, L, R, 8>(arith, &mut x, &mut steps);
            inverse_inside::<A, L, R, 16>(arith, &mut x, &mut steps);
            inverse_layers::<A, L, R, LAST>(arith, &mut x, &w, &modes, &scale);
            write(arith, &x, block, 0, 1);
        }
    }

    /// Modes of the layers of a pass, first to last.
    #[inline(always)]
    fn forward_modes<const R: usize>(&self, layer: u32) -> [Mode; 3] {
        core::array::from_fn(
            |i| if i < R.ilog2() as usize { self.forward.modes[layer as usize + i] } else { Mode::NONE },
        )
    }

    #[inline(always)]
    fn inverse_modes<const R: usize>(&self, layer: u32) -> [Mode; 3] {
        core::array::from_fn(
            |i| if i < R.ilog2() as usize { self.inverse_mode(layer as usize + i) } else { Mode::NONE },
        )
    }
}

/// The factors of a node's layers, as in a heap: entry 1 the node's own, 2 and 3 its children's.
#[inline(always)]
fn node_factors<A: Arith<L>, const L: usize, const R: usize>(
    arith: &A,
    zetas: &[[A::T; 2]],
    nodes: usize,
    node: usize,
) -> [A::W; R] {
    core::array::from_fn(|k| {
        let k = k.max(1);
        let depth = k.ilog2();
        arith.broadcast(&zetas[((nodes + node) << depth) + k - (1 << depth)])
    })
}

#[inline(always)]
fn read<A: Arith<L>, const L: usize, const R: usize>(
    arith: &A,
    node: &[[A::T; L]],
    j: usize,
    step: usize,
) -> [A::V; R] {
    assert!(j < step && (R - 1) * step + j < node.len());
    // SAFETY: the largest index was checked.
    core::array::from_fn(|k| arith.load(unsafe { node.get_unchecked(j + k * step) }))
}

#[inline(always)]
fn write<A: Arith<L>, const L: usize, const R: usize>(
    arith: &A,
    x: &[A::V; R],
    node: &mut [[A::T; L]],
    j: usize,
    step: usize,
) {
    assert!(j < step && (R - 1) * step + j < node.len());
    for (k, x) in x.iter().enumerate() {
        // SAFETY: the largest index was checked.
        arith.store(*x, unsafe { node.get_unchecked_mut(j + k * step) });
    }
}

/// Layers between `R` vectors.
#[inline(always)]
fn forward_layers<A: Arith<L>, const L: usize, const R: usize>(
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
                let t = arith.mul(x[J], w[K]);
                (x[I], x[J]) = arith.forward_butterfly(x[I], t);
            });
        };
    }
    step!(0);
    step!(1);
    step!(2);
}

#[inline(always)]
fn inverse_layers<A: Arith<L>, const L: usize, const R: usize, const LAST: bool>(
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
                    layer!(R, $layer, |I, _J, _K| { x[I] = arith.reduce_by(x[I], modes[$layer].multiple) });
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
fn forward_inside<'a, A: Arith<L>, const L: usize, const R: usize, const H: usize>(
    arith: &A,
    x: &mut [A::V; R],
    steps: &mut impl Iterator<Item = (&'a [Factors<A::T, L>], &'a Mode)>,
) {
    if H >= L {
        return;
    }
    let Some((zetas, mode)) = steps.next() else { return };
    for k in 0..R / 2 {
        let (mut low, high) = arith.split::<H>(x[2 * k], x[2 * k + 1]);
        let t = arith.mul(high, arith.factors(&zetas[k]));
        if mode.kind == Mode::REDUCE {
            low = arith.reduce_by(low, mode.multiple);
        }
        (x[2 * k], x[2 * k + 1]) = arith.forward_butterfly(low, t);
    }
}

#[inline(always)]
fn inverse_inside<'a, A: Arith<L>, const L: usize, const R: usize, const H: usize>(
    arith: &A,
    x: &mut [A::V; R],
    steps: &mut impl Iterator<Item = (&'a [Factors<A::T, L>], &'a Mode)>,
) {
    if H >= L {
        return;
    }
    let Some((zetas, mode)) = steps.next() else { return };
    for k in 0..R / 2 {
        let (mut sum, difference) = arith.inverse_butterfly(x[2 * k], x[2 * k + 1], mode.multiple);
        let difference = arith.mul(difference, arith.factors(&zetas[k]));
        if mode.kind == Mode::REDUCE {
            sum = arith.reduce_by(sum, mode.multiple);
        }
        (x[2 * k], x[2 * k + 1]) = arith.split::<H>(sum, difference);
    }
}
