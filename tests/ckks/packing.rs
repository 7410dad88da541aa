//! Slots: rotations, sparse packings, coefficients, and what cannot be encoded.

use karat::ckks::{Complex64, Error};
use karat::rns::{RnsMul, galois};

use crate::setup::{Setup, literal, values};

fn rotated(values: &[Complex64], step: i64) -> Vec<Complex64> {
    let n = values.len() as i64;
    (0..n).map(|j| values[(j + step).rem_euclid(n) as usize]).collect()
}

/// Direction and identity of every kind of step, by all slots distinct.
pub fn rotations_of_distinct_slots<B: RnsMul<u64>>(backend: B) {
    let steps = [0i64, 1, -1, 2, 255, 256, -256, 511, 512, -512, 513, 1000, -1000];
    let setup = Setup::new(backend, &literal(10, 1), |plan| plan.rotations(&steps));
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    for step in steps {
        let expected = (0..step.rem_euclid(512)).fold(1u64, |g, _| g * 5 % 2048);
        assert_eq!(u64::from(galois::rotation(step, 1024)), expected);
    }
    let a = values(512, 0.5);
    let x = setup.encrypt(&a);
    for step in steps {
        setup.expect(&evaluator.rotate(&x, step).unwrap(), &rotated(&a, step), 24.0);
    }
}

/// Sparse packings: bits of precision are asserted, and rotations go modulo the packing's slots.
pub fn every_packing<B: RnsMul<u64>>(backend: B) {
    let steps = [1i64, -1, 3];
    let setup = Setup::new(backend, &literal(11, 2), |plan| plan.rotations(&steps).conjugation());
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    for slots in [1usize, 2, 4, 8, 64, 512, 1024] {
        let a = values(slots, 0.5);
        let x = setup.encrypt(&a);
        assert_eq!(x.slots(), slots);
        setup.expect(&x, &a, 26.0);
        for step in steps {
            setup.expect(&evaluator.rotate(&x, step).unwrap(), &rotated(&a, step), 24.0);
        }
        // A whole turn needs no key.
        setup.expect(&evaluator.rotate(&x, 7 * slots as i64).unwrap(), &a, 24.0);
        let product = evaluator.multiply(&x, &evaluator.conjugate(&x).unwrap()).unwrap();
        let wanted: Vec<_> = a.iter().map(|z| z * z.conj()).collect();
        setup.expect(&product, &wanted, 24.0);
        let half: Vec<_> = a.iter().map(|z| z * 0.5).collect();
        let factor = evaluator.encode_factor(&vec![Complex64::new(0.5, 0.0); slots], &x).unwrap();
        setup.expect(&evaluator.multiply_plain(&x, &factor).unwrap(), &half, 24.0);
    }
}

pub fn coefficients<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 1), |plan| plan);
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let scale = setup.ckks.parameters().default_scale();
    // x^1023 · x = -1.
    let encode = |power: usize| {
        let mut values = vec![0.0; 1024];
        values[power] = 1.0;
        let plaintext = setup.ckks.encode_coefficients(&values, 1, &scale).unwrap();
        setup.ckks.encrypt_secret(&plaintext, &setup.secret).unwrap()
    };
    let product = evaluator.multiply(&encode(1023), &encode(1)).unwrap();
    let got = setup.ckks.decode_coefficients(&setup.ckks.decrypt(&product, &setup.secret).unwrap()).unwrap();
    assert!((got[0] + 1.0).abs() < 1e-9 && got[1..].iter().all(|c| c.abs() < 1e-9));
    assert!(matches!(setup.ckks.encode_coefficients(&[0.0; 1025], 1, &scale), Err(Error::Slots { .. })));
}

pub fn inner_sums<B: RnsMul<u64>>(backend: B) {
    let sums = [(1usize, 1usize), (1, 2), (1, 5), (4, 8), (3, 7), (1, 512), (16, 32)];
    let setup = Setup::new(backend, &literal(10, 1), |plan| {
        sums.iter().fold(plan, |plan, (stride, count)| plan.inner_sum(*stride, *count))
    });
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let a = values(512, 0.5);
    let x = setup.encrypt(&a);
    for (stride, count) in sums {
        let wanted: Vec<Complex64> = (0..512).map(|j| (0..count).map(|i| a[(j + i * stride) % 512]).sum()).collect();
        setup.expect(&evaluator.inner_sum(&x, stride, count).unwrap(), &wanted, 18.0);
    }
    assert!(matches!(evaluator.inner_sum(&x, 1, 0), Err(Error::Argument(_))));
}

pub fn hoisted_rotations<B: RnsMul<u64>>(backend: B) {
    let steps = [1i64, 0, -3, 7];
    let setup = Setup::new(backend, &literal(10, 1), |plan| plan.rotations(&steps));
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let a = values(512, 0.5);
    let x = setup.encrypt(&a);
    let all = evaluator.rotate_hoisted(&x, &steps).unwrap();
    for (ciphertext, step) in all.iter().zip(steps) {
        setup.expect(ciphertext, &rotated(&a, step), 24.0);
        assert_eq!(ciphertext.to_bytes().unwrap(), evaluator.rotate(&x, step).unwrap().to_bytes().unwrap());
    }
    assert!(evaluator.rotate_hoisted(&x, &[]).unwrap().is_empty());
}

/// NaN, infinities, 1e308, values beyond the modulus: errors through every entry point, never a wrap.
pub fn values_that_cannot_be_encoded<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 1), |plan| plan);
    let ckks = &setup.ckks;
    let evaluator = ckks.evaluator(&setup.keys).unwrap();
    let x = setup.encrypt(&values(512, 0.5));
    let scale = ckks.parameters().default_scale();
    let refused = |value: f64| {
        let z = Complex64::new(0.0, value);
        let errors = [
            ckks.encode(&[z]).err(),
            ckks.encode_real(&[value]).err(),
            ckks.encode_coefficients(&[value], 1, &scale).err(),
            evaluator.encode_addend(&[z], &x).err(),
            evaluator.encode_factor(&[z], &x).err(),
            evaluator.add_scalar(&x, value).err(),
            evaluator.add_scalar(&x, z).err(),
            evaluator.multiply_scalar(&x, value).err(),
            evaluator.multiply_scalar(&x, z).err(),
        ];
        for (i, error) in errors.into_iter().enumerate() {
            let error = error.unwrap_or_else(|| panic!("entry {i} took {value}"));
            assert!(matches!(error, Error::NotFinite { .. } | Error::TooLarge { .. }), "{error}");
        }
    };
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308, 1e30] {
        refused(value);
    }
    // Beyond 2^63 with room in the modulus: exact, not wrapped.
    let large = 2f64.powi(30);
    let plaintext = ckks.encode_real(&[large]).unwrap();
    assert!((ckks.decode_real(&plaintext).unwrap()[0] / large - 1.0).abs() < 1e-12);
    let sum = evaluator.add_scalar(&x, large).unwrap();
    assert!((setup.decrypt(&sum)[0].re / large - 1.0).abs() < 1e-8);
    assert!(matches!(ckks.encode(&[]), Err(Error::Slots { .. })));
    assert!(matches!(ckks.encode(&values(513, 0.0)), Err(Error::Slots { .. })));
}
