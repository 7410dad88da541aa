//! A function of encrypted numbers by a Chebyshev interpolation, with the precision of the result:
//! `cargo run --release --example ckks_polynomial`.

use karat::AnyBackend;
use karat::ckks::{Ckks, Complex64, KeyPlan, Literal, Polynomial, PrecisionReport, Prime, Result};

fn main() -> Result<()> {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let p = Polynomial::interpolate(sigmoid, 31, -8.0, 8.0)?;

    // The depth is known before anything is encrypted.
    let parameters = Literal::preset(Prime::Bits60, p.depth())?.validate()?;
    let ckks = Ckks::<_, u64>::new(AnyBackend::from_env()?, parameters)?;
    let mut keygen = ckks.keygen();
    let secret = keygen.secret_key()?;
    let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).relinearisation())?;

    let slots = ckks.parameters().slots();
    let points: Vec<f64> = (0..slots).map(|i| 16.0 * i as f64 / slots as f64 - 8.0).collect();
    let x = ckks.encrypt_secret(&ckks.encode_real(&points)?, &secret)?;
    let y = ckks.evaluator(&keys)?.polynomial(&x, &p)?;

    let got = ckks.decode(&ckks.decrypt(&y, &secret)?)?;
    let exact = |f: &dyn Fn(f64) -> f64| points.iter().map(|x| Complex64::new(f(*x), 0.0)).collect::<Vec<_>>();
    let against_polynomial = PrecisionReport::new(&exact(&|x| p.value(x)), &got);
    println!("{ckks:?}, degree {}, depth {}", p.degree(), p.depth());
    println!("against the polynomial\n{against_polynomial}");
    println!("against the sigmoid\n{}", PrecisionReport::new(&exact(&sigmoid), &got));
    assert!(against_polynomial.real.min > 15.0);
    Ok(())
}
