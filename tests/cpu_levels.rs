//! Every level of the CPU backend against the portable one, which has its own tests against the oracle: all
//! operations, all word classes, primes on both sides of every dispatch threshold, all lanes at their ends.

use karat::arith::{Direction, ntt_primes};
use karat::backend::Matrix;
use karat::backend::cpu::Level;
use karat::{Backend, Cpu, RingContext, RingSpec, UserRing};

/// The levels above the portable one that this CPU has; `KARAT_REQUIRE` turns an absent one into a failure.
fn levels() -> Vec<Cpu> {
    let required = std::env::var("KARAT_REQUIRE").unwrap_or_default();
    let mut out = Vec::new();
    for level in [Level::Avx2, Level::Avx512] {
        match Cpu::with_level(level) {
            Ok(cpu) => {
                assert_eq!(cpu.level(), level);
                assert_eq!(cpu.name(), level.name());
                out.push(cpu);
            }
            Err(error) => {
                assert!(!required.split(',').any(|name| name == level.name()), "{error}");
                eprintln!("skipped: {error}");
            }
        }
    }
    out
}

/// A stream of numbers that is the same in every run.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, q: u64) -> u64 {
        ((self.next() as u128 * q as u128) >> 64) as u64
    }
}

/// Operands: random ones, all lanes at both ends, ends in turn, and one lane alone at its end.
fn operands(n: usize, q: u64, seed: u64) -> Vec<Vec<u64>> {
    let mut stream = Stream(seed);
    let mut out: Vec<Vec<u64>> = (0..3).map(|_| (0..n).map(|_| stream.below(q)).collect()).collect();
    out.push(vec![q - 1; n]);
    out.push(vec![q / 2; n]);
    out.push(vec![(q / 2 + 1) % q; n]);
    out.push((0..n).map(|i| if i % 2 == 0 { q - 1 } else { 0 }).collect());
    out.push((0..n).map(|i| if i % 2 == 0 { q / 2 } else { (q / 2 + 1) % q }).collect());
    for at in [0, n / 2, n - 1, seed as usize % n] {
        let mut one = vec![0; n];
        one[at] = q - 1;
        out.push(one);
    }
    out
}

/// All operations of one ring at one level, against the portable level.
fn check(level: Cpu, text: &str) {
    let ring = UserRing::<u64>::new(text.parse::<RingSpec>().unwrap()).unwrap();
    let spec = text.parse::<RingSpec>().unwrap();
    let (n, q) = (spec.n(), spec.q());
    let portable = RingContext::new(Cpu::scalar(), ring.clone()).unwrap();
    let vectors = RingContext::new(level, ring).unwrap();
    let a: Vec<u64> = operands(n, q, 1).concat();
    let b: Vec<u64> = operands(n, q, 2).into_iter().rev().collect::<Vec<_>>().concat();
    let what = |operation: &str| format!("{operation} in {text} at {}", level.name());

    let run = |context: &RingContext<Cpu, UserRing<u64>>| {
        let (a, b) = (context.upload(&a).unwrap(), context.upload(&b).unwrap());
        let batch = a.batch();
        let product = context.mul(&a, &b).unwrap().download().unwrap();
        let (na, nb) = (context.ntt(&a).unwrap(), context.ntt(&b).unwrap());
        let back = context.intt(&na).unwrap().download().unwrap();
        let pointwise = context.intt(&context.pointwise(&na, &nb).unwrap()).unwrap().download().unwrap();
        let sums = context.pointwise_acc(batch, &na, &nb).unwrap();
        let sums = context.intt(&sums).unwrap().download().unwrap();
        let rows = Matrix { batch: 1, rows: 3, columns: 4, shared: false };
        let (m, v) = (context.ntt(&context.upload(&b_slice(&a.download().unwrap(), 12 * n)).unwrap()).unwrap(), {
            context.ntt(&context.upload(&b_slice(&b.download().unwrap(), 4 * n)).unwrap()).unwrap()
        });
        let mat_vec = context.intt(&context.mat_vec(rows, &m, &v).unwrap()).unwrap().download().unwrap();
        let prepared = context.prepare(&nb).unwrap();
        let fixed = context.intt(&context.pointwise_prepared(&na, &prepared).unwrap()).unwrap().download().unwrap();
        let exported = context.export_ntt(&na).ok().map(|values| {
            let again = context.import_ntt(&values).unwrap();
            let again = context.intt(&again).unwrap().download().unwrap();
            (values.download().unwrap(), again)
        });
        (product, back, pointwise, sums, mat_vec, fixed, exported)
    };
    let (expected, got) = (run(&portable), run(&vectors));
    assert!(got.1 == a, "{}", what("round trip"));
    assert!(got.0 == expected.0, "{}", what("product"));
    assert!(got.2 == expected.2, "{}", what("pointwise product"));
    assert!(got.3 == expected.3, "{}", what("sum of products"));
    assert!(got.4 == expected.4, "{}", what("matrix times vector"));
    assert!(got.5 == expected.5, "{}", what("prepared product"));
    assert!(got.6 == expected.6, "{}", what("export or import"));
    if let Some((_, again)) = got.6 {
        assert!(again == a, "{}", what("import"));
    }
}

fn b_slice(values: &[u64], len: usize) -> Vec<u64> {
    values.iter().cycle().take(len).copied().collect()
}

