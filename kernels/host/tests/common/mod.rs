//! What every test of a device needs: deterministic operands, and the comparison of two backends.
#![allow(dead_code)]

pub mod faulty;
pub mod streams;

use karat::backend::Matrix;
use karat::{Backend, Cpu, Ring, RingContext, RingMul, RingSpec, UserRing, arith::Word};

/// A generator of test data (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Canonical residues: random ones, or all `q - 1` where `extreme`.
    pub fn residues<W: Word>(&mut self, count: usize, q: u64, extreme: bool) -> Vec<W> {
        (0..count).map(|_| W::from_u64(if extreme { q - 1 } else { self.next() % q })).collect()
    }
}

/// Every operation of a backend against the scalar CPU.
pub fn agree<B>(backend: &B, text: &str, batch: usize)
where
    B: RingMul<UserRing<u16>> + RingMul<UserRing<u32>> + RingMul<UserRing<u64>>,
{
    let spec: RingSpec = text.parse().unwrap();
    match spec.word_bits() {
        16 => agree_in::<B, u16>(backend, spec, batch),
        32 => agree_in::<B, u32>(backend, spec, batch),
        _ => agree_in::<B, u64>(backend, spec, batch),
    }
}

/// Matrices of several shapes, each item its own or one for all.
pub fn matrices<R: Ring>(backend: &impl RingMul<R>, ring: R, batch: usize) {
    let (n, q) = (ring.spec().n(), ring.spec().q());
    let device = RingContext::new(backend.clone(), ring.clone()).unwrap();
    let cpu = RingContext::new(Cpu::new(), ring).unwrap();
    let mut random = Random(q);
    for (rows, columns, shared) in [(3, 3, false), (3, 3, true), (2, 5, false), (1, 7, false), (4, 1, true)] {
        let shape = Matrix { batch, rows, columns, shared };
        let (matrices, vectors, _) = shape.lengths();
        let a: Vec<R::Word> = random.residues(matrices * n, q, false);
        let b: Vec<R::Word> = random.residues(vectors * n, q, rows == 1);
        let (da, db) =
            (device.ntt(&device.upload(&a).unwrap()).unwrap(), device.ntt(&device.upload(&b).unwrap()).unwrap());
        let got = device.intt(&device.mat_vec(shape, &da, &db).unwrap()).unwrap().download().unwrap();
        let (ca, cb) = (cpu.ntt(&cpu.upload(&a).unwrap()).unwrap(), cpu.ntt(&cpu.upload(&b).unwrap()).unwrap());
        let expected = cpu.intt(&cpu.mat_vec(shape, &ca, &cb).unwrap()).unwrap().download().unwrap();
        assert!(got == expected, "{shape:?} modulo {q}");
    }
}

/// Only whole products: random ones, all `q - 1`, and single coefficients of `q - 1` at both ends.
pub fn products_agree<W: Word>(backend: &impl RingMul<UserRing<W>>, text: &str, batch: usize) {
    let spec: RingSpec = text.parse().unwrap();
    let (n, q) = (spec.n(), spec.q());
    let ring = UserRing::<W>::new(spec).unwrap();
    let device = RingContext::new(backend.clone(), ring.clone()).unwrap();
    let cpu = RingContext::new(Cpu::new(), ring).unwrap();
    let mut random = Random(n as u64 ^ q);
    let mut ends = vec![W::default(); batch * n];
    (ends[0], ends[batch * n - 1]) = (W::from_u64(q - 1), W::from_u64(q - 1));
    let top = random.residues::<W>(batch * n, q, true);
    for (a, b) in [
        (random.residues(batch * n, q, false), random.residues(batch * n, q, false)),
        (top.clone(), top),
        (ends.clone(), ends),
    ] {
        let got = device.mul(&device.upload(&a).unwrap(), &device.upload(&b).unwrap()).unwrap().download().unwrap();
        let expected = cpu.mul(&cpu.upload(&a).unwrap(), &cpu.upload(&b).unwrap()).unwrap().download().unwrap();
        let wrong = got.iter().zip(&expected).position(|(x, y)| x != y);
        assert_eq!(wrong, None, "{text}: the first wrong coefficient");
    }
}

pub fn agree_in<B: RingMul<UserRing<W>>, W: Word>(backend: &B, spec: RingSpec, batch: usize) {
    let (n, q) = (spec.n(), spec.q());
    let name = format!("{spec} on {} (batch {batch})", Backend::name(backend));
    let ring = UserRing::<W>::new(spec).unwrap();
    let device = RingContext::new(backend.clone(), ring.clone()).unwrap();
    let cpu = RingContext::new(Cpu::scalar(), ring).unwrap();
    let mut random = Random(n as u64 ^ q);
    for extreme in [false, true] {
        let a: Vec<W> = random.residues(batch * n, q, extreme);
        let b: Vec<W> = random.residues(batch * n, q, extreme);
        run(&device, &cpu, &name, batch, n, &a, &b);
    }
}

