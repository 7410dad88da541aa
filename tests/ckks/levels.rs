//! Levels and scales: exhaustion, exactness, and what does not fit together.

use karat::ckks::{Chain, Ckks, Complex64, Error, KeyPlan, KeySet, Literal, Polynomial, Special};
use karat::rns::RnsMul;
use num_bigint::BigUint;

use crate::setup::{Setup, complex, literal, reals, values};

/// Everything that takes a level is an error at level 0, in words that say what there is.
pub fn exhaustion_is_an_error<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 1), |plan| plan.rotations(&[1]));
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let x = evaluator.square(&setup.encrypt(&values(512, 0.5))).unwrap();
    assert_eq!(x.level(), 0);
    let exhausted = |result: karat::ckks::Result<karat::ckks::Ciphertext<B>>| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::LevelExhausted { level: 0, .. }), "{error}");
        assert!(error.to_string().contains("level 0"), "{error}");
    };
    exhausted(evaluator.multiply(&x, &x));
    exhausted(evaluator.square(&x));
    exhausted(evaluator.rescale(&x));
    exhausted(evaluator.multiply_scalar(&x, 0.5));
    exhausted(evaluator.polynomial(&x, &Polynomial::monomial(vec![0.0, 1.0]).unwrap()));
    assert!(matches!(evaluator.encode_factor(&values(512, 0.0), &x), Err(Error::LevelExhausted { .. })));
    // Rotations and sums take none.
    evaluator.add(&evaluator.rotate(&x, 1).unwrap(), &x).unwrap();

    // In manual mode the scale's room is what ends: the error tells its bits, the modulus's and the level.
    let manual = setup.ckks.manual_evaluator(&setup.keys).unwrap();
    let error = manual.multiply(&x, &x).unwrap_err();
    let Error::ScaleExhausted { scale, modulus, level: 0, .. } = error else { panic!("{error}") };
    assert!((scale - 90.0).abs() < 0.1 && (modulus - 58.0).abs() < 0.1, "{error}");
    let y = setup.encrypt(&values(512, 0.5));
    let square = manual.relinearise(&manual.square(&y).unwrap()).unwrap();
    assert!(matches!(manual.square(&square), Err(Error::ScaleExhausted { level: 1, .. })));
    let mut low = square.copy().unwrap();
    assert!(matches!(low.drop_to_level(0), Err(Error::ScaleExhausted { level: 0, .. })));
}

/// On a chain far from the scale every scale is the exact quotient, and values come out right.
pub fn uneven_chains_keep_exact_scales<B: RnsMul<u64>>(backend: B) {
    let literal = Literal {
        chain: Chain::Bits(vec![58, 40, 44, 46, 47]),
        special: Special::Bits(vec![60, 60]),
        digits: 3,
        log_scale: 45,
        ..literal(10, 0)
    };
    let setup = Setup::new(backend, &literal, |plan| plan);
    let error = setup.ckks.evaluator(&setup.keys).unwrap_err();
    assert!(matches!(error, Error::Drift { .. }), "{error}");
    let manual = setup.ckks.manual_evaluator(&setup.keys).unwrap();
    let a = values(512, 0.5);
    let mut x = setup.encrypt(&a);
    let mut wanted = a.clone();
    let (mut above, mut below) = (BigUint::from(1u64 << 45), BigUint::from(1u8));
    for level in (2..=4).rev() {
        x = manual.rescale(&manual.relinearise(&manual.square(&x).unwrap()).unwrap()).unwrap();
        wanted.iter_mut().for_each(|z| *z = *z * *z);
        above = &above * &above;
        below = &below * &below * setup.ckks.parameters().q()[level];
        let (mantissa, exponent) = x.scale().value();
        // 64 bits of the quotient.
        let shift = 200u64;
        let quotient: BigUint = (&above << shift) / &below;
        let expected = quotient.to_string().parse::<f64>().unwrap() / 2f64.powi(shift as i32);
        assert!((mantissa * 2f64.powi(exponent as i32) / expected - 1.0).abs() < 1e-14);
        setup.expect(&x, &wanted, 12.0);
    }
}

