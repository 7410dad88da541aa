//! Mean and variance of encrypted numbers: `cargo run --release --example ckks_statistics`.

use karat::AnyBackend;
use karat::ckks::{Ckks, KeyPlan, Literal, Prime, Result};

fn main() -> Result<()> {
    let parameters = Literal::preset(Prime::Bits50, 3)?.validate()?;
    let ckks = Ckks::<_, u64>::new(AnyBackend::from_env()?, parameters)?;
    let len = 2048;
    let data: Vec<f64> = (0..len).map(|i| 3.0 + (i as f64 * 0.37).sin() * (1.0 + i as f64 / len as f64)).collect();

    let mut keygen = ckks.keygen();
    let secret = keygen.secret_key()?;
    let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).relinearisation().inner_sum(1, len))?;
    let x = ckks.encrypt_secret(&ckks.encode_real(&data)?, &secret)?;

    // Every slot of both results holds the value; levels are brought together by themselves.
    let evaluator = ckks.evaluator(&keys)?;
    let scale = 1.0 / len as f64;
    let mean = evaluator.multiply_scalar(&evaluator.inner_sum(&x, 1, len)?, scale)?;
    let centred = evaluator.square(&evaluator.sub(&x, &mean)?)?;
    let variance = evaluator.multiply_scalar(&evaluator.inner_sum(&centred, 1, len)?, scale)?;

    let value = |ciphertext| -> Result<f64> { Ok(ckks.decode_real(&ckks.decrypt(ciphertext, &secret)?)?[0]) };
    let (mean, variance) = (value(&mean)?, value(&variance)?);
    let plain_mean = data.iter().sum::<f64>() * scale;
    let plain_variance = data.iter().map(|x| (x - plain_mean).powi(2)).sum::<f64>() * scale;
    println!("{ckks:?}");
    println!("mean      encrypted {mean:.7}, plain {plain_mean:.7}");
    println!("variance  encrypted {variance:.7}, plain {plain_variance:.7}");
    assert!((mean - plain_mean).abs() < 1e-4 && (variance - plain_variance).abs() < 1e-4);
    Ok(())
}
