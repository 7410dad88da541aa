//! Portable kernels, generic over the arithmetic of a word class.

mod layers;
mod mont16;
mod shoup;
#[cfg(test)]
pub(super) mod watched;

pub(super) use mont16::Mont16;
pub(super) use shoup::{Shoup32, Shoup64};

use alloc::vec::Vec;

use self::layers::{Pair, forward_first, forward_pair, inverse_first, inverse_last_pair, inverse_only, inverse_pair};
use super::kernels::{Kernels, Lane, Words, WordsMut, load_planes, store_planes};
use super::schedule::Schedule;
use crate::Result;
use crate::ring::ntt::{Layer, Ntt};

/// The arithmetic of a word class: a modulus, lanes, constant factors, and the ranges that its butterflies keep.
pub(super) trait Arith: Copy + Send + Sync + 'static {
    /// Lanes.
    type T: Lane;
    /// A constant factor.
    type Tw: Copy + Default + Send + Sync + 'static;
    /// A sum of products.
    type Acc: Copy + Default;

    /// Bits of a lane: products leave the factor `2^-WIDTH`.
    const WIDTH: u32;

    /// Whether this class holds the lazy ranges of a modulus.
    fn supports(q: u64) -> bool;

    /// The arithmetic for a modulus that it supports.
    fn new(q: u64) -> Result<Self>;

    /// The modes of all layers, forward and inverse.
    fn schedules(&self, layers: u32) -> (Schedule, Schedule);

    /// A constant factor, from a canonical residue.
    fn factor(&self, value: u64) -> Self::Tw;

    /// `x · factor`. Any lane in; lazily reduced out.
    fn mul(&self, x: Self::T, factor: Self::Tw) -> Self::T;

    /// `x · factor`, any lane in, canonical out.
    fn mul_canonical(&self, x: Self::T, factor: Self::Tw) -> Self::T;

    /// `x · factor`, any lane in, reduced out.
    fn mul_reduced(&self, x: Self::T, factor: Self::Tw) -> Self::T;

    /// A forward butterfly `(x + w·y, x - w·y)`; `MODE` is one of [`Mode`](super::schedule::Mode)'s constants, `c` its parameter.
    fn forward_butterfly<const MODE: u8>(&self, x: Self::T, y: Self::T, w: Self::Tw, c: Self::T) -> (Self::T, Self::T);

    /// An inverse butterfly before its multiplication: `(x + y, x - y)`, the first reduced as `MODE` says.
    fn inverse_butterfly<const MODE: u8>(&self, x: Self::T, y: Self::T, c: Self::T) -> (Self::T, Self::T);

    /// An inverse butterfly's second result, multiplied.
    fn inverse_mul<const MODE: u8>(&self, x: Self::T, w: Self::Tw) -> Self::T;

    /// The parameter of a mode as a lane.
    fn parameter(&self, multiple: u32) -> Self::T;

    /// A lane within the forward schedule's last bound to a reduced one.
    fn reduce(&self, x: Self::T) -> Self::T;

    /// Adds a product of reduced lanes.
    fn mac(&self, acc: Self::Acc, x: Self::T, y: Self::T) -> Self::Acc;

    /// Products of reduced lanes that one sum may hold.
    fn mac_limit(&self) -> usize;

    /// A sum of products, times `2^-WIDTH`, reduced.
    fn redc(&self, acc: Self::Acc) -> Self::T;

    /// Sum of reduced lanes, reduced.
    fn add(&self, x: Self::T, y: Self::T) -> Self::T;
}

/// Tables of one transform in the factors of a word class.
pub(super) struct Transform<A: Arith> {
    arith: A,
    q: u64,
    len: usize,
    width: usize,
    layers: Vec<Layer>,
    forward: Schedule,
    inverse: Schedule,
    /// `zetas[nodes + i]`, as in [`Ntt::zetas`].
    zetas: Vec<A::Tw>,
    /// Their inverses; entry 1 (the last layer's) is unused.
    inverse_zetas: Vec<A::Tw>,
    /// The slots, and the slots times `2^WIDTH`.
    slots: Vec<A::Tw>,
    mont_slots: Vec<A::Tw>,
    /// `2^WIDTH`.
    mont_one: A::Tw,
    /// Scaling factors of the inverse.
    scale: Scale<A::Tw>,
    /// The same with the factor that products leave.
    mont_scale: Scale<A::Tw>,
}