pub fn what_does_not_fit<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend.clone(), &literal(10, 2), |plan| plan.rotations(&[1]));
    let other = Setup::new(backend, &literal(10, 2), |plan| plan);
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let manual = setup.ckks.manual_evaluator(&setup.keys).unwrap();
    let a = values(512, 0.5);
    let x = setup.encrypt(&a);
    // Another context, for each kind of object.
    let foreign = other.encrypt(&a);
    assert!(matches!(evaluator.add(&x, &foreign), Err(Error::Foreign("ciphertext"))));
    assert!(matches!(evaluator.multiply(&foreign, &foreign), Err(Error::Foreign("ciphertext"))));
    assert!(matches!(evaluator.rotate(&foreign, 1), Err(Error::Foreign("ciphertext"))));
    assert!(matches!(setup.ckks.decrypt(&x, &other.secret), Err(Error::Foreign("secret key"))));
    assert!(matches!(setup.ckks.evaluator(&other.keys), Err(Error::Foreign("key set"))));
    let plain = other.ckks.encode(&a).unwrap();
    assert!(matches!(evaluator.add_plain(&x, &plain), Err(Error::Foreign("plaintext"))));
    assert!(matches!(setup.ckks.encrypt(&plain, &setup.public), Err(Error::Foreign("plaintext"))));
    // Levels, in manual mode.
    let mut low = x.copy().unwrap();
    low.drop_to_level(1).unwrap();
    let mismatch = manual.add(&x, &low).unwrap_err();
    assert!(matches!(mismatch, Error::LevelMismatch { expected: 1, got: 2, .. }), "{mismatch}");
    assert!(matches!(manual.multiply(&x, &low), Err(Error::LevelMismatch { .. })));
    let plain = setup.ckks.encode_at(&a, 1, x.scale()).unwrap();
    assert!(matches!(evaluator.add_plain(&x, &plain), Err(Error::LevelMismatch { .. })));
    assert!(matches!(setup.ckks.encode_at(&a, 3, x.scale()), Err(Error::LevelMismatch { .. })));
    // Scales.
    let plain = setup.ckks.encode_at(&a, 2, &setup.ckks.parameters().scale(44)).unwrap();
    assert!(matches!(evaluator.add_plain(&x, &plain), Err(Error::ScaleMismatch { .. })));
    let scaled = setup.ckks.encrypt(&plain, &setup.public).unwrap();
    let error = evaluator.add(&x, &scaled).unwrap_err();
    assert!(error.to_string().contains("2^45.0") && error.to_string().contains("2^44.0"), "{error}");
    // Parts: a product that was not relinearised is never rotated or multiplied.
    let product = manual.multiply(&x, &x).unwrap();
    for result in [
        manual.rotate(&product, 1),
        manual.rotate(&product, 0),
        manual.conjugate(&product),
        manual.square(&product),
        manual.inner_sum(&product, 1, 2),
        manual.relinearise(&x),
    ] {
        assert!(matches!(result, Err(Error::Parts { .. })));
    }
    assert!(matches!(manual.rotate_hoisted(&product, &[1]), Err(Error::Parts { .. })));
    // Packings.
    let sparse = setup.encrypt(&values(16, 0.0));
    assert!(matches!(evaluator.add(&x, &sparse), Err(Error::Packing { .. })));
    assert!(matches!(evaluator.multiply(&x, &sparse), Err(Error::Packing { .. })));
}

pub fn missing_keys<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 1), |plan| plan.rotations(&[1]));
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let x = setup.encrypt(&values(512, 0.5));
    let text = |error: Error| {
        assert!(matches!(error, Error::MissingKey { .. }), "{error}");
        error.to_string()
    };
    // 5^2 = 25; the element and the step are named, and how to get the key.
    let error = text(evaluator.rotate(&x, 2).unwrap_err());
    assert!(error.contains("element 25 ") && error.contains("rotation by 2,") && error.contains("rotations(&[2])"));
    let error = text(evaluator.rotate(&x, -1).unwrap_err());
    assert!(error.contains("by 511, or by -1"), "{error}");
    assert!(text(evaluator.conjugate(&x).unwrap_err()).contains("2047 (conjugation)"));
    assert!(matches!(evaluator.rotate_hoisted(&x, &[1, 4]), Err(Error::MissingKey { .. })));
    let none = KeySet::empty(&setup.ckks);
    let without = setup.ckks.evaluator(&none).unwrap();
    assert!(text(without.multiply(&x, &x).unwrap_err()).contains("relinearisation key"));
    assert!(text(without.square(&x).unwrap_err()).contains("relinearisation()"));
    // Without special primes there are no keys at all.
    let plain = Literal { special: Special::Bits(vec![]), ..literal(10, 1) };
    let ckks = Ckks::<B, u64>::new(setup.ckks.backend().clone(), plain.validate().unwrap()).unwrap();
    let mut keygen = ckks.keygen();
    let secret = keygen.secret_key().unwrap();
    let plan = KeyPlan::new(ckks.parameters()).relinearisation();
    assert!(matches!(keygen.keys(&secret, &plan), Err(Error::Parameters(_))));
    let wrong = KeyPlan::new(setup.ckks.parameters()).element(4);
    assert!(matches!(setup.ckks.keygen().keys(&setup.secret, &wrong), Err(Error::Argument(_))));
}

/// Operands of all pairs of levels: sums and products come out at the lower one's scale.
pub fn automatic_mode_brings_levels_together<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 4), |plan| plan);
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let a = reals(512);
    let mut powers = vec![(setup.encrypt(&complex(&a)), a.clone())];
    for _ in 0..4 {
        let (x, a) = &powers[powers.len() - 1];
        let square: Vec<f64> = a.iter().map(|a| a * a).collect();
        powers.push((evaluator.square(x).unwrap(), square));
    }
    for (x, a) in &powers {
        assert_eq!(*x.scale(), setup.ckks.automatic_scale(x.level()).unwrap());
        for (y, b) in &powers {
            let level = x.level().min(y.level());
            let sum = evaluator.add(x, y).unwrap();
            assert_eq!(sum.level(), level);
            let combine = |op: &dyn Fn(f64, f64) -> f64| -> Vec<Complex64> {
                a.iter().zip(b).map(|(a, b)| Complex64::new(op(*a, *b), 0.0)).collect()
            };
            setup.expect(&sum, &combine(&|a, b| a + b), 23.0);
            setup.expect(&evaluator.sub(x, y).unwrap(), &combine(&|a, b| a - b), 23.0);
            if level > 0 {
                let product = evaluator.multiply(x, y).unwrap();
                assert_eq!(*product.scale(), setup.ckks.automatic_scale(level - 1).unwrap());
                setup.expect(&product, &combine(&|a, b| a * b), 23.0);
            }
        }
    }
}
