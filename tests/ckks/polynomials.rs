//! Polynomials of every degree against Horner's and Clenshaw's rules.

use karat::ckks::{Basis, Ciphertext, Polynomial};
use karat::rns::RnsMul;

use crate::setup::{Setup, complex, literal, reals};

const SLOTS: usize = 16;

fn coefficients(degree: usize) -> Vec<f64> {
    (0..=degree).map(|i| (1.7 * i as f64 + 0.3).sin() / (1.0 + 0.2 * i as f64)).collect()
}

fn check<B: RnsMul<u64>>(setup: &Setup<B>, y: &Ciphertext<B>, p: &Polynomial, points: &[f64], bits: f64) {
    let wanted: Vec<f64> = points.iter().map(|x| p.value(*x)).collect();
    setup.expect(y, &complex(&wanted), bits);
}

/// Degrees 0 to 70 in both bases, dense and with gaps; the depth is what was stated.
pub fn every_degree<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 7), |plan| plan);
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let points = reals(SLOTS);
    let x = setup.encrypt(&complex(&points));
    for basis in [Basis::Monomial, Basis::Chebyshev] {
        let powers = evaluator.powers(&x, basis).unwrap();
        for degree in 0..=70usize {
            let dense = coefficients(degree);
            let mut odd = dense.clone();
            odd.iter_mut().step_by(2).for_each(|c| *c = 0.0);
            let mut single = vec![0.0; degree + 1];
            single[degree] = 0.75;
            // Leading zeros do not count.
            single.extend([0.0, 0.0]);
            for coefficients in [dense, odd, single] {
                let p = match basis {
                    Basis::Monomial => Polynomial::monomial(coefficients),
                    Basis::Chebyshev => Polynomial::chebyshev(coefficients, -1.0, 1.0),
                }
                .unwrap();
                let y = evaluator.polynomial_of(&powers, &p).unwrap();
                assert_eq!(y.level(), 7 - p.depth(), "{basis:?} {degree}");
                assert_eq!(*y.scale(), setup.ckks.automatic_scale(y.level()).unwrap());
                check(&setup, &y, &p, &points, 18.0);
            }
        }
    }
}

pub fn intervals<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 5), |plan| plan);
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let sigmoid = Polynomial::interpolate(|x| 1.0 / (1.0 + (-x).exp()), 15, -5.0, 7.0).unwrap();
    let points: Vec<f64> = reals(SLOTS).iter().map(|x| 1.0 + 6.0 * x).collect();
    let y = evaluator.polynomial(&setup.encrypt(&complex(&points)), &sigmoid).unwrap();
    assert_eq!((sigmoid.depth(), y.level()), (5, 0));
    check(&setup, &y, &sigmoid, &points, 15.0);
    // A factor of 2 is whole: no level.
    let p = Polynomial::chebyshev(coefficients(7), 0.0, 1.0).unwrap();
    let points: Vec<f64> = reals(SLOTS).iter().map(|x| 0.5 + 0.5 * x).collect();
    let y = evaluator.polynomial(&setup.encrypt(&complex(&points)), &p).unwrap();
    assert_eq!((p.depth(), y.level()), (3, 2));
    check(&setup, &y, &p, &points, 18.0);
}

/// Kept powers are never changed: the same polynomial twice gives the same bits.
pub fn powers_are_kept<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 5), |plan| plan);
    let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
    let x = setup.encrypt(&complex(&reals(SLOTS)));
    let p = Polynomial::chebyshev(coefficients(27), -1.0, 1.0).unwrap();
    let powers = evaluator.powers(&x, Basis::Chebyshev).unwrap();
    let first = evaluator.polynomial_of(&powers, &p).unwrap().to_bytes().unwrap();
    evaluator.polynomial_of(&powers, &Polynomial::chebyshev(coefficients(9), -1.0, 1.0).unwrap()).unwrap();
    assert_eq!(evaluator.polynomial_of(&powers, &p).unwrap().to_bytes().unwrap(), first);
    assert_eq!(evaluator.polynomial(&x, &p).unwrap().to_bytes().unwrap(), first);
}

pub fn manual_mode<B: RnsMul<u64>>(backend: B) {
    let setup = Setup::new(backend, &literal(10, 5), |plan| plan);
    let evaluator = setup.ckks.manual_evaluator(&setup.keys).unwrap();
    let points = reals(SLOTS);
    let x = setup.encrypt(&complex(&points));
    for degree in [1, 6, 13] {
        let p = Polynomial::chebyshev(coefficients(degree), -1.25, 1.0).unwrap();
        let y = evaluator.polynomial(&x, &p).unwrap();
        assert_eq!(y.level(), 5 - p.depth());
        check(&setup, &y, &p, &points, 18.0);
    }
}