/// What the last layer of an inverse multiplies with: sums by `n^-1`, differences by `n^-1 · zeta^-1`.
#[derive(Clone, Copy)]
struct Scale<Tw> {
    sum: Tw,
    difference: Tw,
}

impl<A: Arith> Transform<A> {
    pub(super) fn new(ntt: &Ntt) -> Result<Self> {
        let m = ntt.modulus();
        let arith = A::new(m.value())?;
        let shape = ntt.shape();
        // Roots of -1 and powers of two are invertible modulo an odd modulus.
        let invert = |x: u64| m.inv_vartime(x).unwrap_or(0);
        let mont_one = m.pow(m.reduce(2), A::WIDTH as u64);
        let n_inv = invert(m.reduce(shape.points as u64));
        let first = ntt.zetas().get(1).map_or(0, |z| invert(*z));
        let scale = |s: u64| Scale { sum: arith.factor(s), difference: arith.factor(m.mul(s, first)) };
        let factors = |values: &mut dyn Iterator<Item = u64>| values.map(|x| arith.factor(x)).collect::<Vec<_>>();
        let (forward, inverse) = arith.schedules(shape.layers());
        Ok(Self {
            arith,
            q: m.value(),
            len: shape.len(),
            width: shape.width,
            layers: ntt.layers().collect(),
            forward,
            inverse,
            zetas: factors(&mut ntt.zetas().iter().copied()),
            inverse_zetas: factors(&mut ntt.inverse_zetas().into_iter()),
            slots: factors(&mut ntt.slots().iter().copied()),
            mont_slots: factors(&mut ntt.slots().iter().map(|s| m.mul(*s, mont_one))),
            mont_one: arith.factor(mont_one),
            scale: scale(n_inv),
            mont_scale: scale(m.mul(n_inv, mont_one)),
        })
    }

