//! Passes over a plane: several layers while vectors are in registers.
// Loops of fixed length over registers: an index says which register, a counter which node.
#![allow(clippy::needless_range_loop, clippy::explicit_counter_loop)]

use super::layers::{
    Steps, forward_inside, forward_layers, forward_transposed, inverse_inside, inverse_layers, inverse_transposed,
    join_neighbours, node_factors, split_neighbours, transpose, transposed,
};
use super::tables::Transform;
use super::{Arith, Lanes};
use crate::backend::cpu::schedule::Mode;

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
    /// The vectors of a plane.
    #[inline(always)]
    pub(super) fn plane<'a>(&self, a: &'a mut [A::T], plane: usize) -> &'a mut [[A::T; L]] {
        &mut a.as_chunks_mut::<L>().0[plane * self.vectors..][..self.vectors]
    }

    /// Layers of the passes over a whole plane.
    #[inline(always)]
    fn outer_layers(&self) -> u32 {
        self.passes[..self.outer].iter().sum()
    }

    /// Parts of a plane, whose passes run one after the other.
    #[inline(always)]
    pub(super) fn parts(&self) -> usize {
        1 << self.outer_layers()
    }

    #[inline(always)]
    fn part<'a>(&self, plane: &'a mut [[A::T; L]], i: usize) -> &'a mut [[A::T; L]] {
        let len = self.vectors >> self.outer_layers();
        &mut plane[i * len..][..len]
    }

    /// Calls `run` for the passes of a forward transform in their order, except the first `skip` ones, 0 or 1.
    #[inline(always)]
    pub(super) fn forward_passes(&self, a: &mut [A::T], skip: usize, run: impl Fn(&mut [[A::T; L]], Pass)) {
        let skip_inner = if self.outer > 0 { 0 } else { skip };
        for plane in 0..self.planes {
            let plane = self.plane(a, plane);
            self.forward_outer(plane, skip, &run);
            for i in 0..self.parts() {
                self.forward_part(plane, i, skip_inner, &run);
            }
        }
    }

    /// The passes over a whole plane, except the first `skip` ones.
    #[inline(always)]
    pub(super) fn forward_outer(&self, plane: &mut [[A::T; L]], skip: usize, run: impl Fn(&mut [[A::T; L]], Pass)) {
        let mut layer = 0;
        for (pass, layers) in self.passes[..self.outer].iter().enumerate() {
            if pass >= skip {
                run(plane, Pass { radix: 1 << layers, tail: false, layer, first: 0 });
            }
            layer += *layers;
        }
    }

    /// The passes over a part, except the first `skip` ones.
    #[inline(always)]
    pub(super) fn forward_part(
        &self,
        plane: &mut [[A::T; L]],
        i: usize,
        skip: usize,
        run: impl Fn(&mut [[A::T; L]], Pass),
    ) {
        let (outer, part) = (self.outer_layers(), self.part(plane, i));
        let mut layer = outer;
        for (pass, layers) in self.passes[self.outer..].iter().enumerate() {
            if pass >= skip {
                run(part, Pass { radix: 1 << layers, tail: false, layer, first: i << (layer - outer) });
            }
            layer += *layers;
        }
        run(part, Pass { radix: self.tail, tail: true, layer, first: i << (layer - outer) });
    }

    /// Calls `run` for the passes of an inverse transform in their order, except the last `skip` ones, 0 or 1, which
    /// are not the tail.
    #[inline(always)]
    pub(super) fn inverse_passes(&self, a: &mut [A::T], skip: usize, run: impl Fn(&mut [[A::T; L]], Pass)) {
        // The last pass is an outer one, or one over a part that is the whole plane.
        let skip_inner = if self.outer > 0 { 0 } else { skip };
        for plane in 0..self.planes {
            let plane = self.plane(a, plane);
            for i in 0..self.parts() {
                self.inverse_part(plane, i, skip_inner, &run);
            }
            self.inverse_outer(plane, skip, &run);
        }
    }

    /// The passes over a part, except the last `skip` ones.
    #[inline(always)]
    pub(super) fn inverse_part(
        &self,
        plane: &mut [[A::T; L]],
        i: usize,
        skip: usize,
        run: impl Fn(&mut [[A::T; L]], Pass),
    ) {
        let (outer, part) = (self.outer_layers(), self.part(plane, i));
        let mut layer = self.vectors.ilog2() - self.tail.ilog2();
        run(part, Pass { radix: self.tail, tail: true, layer, first: i << (layer - outer) });
        for layers in self.passes[self.outer + skip..].iter().rev() {
            layer -= *layers;
            run(part, Pass { radix: 1 << layers, tail: false, layer, first: i << (layer - outer) });
        }
    }

    /// The passes over a whole plane, except the last `skip` ones.
    #[inline(always)]
    pub(super) fn inverse_outer(&self, plane: &mut [[A::T; L]], skip: usize, run: impl Fn(&mut [[A::T; L]], Pass)) {
        let mut layer = self.outer_layers();
        for layers in self.passes[..self.outer].iter().skip(skip).rev() {
            layer -= *layers;
            run(plane, Pass { radix: 1 << layers, tail: false, layer, first: 0 });
        }
    }

    /// What the last inverse layer multiplies with.
    #[inline(always)]
    pub(super) fn scale(&self, mont: bool) -> [A::W; 2] {
        let scale = if mont { &self.mont_scale } else { &self.scale };
        [self.arith.broadcast(&scale[0]), self.arith.broadcast(&scale[1])]
    }

    /// `S` columns of vectors at a time: what one waits for, another fills.
    #[inline(always)]
    pub(super) fn forward_nodes<const R: usize, const S: usize>(
        &self,
        part: &mut [[A::T; L]],
        layer: u32,
        first: usize,
    ) {
        let arith = &{ self.arith };
        let len = self.vectors >> layer;
        let step = len >> R.ilog2();
        let modes = modes::<R>(&self.forward.modes, layer);
        let mut rest = part;
        let mut node = (1 << layer) + first;
        while let Some((part, behind)) = rest.split_at_mut_checked(len) {
            let w = node_factors::<A, L, R>(arith, &self.zetas, node);
            for j in (0..step).step_by(S) {
                let mut x = read_columns::<A, L, R, S>(arith, part, j, step);
                forward_layers(arith, &mut x, core::slice::from_ref(&w), &modes);
                write_columns(arith, &x, part, j, step);
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
    pub(super) fn forward_first<const R: usize, const S: usize>(&self, from: &[[A::T; L]], to: &mut [[A::T; L]]) {
        let arith = &{ self.arith };
        let step = self.vectors >> R.ilog2();
        let modes = modes::<R>(&self.forward.modes, 0);
        let w = node_factors::<A, L, R>(arith, &self.zetas, 1);
        for j in (0..step).step_by(S) {
            prefetch_columns::<A, L, R, S>(arith, from, j, step);
            prefetch_columns::<A, L, R, S>(arith, to, j, step);
            let mut x = read_columns::<A, L, R, S>(arith, from, j, step);
            forward_layers(arith, &mut x, core::slice::from_ref(&w), &modes);
            write_columns(arith, &x, to, j, step);
        }
    }

    /// The last pass, from one place to another.
    #[inline(always)]
    pub(super) fn inverse_last<const R: usize, const S: usize>(
        &self,
        from: &[[A::T; L]],
        to: &mut [[A::T; L]],
        mont: bool,
    ) {
        let arith = &{ self.arith };
        let step = self.vectors >> R.ilog2();
        let scale = &self.scale(mont);
        let modes = modes::<R>(&self.inverse_modes, 0);
        let w = node_factors::<A, L, R>(arith, &self.inverse_zetas, 1);
        for j in (0..step).step_by(S) {
            prefetch_columns::<A, L, R, S>(arith, to, j, step);
            let mut x = read_columns::<A, L, R, S>(arith, from, j, step);
            inverse_layers::<A, L, R, S, true>(arith, &mut x, core::slice::from_ref(&w), &modes, scale);
            write_columns(arith, &x, to, j, step);
        }
    }

    #[inline(always)]
    pub(super) fn inverse_nodes<const R: usize, const S: usize, const LAST: bool>(
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
            for j in (0..step).step_by(S) {
                let mut x = read_columns::<A, L, R, S>(arith, part, j, step);
                inverse_layers::<A, L, R, S, LAST>(arith, &mut x, core::slice::from_ref(&w), &modes, scale);
                write_columns(arith, &x, part, j, step);
            }
            rest = behind;
            node += 1;
            if rest.is_empty() {
                break;
            }
        }
    }

    /// The tails of a part, `S` at a time: the remaining layers between vectors, then those inside.
    #[inline(always)]
    pub(super) fn forward_tails<const R: usize, const S: usize>(
        &self,
        part: &mut [[A::T; L]],
        layer: u32,
        first: usize,
    ) {
        let arith = &{ self.arith };
        let modes = modes::<R>(&self.forward.modes, layer);
        let inside = &self.forward.modes[(layer + R.ilog2()) as usize..];
        let count = transposed::<A, L>(inside.len(), R);
        let (per_tail, end) = (self.tail_factors(), self.together << count);
        debug_assert!(part.len().is_multiple_of(R * S));
        let mut zetas = &self.tail_zetas[first * per_tail..];
        let mut node = (1 << layer) + first;
        for blocks in part.as_chunks_mut::<R>().0.as_chunks_mut::<S>().0 {
            let mut w = [node_factors::<A, L, R>(arith, &self.zetas, node); S];
            let mut x = [read::<A, L, R>(arith, &blocks[0], 0, 1); S];
            for s in 1..S {
                w[s] = node_factors::<A, L, R>(arith, &self.zetas, node + s);
                x[s] = read::<A, L, R>(arith, &blocks[s], 0, 1);
            }
            forward_layers(arith, &mut x, &w, &modes);
            let (mine, behind) = zetas.split_at(S * per_tail);
            let mut steps = Steps { zetas: mine, per_tail, modes: inside };
            forward_inside::<A, L, R, S, 16>(arith, &mut x, &mut steps, end);
            forward_inside::<A, L, R, S, 8>(arith, &mut x, &mut steps, end);
            forward_inside::<A, L, R, S, 4>(arith, &mut x, &mut steps, end);
            forward_inside::<A, L, R, S, 2>(arith, &mut x, &mut steps, end);
            forward_inside::<A, L, R, S, 1>(arith, &mut x, &mut steps, end);
            for x in x.iter_mut() {
                transpose::<A, L, R, false>(arith, x, count, self.together);
            }
            forward_transposed(arith, &mut x, &mut steps);
            for (x, block) in x.iter_mut().zip(blocks) {
                if self.forward.reduce_at_end {
                    arith.reduce_end(x);
                }
                write(arith, x, block, 0, 1);
            }
            zetas = behind;
            node += S;
        }
    }

    /// The tails of a part, `S` at a time; `read` gets the vectors of a tail's node from their places in the part, or
    /// from elsewhere.
    #[inline(always)]
    pub(super) fn inverse_tails<const R: usize, const S: usize, const LAST: bool>(
        &self,
        part: &mut [[A::T; L]],
        layer: u32,
        first: usize,
        mont: bool,
        read: impl Fn(usize, &[[A::T; L]]) -> [A::V; R],
    ) {
        let arith = &{ self.arith };
        let scale = &self.scale(mont);
        let modes = modes::<R>(&self.inverse_modes, layer);
        let between = (layer + R.ilog2()) as usize;
        let inside = &self.inverse.modes[..self.forward.modes.len() - between];
        let count = transposed::<A, L>(inside.len(), R);
        let (per_tail, end) = (self.tail_factors(), self.together << count);
        debug_assert!(part.len().is_multiple_of(R * S));
        let mut zetas = &self.inverse_tail_zetas[first * per_tail..];
        let mut node = first;
        for blocks in part.as_chunks_mut::<R>().0.as_chunks_mut::<S>().0 {
            let mut w = [node_factors::<A, L, R>(arith, &self.inverse_zetas, (1 << layer) + node); S];
            let mut x = [[arith.load(&blocks[0][0]); R]; S];
            for s in 0..S {
                w[s] = node_factors::<A, L, R>(arith, &self.inverse_zetas, (1 << layer) + node + s);
                // One call alone, which is inlined for certain.
                x[s] = read(node + s, &blocks[s]);
            }
            let (mine, behind) = zetas.split_at(S * per_tail);
            let mut steps = Steps { zetas: mine, per_tail, modes: inside };
            inverse_transposed(arith, &mut x, &mut steps, count);
            for x in x.iter_mut() {
                transpose::<A, L, R, true>(arith, x, count, self.together);
            }
            inverse_inside::<A, L, R, S, 1>(arith, &mut x, &mut steps, end);
            inverse_inside::<A, L, R, S, 2>(arith, &mut x, &mut steps, end);
            inverse_inside::<A, L, R, S, 4>(arith, &mut x, &mut steps, end);
            inverse_inside::<A, L, R, S, 8>(arith, &mut x, &mut steps, end);
            inverse_inside::<A, L, R, S, 16>(arith, &mut x, &mut steps, end);
            inverse_layers::<A, L, R, S, LAST>(arith, &mut x, &w, &modes, scale);
            for (x, block) in x.iter().zip(blocks) {
                write(arith, x, block, 0, 1);
            }
            zetas = behind;
            node += S;
        }
    }

    /// Canonical order to that of the tails: the exchanges of the layers inside vectors, without their butterflies.
    #[inline(always)]
    pub(super) fn arrange(&self, a: &mut [A::T]) {
        match self.tail {
            2 => self.arrange_tails::<2, false>(a),
            4 => self.arrange_tails::<4, false>(a),
            _ => self.arrange_tails::<8, false>(a),
        }
    }

    /// The inverse of [`Transform::arrange`].
    #[inline(always)]
    pub(super) fn arrange_canonically(&self, a: &mut [A::T]) {
        match self.tail {
            2 => self.arrange_tails::<2, true>(a),
            4 => self.arrange_tails::<4, true>(a),
            _ => self.arrange_tails::<8, true>(a),
        }
    }

    #[inline(always)]
    fn arrange_tails<const R: usize, const BACK: bool>(&self, a: &mut [A::T]) {
        let arith = &{ self.arith };
        let count = transposed::<A, L>(self.inside(), R);
        let end = self.together << count;
        for block in a.as_chunks_mut::<L>().0.as_chunks_mut::<R>().0 {
            let mut x = read::<A, L, R>(arith, block, 0, 1);
            if BACK {
                transpose::<A, L, R, true>(arith, &mut x, count, self.together);
                each_half!(H in 1 2 4 8 16 {
                    if H < L && H >= end {
                        join_neighbours::<A, L, R, H>(arith, &mut x);
                    }
                });
            } else {
                each_half!(H in 16 8 4 2 1 {
                    if H < L && H >= end {
                        split_neighbours::<A, L, R, H>(arith, &mut x);
                    }
                });
                transpose::<A, L, R, false>(arith, &mut x, count, self.together);
            }
            write(arith, &x, block, 0, 1);
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

/// Columns from one that is read or written to one that is asked for.
const AHEAD: usize = 8;

/// Asks for columns that come soon: as many streams at once as a pass has vectors are more than the CPU follows itself.
#[inline(always)]
fn prefetch_columns<A: Arith<L>, const L: usize, const R: usize, const S: usize>(
    arith: &A,
    node: &[[A::T; L]],
    j: usize,
    step: usize,
) {
    for k in 0..R {
        for s in 0..S {
            arith.level().prefetch(node.as_ptr().wrapping_add(j + k * step + s + AHEAD));
        }
    }
}

/// Columns `j` to `j + S - 1`.
#[inline(always)]
fn read_columns<A: Arith<L>, const L: usize, const R: usize, const S: usize>(
    arith: &A,
    node: &[[A::T; L]],
    j: usize,
    step: usize,
) -> [[A::V; R]; S] {
    let mut x = [read(arith, node, j, step); S];
    for s in 1..S {
        x[s] = read(arith, node, j + s, step);
    }
    x
}

#[inline(always)]
fn write_columns<A: Arith<L>, const L: usize, const R: usize, const S: usize>(
    arith: &A,
    x: &[[A::V; R]; S],
    node: &mut [[A::T; L]],
    j: usize,
    step: usize,
) {
    for s in 0..S {
        write(arith, &x[s], node, j + s, step);
    }
}
