//! Whole products of small rings in registers: which rings, and the constants that `warp.cu` is compiled with.

use super::source::{Family, Program, WordClass};
use crate::ring::ntt::Ntt;
use crate::ring::{RingSpec, Wrap};

/// Coefficients that one lane of a warp holds.
const PER_LANE: usize = 32;

/// Warps of a block.
const WARPS: usize = 4;

/// Blocks that a multiprocessor holds at once. Measured on an H200, 2^20 products of ML-DSA's ring, 2^19 of
/// Falcon-512's: 3 blocks 1265 and 1131 µs, 4 blocks 1272 and 1134, 5 blocks 1218 and 1092, 6 blocks 1247 and 1108.
const BLOCKS: usize = 5;

/// A ring whose products run in registers.
pub(super) struct WarpRing {
    ntt: Ntt,
    small: bool,
    store_bits: u32,
}

impl WarpRing {
    /// The ring `x^N + 1` with N = 256, 512 or 1024 whose lazy ranges fit, or nothing.
    pub(super) fn new(ring: &RingSpec) -> Option<Self> {
        let ntt = Ntt::of_ring(ring).ok()?;
        let (shape, q) = (ntt.shape(), ring.q());
        let layers = shape.layers() as u64;
        if shape.wrap != Wrap::Negacyclic || ![256, 512, 1 << 10].contains(&ring.n()) || shape.width > 2 {
            return None;
        }
        let word = u32::MAX as u64;
        // The sums at the points, and differences of at least twice their bound.
        let width = shape.width as u64;
        let sums = if width == 2 { 2 * (layers + 1) } else { 1 };
        let small = q < 1 << 14 && (layers + 1) * q < word / q / sums && word / (q - 1) / q >= (layers + 1).max(4);
        let shoup =
            width == 1 && q < 1 << 31 && (1 + 2 * layers).pow(2) * q < word && word / q >= (1 + 2 * layers).max(8);
        (small || shoup).then_some(Self { ntt, small, store_bits: ring.word_bits() })
    }

    fn outer_layers(&self) -> u32 {
        if self.ntt.shape().len() == PER_LANE * 32 { 5 } else { 4 }
    }

    /// A factor as the kernel takes it: one word, or value and quotient.
    fn twiddle(&self, z: u64) -> Vec<u32> {
        let m = self.ntt.modulus();
        let q = m.value();
        if self.small {
            let w = m.mul(m.neg(z), m.pow(m.reduce(2), 32)) as u32;
            vec![w.wrapping_mul(self.q_inv())]
        } else {
            vec![z as u32, ((z << 32) / q) as u32]
        }
    }

    fn q_inv(&self) -> u32 {
        let q = self.ntt.modulus().value() as u32;
        (0..5).fold(q, |x, _| x.wrapping_mul(2u32.wrapping_sub(q.wrapping_mul(x))))
    }

    fn zetas(&self, inverse: bool) -> impl Iterator<Item = u64> + '_ {
        let m = *self.ntt.modulus();
        let invert = move |z: u64| if inverse { m.inv_vartime(z).unwrap_or(0) } else { z };
        self.ntt.zetas().iter().map(move |z| invert(*z))
    }

    /// Tables of the inner layers, forward and inverse.
    pub(super) fn tables(&self) -> [Vec<u8>; 2] {
        [false, true].map(|inverse| {
            let words = self.zetas(inverse).flat_map(|z| self.twiddle(z));
            words.flat_map(u32::to_le_bytes).collect()
        })
    }

    /// The program, with everything that depends on the ring in a header of its own.
    pub(super) fn program(&self) -> Program {
        let shape = self.ntt.shape();
        let (m, q) = (self.ntt.modulus(), self.ntt.modulus().value());
        let literal = |z: u64| match self.twiddle(z)[..] {
            [w] => format!("{w}u"),
            [value, quotient] => format!("{{{value}u, {quotient}u}}"),
            _ => String::new(),
        };
        let list = |inverse: bool| {
            let outer = self.zetas(inverse).take(1 << self.outer_layers());
            outer.map(literal).collect::<Vec<_>>().join(", ")
        };
        // Products leave 2^-32, with a minus sign in small words.
        let two = m.pow(m.reduce(2), 32);
        let left = if self.small { m.neg(two) } else { two };
        let invert = |x: u64| m.inv_vartime(x).unwrap_or(0);
        let scale = m.mul(invert(m.reduce(shape.points as u64)), left);
        let first = invert(self.ntt.zetas()[1]);
        let kind = if self.small { "u32" } else { "Shoup<u32>" };
        let header = format!(
            "// Generated: q = {q}, N = {n}.\n\
             #pragma once\n\
             constexpr u32 N = {n}, WIDTH = {width}, LAYERS = {layers}, OUTER = {outer}, Q = {q}u, Q_INV = {q_inv}u;\n\
             CONSTANT {kind} ZETAS[] = {{{zetas}}};\n\
             CONSTANT {kind} INVERSE_ZETAS[] = {{{inverse_zetas}}};\n\
             CONSTANT {kind} ONE = {one}, SCALE = {scale}, SCALE_ZETA = {scale_zeta};\n",
            n = shape.len(),
            width = shape.width,
            layers = shape.layers(),
            outer = self.outer_layers(),
            q_inv = self.q_inv(),
            zetas = list(false),
            inverse_zetas = list(true),
            one = literal(1),
            scale_zeta = literal(m.mul(scale, first)),
            scale = literal(scale),
        );
        Program::new(Family::Warp, WordClass::Word32).with_constants(
            &format!("{}_{q}", shape.len()),
            header,
            vec![
                ("KARAT_SMALL", (self.small as u32).to_string()),
                ("KARAT_STORE", format!("u{}", self.store_bits)),
                ("KARAT_WARPS", WARPS.to_string()),
                ("KARAT_BLOCKS", BLOCKS.to_string()),
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
