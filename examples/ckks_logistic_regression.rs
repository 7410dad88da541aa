//! Logistic regression on encrypted patients: the Wisconsin breast cancer data (569 cases of 30 measures, from the crate
//! smartcore), a model trained in the clear, and encrypted inference beside the plain model's:
//! `cargo run --release --example ckks_logistic_regression`.

use karat::AnyBackend;
use karat::ckks::{Ckks, Complex64, KeyPlan, Literal, Polynomial, Prime, Result};
use smartcore::dataset::breast_cancer;

/// Slots of one case: its 30 measures, the constant 1, and a zero.
const WIDTH: usize = 32;
/// The polynomial for the sigmoid is good on [-RANGE, RANGE].
const RANGE: f64 = 16.0;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Cases with measures of mean 0 and deviation 1 and a constant, and whether the growth is benign.
fn cases() -> Vec<(Vec<f64>, bool)> {
    let data = breast_cancer::load_dataset();
    let (rows, columns) = (data.num_samples, data.num_features);
    let column = |j: usize| (0..rows).map(move |i| i * columns + j);
    let moments: Vec<(f64, f64)> = (0..columns)
        .map(|j| {
            let mean = column(j).map(|i| f64::from(data.data[i])).sum::<f64>() / rows as f64;
            let square = column(j).map(|i| (f64::from(data.data[i]) - mean).powi(2)).sum::<f64>() / rows as f64;
            (mean, square.sqrt())
        })
        .collect();
    let case = |i: usize| {
        let measure = |j: usize| (f64::from(data.data[i * columns + j]) - moments[j].0) / moments[j].1;
        let mut case: Vec<f64> = (0..columns).map(measure).collect();
        case.push(1.0);
        case.resize(WIDTH, 0.0);
        (case, data.target[i] == 1)
    };
    (0..rows).map(case).collect()
}

/// Gradient descent with a penalty on large weights, which also keeps sums well inside RANGE: outside of it a polynomial
/// is not bounded.
fn train(cases: &[(Vec<f64>, bool)]) -> Vec<f64> {
    let mut weights = vec![0.0; WIDTH];
    for _ in 0..500 {
        let mut gradient: Vec<f64> = weights.iter().map(|w| 0.1 * w).collect();
        for (case, benign) in cases {
            let error = sigmoid(dot(case, &weights)) - f64::from(u8::from(*benign));
            gradient.iter_mut().zip(case).for_each(|(g, x)| *g += error * x / cases.len() as f64);
        }
        weights.iter_mut().zip(gradient).for_each(|(w, g)| *w -= 0.5 * g);
    }
    weights
}

fn main() -> Result<()> {
    // Every third case is kept for the test.
    let (test, training): (Vec<_>, Vec<_>) = cases().into_iter().enumerate().partition(|(i, _)| i % 3 == 0);
    let [test, training] = [test, training].map(|part| part.into_iter().map(|(_, case)| case).collect::<Vec<_>>());
    let weights = train(&training);
    let curve = Polynomial::interpolate(|x| sigmoid(RANGE * x), 31, -1.0, 1.0)?;

    let parameters = Literal::preset(Prime::Bits50, 1 + curve.depth())?.validate()?;
    let ckks = Ckks::<_, u64>::new(AnyBackend::from_env()?, parameters)?;
    let mut keygen = ckks.keygen();
    let secret = keygen.secret_key()?;
    let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).relinearisation().inner_sum(1, WIDTH))?;

    // The clinic encrypts all cases in one ciphertext.
    let packed: Vec<f64> = test.iter().flat_map(|(case, _)| case.clone()).collect();
    let x = ckks.encrypt_secret(&ckks.encode_real(&packed)?, &secret)?;

    // The model's owner computes: weights for all cases, the sum over each, the curve. The range goes into the weights.
    let evaluator = ckks.evaluator(&keys)?;
    let row: Vec<_> = weights.iter().map(|w| Complex64::new(w / RANGE, 0.0)).collect();
    let weighted = evaluator.multiply_plain(&x, &evaluator.encode_factor(&row.repeat(test.len()), &x)?)?;
    let y = evaluator.polynomial(&evaluator.inner_sum(&weighted, 1, WIDTH)?, &curve)?;

    // The clinic decrypts; the first slot of each case holds its probability.
    let values = ckks.decode_real(&ckks.decrypt(&y, &secret)?)?;
    let (mut encrypted_right, mut plain_right, mut worst) = (0, 0, 0.0f64);
    for ((case, benign), value) in test.iter().zip(values.iter().step_by(WIDTH)) {
        let plain = sigmoid(dot(case, &weights));
        encrypted_right += usize::from((*value > 0.5) == *benign);
        plain_right += usize::from((plain > 0.5) == *benign);
        worst = worst.max((value - plain).abs());
    }
    let share = |right: usize| 100.0 * right as f64 / test.len() as f64;
    println!("{ckks:?}, {} cases", test.len());
    println!("accuracy  encrypted {:.2} %, plain {:.2} %", share(encrypted_right), share(plain_right));
    println!("largest difference of a probability {worst:.4}");
    assert!(encrypted_right.abs_diff(plain_right) <= 1 && share(encrypted_right) > 95.0 && worst < 0.05);
    Ok(())
}
