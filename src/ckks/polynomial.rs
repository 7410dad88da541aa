//! Polynomials to evaluate, and how deep that is.

use super::{Error, Result};

/// The basis of a polynomial's coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Basis {
    /// Powers of x.
    Monomial,
    /// Chebyshev polynomials of the first kind.
    Chebyshev,
}

/// A polynomial with real coefficients, on an interval where its basis is Chebyshev's.
///
/// ```
/// use karat::ckks::Polynomial;
/// let p = Polynomial::monomial(vec![1.0, 0.0, 2.0])?; // 1 + 2x²
/// assert_eq!((p.degree(), p.depth(), p.value(3.0)), (2, 2, 19.0));
/// let sine = Polynomial::interpolate(f64::sin, 15, -3.0, 3.0)?;
/// assert!((sine.value(1.0) - 1f64.sin()).abs() < 1e-9);
/// assert_eq!(sine.depth(), 5); // 4 for degree 15, 1 to map [-3, 3] to [-1, 1]
/// # Ok::<(), karat::ckks::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Polynomial {
    basis: Basis,
    coefficients: Vec<f64>,
    interval: (f64, f64),
}

impl Polynomial {
    /// `c_0 + c_1·x + c_2·x² + ···`; leading zeros do not count.
    ///
    /// # Errors
    /// `NotFinite`; `Argument` for no coefficient or more than 2^16.
    pub fn monomial(coefficients: Vec<f64>) -> Result<Self> {
        Self::new(Basis::Monomial, coefficients, (-1.0, 1.0))
    }

    /// `c_0 + c_1·T_1(y) + c_2·T_2(y) + ···`, `y` in `[-1, 1]` as `x` goes from `from` to `to`.
    ///
    /// # Errors
    /// As [`Polynomial::monomial`], and `Argument` for an interval that is empty.
    pub fn chebyshev(coefficients: Vec<f64>, from: f64, to: f64) -> Result<Self> {
        Self::new(Basis::Chebyshev, coefficients, (from, to))
    }

    fn new(basis: Basis, mut coefficients: Vec<f64>, interval: (f64, f64)) -> Result<Self> {
        if let Some(index) = coefficients.iter().position(|c| !c.is_finite()) {
            return Err(Error::NotFinite { index });
        }
        if coefficients.is_empty() || coefficients.len() > 1 << 16 {
            return Err(Error::Argument(format!("a polynomial of {} coefficients", coefficients.len())));
        }
        if !(interval.0 < interval.1 && (interval.1 - interval.0).is_finite()) {
            return Err(Error::Argument(format!("[{}, {}] is no interval", interval.0, interval.1)));
        }
        while coefficients.len() > 1 && coefficients.last() == Some(&0.0) {
            coefficients.pop();
        }
        Ok(Self { basis, coefficients, interval })
    }

    /// The interpolation of a function at the Chebyshev points of an interval.
    ///
    /// # Errors
    /// `NotFinite` where the function has no value, and as [`Polynomial::chebyshev`].
    pub fn interpolate(f: impl Fn(f64) -> f64, degree: usize, from: f64, to: f64) -> Result<Self> {
        if degree >= 1 << 16 {
            return Err(Error::Argument(format!("degree {degree}: below 2^16 is possible")));
        }
        let count = degree + 1;
        let angle = |k: usize| core::f64::consts::PI * (k as f64 + 0.5) / count as f64;
        let values: Vec<f64> = (0..count).map(|k| f((from + to + (to - from) * angle(k).cos()) / 2.0)).collect();
        let coefficient = |i: usize| {
            let sum: f64 = values.iter().enumerate().map(|(k, value)| value * (i as f64 * angle(k)).cos()).sum();
            sum * if i == 0 { 1.0 } else { 2.0 } / count as f64
        };
        Self::chebyshev((0..count).map(coefficient).collect(), from, to)
    }

    /// The basis.
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The coefficients, lowest first.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The degree.
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// Levels that its evaluation takes: `ceil(log2(degree + 1))`, and one where an interval is mapped to `[-1, 1]` by
    /// a factor that is not whole.
    pub fn depth(&self) -> usize {
        depth(self.degree()) + usize::from(self.degree() > 0 && self.map().0.fract() != 0.0)
    }

