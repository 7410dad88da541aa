//! The dot product of two encrypted vectors: `KARAT_BACKEND=avx2 cargo run --release --example ckks_dot_product`.

use karat::AnyBackend;
use karat::ckks::{Ckks, KeyPlan, Literal, Prime, Result};

fn main() -> Result<()> {
    let parameters = Literal::preset(Prime::Bits50, 1)?.validate()?;
    let ckks = Ckks::<_, u64>::new(AnyBackend::from_env()?, parameters)?;
    let len = 1000usize;
    let a: Vec<f64> = (0..len).map(|i| (i as f64 * 0.1).sin()).collect();
    let b: Vec<f64> = (0..len).map(|i| (i as f64 * 0.1).cos() + 0.5).collect();

    // The owner of the data makes the keys and encrypts. Slots beyond the vectors are zeros.
    let slots = len.next_power_of_two();
    let mut keygen = ckks.keygen();
    let secret = keygen.secret_key()?;
    let plan = KeyPlan::new(ckks.parameters()).relinearisation().inner_sum(1, slots);
    let keys = keygen.keys(&secret, &plan)?;
    let public = keygen.public_key(&secret)?;
    let x = ckks.encrypt(&ckks.encode_real(&a)?, &public)?;
    let y = ckks.encrypt(&ckks.encode_real(&b)?, &public)?;

    // Whoever computes has the evaluation keys alone.
    let evaluator = ckks.evaluator(&keys)?;
    let dot = evaluator.inner_sum(&evaluator.multiply(&x, &y)?, 1, slots)?;

    let got = ckks.decode_real(&ckks.decrypt(&dot, &secret)?)?[0];
    let wanted: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
    println!("{ckks:?}\nencrypted {got:.6}, plain {wanted:.6}, difference {:.1e}", (got - wanted).abs());
    assert!((got - wanted).abs() < 1e-3);
    Ok(())
}
