//! Whole products of small rings in registers: which rings, and the constants that `warp.cu` is compiled with.

use super::source::{Family, Program, WordClass};
use super::tuning::{Tuning, WarpTuning};
use crate::ring::ntt::Ntt;
use crate::ring::{RingSpec, Shape, Wrap};

/// Coefficients that one lane of a warp holds.
const PER_LANE: usize = 32;

/// Warps of a block.
const WARPS: usize = 4;

/// A ring whose products run in registers.
pub(super) struct WarpRing {
    ntt: Ntt,
    small: bool,
    store_bits: u32,
    tuning: WarpTuning,
}

impl WarpRing {
    /// The ring `x^N + 1` with N = 256, 512 or 1024 whose lazy ranges fit, or nothing.
    pub(super) fn new(ring: &RingSpec, tuning: &Tuning) -> Option<Self> {
        let size = [256, 512, 1 << 10].iter().position(|n| *n == ring.n())?;
        let own = Ntt::of_ring(ring).ok()?;
        if own.shape().wrap != Wrap::Negacyclic {
            return None;
        }
        let q = ring.q();
        let with_width = |width: usize| {
            let shape = Shape { points: ring.n() / width, width, wrap: Wrap::Negacyclic };
            (width >= own.shape().width).then(|| Ntt::new(shape, q, None).ok()).flatten()
        };
        let word = 1u64 << 32;
        // Two layers fewer than N has cost less than they save, and inner layers come in pairs.
        let small = (q < 1 << 14).then(|| with_width([4, 2, 2][size])).flatten().filter(|ntt| {
            let (forward, width) = (ntt.shape().layers() as u64 + 1, ntt.shape().width as u64);
            let limit = (word - 1) / (q - 1) / q;
            forward <= limit && forward - 2 <= limit / 2 && limit >= 16 && width * forward * q * q < word
        });
        let shoup = |width: u64| {
            let ntt = (q < 1 << 31).then(|| with_width(width as usize)).flatten()?;
            let forward = 1 + 2 * ntt.shape().layers() as u64;
            (width * forward * forward * q < word && (word - 1) / q >= forward.max(8)).then_some(ntt)
        };
        let (is_small, store_bits) = (small.is_some(), ring.word_bits());
        let ntt = small.or_else(|| shoup(2)).or_else(|| shoup(1))?;
        let tuning = if is_small { tuning.small[size] } else { tuning.shoup };
        Some(Self { ntt, small: is_small, store_bits, tuning })
    }

    fn outer_layers(&self) -> u32 {
        if self.ntt.shape().len() == PER_LANE * 32 { 5 } else { 4 }
    }

    fn lanes(&self) -> usize {
        self.ntt.shape().len() / PER_LANE
    }

    fn q(&self) -> u64 {
        self.ntt.modulus().value()
    }

    fn q_inv(&self) -> u32 {
        let q = self.q() as u32;
        (0..5).fold(q, |x, _| x.wrapping_mul(2u32.wrapping_sub(q.wrapping_mul(x))))
    }

    fn zetas(&self, inverse: bool) -> Vec<u64> {
        if inverse { self.ntt.inverse_zetas() } else { self.ntt.zetas().to_vec() }
    }

    /// A factor of a small ring for Montgomery's reduction: `-z·2^32 mod q`, times `q^-1`.
    fn folded(&self, z: u64) -> u32 {
        let m = self.ntt.modulus();
        let w = m.mul(m.neg(z), m.pow(m.reduce(2), 32)) as u32;
        w.wrapping_mul(self.q_inv())
    }

    /// The factors of a node of `layer` and of the next layer, times `scale`.
    fn quad(&self, zetas: &[u64], layer: u32, node: usize, scale: u64) -> [u32; 5] {
        let m = self.ntt.modulus();
        let zeta = |layer: u32, node: usize| zetas[(1 << layer) + node];
        let (a, b, c) = (zeta(layer, node), zeta(layer + 1, 2 * node), zeta(layer + 1, 2 * node + 1));
        let factors = [a, b, m.mul(a, b), c, m.neg(m.mul(a, c))];
        factors.map(|z| self.folded(m.mul(z, scale)))
    }

