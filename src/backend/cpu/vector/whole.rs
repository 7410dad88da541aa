//! Whole products of small rings in one function: operands are read once as they lie in memory, lanes stay lazy
//! between the transforms, the second factor's tail, the product and the inverse's tail happen in registers.
#![allow(clippy::needless_range_loop)]

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use zeroize::optimization_barrier;

use super::Arith;
use super::layers::{
    InMemory, forward_layer, forward_layers, inverse_last_layer, inverse_layer, inverse_layers, join_neighbours,
    node_factors, split_neighbours, transpose, transposed,
};
use super::passes::{read, write};
use super::tables::{Factors, Transform, by_layer};
use crate::backend::cpu::schedule::{Mode, Schedule};

/// Vectors of a tail.
const T: usize = 8;

/// Scratch memory at the start of a cache line.
#[repr(align(64))]
struct Aligned<T>(T);

/// A shape for which a whole product is compiled; layers count from the one over the whole polynomial.
pub(super) trait Shape {
    /// Coefficients at a point that stay neighbours.
    const TOGETHER: usize;
    /// Bit `i`: layer `i` reduces.
    const FORWARD: u32;
    /// Bit `i`: inverse layer `i` reduces its sums.
    const INVERSE: u32;
}

/// All layers of this ring's schedule are free.
pub(super) struct Free;

impl Shape for Free {
    const TOGETHER: usize = 1;
    const FORWARD: u32 = 0;
    const INVERSE: u32 = 0;
}

/// ML-KEM: 5q after the forward layers, 3q after the product, so sums are reduced in the first inverse layer and once
/// more three layers later.
pub(super) struct KemPairs;

impl Shape for KemPairs {
    const TOGETHER: usize = 2;
    const FORWARD: u32 = 0;
    const INVERSE: u32 = 1 << 6 | 1 << 3;
}

/// Falcon-512: every second layer reduces. Lanes stay below 18,904 and products below 11,599, so the inverse has no
/// room for a sum of two sums.
pub(super) struct Falcon512;

impl Shape for Falcon512 {
    const TOGETHER: usize = 1;
    const FORWARD: u32 = 1 << 2 | 1 << 4 | 1 << 6 | 1 << 8;
    const INVERSE: u32 = (1 << 9) - 2;
}

/// Falcon-1024: as Falcon-512, and the last layer reduces as well, since products need its room.
pub(super) struct Falcon1024;

impl Shape for Falcon1024 {
    const TOGETHER: usize = 1;
    const FORWARD: u32 = 1 << 2 | 1 << 4 | 1 << 6 | 1 << 8 | 1 << 9;
    const INVERSE: u32 = (1 << 10) - 2;
}

/// What a layer does, its kind known when the code is compiled.
#[inline(always)]
fn step(mask: u32, modes: &[Mode], layer: usize) -> Mode {
    let kind = if mask >> layer & 1 == 1 { Mode::REDUCE } else { Mode::FREE };
    Mode { kind, multiple: modes[layer].multiple }
}

/// The modes of the layers from `layer` on, as many as `R` vectors have.
#[inline(always)]
fn modes<const R: usize>(mask: u32, all: &[Mode], layer: usize) -> [Mode; 3] {
    let mut out = [Mode::NONE; 3];
    for i in 0..R.ilog2() as usize {
        out[i] = step(mask, all, layer + i);
    }
    out
}

/// Bit `i`: layer `i` reduces. Nothing for layers that do anything else, or more than there are bits.
fn mask(modes: &[Mode]) -> Option<u32> {
    let mut out = 0;
    for (i, mode) in modes.iter().enumerate() {
        out |= match mode.kind {
            Mode::FREE => 0,
            Mode::REDUCE => 1u32.checked_shl(i as u32)?,
            _ => return None,
        };
    }
    Some(out)
}

/// What a transform must be for a compiled shape, and its modes by layer, those of the inverse after a lazy product.
pub(super) struct Whole {
    forward: u32,
    inverse: u32,
    forward_modes: Vec<Mode>,
    inverse_modes: Vec<Mode>,
}

impl Whole {
    /// From the schedules, where layers are free or reduce.
    pub(super) fn new((forward, inverse): (Schedule, Schedule)) -> Option<Self> {
        let inverse_modes = by_layer(&inverse);
        let masks = (mask(&forward.modes)?, mask(&inverse_modes)?);
        Some(Self { forward: masks.0, inverse: masks.1, forward_modes: forward.modes, inverse_modes })
    }
}