fn run<B: RingMul<R>, R: Ring>(
    device: &RingContext<B, R>,
    cpu: &RingContext<Cpu, R>,
    name: &str,
    batch: usize,
    n: usize,
    a: &[R::Word],
    b: &[R::Word],
) {
    let (da, db) = (device.upload(a).unwrap(), device.upload(b).unwrap());
    let (ca, cb) = (cpu.upload(a).unwrap(), cpu.upload(b).unwrap());
    let expected = cpu.mul(&ca, &cb).unwrap().download().unwrap();
    let same = |what: &str, got: Vec<R::Word>, expected: &[R::Word]| {
        if let Some(i) = got.iter().zip(expected).position(|(x, y)| x != y) {
            panic!("{name}, {what}: polynomial {} coefficient {}: {} for {}", i / n, i % n, got[i], expected[i]);
        }
        assert_eq!(got.len(), expected.len());
    };
    same("mul", device.mul(&da, &db).unwrap().download().unwrap(), &expected);
    let (fa, fb) = (device.ntt(&da).unwrap(), device.ntt(&db).unwrap());
    same("intt(ntt)", device.intt(&fa).unwrap().download().unwrap(), a);
    let product = device.pointwise(&fa, &fb).unwrap();
    same("pointwise", device.intt(&product).unwrap().download().unwrap(), &expected);
    let prepared = device.prepare(&fb).unwrap();
    let product = device.pointwise_prepared(&fa, &prepared).unwrap();
    same("pointwise_prepared", device.intt(&product).unwrap().download().unwrap(), &expected);
    // The batch as one matrix of one row, as one column, and as a shared matrix.
    let (cfa, cfb) = (cpu.ntt(&ca).unwrap(), cpu.ntt(&cb).unwrap());
    for (shape, what) in [
        (Matrix { batch: 1, rows: 1, columns: batch, shared: false }, "mat_vec of one row"),
        (Matrix { batch, rows: 1, columns: 1, shared: false }, "mat_vec of single entries"),
        (Matrix { batch, rows: 1, columns: 1, shared: true }, "mat_vec of a shared entry"),
    ] {
        let one = |x: &[R::Word]| x[..n].to_vec();
        if shape.shared {
            let shared = device.ntt(&device.upload(&one(a)).unwrap()).unwrap();
            let expected = cpu.mat_vec(shape, &cpu.ntt(&cpu.upload(&one(a)).unwrap()).unwrap(), &cfb).unwrap();
            let got = device.mat_vec(shape, &shared, &fb).unwrap();
            same(
                what,
                device.intt(&got).unwrap().download().unwrap(),
                &cpu.intt(&expected).unwrap().download().unwrap(),
            );
        } else {
            let expected = cpu.mat_vec(shape, &cfa, &cfb).unwrap();
            let got = device.mat_vec(shape, &fa, &fb).unwrap();
            same(
                what,
                device.intt(&got).unwrap().download().unwrap(),
                &cpu.intt(&expected).unwrap().download().unwrap(),
            );
        }
    }
    match (cpu.export_ntt(&cfa), device.export_ntt(&fa)) {
        (Ok(expected), Ok(got)) => {
            let expected = expected.download().unwrap();
            same("export_ntt", got.download().unwrap(), &expected);
            let imported = device.import_ntt(&device.upload(&expected).unwrap()).unwrap();
            same("import_ntt", device.intt(&imported).unwrap().download().unwrap(), a);
        }
        (Err(expected), Err(got)) => assert_eq!(expected, got, "{name}"),
        _ => panic!("{name}: one backend exports, the other does not"),
    }
}

/// Rings of every method, word class and shape, small enough for an emulated device.
pub const RINGS: &[&str] = &[
    "ml-kem",
    "ml-dsa",
    "falcon-512",
    "falcon-1024",
    "haetae",
    "raccoon",
    "saber",
    "smaug-t-128",
    "ntru-hps2048509",
    "ntru-hrss701",
    "sntrup761",
    "sntrup1277",
    "ntruplus-576",
    "ntruplus-864",
    "q=17,f=x+1",
    "q=17,f=x^2+1",
    "q=17,f=x^4+1",
    "q=17,f=x^8+1",
    "q=2,f=x+1",
    "q=3,f=x-1",
    "q=2,f=x^64+1",
    "q=257,f=x^1024+1",
    "q=12289,f=x^1536+1",
    "q=257,f=x^256-1",
    "q=193,f=x^96-1",
    "q=17,f=x^16-1",
    "q=1000,f=x^1000-1",
    "q=97,f=x^100+3x^7+5",
    "q=4611686018427387903,f=x^33+x^32+7",
    "q=4611686018427387847,f=x^64+1",
    "q=18721,f=x^24+1",
    "q=37249,f=x^32+1",
    "q=17,f=x^64+1,alpha=5",
    "q=12289,f=x^512+1,alpha=4",
    "q=1073479681,f=x^256+1",
    "q=1073750017,f=x^256+1",
    "q=4611686018326724609,f=x^512+1",
    "q=576460752303415297,f=x^512+1",
    "q=2305843009213693952,f=x^2+1",
];