    fn small_tables(&self, inverse: bool) -> Vec<u8> {
        let (mut words, zetas) = (Vec::new(), self.zetas(inverse));
        for layer in (self.outer_layers()..self.ntt.shape().layers()).step_by(2) {
            let nodes = (1 << layer) / self.lanes();
            for lane in 0..self.lanes() {
                (0..nodes).for_each(|node| words.extend(self.quad(&zetas, layer, lane * nodes + node, 1)));
                words.resize(words.len().next_multiple_of(4), 0);
            }
        }
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// A factor of a larger ring: its value and its quotient.
    fn shoup_factor(&self, z: u64) -> [u32; 2] {
        [z as u32, ((z << 32) / self.q()) as u32]
    }

    /// Tables of the inner layers, forward and inverse.
    pub(super) fn tables(&self) -> [Vec<u8>; 2] {
        [false, true].map(|inverse| {
            if self.small {
                return self.small_tables(inverse);
            }
            let words = self.zetas(inverse).into_iter().flat_map(|z| self.shoup_factor(z));
            words.flat_map(u32::to_le_bytes).collect()
        })
    }

    /// The constants of a small ring.
    fn small_constants(&self, scale: u64) -> String {
        let (q, outer) = (self.q(), self.outer_layers());
        let alone = outer % 2;
        let list = |inverse: bool| {
            let (mut quads, zetas) = (vec![[0; 5]; 1 << (outer - 1)], self.zetas(inverse));
            for layer in (alone..outer).step_by(2) {
                let scale = if inverse && layer == 0 { scale } else { 1 };
                for node in 0..1 << layer {
                    quads[(1 << layer) + node] = self.quad(&zetas, layer, node, scale);
                }
            }
            let text = |z: &[u32; 5]| format!("{{{}u, {}u, {}u, {}u, {}u}}", z[0], z[1], z[2], z[3], z[4]);
            quads.iter().map(text).collect::<Vec<_>>().join(", ")
        };
        let m = self.ntt.modulus();
        let first = self.ntt.zetas()[1];
        let last = m.mul(scale, m.inv_vartime(first).unwrap_or(0));
        let reciprocal = (1u64 << 52).div_ceil(q);
        format!(
            "constexpr u64 RECIPROCAL = {reciprocal}ull;\n\
             constexpr u32 EXCESS = {excess}u, ONE = {one}u, SCALE = {scale}u, SCALE_ZETA = {last}u, FIRST_ZETA = {first}u;\n\
             #define KARAT_QUADS {quads}\n\
             #define KARAT_INVERSE_QUADS {inverse_quads}\n",
            excess = reciprocal * q - (1 << 52),
            one = self.folded(1),
            scale = self.folded(scale),
            last = self.folded(last),
            first = self.folded(first),
            quads = list(false),
            inverse_quads = list(true),
        )
    }

    /// The constants of a larger ring.
    fn shoup_constants(&self, scale: u64) -> String {
        let m = self.ntt.modulus();
        let text = |z: u64| {
            let [value, quotient] = self.shoup_factor(z);
            format!("{{{value}u, {quotient}u}}")
        };
        let outer = 1 << self.outer_layers();
        let list = |inverse| self.zetas(inverse)[..outer].iter().map(|z| text(*z)).collect::<Vec<_>>().join(", ");
        let last = m.mul(scale, m.inv_vartime(self.ntt.zetas()[1]).unwrap_or(0));
        format!(
            "#define KARAT_ZETAS {zetas}\n\
             #define KARAT_INVERSE_ZETAS {inverse_zetas}\n\
             #define KARAT_SCALES {scale}, {last}\n",
            zetas = list(false),
            inverse_zetas = list(true),
            scale = text(scale),
            last = text(last),
        )
    }

    /// The program, with everything that depends on the ring in a header of its own.
    pub(super) fn program(&self) -> Program {
        let shape = self.ntt.shape();
        let (m, q) = (self.ntt.modulus(), self.q());
        // What products at the points leave: 2^-32, with a minus sign in small words; nothing in double precision.
        let two = m.pow(m.reduce(2), 32);
        let left = match self.small {
            true if self.tuning.doubles => 1,
            true => m.neg(two),
            false => two,
        };
        let scale = m.mul(m.inv_vartime(m.reduce(shape.points as u64)).unwrap_or(0), left);
        let own = if self.small { self.small_constants(scale) } else { self.shoup_constants(scale) };
        let header = format!(
            "// Generated: q = {q}, N = {n}.\n\
             #pragma once\n\
             constexpr u32 N = {n}, WIDTH = {width}, LAYERS = {layers}, OUTER = {outer}, Q = {q}u, Q_INV = {q_inv}u;\n\
             {own}",
            n = shape.len(),
            width = shape.width,
            layers = shape.layers(),
            outer = self.outer_layers(),
            q_inv = self.q_inv(),
        );
        let WarpTuning { doubles, blocks } = self.tuning;
        Program::new(Family::Warp, WordClass::Word32).with_constants(
            &format!("{}_{q}_{}_{blocks}", shape.len(), doubles as u32),
            header,
            vec![
                ("KARAT_SMALL", (self.small as u32).to_string()),
                ("KARAT_DOUBLES", (doubles as u32).to_string()),
                ("KARAT_STORE", format!("u{}", self.store_bits)),
                ("KARAT_WARPS", WARPS.to_string()),
                ("KARAT_BLOCKS", blocks.to_string()),
            ],
        )
    }

    /// Coefficients must lie in words of this many bits.
    pub(super) fn store_bits(&self) -> u32 {
        self.store_bits
    }

    /// Products of one block.
    pub(super) fn per_block(&self) -> usize {
        32 * WARPS * PER_LANE / self.ntt.shape().len()
    }

    /// Bytes of shared memory of one block.
    pub(super) fn shared_bytes(&self) -> usize {
        let n = self.ntt.shape().len();
        4 * self.per_block() * (n + n / 8 + 16)
    }

    /// Threads of one block.
    pub(super) fn threads(&self) -> u32 {
        32 * WARPS as u32
    }
}