impl<A: Arith<L>, const L: usize> Transform<A, L> {
    /// Whether [`Transform::multiply_whole`] with these constants serves this transform.
    pub(super) fn is_whole<Sh: Shape, const V: usize, const R: usize>(&self) -> bool {
        let Some(whole) = &self.whole else { return false };
        let factors = V / T * per_block::<A, Sh, L>();
        (V, self.planes, self.vectors) == (R * T, 1, V)
            && (self.tail, self.together) == (T, Sh::TOGETHER)
            && matches!(transposed::<A, L>(inside::<Sh, L>(), T), 0 | 3)
            && (self.whole_zetas.len(), self.whole_inverse_zetas.len()) == (factors, factors)
            && (whole.forward, whole.inverse) == (Sh::FORWARD, Sh::INVERSE)
    }

    /// Canonical lanes `a · b` to canonical lanes of `out`: a pass of `R` vectors unless `R` is 1, and tails, `S` at a
    /// time.
    ///
    /// # Safety
    /// [`Transform::is_whole`] with the same constants.
    #[inline(always)]
    pub(super) unsafe fn multiply_whole<Sh: Shape, const V: usize, const R: usize, const S: usize>(
        &self,
        a: &[A::T],
        b: &[A::T],
        out: &mut [A::T],
        product: impl Fn(usize, A::V, A::V) -> A::V,
    ) {
        let arith = &{ self.arith };
        let (a, b) = (&a.as_chunks::<L>().0[..V], &b.as_chunks::<L>().0[..V]);
        let out = &mut out.as_chunks_mut::<L>().0[..V];
        let Some(Whole { forward_modes, inverse_modes, .. }) = &self.whole else { return };
        let scale = &self.scale(true);
        let per_block = per_block::<A, Sh, L>();
        let forward = self.whole_zetas.as_ptr();
        let backward = self.whole_inverse_zetas.as_ptr();
        if R == 1 {
            let mut t = [read::<A, L, T>(arith, a, 0, 1), read::<A, L, T>(arith, b, 0, 1)];
            // SAFETY: the tables have `per_block` factors for each of `V / T` blocks, which the caller checked.
            unsafe { self.forward_tail::<Sh, R, 2>(arith, forward, &mut t, forward_modes) };
            let mut x = [t[0]];
            for k in 0..T {
                x[0][k] = product(k, x[0][k], t[1][k]);
            }
            // SAFETY: as above.
            unsafe { self.inverse_tail::<Sh, R, 1>(arith, backward, per_block, &mut x, inverse_modes, scale) };
            return write(arith, &x[0], out, 0, 1);
        }
        // Aligned, as operands need not be.
        let mut lanes = Aligned([[const { MaybeUninit::uninit() }; V]; 2]);
        let [x, y] = &mut lanes.0;
        self.forward_head::<Sh, R>(arith, a, x, forward_modes);
        self.forward_head::<Sh, R>(arith, b, y, forward_modes);
        // SAFETY: the passes wrote all vectors.
        let (x, y) = unsafe { (written(x), written(y)) };
        for (i, (x, y)) in x.as_chunks_mut::<T>().0.iter_mut().zip(y.as_chunks::<T>().0).enumerate() {
            // SAFETY: as above.
            let forward = unsafe { forward.add(i * per_block) };
            if S == 2 {
                let mut t = [read::<A, L, T>(arith, x, 0, 1), read::<A, L, T>(arith, y, 0, 1)];
                // SAFETY: as above.
                unsafe { self.forward_tail::<Sh, R, 2>(arith, forward, &mut t, forward_modes) };
                for k in 0..T {
                    arith.store(product(i * T + k, t[0][k], t[1][k]), &mut x[k]);
                }
                continue;
            }
            let mut t = [read::<A, L, T>(arith, x, 0, 1)];
            // SAFETY: as above.
            unsafe { self.forward_tail::<Sh, R, 1>(arith, forward, &mut t, forward_modes) };
            write(arith, &t[0], x, 0, 1);
            // Factors are loaded again for the other operand: kept, they would drive lanes out of registers.
            optimization_barrier(x);
            let mut t = [read::<A, L, T>(arith, y, 0, 1)];
            // SAFETY: as above.
            unsafe { self.forward_tail::<Sh, R, 1>(arith, forward, &mut t, forward_modes) };
            for k in 0..T {
                arith.store(product(i * T + k, arith.load(&x[k]), t[0][k]), &mut x[k]);
            }
        }
        // A loop of its own: an inverse tail waits for its own results most of the time, and only what is independent
        // and near fills the gaps.
        for (i, blocks) in x.as_chunks_mut::<T>().0.as_chunks_mut::<S>().0.iter_mut().enumerate() {
            let mut t = [read::<A, L, T>(arith, &blocks[0], 0, 1); S];
            for s in 1..S {
                t[s] = read::<A, L, T>(arith, &blocks[s], 0, 1);
            }
            // SAFETY: as above.
            unsafe {
                let backward = backward.add(i * S * per_block);
                self.inverse_tail::<Sh, R, S>(arith, backward, per_block, &mut t, inverse_modes, scale);
            }
            for s in 0..S {
                write(arith, &t[s], &mut blocks[s], 0, 1);
            }
        }
        let erased = arith.load(&[A::T::default(); L]);
        let w = [node_factors::<A, L, R>(arith, &self.inverse_zetas, 1)];
        let modes = modes::<R>(Sh::INVERSE, inverse_modes, 0);
        for j in 0..V / R {
            let mut x = [read::<A, L, R>(arith, x, j, V / R)];
            inverse_layers::<A, L, R, 1, true>(arith, &mut x, &w, &modes, scale);
            write(arith, &x[0], out, j, V / R);
        }
        for vector in lanes.0.as_flattened_mut() {
            // SAFETY: a vector's memory; volatile, so that the writes happen.
            unsafe { core::ptr::write_volatile(vector.as_mut_ptr().cast(), erased) };
        }
    }

