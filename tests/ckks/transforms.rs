//! Linear transforms against plain products of matrices.

use karat::ckks::{Complex64, Error, LinearTransform};
use karat::rns::RnsMul;

use crate::setup::{Setup, literal, values};

fn product(rows: &[Vec<Complex64>], z: &[Complex64]) -> Vec<Complex64> {
    rows.iter().map(|row| row.iter().zip(z).map(|(a, b)| a * b).sum()).collect()
}

fn matrix(slots: usize) -> Vec<Vec<Complex64>> {
    (0..slots).map(|i| values(slots, 0.37 * i as f64).iter().map(|z| z / slots as f64).collect()).collect()
}

pub fn dense_and_sparse_matrices<B: RnsMul<u64>>(backend: B) {
    let slots = 64;
    let dense = matrix(slots);
    let shifts: Vec<_> = [-1i64, 0, 5].into_iter().map(|k| (k, values(slots, k as f64))).collect();
    let rows: Vec<Vec<Complex64>> = (0..slots)
        .map(|j| {
            let mut row = vec![Complex64::default(); slots];
            shifts.iter().for_each(|(k, d)| row[(j as i64 + k).rem_euclid(64) as usize] += d[j]);
            row
        })
        .collect();
    let transforms = [
        (LinearTransform::from_matrix(&dense).unwrap(), &dense),
        (LinearTransform::from_diagonals(slots, shifts.clone()).unwrap(), &rows),
    ];
    let (baby, giant) = transforms[0].0.rotations();
    assert_eq!((baby.len(), giant.len()), (7, 7));
    for (transform, rows) in &transforms {
        let setup = Setup::new(backend.clone(), &literal(10, 2), |plan| {
            let parameters = literal(10, 2).validate().unwrap();
            plan.and(&transform.key_plan(&parameters))
        });
        let a = values(slots, 0.5);
        let x = setup.encrypt(&a);
        for evaluator in [setup.ckks.evaluator(&setup.keys), setup.ckks.manual_evaluator(&setup.keys)] {
            let evaluator = evaluator.unwrap();
            let prepared = transform.prepare(&evaluator, x.level(), x.scale()).unwrap();
            let y = evaluator.transform(&x, &prepared).unwrap();
            assert_eq!(y.level(), 1);
            setup.expect(&y, &product(rows, &a), 22.0);
            assert!(matches!(evaluator.transform(&y, &prepared), Err(Error::LevelMismatch { .. })));
        }
    }
}

pub fn transforms_of_packings<B: RnsMul<u64>>(backend: B) {
    for slots in [1usize, 2, 8] {
        let rows = matrix(slots);
        let transform = LinearTransform::from_matrix(&rows).unwrap();
        let parameters = literal(10, 1).validate().unwrap();
        let setup = Setup::new(backend.clone(), &literal(10, 1), |plan| plan.and(&transform.key_plan(&parameters)));
        let evaluator = setup.ckks.evaluator(&setup.keys).unwrap();
        let a = values(slots, 0.5);
        let x = setup.encrypt(&a);
        let prepared = transform.prepare(&evaluator, 1, x.scale()).unwrap();
        setup.expect(&evaluator.transform(&x, &prepared).unwrap(), &product(&rows, &a), 24.0);
        let other = setup.encrypt(&values(16, 0.0));
        assert!(matches!(evaluator.transform(&other, &prepared), Err(Error::Packing { .. })));
    }
    assert!(matches!(LinearTransform::from_diagonals(3, []), Err(Error::Slots { .. })));
    assert!(matches!(LinearTransform::from_diagonals(4, []), Err(Error::Argument(_))));
    assert!(matches!(LinearTransform::from_diagonals(4, [(0, values(3, 0.0))]), Err(Error::Argument(_))));
    assert!(matches!(LinearTransform::from_matrix(&[values(2, 0.0), values(1, 0.0)]), Err(Error::Argument(_))));
}
