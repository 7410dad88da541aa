//! What is compared.

use std::hint::black_box;

use karat::arith::{Direction, ntt_primes};
use karat::backend::cpu::{Level, Plan};
use karat::ring::presets::{MlDsa, MlKem};
use karat::{Cpu, RingMul, RingSpec, UserRing};

use crate::Bench;
use crate::floor::Class;
use crate::peers::{self, Dsa, Kem, Poly};

/// A stream of residues that is the same in every run.
fn residues(len: usize, q: u64, seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state as u128 * q as u128) >> 64) as u64
        })
        .collect()
}

/// Words at the start of a cache line, as karat's own buffers have them; kept for the rest of the run.
fn aligned<W: Copy>(words: Vec<W>, zero: W) -> &'static mut [W] {
    let memory = vec![zero; words.len() + 64].leak();
    let start = memory.as_ptr().align_offset(64);
    let out = &mut memory[start..][..words.len()];
    out.copy_from_slice(&words);
    out
}

/// All levels that this CPU has, or the one that `KARAT_BACKEND` names.
fn levels() -> Vec<Cpu> {
    let forced = std::env::var("KARAT_BACKEND").ok();
    let wanted = |level: &Level| forced.as_ref().is_none_or(|name| name == level.name());
    let levels = Level::ALL.into_iter().filter(wanted);
    levels.filter_map(|level| Cpu::with_level(level).ok()).map(Cpu::single_threaded).collect()
}

pub fn all(bench: &mut Bench) {
    for cpu in levels() {
        ml_kem(bench, cpu);
        ml_dsa(bench, cpu);
        for ring in ["falcon-512", "falcon-1024", "saber", "ntru-hps2048677", "sntrup761"] {
            against_scalar(bench, cpu, ring);
        }
        for log in [10, 13, 16] {
            prime32(bench, cpu, 1 << log);
            prime64(bench, cpu, 1 << log, 50);
            prime64(bench, cpu, 1 << log, 60);
        }
    }
}

fn ml_kem(bench: &mut Bench, cpu: Cpu) {
    let plan = cpu.plan(&MlKem).unwrap();
    let (a, b) = (residues(256, 3329, 1), residues(256, 3329, 2));
    let words = |x: &[u64]| Poly::<u16, 256>(core::array::from_fn(|i| x[i] as u16));
    let kem = |x: &[u64]| -> Kem { Poly(core::array::from_fn(|i| x[i] as i16)) };
    let (aw, bw, mut c) = (words(&a), words(&b), words(&a));
    if bench.wants("ml-kem product") {
        let (mut ka, mut kb, mut kc) = (kem(&a), kem(&b), kem(&a));
        peers::kem_product(&mut ka, &mut kb, &mut kc);
        plan.multiply(&aw.0, &bw.0, &mut c.0);
        // The C code leaves the factor 2^-16 of base multiplication and 2^16 of the inverse: none.
        assert!(kc.0.iter().zip(&c.0).all(|(x, y)| (*x as i64).rem_euclid(3329) == *y as i64));
        bench.row(
            "ml-kem product",
            cpu,
            Some((3 * 7 * 128, Class::Word16)),
            "pqcrypto C",
            || plan.multiply(black_box(&aw.0), black_box(&bw.0), black_box(&mut c.0)),
            || peers::kem_product(black_box(&mut ka), black_box(&mut kb), black_box(&mut kc)),
        );
    }
    let ntt = aligned(vec![0u64; plan.ntt_words()], 0);
    if bench.wants("ml-kem forward") {
        let mut ka = kem(&a);
        bench.row(
            "ml-kem forward",
            cpu,
            Some((7 * 128, Class::Word16)),
            "pqcrypto C",
            || plan.forward(black_box(&aw.0), black_box(&mut *ntt)),
            || peers::kem_ntt(black_box(&mut ka)),
        );
    }
    if bench.wants("ml-kem inverse") {
        let mut ka = kem(&a);
        plan.forward(&aw.0, ntt);
        bench.row(
            "ml-kem inverse",
            cpu,
            Some((7 * 128, Class::Word16)),
            "pqcrypto C",
            || plan.inverse(black_box(&*ntt), black_box(&mut c.0)),
            || peers::kem_inverse(black_box(&mut ka)),
        );
    }
    if bench.wants("ml-kem k=3 products") {
        let (ka, mut kc) = ([kem(&a), kem(&b), kem(&a)], kem(&a));
        let kb = ka;
        let ntt_words = plan.ntt_words();
        let matrix = aligned(vec![0u64; 3 * ntt_words], 0);
        let vector = aligned(matrix.to_vec(), 0);
        for (i, x) in [&aw.0, &bw.0, &aw.0].into_iter().enumerate() {
            plan.forward(x, &mut matrix[i * ntt_words..][..ntt_words]);
            plan.forward(x, &mut vector[i * ntt_words..][..ntt_words]);
        }
        bench.row(
            "ml-kem k=3 products",
            cpu,
            None,
            "pqcrypto C",
            || plan.mat_vec(3, black_box(&*matrix), black_box(&*vector), black_box(&mut *ntt)),
            || peers::kem_dot(black_box(&ka), black_box(&kb), black_box(&mut kc)),
        );
    }
}