fn check_all(texts: &[String]) {
    for level in levels() {
        for text in texts {
            check(level, text);
        }
    }
}

/// The largest and the least prime of `bits` bits with `q = 1 mod 2n`.
fn primes(bits: u32, n: usize) -> Vec<u64> {
    [Direction::Descending, Direction::Ascending]
        .into_iter()
        .filter(|direction| bits < 62 || *direction == Direction::Descending)
        .filter_map(|direction| ntt_primes(bits, 2 * n as u64, 1, direction).ok())
        .flatten()
        .collect()
}

#[test]
fn standard_rings() {
    let names = ["ml-kem", "ml-dsa", "falcon-512", "falcon-1024", "newhope-1024", "haetae", "raccoon"];
    check_all(&names.map(String::from));
}

#[test]
fn lifted_rings() {
    let names = [
        "saber",
        "smaug-t-128",
        "ntru-hps2048509",
        "ntru-hps2048677",
        "ntru-hrss701",
        "ntru-hps4096821",
        "sntrup653",
        "sntrup761",
        "sntrup857",
        "sntrup1277",
        "ntruplus-576",
        "ntruplus-768",
        "ntruplus-864",
        "ntruplus-1152",
    ];
    check_all(&names.map(String::from));
    check_all(
        &[
            "q=17,f=x^16384+1",
            "q=2305843009213693952,f=x^256+1",
            "n=1000,q=1000,f=x^1000-1",
            "n=100,q=97,f=x^100+3x^7+5",
            "q=4611686018427387903,f=x^300-x-1",
            "q=2,f=x^64+1",
            "q=2,f=x+1",
            "q=1073741824,f=x^96-1",
            "q=65536,f=x^2048+1",
        ]
        .map(String::from),
    );
}

#[test]
fn every_length() {
    let mut texts = Vec::new();
    for log in 0..=14 {
        let n = 1usize << log;
        for q in [12289u64, 8380417, 786433, 1152921504606584833, 4611686018326724609, 1125899904679937] {
            texts.push(format!("q={q},f=x^{n}+1"));
        }
    }
    check_all(&texts);
}

/// Polynomials that do not fill vectors alone go through them side by side; batches with and without a rest.
#[test]
fn batches_of_short_polynomials() {
    for level in levels() {
        for n in [1usize, 2, 4, 8, 16, 32] {
            for q in [257u64, 12289, 8380417, 1073479681, 2147473409, 1125899904679937, 1152921504606584833] {
                for batch in [1, 31, 32, 100] {
                    let ring = UserRing::<u64>::new(format!("q={q},f=x^{n}+1").parse::<RingSpec>().unwrap()).unwrap();
                    let words = |seed| operands(n * batch, q, seed).remove(seed as usize);
                    let product = |cpu| {
                        let context = RingContext::new(cpu, ring.clone()).unwrap();
                        let (a, b) = (context.upload(&words(1)).unwrap(), context.upload(&words(3)).unwrap());
                        context.mul(&a, &b).unwrap().download().unwrap()
                    };
                    assert!(product(level) == product(Cpu::scalar()), "{batch} products, N = {n}, q = {q}");
                }
            }
        }
    }
}

#[test]
fn long_lengths() {
    let mut texts = Vec::new();
    for log in [15, 16, 17] {
        let n = 1usize << log;
        for bits in [30, 50, 60] {
            texts.extend(primes(bits, n).iter().take(1).map(|q| format!("q={q},f=x^{n}+1")));
        }
    }
    check_all(&texts);
}

#[test]
fn primes_at_every_threshold() {
    let mut texts = Vec::new();
    for bits in [8, 9, 13, 14, 15, 16, 17, 23, 28, 29, 30, 31, 32, 33, 40, 48, 49, 50, 51, 52, 53, 58, 59, 60, 61, 62] {
        for n in [64usize, 128, 256, 1024, 4096] {
            texts.extend(primes(bits, n).iter().map(|q| format!("q={q},f=x^{n}+1")));
        }
    }
    check_all(&texts);
}

#[test]
fn every_width() {
    let mut texts = Vec::new();
    for q in [257u64, 3329, 7681, 12289, 8380417, 1073479681, 1125899904679937, 1152921504606584833] {
        for (n, alphas) in [(256usize, 9), (512, 5), (1024, 4)] {
            texts.extend((0..alphas).map(|alpha| format!("q={q},f=x^{n}+1,alpha={alpha}")));
        }
        texts.push(format!("q={q},f=x^384+1"));
        texts.push(format!("q={q},f=x^640+1"));
        texts.push(format!("q={q},f=x^1536+1"));
        texts.push(format!("q={q},f=x^512-1"));
        texts.push(format!("q={q},f=x^768-1"));
    }
    texts.retain(|text| text.parse::<RingSpec>().is_ok());
    assert!(texts.len() > 60, "{}", texts.len());
    check_all(&texts);
}

#[test]
fn absent_levels_are_errors_that_name_features() {
    for level in [Level::Avx2, Level::Avx512] {
        let missing = level.missing();
        match Cpu::with_level(level) {
            Ok(_) => assert!(missing.is_empty()),
            Err(error) => assert!(missing.iter().all(|feature| error.to_string().contains(feature)), "{error}"),
        }
    }
}
