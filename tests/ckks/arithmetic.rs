//! Every operation against plain complex arithmetic, and errors against their estimates.

use karat::ckks::{Chain, Complex64, Literal, Noise, Plaintext, Special};
use karat::rns::RnsMul;

use crate::setup::{Setup, literal, measured, random, values};

fn zip(a: &[Complex64], b: &[Complex64], op: impl Fn(Complex64, Complex64) -> Complex64) -> Vec<Complex64> {
    a.iter().zip(b).map(|(a, b)| op(*a, *b)).collect()
}

pub fn sums_and_products<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(11, 3), |plan| plan.conjugation());
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let (a, b) = (values(1024, 0.0), values(1024, 1.0));
    let (x, y) = (setup.encrypt(&a), setup.encrypt(&b));
    setup.expect(&evaluator.add(&x, &y).unwrap(), &zip(&a, &b, |a, b| a + b), 26.0);
    setup.expect(&evaluator.sub(&x, &y).unwrap(), &zip(&a, &b, |a, b| a - b), 26.0);
    setup.expect(&evaluator.neg(&x).unwrap(), &zip(&a, &a, |a, _| -a), 26.0);
    setup.expect(&evaluator.conjugate(&x).unwrap(), &zip(&a, &a, |a, _| a.conj()), 26.0);
    setup.expect(&evaluator.multiply_i(&x).unwrap(), &zip(&a, &a, |a, _| Complex64::i() * a), 26.0);
    let product = evaluator.multiply(&x, &y).unwrap();
    assert_eq!((product.level(), product.parts()), (2, 2));
    setup.expect(&product, &zip(&a, &b, |a, b| a * b), 25.0);
    setup.expect(&evaluator.square(&y).unwrap(), &zip(&b, &b, |b, _| b * b), 25.0);

    // Three parts, in manual mode: decrypted as they are, summed with two parts on either side.
    let manual = setup.ckks.manual_evaluator(&setup.keys).unwrap();
    let three = manual.multiply(&x, &y).unwrap();
    assert_eq!((three.level(), three.parts()), (3, 3));
    setup.expect(&three, &zip(&a, &b, |a, b| a * b), 25.0);
    let squared = manual.square(&x).unwrap();
    let two = manual.relinearise(&squared).unwrap();
    setup.expect(&manual.sub(&three, &squared).unwrap(), &zip(&a, &b, |a, b| a * b - a * a), 24.0);
    setup.expect(&manual.sub(&three, &two).unwrap(), &zip(&a, &b, |a, b| a * b - a * a), 24.0);
    setup.expect(&manual.sub(&two, &three).unwrap(), &zip(&a, &b, |a, b| a * a - a * b), 24.0);
    setup.expect(&manual.add(&two, &three).unwrap(), &zip(&a, &b, |a, b| a * a + a * b), 24.0);
    setup.expect(&manual.rescale(&three).unwrap(), &zip(&a, &b, |a, b| a * b), 24.0);
}

pub fn plain_operands<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 3), |plan| plan);
    let (a, b) = (values(512, 0.5), values(512, 2.0));
    for evaluator in [setup.ckks.evaluator(&setup.keys), setup.ckks.manual_evaluator(&setup.keys)] {
        let evaluator = evaluator.unwrap();
        let mut x = setup.encrypt(&a);
        for level in (1..=3).rev() {
            // Also for a plaintext at a higher level.
            let addend = setup.ckks.encode_at(&b, 3, x.scale()).unwrap();
            setup.expect(&evaluator.add_plain(&x, &addend).unwrap(), &zip(&a, &b, |a, b| a + b), 24.0);
            setup.expect(&evaluator.sub_plain(&x, &addend).unwrap(), &zip(&a, &b, |a, b| a - b), 24.0);
            let factor: Plaintext<_, _> = evaluator.encode_factor(&b, &x).unwrap();
            let product = evaluator.multiply_plain(&x, &factor).unwrap();
            setup.expect(&product, &zip(&a, &b, |a, b| a * b), 24.0);
            x = evaluator.multiply_scalar(&x, 0.999_999_999_999).unwrap();
            if x.level() == level {
                x = evaluator.rescale(&x).unwrap();
            }
            assert_eq!(x.level(), level - 1);
        }
    }
}

pub fn scalars<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 2), |plan| plan);
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let a = values(512, 0.5);
    let x = setup.encrypt(&a);
    let scalars = [(0.0, 0.0), (1.0, 0.0), (-3.0, 2.0), (0.25, 0.0), (0.0, -0.7), (1e-3, 1e-3), (12.5, -3.25)];
    for (re, im) in scalars {
        let c = Complex64::new(re, im);
        let whole = re.fract() == 0.0 && im.fract() == 0.0;
        let product = evaluator.multiply_scalar(&x, c).unwrap();
        assert_eq!(product.level(), if whole { 2 } else { 1 });
        setup.expect(&product, &zip(&a, &a, |a, _| a * c), 21.0);
        setup.expect(&evaluator.add_scalar(&x, c).unwrap(), &zip(&a, &a, |a, _| a + c), 26.0);
        // The scale of the level: what comes out can be added to anything of automatic mode.
        let back = evaluator.add(&product, &x).unwrap();
        setup.expect(&back, &zip(&a, &a, |a, _| a * c + a), 21.0);
    }
}