fn ml_dsa(bench: &mut Bench, cpu: Cpu) {
    if !bench.wants("ml-dsa product") {
        return;
    }
    let q = 8380417;
    let plan = cpu.plan(&MlDsa).unwrap();
    let (a, b) = (residues(256, q, 1), residues(256, q, 2));
    let words = |x: &[u64]| Poly::<u32, 256>(core::array::from_fn(|i| x[i] as u32));
    let dsa = |x: &[u64]| -> Dsa { Poly(core::array::from_fn(|i| x[i] as i32)) };
    let (aw, bw, mut c) = (words(&a), words(&b), words(&a));
    let (mut da, mut db, mut dc) = (dsa(&a), dsa(&b), dsa(&a));
    peers::dsa_product(&mut da, &mut db, &mut dc);
    plan.multiply(&aw.0, &bw.0, &mut c.0);
    assert!(dc.0.iter().zip(&c.0).all(|(x, y)| (*x as i64).rem_euclid(q as i64) == *y as i64));
    bench.row(
        "ml-dsa product",
        cpu,
        Some((3 * 8 * 128, Class::Lazy32)),
        "pqcrypto C",
        || plan.multiply(black_box(&aw.0), black_box(&bw.0), black_box(&mut c.0)),
        || peers::dsa_product(black_box(&mut da), black_box(&mut db), black_box(&mut dc)),
    );
}

/// Products in rings that no peer multiplies in, beside the scalar level.
fn against_scalar(bench: &mut Bench, cpu: Cpu, name: &str) {
    let row = format!("{name} product");
    if !bench.wants(&row) || cpu.level() == Level::Scalar {
        return;
    }
    let spec: RingSpec = name.parse().unwrap();
    let (n, q) = (spec.n(), spec.q());
    let ring = UserRing::<u16>::new(spec).unwrap();
    let (own, scalar) = (cpu.plan(&ring).unwrap(), Cpu::scalar().plan(&ring).unwrap());
    let words = |seed| residues(n, q, seed).iter().map(|x| *x as u16).collect::<Vec<_>>();
    let (a, b, mut c, mut d) = (words(1), words(2), vec![0u16; n], vec![0u16; n]);
    own.multiply(&a, &b, &mut c);
    scalar.multiply(&a, &b, &mut d);
    assert_eq!(c, d);
    bench.row(
        &row,
        cpu,
        None,
        "karat scalar",
        || own.multiply(black_box(&a), black_box(&b), black_box(&mut c)),
        || scalar.multiply(black_box(&a), black_box(&b), black_box(&mut d)),
    );
}

fn ring<W: karat::arith::Word>(n: usize, bits: u32) -> (UserRing<W>, u64) {
    let q = ntt_primes(bits, 2 * n as u64, 1, Direction::Descending).unwrap()[0];
    (UserRing::new(RingSpec::negacyclic(n, q).unwrap()).unwrap(), q)
}

/// `log2 N` for a name.
fn name(op: &str, bits: u32, n: usize) -> String {
    format!("{op} {bits}-bit 2^{}", n.ilog2())
}

fn forward_of<W: karat::arith::Word>(plan: &Plan, a: &[W], ntt: &mut [u64]) {
    plan.forward(black_box(a), black_box(ntt));
}

macro_rules! prime {
    ($f:ident, $W:ty, $module:ident, ($($bits:ident)?)) => {
        fn $f(bench: &mut Bench, cpu: Cpu, n: usize $(, $bits: u32)?) {
            #[allow(unused_variables)]
            let bits = 30;
            $(let bits = $bits;)?
            let class = match bits {
                30 => Class::Word32,
                50 => Class::Word50,
                _ => Class::Word60,
            };
            let butterflies = n / 2 * n.ilog2() as usize;
            let (ring, q) = ring::<$W>(n, bits);
            let plan = cpu.plan(&ring).unwrap();
            let peer = tfhe_ntt::$module::Plan::try_new(n, q as $W).unwrap();
            let words = |seed| residues(n, q, seed).iter().map(|x| *x as $W).collect::<Vec<_>>();
            let of = |words: Vec<$W>| aligned(words, 0);
            let (a, b, c) = (of(words(1)), of(words(2)), of(vec![0; n]));
            let ntt = aligned(vec![0u64; plan.ntt_words()], 0);
            let row = name("forward", bits, n);
            if bench.wants(&row) {
                let pa = of(a.to_vec());
                bench.row(
                    &row,
                    cpu,
                    Some((butterflies, class)),
                    "tfhe-ntt",
                    || forward_of(&plan, a, ntt),
                    || peer.fwd(black_box(&mut *pa)),
                );
            }
            let row = name("inverse", bits, n);
            if bench.wants(&row) {
                let pa = of(a.to_vec());
                plan.forward(a, ntt);
                bench.row(
                    &row,
                    cpu,
                    Some((butterflies, class)),
                    "tfhe-ntt",
                    || plan.inverse(black_box(&*ntt), black_box(&mut *c)),
                    || peer.inv(black_box(&mut *pa)),
                );
            }
            let row = name("product", bits, n);
            if bench.wants(&row) {
                let (pa, pb) = (of(a.to_vec()), of(b.to_vec()));
                let product = |pa: &mut [$W], pb: &mut [$W]| {
                    peer.fwd(pa);
                    peer.fwd(pb);
                    peer.mul_assign_normalize(pa, pb);
                    peer.inv(pa);
                };
                product(pa, pb);
                plan.multiply(&*a, b, c);
                assert_eq!(pa, c);
                bench.row(
                    &row,
                    cpu,
                    Some((3 * butterflies, class)),
                    "tfhe-ntt",
                    || plan.multiply(black_box(&*a), black_box(b), black_box(&mut *c)),
                    || product(black_box(&mut *pa), black_box(&mut *pb)),
                );
            }
        }
    };
}

prime!(prime32, u32, prime32, ());
prime!(prime64, u64, prime64, (bits));
