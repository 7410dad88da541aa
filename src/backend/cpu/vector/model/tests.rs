//! The kernels of AVX-512 on modelled vectors against the portable kernels: every operation, moduli
//! at the ends of each class, operands at their ends.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::super::{Ifma, Mont16, PairTransform, Shoup32, Transform};
use super::Model;
use crate::arith::{Direction, Word, ntt_primes};
use crate::backend::cpu::avx2::Avx2;
use crate::backend::cpu::direct::Direct;
use crate::backend::cpu::kernels::{Kernels, Lane, Words, WordsMut};
use crate::backend::cpu::scalar;
use crate::ring::ntt::Ntt;
use crate::ring::{Shape, Wrap};

/// Random residues, all at the end, ends in turn, one alone.
fn operands<W: Word>(n: usize, q: u64) -> Vec<Vec<W>> {
    let mut state = q;
    let mut random = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        ((state as u128 * q as u128) >> 64) as u64
    };
    let mut out: Vec<Vec<u64>> = (0..2).map(|_| (0..n).map(|_| random()).collect()).collect();
    out.push(vec![q - 1; n]);
    out.push(vec![q / 2; n]);
    out.push((0..n).map(|i| if i % 2 == 0 { q - 1 } else { 0 }).collect());
    out.push((0..n).map(|i| if i == n - 1 { q - 1 } else { 0 }).collect());
    out.iter().map(|a| a.iter().map(|x| W::from_u64(*x)).collect()).collect()
}

/// All operations of two sets of kernels.
fn compare<T: Lane, S: Lane, W: Word>(ntt: &Ntt, kernels: Box<dyn Kernels<T>>, portable: Box<dyn Kernels<S>>) {
    let (q, n) = (ntt.modulus().value(), ntt.shape().len());
    let what = alloc::format!("q = {q}, {} points, width {}", ntt.shape().points, ntt.shape().width);
    let (x, y) = (Direct::new(kernels, q), Direct::new(portable, q));
    let inputs = operands::<W>(n, q);
    let (mut c, mut d) = (vec![W::from_u64(0); n], vec![W::from_u64(0); n]);
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for (a, b) in inputs.iter().zip(inputs.iter().rev()) {
        x.multiply(a, b, &mut c);
        y.multiply(a, b, &mut d);
        assert!(c == d, "product, {what}");
        x.multiply(a, a, &mut c);
        y.multiply(a, a, &mut d);
        assert!(c == d, "square, {what}");
        let (mut nx, mut ny) = (vec![0; x.ntt_words()], vec![0; y.ntt_words()]);
        x.forward(a, &mut nx);
        y.forward(a, &mut ny);
        x.export(&nx, &mut c);
        y.export(&ny, &mut d);
        assert!(c == d, "forward, {what}");
        x.inverse(&nx, &mut c);
        assert!(c == *a, "inverse, {what}");
        xs.extend(nx);
        ys.extend(ny);
    }
    let columns = inputs.len();
    let (mut nx, mut ny) = (vec![0; x.ntt_words()], vec![0; y.ntt_words()]);
    x.mat_vec(columns, &xs, &xs, &mut nx);
    y.mat_vec(columns, &ys, &ys, &mut ny);
    x.export(&nx, &mut c);
    y.export(&ny, &mut d);
    assert!(c == d, "sum of products, {what}");
}

fn shape(points: usize, width: usize) -> Shape {
    Shape { points, width, wrap: Wrap::Negacyclic }
}

/// Both ends of the primes of some bits for a length.
fn primes(bits: u32, points: usize) -> Vec<u64> {
    [Direction::Descending, Direction::Ascending]
        .into_iter()
        .filter_map(|direction| ntt_primes(bits, 2 * points as u64, 1, direction).ok())
        .flatten()
        .collect()
}

