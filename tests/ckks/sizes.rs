//! Every operation's error against its estimate, length by length; and many operations one behind the other.

use karat::ckks::{Ciphertext, Complex64, Noise};
use karat::rns::RnsMul;

use crate::setup::{Setup, literal, measured, random, values};

fn map(a: &[Complex64], b: &[Complex64], op: impl Fn(Complex64, Complex64) -> Complex64) -> Vec<Complex64> {
    a.iter().zip(b).map(|(a, b)| op(*a, *b)).collect()
}

/// Within one bit of what the estimates say, on operands of absolute value 1.
pub fn every_operation<B: RnsMul<u64>>(backend: B, log_n: u32) {
    let setup = Setup::new(backend, &literal(log_n, 2), |plan| plan.rotations(&[1, -3]).conjugation());
    let parameters = setup.ckks.parameters();
    let (noise, slots) = (Noise::new(parameters), parameters.slots());
    let unit = |phase: f64| -> Vec<Complex64> {
        (0..slots).map(|j| Complex64::from_polar(1.0, 2.4 * j as f64 + phase)).collect()
    };
    let (a, b) = (unit(0.0), unit(1.0));
    let encrypt = |values: &[Complex64], seed| {
        let plaintext = setup.ckks.encode(values).unwrap();
        setup.ckks.encrypt_secret_with(&plaintext, &setup.secret, &mut random(seed)).unwrap()
    };
    let (x, y) = (encrypt(&a, 5), encrypt(&b, 6));
    let near = |what: &str, result: &Ciphertext<B>, wanted: &[Complex64], deviation: f64| {
        let expected = noise.slot_bits(deviation, result.scale(), slots);
        let got = measured(wanted, &setup.decrypt(result));
        assert!((got - expected).abs() < 1.0, "{what}, N = 2^{log_n}: {got} bits where {expected} were expected");
    };
    let (fresh, public) = (noise.fresh_secret(), noise.fresh_public());
    let both = Noise::both(fresh, fresh);
    near("encrypt", &setup.encrypt(&a), &a, public);
    near("encrypt_secret", &x, &a, fresh);
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let manual = setup.ckks.manual_evaluator(&setup.keys).unwrap();
    near("add", &evaluator.add(&x, &y).unwrap(), &map(&a, &b, |a, b| a + b), both);
    near("sub", &evaluator.sub(&x, &y).unwrap(), &map(&a, &b, |a, b| a - b), both);
    near("neg", &evaluator.neg(&x).unwrap(), &map(&a, &b, |a, _| -a), fresh);
    near("multiply_i", &evaluator.multiply_i(&x).unwrap(), &map(&a, &b, |a, _| Complex64::i() * a), fresh);
    let switched = Noise::both(noise.key_switch(2), fresh);
    let turned = |step: usize| -> Vec<_> { (0..slots).map(|j| a[(j + step) % slots]).collect() };
    near("rotate", &evaluator.rotate(&x, 1).unwrap(), &turned(1), switched);
    near("conjugate", &evaluator.conjugate(&x).unwrap(), &map(&a, &b, |a, _| a.conj()), switched);
    let hoisted = evaluator.rotate_hoisted(&x, &[0, 1, -3]).unwrap();
    near("rotate_hoisted by 0", &hoisted[0], &a, fresh);
    near("rotate_hoisted by 1", &hoisted[1], &turned(1), switched);
    near("rotate_hoisted by -3", &hoisted[2], &turned(slots - 3), switched);
    // Factors of absolute value 1 leave each error as large as it was.
    let product = map(&a, &b, |a, b| a * b);
    let rounded = |deviation| Noise::both(deviation, noise.rescale());
    near("multiply", &evaluator.multiply(&x, &y).unwrap(), &product, rounded(both));
    let three = manual.multiply(&x, &y).unwrap();
    let scaled = |deviation: f64| deviation * x.scale().log2().exp2();
    near("multiply, three parts", &three, &product, scaled(both));
    near("relinearise", &manual.relinearise(&three).unwrap(), &product, scaled(both));
    let two = manual.relinearise(&three).unwrap();
    near("rescale", &manual.rescale(&two).unwrap(), &product, rounded(both));
    near("square", &evaluator.square(&x).unwrap(), &map(&a, &a, |a, b| a * b), rounded(2.0 * fresh));
    let factor = evaluator.encode_factor(&b, &x).unwrap();
    let by_plain = evaluator.multiply_plain(&x, &factor).unwrap();
    near("multiply_plain", &by_plain, &product, rounded(fresh));
    let addend = evaluator.encode_addend(&b, &x).unwrap();
    near("add_plain", &evaluator.add_plain(&x, &addend).unwrap(), &map(&a, &b, |a, b| a + b), fresh);
    let half = evaluator.multiply_scalar(&x, 0.5).unwrap();
    near("multiply_scalar", &half, &map(&a, &b, |a, _| 0.5 * a), rounded(0.5 * fresh));
}

/// Ten thousand mixed operations take no more memory than the first few did, and come out right to the end.
pub fn ten_thousand_operations<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 3), |plan| plan.rotations(&[1, 2]));
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let a = values(512, 0.5);
    let x = setup.encrypt(&a);
    let round = || {
        let square = evaluator.square(&x).unwrap();
        let sum = evaluator.add(&square, &evaluator.rotate(&x, 1).unwrap()).unwrap();
        let hoisted = evaluator.rotate_hoisted(&sum, &[1, 2]).unwrap();
        let product = evaluator.multiply(&hoisted[0], &hoisted[1]).unwrap();
        let shifted = evaluator.add_scalar(&product, 1.0).unwrap();
        evaluator.sub(&shifted, &product).unwrap()
    };
    /// Operations of a round.
    const ROUND: usize = 8;
    let ones = vec![Complex64::new(1.0, 0.0); 512];
    let mut idle = None;
    for i in 0..10_000_usize.div_ceil(ROUND) {
        let last = round();
        if i % 100 == 0 {
            setup.expect(&last, &ones, 20.0);
        }
        drop(last);
        if i == 1 {
            idle = Some(setup.ckks.idle_words());
        }
        assert!(i < 1 || idle == Some(setup.ckks.idle_words()), "round {i} took new memory");
    }
}
