//! The blocks that kernels are launched with, laid out as in `kernels/include/launch.cuh`.
//!
//! Their sizes go to the compiler of the kernels, which compares them with its own.

use bytemuck::{Pod, Zeroable};

/// Auxiliary primes of a lifted ring: 17 + 2·61 bits, terms and sign.
pub(super) const MAX_PRIMES: usize = 4;

/// Centre the coefficients, and lift the result.
pub(super) const FLAG_LIFT: u32 = 1;
/// The ring's modulus exceeds a prime.
pub(super) const FLAG_WIDE: u32 = 1 << 1;
/// The inverse removes the factor that products leave.
pub(super) const FLAG_MONT: u32 = 1 << 2;
/// Sums of products lose that factor at once.
pub(super) const FLAG_FIX: u32 = 1 << 3;
/// Sixteen times each prime fits a word.
pub(super) const FLAG_ROOMY: u32 = 1 << 4;

/// `log_width` where the width is no power of two.
pub(super) const NOT_A_POWER: u32 = u32::MAX;

/// A constant factor with its Shoup quotient, in words of either class.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Factor {
    pub value: u64,
    pub quotient: u64,
}

/// One modulus of a transform.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Prime {
    pub q: u64,
    /// `q^-1 mod 2^w`.
    pub q_inv: u64,
    /// `floor(2^w / q)`.
    pub barrett: u64,
    /// Products that a sum may hold before Montgomery's reduction.
    pub room: u64,
    /// `2^w`.
    pub one: Factor,
    /// `n^-1`.
    pub scale: Factor,
    /// `n^-1 · 2^w`.
    pub mont_scale: Factor,
    /// Lifted rings: `-q mod p` for the ring's modulus `q`.
    pub minus_ring: u64,
    /// Lifted rings: a multiple of `q` that makes every integer positive.
    pub offset: u64,
    /// Lifted rings: the inverse of the product of the primes before.
    pub garner: Factor,
    /// Lifted rings: the primes before.
    pub before: [Factor; MAX_PRIMES - 1],
    /// Lifted rings: the product of the primes before, modulo the ring's modulus.
    pub weight: Factor,
    /// Words of 64 bits: what gives quotients of numbers below `8q`, see `launch.cuh`.
    pub estimate: u64,
    pub estimate_down: u64,
}

/// See `launch.cuh`; for quotients by the leading 28 bits of a modulus.
const ESTIMATE_SHIFT: usize = 26;

/// The estimate of a modulus and how far it and what is divided are shifted down, where it has 28 bits or more.
pub(super) fn estimate(q: u64) -> [u64; 2] {
    let bits = u64::BITS - q.leading_zeros();
    if bits < 28 {
        return [0; 2];
    }
    let down = bits - 28;
    [(1 << (32 + ESTIMATE_SHIFT)) / ((q >> down) + 1), u64::from(down)]
}

/// A lower term of `f`: its exponent and its negated coefficient.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Tail {
    pub exponent: u64,
    pub factor: Factor,
}

/// Everything that the kernels of one ring take. Addresses are the device's.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Launch {
    pub primes: u64,
    pub zetas: u64,
    pub inverse_zetas: u64,
    pub slots: u64,
    pub tail: u64,
    pub a: u64,
    pub b: u64,
    pub out: u64,
    pub count: u64,
    pub ring_q: u64,
    pub ring_barrett: u64,
    pub half: u64,
    pub prime_count: u32,
    pub log_points: u32,
    pub width: u32,
    pub log_width: u32,
    pub len: u32,
    pub n: u32,
    pub stride: u32,
    pub tail_terms: u32,
    pub first: u32,
    pub last: u32,
    pub rows: u32,
    pub columns: u32,
    pub shared: u32,
    pub flags: u32,
}

/// For the steps of the patent that read a third operand.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Cross {
    pub launch: Launch,
    pub third: u64,
}

/// What every program is compiled with.
pub(super) fn defines() -> Vec<(&'static str, String)> {
    [
        ("KARAT_MAX_PRIMES", MAX_PRIMES),
        ("KARAT_ESTIMATE_SHIFT", ESTIMATE_SHIFT),
        ("KARAT_SIZEOF_PRIME", size_of::<Prime>()),
        ("KARAT_SIZEOF_TAIL", size_of::<Tail>()),
        ("KARAT_SIZEOF_LAUNCH", size_of::<Launch>()),
        ("KARAT_SIZEOF_CROSS", size_of::<Cross>()),
        ("KARAT_FLAG_LIFT", FLAG_LIFT as usize),
        ("KARAT_FLAG_WIDE", FLAG_WIDE as usize),
        ("KARAT_FLAG_MONT", FLAG_MONT as usize),
        ("KARAT_FLAG_FIX", FLAG_FIX as usize),
        ("KARAT_FLAG_ROOMY", FLAG_ROOMY as usize),
    ]
    .map(|(name, value)| (name, value.to_string()))
    .to_vec()
}
