//! Polynomials from bytes: every coefficient at its bound, one lane alone, pseudorandom, or the bytes themselves.

use arbitrary::{Result, Unstructured};
use karat::arith::Word;

/// The generator SplitMix64 (Steele, Lea and Flood, 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// One polynomial of `n` coefficients in `[0, q)`.
pub fn polynomial<W: Word>(u: &mut Unstructured, n: usize, q: u64) -> Result<Vec<W>> {
    let top = q - 1;
    let half = q / 2;
    let extremes = [0, 1, half, (half + 1).min(top), top];
    let values: Vec<u64> = match u.int_in_range(0..=8u8)? {
        0 | 1 => {
            let mut random = Random(u.arbitrary()?);
            (0..n).map(|_| random.next() % q).collect()
        }
        2 => vec![top; n],
        3 => vec![*u.choose(&extremes)?; n],
        4 => {
            let pair = [*u.choose(&extremes)?, *u.choose(&extremes)?];
            (0..n).map(|i| pair[i % 2]).collect()
        }
        5 => {
            let lane = u.int_in_range(0..=n - 1)?;
            (0..n).map(|i| if i == lane { top } else { 0 }).collect()
        }
        6 | 7 => {
            let mut random = Random(u.arbitrary()?);
            (0..n).map(|_| extremes[(random.next() % 5) as usize]).collect()
        }
        _ => (0..n).map(|_| Ok(u.arbitrary::<u64>()? % q)).collect::<Result<_>>()?,
    };
    Ok(values.into_iter().map(W::from_u64).collect())
}

/// `batch` polynomials, one behind the other.
pub fn batch<W: Word>(u: &mut Unstructured, batch: usize, n: usize, q: u64) -> Result<Vec<W>> {
    let mut out = Vec::new();
    for _ in 0..batch {
        out.extend(polynomial::<W>(u, n, q)?);
    }
    Ok(out)
}