    /// The pass over the whole polynomial.
    #[inline(always)]
    fn forward_head<Sh: Shape, const R: usize>(
        &self,
        arith: &A,
        from: &[[A::T; L]],
        to: &mut [MaybeUninit<[A::T; L]>],
        all: &[Mode],
    ) {
        let step = from.len() / R;
        let w = [node_factors::<A, L, R>(arith, &self.zetas, 1)];
        let modes = modes::<R>(Sh::FORWARD, all, 0);
        for j in 0..step {
            let mut x = [read::<A, L, R>(arith, from, j, step)];
            forward_layers(arith, &mut x, &w, &modes);
            for k in 0..R {
                let mut vector = [A::T::default(); L];
                arith.store(x[0][k], &mut vector);
                to[j + k * step].write(vector);
            }
        }
    }

    /// All further layers of a block of `N` polynomials.
    ///
    /// # Safety
    /// `zetas` has all factors of a block.
    #[inline(always)]
    unsafe fn forward_tail<Sh: Shape, const R: usize, const N: usize>(
        &self,
        arith: &A,
        zetas: *const Factors<A::T, L>,
        x: &mut [[A::V; T]; N],
        all: &[Mode],
    ) {
        let head = R.ilog2() as usize;
        let count = transposed::<A, L>(inside::<Sh, L>(), T);
        let alone = inside::<Sh, L>() - count;
        // SAFETY: the caller's promise.
        let zetas = unsafe { core::slice::from_raw_parts(zetas, per_block::<A, Sh, L>()) };
        // Layers between vectors, which follow `$before` layers of the tail and `$first` factors.
        macro_rules! between {
            ($before:expr, $first:expr; $($layer:literal)*) => {$(
                let mode = step(Sh::FORWARD, all, head + $before + $layer);
                let factors = InMemory(&zetas[$first + (1 << $layer) - 1..][..1 << $layer]);
                for x in x.iter_mut() {
                    forward_layer::<A, L, T, $layer, _>(arith, x, mode, factors);
                }
            )*};
        }
        between!(0, 0; 0 1 2);
        macro_rules! inside {
            ($($H:literal)*) => {$(
                if $H < L && $H >= Sh::TOGETHER << count {
                    let layer = L.ilog2() as usize - 1 - ($H as usize).ilog2() as usize;
                    let mode = step(Sh::FORWARD, all, head + 3 + layer);
                    let zetas = InMemory(&zetas[T - 1 + layer * (T / 2)..][..T / 2]);
                    for x in x.iter_mut() {
                        split_neighbours::<A, L, T, $H>(arith, x);
                        forward_layer::<A, L, T, 2, _>(arith, x, mode, zetas);
                    }
                }
            )*};
        }
        inside!(16 8 4 2 1);
        if count == 0 {
            return;
        }
        for x in x.iter_mut() {
            transpose::<A, L, T, false>(arith, x, count, Sh::TOGETHER);
        }
        between!(3 + alone, T - 1 + alone * (T / 2); 0 1 2);
    }

