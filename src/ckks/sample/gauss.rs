//! Discrete Gaussians in constant time.

use zeroize::Zeroizing;

use super::Expander;
use crate::ckks::encoder::Integers;

/// Standard deviation of errors: that of the security tables.
pub(in crate::ckks) const SIGMA: f64 = 3.2;

/// `round(2^63 · P(|x| <= k))` for the discrete Gaussian of deviation 3.2, k = 0, 1, ...; beyond the last the
/// probability is below 2^-64. The test computes it again.
const CUMULATIVE: [u64; 29] = [
    0x0ff52b4064a1f258,
    0x2e5a25d4026fff6e,
    0x489ae2682e3db9bb,
    0x5d2bc20de6f95106,
    0x6bc8694a862fcdcf,
    0x7532d898e9d195da,
    0x7ab396c980f5facb,
    0x7d9e4e8f6717ea70,
    0x7f054956150a592b,
    0x7fa1ce99f8dbf691,
    0x7fdfb3f00a8f3398,
    0x7ff5e6f7c97d68d9,
    0x7ffd1f95b372bd36,
    0x7fff40f7f7aedc64,
    0x7fffd2e62d057ef0,
    0x7ffff6503aaa2875,
    0x7ffffe1bab99a744,
    0x7fffffaa0140ce53,
    0x7ffffff21f8a3a77,
    0x7ffffffdf72301f4,
    0x7fffffffba9fd472,
    0x7ffffffff79b78ce,
    0x7fffffffff13f6f9,
    0x7fffffffffe8748a,
    0x7ffffffffffdde24,
    0x7fffffffffffd320,
    0x7ffffffffffffca7,
    0x7fffffffffffffc6,
    0x7ffffffffffffffc,
];

/// One sample: all 29 comparisons are made, as borrows of subtractions.
fn sample(expander: &mut Expander) -> i64 {
    let mut samples = [expander.word() as i64];
    from_words(&mut samples);
    samples[0]
}

/// Uniform words to samples, a threshold for all of a few words before the next, so that these share a vector.
fn from_words(words: &mut [i64]) {
    for words in words.chunks_mut(16) {
        let mut magnitudes = [0; 16];
        for threshold in CUMULATIVE {
            for (magnitude, word) in magnitudes.iter_mut().zip(&*words) {
                // Adds one for each threshold that is reached.
                *magnitude += 1 - ((*word as u64 >> 1).wrapping_sub(threshold) >> 63) as i64;
            }
        }
        for (magnitude, word) in magnitudes.into_iter().zip(words) {
            let mask = (*word & 1).wrapping_neg();
            *word = (magnitude ^ mask) - mask;
        }
    }
}

/// `n` samples of deviation [`SIGMA`].
pub(in crate::ckks) fn gaussian(expander: &mut Expander, n: usize) -> Integers {
    let mut samples: Vec<i64> = (0..n).map(|_| expander.word() as i64).collect();
    from_words(&mut samples);
    Integers::Short { values: samples, most: CUMULATIVE.len() as u64 }
}

/// `n` samples of a deviation of at least `sigma`, less than twice that: sums of `2^i · x_i` with `x_i` of deviation
/// [`SIGMA`], whose variances add up (Micciancio and Walter, *Gaussian Sampling over the Integers*, 2017). Constant
/// time; how many terms there are depends on `sigma` alone.
///
/// # Bounds
/// `sigma` below `2^60`.
pub(in crate::ckks) fn wide_gaussian(expander: &mut Expander, n: usize, sigma: f64) -> Zeroizing<Vec<i64>> {
    let (mut terms, mut variance) = (1, SIGMA * SIGMA);
    while variance < sigma * sigma {
        variance = 4.0 * variance + SIGMA * SIGMA;
        terms += 1;
    }
    let horner = |expander: &mut Expander| (0..terms).fold(0i64, |sum, _| 2 * sum + sample(expander));
    Zeroizing::new((0..n).map(|_| horner(expander)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_distribution() {
        let weight = |k: i32| (-f64::from(k * k) / (2.0 * SIGMA * SIGMA)).exp();
        let total = weight(0) + 2.0 * (1..100).map(weight).sum::<f64>();
        // From the tail, where sums of doubles are exact enough.
        let mut tail = 0.0;
        for k in (0..29).rev() {
            tail += 2.0 * (if k == 28 { (29..100).map(weight).sum::<f64>() } else { weight(k + 1) });
            let missing = ((1u64 << 63) - CUMULATIVE[k as usize]) as f64;
            let expected = tail / total * 2f64.powi(63);
            assert!((missing - expected).abs() <= 1.0 + expected * 1e-13, "{k}: {missing} {expected}");
        }
    }

    #[test]
    fn samples_one_by_one_and_together() {
        let Integers::Short { values, most } = &gaussian(&mut Expander::new(&[3; 32], 1), 100) else {
            panic!("samples are short");
        };
        let mut expander = Expander::new(&[3; 32], 1);
        assert!(values.iter().all(|value| *value == sample(&mut expander) && value.unsigned_abs() <= *most));
        // The ends of every step.
        for (k, threshold) in CUMULATIVE.into_iter().enumerate() {
            let mut words = [(threshold as i64 - 1) << 1, (threshold as i64) << 1, ((threshold as i64) << 1) | 1];
            from_words(&mut words);
            assert_eq!(words, [k as i64, k as i64 + 1, -(k as i64 + 1)]);
        }
    }

    #[test]
    fn moments_and_tails() {
        let mut expander = Expander::new(&[1; 32], 0);
        let n = 1 << 18;
        let samples: Vec<f64> = (0..n).map(|_| sample(&mut expander) as f64).collect();
        let mean = samples.iter().sum::<f64>() / n as f64;
        let variance = samples.iter().map(|x| x * x).sum::<f64>() / n as f64;
        assert!(mean.abs() < 6.0 * SIGMA / (n as f64).sqrt(), "{mean}");
        assert!((variance / (SIGMA * SIGMA) - 1.0).abs() < 6.0 * (2.0 / n as f64).sqrt(), "{variance}");
        assert!(samples.iter().all(|x| x.abs() <= 29.0));
        assert!(samples.iter().any(|x| x.abs() >= 12.0), "3.75 deviations are common among 2^18");
    }

    #[test]
    fn wide_deviations() {
        for sigma in [1.0, 3.2, 100.0, 2f64.powi(40)] {
            let samples = wide_gaussian(&mut Expander::new(&[2; 32], 0), 1 << 14, sigma);
            let square = samples.iter().map(|x| *x as f64 * *x as f64).sum::<f64>() / samples.len() as f64;
            let ratio = square.sqrt() / sigma.max(SIGMA);
            assert!((0.95..2.1).contains(&ratio), "{sigma}: {ratio}");
        }
    }
}
