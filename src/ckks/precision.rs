//! How precise a result is, in bits.

use core::fmt;

use rustfft::num_complex::Complex64;

/// Statistics of the bits of precision of a vector: of its real parts, its imaginary parts, and both together.
///
/// A value's precision is `-log2 |error|`, error relative to 1; errors below `2^-60` count as that.
///
/// ```
/// use karat::ckks::{Complex64, PrecisionReport};
/// let wanted: Vec<_> = (0..8).map(|i| Complex64::new(i as f64, 0.0)).collect();
/// let got: Vec<_> = wanted.iter().map(|z| z + Complex64::new(2f64.powi(-20), 0.0)).collect();
/// let report = PrecisionReport::new(&wanted, &got);
/// assert_eq!(report.real.min, 20.0);
/// println!("{report}");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrecisionReport {
    /// Of the real parts.
    pub real: PrecisionStats,
    /// Of the imaginary parts.
    pub imaginary: PrecisionStats,
    /// Of the errors as complex numbers.
    pub complex: PrecisionStats,
}

/// Bits of precision over a vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrecisionStats {
    /// Of the worst value.
    pub min: f64,
    /// Of the best value.
    pub max: f64,
    /// Mean of the bits.
    pub mean: f64,
    /// Median of the bits.
    pub median: f64,
    /// Standard deviation of the errors, as bits: `-log2` of it.
    pub std: f64,
}

/// What a double can hold of values near 1.
const FLOOR: f64 = 60.0;

fn bits(error: f64) -> f64 {
    if error.is_finite() { (-error.abs().log2()).min(FLOOR) } else { f64::NEG_INFINITY }
}

impl PrecisionStats {
    fn new(errors: impl Iterator<Item = f64>) -> Self {
        let errors: Vec<f64> = errors.collect();
        let mut sorted: Vec<f64> = errors.iter().map(|error| bits(*error)).collect();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len().max(1) as f64;
        let square = errors.iter().map(|error| error * error).sum::<f64>() / count;
        let at = |index: usize| sorted.get(index).copied().unwrap_or(FLOOR);
        Self {
            min: at(0),
            max: at(sorted.len().saturating_sub(1)),
            mean: sorted.iter().sum::<f64>() / count,
            median: at(sorted.len() / 2),
            std: bits(square.sqrt()),
        }
    }
}

impl PrecisionReport {
    /// Compares what came out with what was wanted, value by value to the end of the shorter vector.
    pub fn new(wanted: &[Complex64], got: &[Complex64]) -> Self {
        let errors = || wanted.iter().zip(got).map(|(wanted, got)| got - wanted);
        Self {
            real: PrecisionStats::new(errors().map(|error| error.re)),
            imaginary: PrecisionStats::new(errors().map(|error| error.im)),
            complex: PrecisionStats::new(errors().map(|error| error.norm())),
        }
    }
}

impl fmt::Display for PrecisionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<10} {:>7} {:>7} {:>7} {:>7} {:>7}", "bits", "min", "max", "mean", "median", "std")?;
        for (name, stats) in [("real", self.real), ("imaginary", self.imaginary), ("complex", self.complex)] {
            let PrecisionStats { min, max, mean, median, std } = stats;
            writeln!(f, "{name:<10} {min:>7.2} {max:>7.2} {mean:>7.2} {median:>7.2} {std:>7.2}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_known_errors() {
        let wanted = vec![Complex64::default(); 4];
        let got: Vec<_> = [1, 2, 3, 4].iter().map(|b| Complex64::new(2f64.powi(-b), 0.0)).collect();
        let PrecisionStats { min, max, mean, median, std } = PrecisionReport::new(&wanted, &got).real;
        assert_eq!((min, max, mean, median), (1.0, 4.0, 2.5, 3.0));
        let square: f64 = [1, 2, 3, 4].iter().map(|b| 4f64.powi(-b)).sum::<f64>() / 4.0;
        assert!((std + square.sqrt().log2()).abs() < 1e-12);
        assert_eq!(PrecisionReport::new(&wanted, &got).imaginary.min, FLOOR);
    }

    #[test]
    fn what_is_no_number_has_no_precision() {
        let report = PrecisionReport::new(&[Complex64::default()], &[Complex64::new(f64::NAN, f64::INFINITY)]);
        assert_eq!((report.real.min, report.imaginary.min), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    }
}