    /// The factors of layers `outer` and `outer + 1` for the nodes in `a`, from node `first` of the outer one.
    fn pair<'a>(&self, table: &'a [A::Tw], lanes: usize, outer: usize, first: usize) -> Pair<'a, A::Tw> {
        let nodes = lanes / (self.len >> outer);
        let start = self.layers[outer].nodes + first;
        Pair { outer: &table[start..start + nodes], inner: &table[2 * start..2 * (start + nodes)] }
    }

    fn forward_pair(&self, a: &mut [A::T], outer: usize, first: usize, last: bool) {
        let factors = self.pair(&self.zetas, a.len(), outer, first);
        let modes = [self.forward.modes[outer], self.forward.modes[outer + 1]];
        forward_pair(&self.arith, a, self.layers[outer + 1].half, factors, modes, last);
    }

    fn inverse_pair(&self, a: &mut [A::T], outer: usize, first: usize) {
        let factors = self.pair(&self.inverse_zetas, a.len(), outer, first);
        let step = self.layers.len() - 2 - outer;
        let modes = [self.inverse.modes[step], self.inverse.modes[step + 1]];
        inverse_pair(&self.arith, a, self.layers[outer + 1].half, factors, modes);
    }

    /// Writes `[b, b·slot]` for each slot, times `one`.
    fn prepare_with(&self, b: &[A::T], prepared: &mut [A::T], one: Option<A::Tw>, slots: &[A::Tw]) {
        let scaled = |x| match one {
            Some(one) => self.arith.mul_reduced(x, one),
            None => x,
        };
        if self.width == 1 {
            for (p, b) in prepared.iter_mut().zip(b) {
                *p = scaled(*b);
            }
            return;
        }
        let pairs = prepared.chunks_exact_mut(2 * self.width).zip(b.chunks_exact(self.width));
        for ((p, b), slot) in pairs.zip(slots) {
            let (plain, wrapped) = p.split_at_mut(self.width);
            for ((plain, wrapped), b) in plain.iter_mut().zip(wrapped).zip(b) {
                *plain = scaled(*b);
                *wrapped = self.arith.mul_reduced(*b, *slot);
            }
        }
    }

    /// A sum of products at one slot: `a` and `prepared` start at the slot in the first column.
    #[inline(always)]
    fn dot_slot(&self, columns: usize, a: &[A::T], prepared: &[A::T], out: &mut [A::T]) {
        match self.width {
            1 => self.dot_narrow::<1>(columns, a, prepared, out),
            2 => self.dot_narrow::<2>(columns, a, prepared, out),
            3 => self.dot_narrow::<3>(columns, a, prepared, out),
            4 => self.dot_narrow::<4>(columns, a, prepared, out),
            5 => self.dot_narrow::<5>(columns, a, prepared, out),
            6 => self.dot_narrow::<6>(columns, a, prepared, out),
            7 => self.dot_narrow::<7>(columns, a, prepared, out),
            8 => self.dot_narrow::<8>(columns, a, prepared, out),
            _ => self.dot_wide(columns, a, prepared, out),
        }
    }

    /// All coefficients of a slot at once, unrolled.
    #[inline(always)]
    fn dot_narrow<const WIDTH: usize>(&self, columns: usize, a: &[A::T], prepared: &[A::T], out: &mut [A::T]) {
        if WIDTH > self.arith.mac_limit() {
            return self.dot_wide(columns, a, prepared, out);
        }
        let prepared_len = self.prepared_len();
        let mut total = [A::T::default(); WIDTH];
        let mut acc = [A::Acc::default(); WIDTH];
        let mut room = self.arith.mac_limit();
        for column in 0..columns {
            if room < WIDTH {
                for (total, acc) in total.iter_mut().zip(&mut acc) {
                    *total = self.arith.add(*total, self.arith.redc(*acc));
                    *acc = A::Acc::default();
                }
                room = self.arith.mac_limit();
            }
            room -= WIDTH;
            let a = &a[column * self.len..][..WIDTH];
            let p = &prepared[column * prepared_len..][..if WIDTH == 1 { 1 } else { 2 * WIDTH }];
            for (i, x) in a.iter().enumerate() {
                for (k, acc) in acc.iter_mut().enumerate() {
                    *acc = self.arith.mac(*acc, *x, p[if i <= k { k - i } else { 2 * WIDTH + k - i }]);
                }
            }
        }
        for ((out, total), acc) in out[..WIDTH].iter_mut().zip(total).zip(acc) {
            *out = self.arith.add(total, self.arith.redc(acc));
        }
    }

    /// One coefficient after the other, for any width: `b[k - i]` up to `i = k`, `slot·b[k + width - i]` behind it.
    fn dot_wide(&self, columns: usize, a: &[A::T], prepared: &[A::T], out: &mut [A::T]) {
        let (m, width, limit) = (&self.arith, self.width, self.arith.mac_limit());
        for (k, out) in out[..width].iter_mut().enumerate() {
            let mut total = A::T::default();
            let mut add = |a: &[A::T], reversed: &[A::T]| {
                for (a, b) in a.chunks(limit).zip(reversed.rchunks(limit)) {
                    let products = a.iter().zip(b.iter().rev());
                    let acc = products.fold(A::Acc::default(), |acc, (x, y)| m.mac(acc, *x, *y));
                    total = m.add(total, m.redc(acc));
                }
            };
            for column in 0..columns {
                let (low, high) = a[column * self.len..][..width].split_at(k + 1);
                let p = &prepared[column * self.prepared_len()..];
                add(low, &p[..k + 1]);
                add(high, if width == 1 { &[] } else { &p[width + k + 1..2 * width] });
            }
            *out = total;
        }
    }
}

/// Lanes that stay in a first-level cache of 32 KiB while layers pass over them.
const fn cached_lanes<T>() -> usize {
    (1 << 14) / size_of::<T>()
}

impl<A: Arith> Kernels<A::T> for Transform<A> {
    fn len(&self) -> usize {
        self.len
    }

    fn order(&self) -> Option<&[u32]> {
        None
    }

    fn planes(&self) -> usize {
        1
    }

    fn load(&self, coefficients: Words<'_>, lanes: &mut [A::T]) {
        match coefficients {
            Words::U16(c) => load_planes(c, lanes, 1),
            Words::U32(c) => load_planes(c, lanes, 1),
            Words::U64(c) => load_planes(c, lanes, 1),
        }
    }

    fn store(&self, lanes: &[A::T], coefficients: WordsMut<'_>) {
        match coefficients {
            WordsMut::U16(c) => store_planes(lanes, c, 1, self.q),
            WordsMut::U32(c) => store_planes(lanes, c, 1, self.q),
            WordsMut::U64(c) => store_planes(lanes, c, 1, self.q),
        }
    }

    fn prepared_len(&self) -> usize {
        if self.width == 1 { self.len } else { 2 * self.len }
    }

