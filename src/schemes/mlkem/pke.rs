//! The encryption inside the KEM: K-PKE (FIPS 203, section 5), one operation at a time on the CPU.

use super::noise::{Samplers, add, add_message, compress, decompress, noise, sub};
use super::{Coeffs, N, Parameters, Q};
use crate::arith::Modulus;
use crate::backend::cpu::Plan;
use crate::memcheck::{Leak, show};
use crate::schemes::encode::{pack, unpack};
use crate::schemes::hash::{self, Job, Lanes, each_block};
use crate::schemes::levels::levels;
use crate::schemes::{Array, Erased, Wiped};

/// Makes a key pair from `d` (algorithm 13): `ek` takes `t ‖ rho`, `secret` takes `s`, both in the transform domain.
pub(super) fn keygen<P: Parameters>(plan: &Plan, d: &[u8; 32], ek: &mut [u8], secret: &mut [u8]) {
    let seeds = key_seeds::<P>(d);
    let (rho, sigma) = halves(&seeds);
    let mut a = P::Matrix::filled([0; N / 4]);
    let a = &mut a.as_mut()[..P::K * P::K];
    let mut s = Erased::<P::Vector, _>::filled([0; N / 4]);
    let mut e = Erased::<P::Vector, _>::filled([0; N / 4]);
    let lanes = Lanes::of(plan.level());
    let mut samplers = Samplers::new(lanes);
    let (rho_part, sigma_part) = ([&rho[..]], [&sigma[..]]);
    let job = |i: usize| match i.checked_sub(P::K * P::K) {
        None => Samplers::entry::<P>(&rho_part, false, i),
        Some(i) => Job::shake256(&sigma_part).and_byte(i as u8),
    };
    each_block(lanes, P::K * P::K + 2 * P::K, job, |lane, i, block| match i.checked_sub(P::K * P::K) {
        None => samplers.uniform(lane, block, |values| plan.import(values, &mut a[i])),
        Some(i) => samplers.noise(lane, P::ETA1, block, |coefficients| {
            let into = if i < P::K { &mut s.as_mut()[i] } else { &mut e.as_mut()[i - P::K] };
            plan.forward(coefficients, into);
        }),
    });

    let mut t = Erased::<P::Vector, _>::filled([0; N / 4]);
    plan.mat_vec(P::K, a.as_flattened(), s.as_ref().as_flattened(), t.as_mut().as_flattened_mut());
    let mut sum = Wiped::new([0u16; N]);
    let mut term = Wiped::new([0u16; N]);
    write_secret::<P>(plan, &s, secret);
    for i in 0..P::K {
        plan.export(&t.as_ref()[i], &mut sum[..]);
        plan.export(&e.as_ref()[i], &mut term[..]);
        add_assign(lanes, &mut sum, &term);
        encode(lanes, &sum, &mut ek[384 * i..][..384]);
    }
    ek[384 * P::K..].copy_from_slice(rho);
}

/// Encodes `s`, which lies in the transform domain.
pub(super) fn write_secret<P: Parameters>(plan: &Plan, s: &P::Vector, out: &mut [u8]) {
    let mut values = Wiped::new([0u16; N]);
    for (s, out) in s.as_ref().iter().zip(out.chunks_exact_mut(384)) {
        plan.export(s, &mut values[..]);
        encode(Lanes::of(plan.level()), &values, out);
    }
}

/// `(rho, sigma)` of a seed: FIPS 203 hashes the rank too.
pub(super) fn key_seeds<P: Parameters>(d: &[u8; 32]) -> Wiped<[u8; 64]> {
    let mut seeds = Wiped::new([0; 64]);
    let rank = [P::K as u8];
    hash::sha3_512(&[d, if P::ROUND3 { &[] } else { &rank }], &mut seeds);
    show(Leak::MatrixSeed, &mut seeds[..32]);
    seeds
}

/// The two halves of 64 bytes.
pub(super) fn halves(bytes: &[u8; 64]) -> (&[u8; 32], &[u8; 32]) {
    let (halves, _) = bytes.as_chunks();
    (&halves[0], &halves[1])
}

levels! {
    /// A sum of polynomials, in place.
    pub(super) fn add_assign(a: &mut Coeffs, b: &Coeffs) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = add(*a, *b);
        }
    }
}

levels! {
    /// `ByteEncode_12`.
    pub(super) fn encode(coefficients: &Coeffs, out: &mut [u8]) {
        pack::<12, _>(coefficients, out, u32::from);
    }
}

levels! {
    /// Whether all coefficients are reduced; all are looked at.
    fn all_reduced(values: &Coeffs) -> bool {
        values.iter().fold(0, |outside, x| outside | (Q - 1).wrapping_sub(*x)) >> 15 == 0
    }
}

levels! {
    /// Integers of 12 bits modulo `q`.
    fn reduce(values: &mut Coeffs) {
        values.iter_mut().for_each(|x| *x = Modulus::<u16>::csub_of(*x, Q));
    }
}

/// Reads (`ByteDecode_12`) the `K` polynomials of an encapsulation key into `sink(i, values)`; says whether all are reduced.
pub(super) fn read_public<P: Parameters>(lanes: Lanes, ek: &[u8], mut sink: impl FnMut(usize, &Coeffs)) -> bool {
    let mut values = [0u16; N];
    let mut reduced = true;
    for (i, bytes) in ek[..384 * P::K].chunks_exact(384).enumerate() {
        unpack::<12, _>(lanes, bytes, &mut values);
        reduced &= all_reduced(lanes, &values);
        sink(i, &values);
    }
    reduced
}