/// Two primes of 28 bits for each level, in 32-bit words.
pub fn words_of_32_bits<B: RnsMul<u32>>(backend: B) {
    let literal = Literal {
        chain: Chain::Scaled { base: vec![31, 31], depth: 3 },
        split: 2,
        special: Special::Bits(vec![31; 5]),
        digits: 2,
        log_scale: 54,
        ..literal(10, 3)
    };
    let setup = Setup::<B, u32>::new(backend, &literal, |plan| plan.rotations(&[3]));
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let (a, b) = (values(512, 0.5), values(512, 1.5));
    let (x, y) = (setup.encrypt(&a), setup.encrypt(&b));
    let product = evaluator.multiply(&evaluator.multiply(&x, &y).unwrap(), &x).unwrap();
    assert_eq!(product.level(), 1);
    setup.expect(&product, &zip(&a, &b, |a, b| a * b * a), 33.0);
    let rotated = evaluator.rotate(&product, 3).unwrap();
    let wanted: Vec<_> = (0..512).map(|j| (j + 3) % 512).map(|j| a[j] * b[j] * a[j]).collect();
    setup.expect(&rotated, &wanted, 33.0);
}

pub fn fresh_noise<B: RnsMul<u64>>(backend: B) {
    for log_n in [10, 12] {
        let setup = Setup::new(backend.clone(), &literal(log_n, 1), |plan| plan);
        let parameters = setup.ckks.parameters();
        let noise = Noise::new(parameters);
        let slots = parameters.slots();
        let a = values(slots, 0.1);
        let plaintext = setup.ckks.encode(&a).unwrap();
        let secret = setup.ckks.encrypt_secret_with(&plaintext, &setup.secret, &mut random(5)).unwrap();
        for (ciphertext, deviation) in [(secret, noise.fresh_secret()), (setup.encrypt(&a), noise.fresh_public())] {
            let expected = noise.slot_bits(deviation, ciphertext.scale(), slots);
            let got = measured(&a, &setup.decrypt(&ciphertext));
            assert!((got - expected).abs() < 0.5, "{got} bits where {expected} were expected");
        }
    }
}

pub fn noise_of_operations<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(12, 3), |plan| plan.rotations(&[1]));
    let parameters = setup.ckks.parameters();
    let noise = Noise::new(parameters);
    let slots = parameters.slots();
    let manual = setup.ckks.manual_evaluator(&setup.keys).unwrap();
    // Zeros: what comes out is the operation's error and that of what went in.
    let zero = vec![Complex64::new(0.0, 0.0); slots];
    let check = |what: &str, ciphertext: &karat::ckks::Ciphertext<B>, deviation: f64| {
        let expected = noise.slot_bits(deviation, ciphertext.scale(), slots);
        let got = measured(&zero, &setup.decrypt(ciphertext));
        assert!((got - expected).abs() < 1.0, "{what}: {got} bits where {expected} were expected");
    };
    let x = setup.ckks.encrypt_secret_with(&setup.ckks.encode(&zero).unwrap(), &setup.secret, &mut random(5)).unwrap();
    for level in (1..=3).rev() {
        let mut x = x.copy().unwrap();
        x.drop_to_level(level).unwrap();
        let rescaled = manual.rescale(&manual.multiply_scalar(&x, 0.5).unwrap()).unwrap();
        check("rescale", &rescaled, Noise::both(noise.rescale(), 0.5 * noise.fresh_secret()));
        let rotated = manual.rotate(&x, 1).unwrap();
        check("rotate", &rotated, Noise::both(noise.key_switch(level), noise.fresh_secret()));
    }
    // A product of ones: both errors, once each, then the rescale's and the key switch's below it.
    let one = vec![Complex64::new(1.0, 0.0); slots];
    let y = setup.ckks.encrypt_secret_with(&setup.ckks.encode(&one).unwrap(), &setup.secret, &mut random(6)).unwrap();
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let product = evaluator.square(&y).unwrap();
    let expected = noise.slot_bits(Noise::both(2.0 * noise.fresh_secret(), noise.rescale()), product.scale(), slots);
    let got = measured(&one, &setup.decrypt(&product));
    assert!((got - expected).abs() < 1.0, "square: {got} bits where {expected} were expected");
}

/// One ciphertext as both operands, and operands that stay as they were, bit for bit.
pub fn the_same_ciphertext_twice<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 2), |plan| plan.rotations(&[1]));
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let a = values(512, 0.5);
    let x = setup.encrypt(&a);
    let before = x.to_bytes().unwrap();
    setup.expect(&evaluator.add(&x, &x).unwrap(), &zip(&a, &a, |a, _| a + a), 26.0);
    setup.expect(&evaluator.sub(&x, &x).unwrap(), &zip(&a, &a, |a, b| a - b), 26.0);
    setup.expect(&evaluator.multiply(&x, &x).unwrap(), &zip(&a, &a, |a, _| a * a), 25.0);
    let square = evaluator.square(&x).unwrap();
    assert_eq!(square.to_bytes().unwrap(), evaluator.multiply(&x, &x).unwrap().to_bytes().unwrap());
    evaluator.rotate(&x, 1).unwrap();
    evaluator.add(&square, &x).unwrap();
    evaluator.multiply_scalar(&x, 0.5).unwrap();
    assert_eq!(x.to_bytes().unwrap(), before);
}