#[test]
fn pairs_of_16_bits() {
    for (q, log) in
        [(257u64, 7), (769, 7), (3329, 7), (7681, 7), (7937, 7), (12289, 7), (12289, 8), (3329, 6), (7681, 8)]
    {
        let ntt = Ntt::new(shape(1 << log, 2), q, None).unwrap();
        let kernels = PairTransform::<Model, 32>::new(Model, &ntt).unwrap();
        let portable = scalar::Transform::<scalar::Mont16>::new(&ntt).unwrap();
        compare::<i16, i16, u16>(&ntt, Box::new(kernels), Box::new(portable));
    }
}

#[test]
fn words_of_16_bits() {
    for (q, log) in [(257u64, 6), (3329, 7), (7681, 8), (12289, 9), (12289, 10), (12289, 11)] {
        for width in if log == 6 { 1..4 } else { 1..2 } {
            let Ok(ntt) = Ntt::new(shape(1 << log, width), q, None) else { continue };
            let kernels = Transform::<Mont16<Model, 32>, 32>::new(Model, &ntt, 1).unwrap();
            let portable = scalar::Transform::<scalar::Mont16>::new(&ntt).unwrap();
            compare::<i16, i16, u16>(&ntt, Box::new(kernels), Box::new(portable));
        }
    }
}

#[test]
fn words_of_52_bits() {
    for bits in [8, 14, 31, 40, 47, 48, 49, 50] {
        for log in [4, 5, 7, 10, 11] {
            for q in primes(bits, 1 << log).into_iter().filter(|q| *q < 1 << 50) {
                for width in if log == 5 { 1..4 } else { 1..2 } {
                    let ntt = Ntt::new(shape(1 << log, width), q, None).unwrap();
                    let kernels = Transform::<Ifma<Model, 8>, 8>::new(Model, &ntt, 1).unwrap();
                    let portable = scalar::Transform::<scalar::Shoup64>::new(&ntt).unwrap();
                    compare::<u64, u64, u64>(&ntt, Box::new(kernels), Box::new(portable));
                }
            }
        }
    }
}

/// Rings whose products are one function must not lose it unnoticed.
#[test]
fn whole_products_are_taken() {
    let ring = |name: &str| Ntt::of_ring(&name.parse().unwrap()).unwrap();
    let (a, mut c) = ([1u16; 256], [0u16; 256]);
    let kem = PairTransform::<Model, 32>::new(Model, &ring("ml-kem")).unwrap();
    assert!(kem.multiply(Words::new(&a), Words::new(&a), WordsMut::new(&mut c)));
    let (b, mut d) = ([1u16; 1024], [0u16; 1024]);
    for name in ["falcon-512", "falcon-1024"] {
        let falcon = Transform::<Mont16<Model, 32>, 32>::new(Model, &ring(name), 1).unwrap();
        assert!(falcon.multiply(Words::new(&b), Words::new(&b), WordsMut::new(&mut d)), "{name}");
    }
    let Some(level) = Avx2::detect() else { return eprintln!("skipped: this CPU lacks AVX2") };
    for name in ["falcon-512", "falcon-1024"] {
        let falcon = Transform::<Mont16<Avx2, 16>, 16>::new(level, &ring(name), 1).unwrap();
        assert!(falcon.multiply(Words::new(&b), Words::new(&b), WordsMut::new(&mut d)), "{name}");
    }
    let kem = PairTransform::<Avx2, 16>::new(level, &ring("ml-kem")).unwrap();
    assert!(kem.multiply(Words::new(&a), Words::new(&a), WordsMut::new(&mut c)));
    let dsa = Transform::<Shoup32<Avx2, 8>, 8>::new(level, &ring("ml-dsa"), 1).unwrap();
    let (a, mut c) = ([1u32; 256], [0u32; 256]);
    assert!(dsa.multiply(Words::new(&a), Words::new(&a), WordsMut::new(&mut c)));
    // Words of another width take the steps.
    let (a, mut c) = ([1u64; 256], [0u64; 256]);
    assert!(!dsa.multiply(Words::new(&a), Words::new(&a), WordsMut::new(&mut c)));
}