/// Reads the `K` polynomials of a secret into `sink(i, values)`, reduced as `ByteDecode_12` does.
pub(super) fn read_secret<P: Parameters>(lanes: Lanes, secret: &[u8], mut sink: impl FnMut(usize, &Coeffs)) {
    let mut values = Wiped::new([0u16; N]);
    for (i, bytes) in secret[..384 * P::K].chunks_exact(384).enumerate() {
        unpack::<12, _>(lanes, bytes, &mut values);
        reduce(lanes, &mut values);
        sink(i, &values);
    }
}

/// The `2K + 1` polynomials of an encryption's randomness: `y`, `e1`, `e2`.
pub(super) fn randomness<P: Parameters>(lanes: Lanes, r: &[u8; 32], sink: impl FnMut(usize, &Coeffs)) {
    noise(lanes, r, 2 * P::K + 1, |i| if i < P::K { P::ETA1 } else { 2 }, sink);
}

/// Encrypts `message` with the randomness `r` (algorithm 14). `rows` is the transposed matrix with `t` as its last
/// row.
pub(super) fn encrypt<P: Parameters>(plan: &Plan, rows: &P::Matrix, message: &[u8; 32], r: &[u8; 32], out: &mut [u8]) {
    let mut y = Erased::<P::Vector, _>::filled([0; N / 4]);
    let mut errors = Wiped::new([[0u16; N]; 5]);
    let lanes = Lanes::of(plan.level());
    randomness::<P>(lanes, r, |i, coefficients| match i.checked_sub(P::K) {
        None => plan.forward(coefficients, &mut y.as_mut()[i]),
        Some(i) => errors[i] = *coefficients,
    });
    // One row more than a vector has.
    let mut products = Wiped::new([[0; N / 4]; 5]);
    let products = &mut products[..P::K + 1];
    plan.mat_vec(P::K, rows.as_ref().as_flattened(), y.as_ref().as_flattened(), products.as_flattened_mut());
    let mut sum = Wiped::new([0u16; N]);
    for (i, (product, error)) in products.iter().zip(errors.iter()).enumerate() {
        plan.inverse(product, &mut sum[..]);
        write_row::<P>(lanes, i, &mut sum, error, message, out);
    }
}

levels! {
    /// Adds the error, and the message in the last row, and compresses row `i` into its place in the ciphertext.
    pub(super) fn write_row<P: Parameters>(
        i: usize,
        sum: &mut Coeffs,
        error: &Coeffs,
        message: &[u8; 32],
        out: &mut [u8],
    ) {
        for (sum, error) in sum.iter_mut().zip(error) {
            *sum = add(*sum, *error);
        }
        let (u, v) = out.split_at_mut(32 * P::DU * P::K);
        if i == P::K {
            add_message(message, sum);
            match P::DV {
                4 => pack::<4, _>(sum, v, compress::<4>),
                _ => pack::<5, _>(sum, v, compress::<5>),
            }
        } else {
            let u = &mut u[32 * P::DU * i..][..32 * P::DU];
            match P::DU {
                10 => pack::<10, _>(sum, u, compress::<10>),
                _ => pack::<11, _>(sum, u, compress::<11>),
            }
        }
    }
}

/// Reads polynomial `i` of a ciphertext: `u[i]`, or `v` for `i = K`.
pub(super) fn read_row<P: Parameters>(lanes: Lanes, i: usize, ciphertext: &[u8], out: &mut Coeffs) {
    let (u, v) = ciphertext.split_at(32 * P::DU * P::K);
    if i == P::K {
        match P::DV {
            4 => unpack::<4, _>(lanes, v, out),
            _ => unpack::<5, _>(lanes, v, out),
        }
        decompress_all(lanes, P::DV, out);
    } else {
        let u = &u[32 * P::DU * i..][..32 * P::DU];
        match P::DU {
            10 => unpack::<10, _>(lanes, u, out),
            _ => unpack::<11, _>(lanes, u, out),
        }
        decompress_all(lanes, P::DU, out);
    }
}

levels! {
    fn decompress_all(d: usize, values: &mut Coeffs) {
        values.iter_mut().for_each(|y| *y = decompress(d, *y));
    }
}

/// Decrypts (algorithm 15).
pub(super) fn decrypt<P: Parameters>(plan: &Plan, s: &P::Vector, ciphertext: &[u8], message: &mut [u8; 32]) {
    let lanes = Lanes::of(plan.level());
    let mut u = P::Vector::filled([0; N / 4]);
    let mut coefficients = [0u16; N];
    for (i, u) in u.as_mut().iter_mut().enumerate() {
        read_row::<P>(lanes, i, ciphertext, &mut coefficients);
        plan.forward(&coefficients, u);
    }
    read_row::<P>(lanes, P::K, ciphertext, &mut coefficients);
    let mut product = Wiped::new([0; N / 4]);
    let mut masked = Wiped::new([0u16; N]);
    plan.mat_vec(P::K, u.as_ref().as_flattened(), s.as_ref().as_flattened(), &mut product[..]);
    plan.inverse(&product[..], &mut masked[..]);
    read_message(lanes, &coefficients, &mut masked, message);
}

levels! {
    /// The message of `v - s·u`, which replaces `s·u`.
    pub(super) fn read_message(v: &Coeffs, masked: &mut Coeffs, message: &mut [u8; 32]) {
        for (masked, v) in masked.iter_mut().zip(v) {
            *masked = sub(*v, *masked);
        }
        pack::<1, _>(masked, message, compress::<1>);
    }
}