    /// Factor and summand that take the interval to `[-1, 1]`.
    pub(super) fn map(&self) -> (f64, f64) {
        let (from, to) = self.interval;
        match self.basis {
            Basis::Monomial => (1.0, 0.0),
            Basis::Chebyshev => (2.0 / (to - from), -(from + to) / (to - from)),
        }
    }

    /// Its value, by Horner's or Clenshaw's rule.
    pub fn value(&self, x: f64) -> f64 {
        match self.basis {
            Basis::Monomial => self.coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c),
            Basis::Chebyshev => {
                let (factor, summand) = self.map();
                let y = factor * x + summand;
                let tail = self.coefficients[1..].iter().rev();
                let (a, b) = tail.fold((0.0, 0.0), |(a, b), c| (c + 2.0 * y * a - b, a));
                self.coefficients[0] + y * a - b
            }
        }
    }
}

/// `ceil(log2(degree + 1))`.
pub(super) fn depth(degree: usize) -> usize {
    (usize::BITS - degree.leading_zeros()) as usize
}

/// Splits `p = q·B_m + r` with `B_m` the basis element of degree `m` and `deg r < m`.
///
/// # Bounds
/// `m <= deg p < 2m`.
pub(super) fn split(basis: Basis, p: &[f64], m: usize) -> (Vec<f64>, Vec<f64>) {
    let mut r = p[..m].to_vec();
    let mut q = p[m..].to_vec();
    if basis == Basis::Chebyshev {
        // T_(m+j) = 2·T_m·T_j - T_(m-j).
        for j in 1..q.len() {
            r[m - j] -= q[j];
            q[j] *= 2.0;
        }
    }
    for part in [&mut q, &mut r] {
        while part.len() > 1 && part.last() == Some(&0.0) {
            part.pop();
        }
    }
    (q, r)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_give_the_polynomial_back() {
        for basis in [Basis::Monomial, Basis::Chebyshev] {
            for degree in 1..40usize {
                let p: Vec<f64> = (0..=degree).map(|i| (i as f64 * 0.7).sin() + 0.1).collect();
                let m = 1 << degree.ilog2();
                let (q, r) = split(basis, &p, m);
                let value = |c: &[f64], x| Polynomial::new(basis, c.to_vec(), (-1.0, 1.0)).unwrap().value(x);
                let mut element = vec![0.0; m + 1];
                element[m] = 1.0;
                for x in [-1.0, -0.3, 0.5, 0.99] {
                    let back = value(&q, x) * value(&element, x) + value(&r, x);
                    assert!((back - value(&p, x)).abs() < 1e-12, "{basis:?} {degree} {x}");
                }
            }
        }
    }

    #[test]
    fn depths() {
        let p = |count: usize| Polynomial::monomial(vec![1.0; count]).unwrap().depth();
        assert_eq!([1, 2, 3, 4, 5, 8, 9, 64, 65].map(p), [0, 1, 2, 2, 3, 3, 4, 6, 7]);
        assert_eq!(Polynomial::chebyshev(vec![1.0, 1.0], -1.0, 1.0).unwrap().depth(), 1);
        assert_eq!(Polynomial::chebyshev(vec![1.0, 1.0], -4.0, 4.0).unwrap().depth(), 2);
        assert_eq!(Polynomial::chebyshev(vec![1.0], -4.0, 4.0).unwrap().depth(), 0);
        assert_eq!(Polynomial::monomial(vec![1.0, 2.0, 0.0, 0.0]).unwrap().degree(), 1);
    }

    #[test]
    fn what_is_no_polynomial() {
        assert!(Polynomial::monomial(vec![]).is_err());
        assert!(Polynomial::monomial(vec![f64::NAN]).is_err());
        for (from, to) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (f64::NEG_INFINITY, 0.0), (-1e308, 1e308)] {
            assert!(Polynomial::chebyshev(vec![1.0, 2.0], from, to).is_err(), "{from} {to}");
        }
        assert!(Polynomial::interpolate(|x| (x - 2.0).ln(), 2, -1.0, 1.0).is_err(), "no value at any point");
    }
}