    fn forward(&self, a: &mut [A::T]) {
        let a = &mut a[..self.len];
        let (layers, end) = (self.layers.len(), self.forward.reduce_at_end);
        // An odd number of layers starts with a single one.
        let mut done = layers % 2;
        if done == 1 {
            forward_first(&self.arith, a, self.zetas[1], self.forward.modes[0], end && layers == 1);
        }
        // Whole layers while a node is larger than the cache, then node after node.
        while done < layers && self.len >> done > cached_lanes::<A::T>() {
            self.forward_pair(a, done, 0, end && done + 2 == layers);
            done += 2;
        }
        for (node, a) in a.chunks_exact_mut(self.len >> done).enumerate() {
            for layer in (done..layers).step_by(2) {
                self.forward_pair(a, layer, node << (layer - done), end && layer + 2 == layers);
            }
        }
    }

    fn inverse(&self, a: &mut [A::T], mont: bool) {
        let a = &mut a[..self.len];
        let scale = if mont { self.mont_scale } else { self.scale };
        let factors = (scale.sum, scale.difference);
        let layers = self.layers.len();
        match layers {
            0 => a.iter_mut().for_each(|x| *x = self.arith.mul_canonical(*x, scale.sum)),
            1 => inverse_only(&self.arith, a, factors, self.inverse.last),
            _ => {
                // All but the last pair of layers; an odd number of them starts with a single one.
                let inner = layers - layers % 2;
                // Node after node while a node fits the cache, then whole layers.
                let mut top = 2;
                while top < inner && self.len >> top > cached_lanes::<A::T>() {
                    top += 2;
                }
                for (node, a) in a.chunks_exact_mut(self.len >> top).enumerate() {
                    if inner < layers {
                        let layer = self.layers[inner];
                        let nodes = layer.nodes >> top;
                        let factors = &self.inverse_zetas[layer.nodes + node * nodes..][..nodes];
                        inverse_first(&self.arith, a, layer.half, factors, self.inverse.modes[0]);
                    }
                    for outer in (top..inner).step_by(2).rev() {
                        self.inverse_pair(a, outer, node << (outer - top));
                    }
                }
                for outer in (2..top).step_by(2).rev() {
                    self.inverse_pair(a, outer, 0);
                }
                let modes = [self.inverse.modes[layers - 2], self.inverse.last];
                inverse_last_pair(&self.arith, a, &self.inverse_zetas[2..4], factors, modes);
            }
        }
    }

    fn product(&self, a: &mut [A::T], b: &[A::T], scratch: &mut [A::T]) {
        let m = &self.arith;
        match self.width {
            1 => {
                for (x, y) in a.iter_mut().zip(b) {
                    *x = m.redc(m.mac(A::Acc::default(), *x, *y));
                }
            }
            2 if m.mac_limit() >= 2 => {
                let pairs = a.chunks_exact_mut(2).zip(b.chunks_exact(2));
                for ((x, y), slot) in pairs.zip(&self.slots) {
                    let wrapped = m.mul_reduced(y[1], *slot);
                    let low = m.mac(m.mac(A::Acc::default(), x[0], y[0]), x[1], wrapped);
                    let high = m.mac(m.mac(A::Acc::default(), x[0], y[1]), x[1], y[0]);
                    (x[0], x[1]) = (m.redc(low), m.redc(high));
                }
            }
            width => {
                let (prepared, copy) = scratch.split_at_mut(2 * self.len);
                self.prepare_with(b, prepared, None, &self.slots);
                let slots = a.chunks_exact_mut(width).zip(prepared.chunks_exact(2 * width));
                for (a, p) in slots {
                    copy[..width].copy_from_slice(a);
                    self.dot_slot(1, &copy[..width], p, a);
                }
            }
        }
    }

    fn product_scratch(&self) -> usize {
        match self.width {
            1 => 0,
            2 if self.arith.mac_limit() >= 2 => 0,
            width => 2 * self.len + width,
        }
    }

    fn prepare(&self, b: &[A::T], prepared: &mut [A::T]) {
        self.prepare_with(b, prepared, Some(self.mont_one), &self.mont_slots);
    }

    fn dot(&self, columns: usize, a: &[A::T], prepared: &[A::T], out: &mut [A::T]) {
        let width = self.width;
        let prepared_width = self.prepared_len() / (self.len / width);
        for (slot, c) in out.chunks_exact_mut(width).enumerate() {
            self.dot_slot(columns, &a[slot * width..], &prepared[slot * prepared_width..], c);
        }
    }
}