    /// The inverse of [`Transform::forward_tail`], on `N` blocks of one polynomial whose factors lie `stride` apart.
    ///
    /// # Safety
    /// `zetas` has all factors of the blocks.
    #[inline(always)]
    unsafe fn inverse_tail<Sh: Shape, const R: usize, const N: usize>(
        &self,
        arith: &A,
        zetas: *const Factors<A::T, L>,
        stride: usize,
        x: &mut [[A::V; T]; N],
        all: &[Mode],
        scale: &[A::W; 2],
    ) {
        let head = R.ilog2() as usize;
        let count = transposed::<A, L>(inside::<Sh, L>(), T);
        let (alone, first) = (inside::<Sh, L>() - count, if count == 0 { 0 } else { T - 1 });
        // SAFETY: the caller's promise.
        let zetas = |n: usize| unsafe { core::slice::from_raw_parts(zetas.add(n * stride), per_block::<A, Sh, L>()) };
        if count != 0 {
            macro_rules! transposed {
                ($($layer:literal $first:literal,)*) => {$(
                    let mode = step(Sh::INVERSE, all, head + 3 + alone + $layer);
                    for (n, x) in x.iter_mut().enumerate() {
                        let zetas = InMemory(&zetas(n)[$first..][..1 << $layer]);
                        inverse_layer::<A, L, T, $layer, _>(arith, x, mode, zetas);
                    }
                )*};
            }
            // The innermost layer's factors come before all.
            transposed!(2 0, 1 4, 0 6,);
            for x in x.iter_mut() {
                transpose::<A, L, T, true>(arith, x, count, Sh::TOGETHER);
            }
        }
        macro_rules! inside {
            ($($H:literal)*) => {$(
                if $H < L && $H >= Sh::TOGETHER << count {
                    let layer = L.ilog2() as usize - 1 - ($H as usize).ilog2() as usize;
                    let mode = step(Sh::INVERSE, all, head + 3 + layer);
                    for (n, x) in x.iter_mut().enumerate() {
                        let zetas = InMemory(&zetas(n)[first + (alone - 1 - layer) * (T / 2)..][..T / 2]);
                        inverse_layer::<A, L, T, 2, _>(arith, x, mode, zetas);
                        join_neighbours::<A, L, T, $H>(arith, x);
                    }
                }
            )*};
        }
        inside!(1 2 4 8 16);
        macro_rules! between {
            ($($layer:literal)*) => {$(
                let mode = step(Sh::INVERSE, all, head + $layer);
                for (n, x) in x.iter_mut().enumerate() {
                    if head + $layer == 0 {
                        inverse_last_layer(arith, x, mode, scale);
                    } else {
                        let zetas = InMemory(&zetas(n)[first + alone * (T / 2) + (1 << $layer) - 1..][..1 << $layer]);
                        inverse_layer::<A, L, T, $layer, _>(arith, x, mode, zetas);
                    }
                }
            )*};
        }
        between!(2 1 0);
    }
}

/// Memory that was written.
///
/// # Safety
/// All of it was.
#[inline(always)]
unsafe fn written<T>(memory: &mut [MaybeUninit<T>]) -> &mut [T] {
    // SAFETY: the same memory, initialised.
    unsafe { &mut *(core::ptr::from_mut(memory) as *mut [T]) }
}

/// Layers inside a vector.
#[inline(always)]
fn inside<Sh: Shape, const L: usize>() -> usize {
    (L.ilog2() - Sh::TOGETHER.ilog2()) as usize
}

/// Vectors of factors of a tail: between its vectors, inside them alone, and inside them when transposed.
#[inline(always)]
fn per_block<A: Arith<L>, Sh: Shape, const L: usize>() -> usize {
    let count = transposed::<A, L>(inside::<Sh, L>(), T);
    T - 1 + (inside::<Sh, L>() - count) * (T / 2) + (T >> count) * ((1 << count) - 1)
}
