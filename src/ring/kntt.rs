//! The k-NTT, step by step: each step is a function of its own, on canonical residues, to follow and to test against.
//!
//! With `k = 2^alpha`, `n = N/k` and `y = x^k`, a polynomial of `Z_q[x]/(x^N + 1)` is `f = sum f_i(y) x^i` with `k`
//! sub-polynomials of `n` coefficients over `Z_q[y]/(y^n + 1)`. A product is
//!
//! 1. [`Kntt::split`] both operands,
//! 2. [`Kntt::transform`] each sub-polynomial by an `n`-point negacyclic NTT,
//! 3. [`Kntt::pointwise`] `P_ii = F_i ∘ G_i` and [`Kntt::cross`]
//!    `P_ij = (F_i + F_j) ∘ (G_i + G_j) - P_ii - P_jj` (Karatsuba) for `i < j`,
//! 4. [`Kntt::wrap`] `Z_k = Y ∘ sum of P_ij over i + j = k + 2^alpha`, `Y` the transform of `y`,
//! 5. [`Kntt::knttmul`] `Q_k = Z_k + sum of P_ij over i + j = k`,
//! 6. [`Kntt::inverse`] transforms, scaled by `n^-1`, and [`Kntt::interleave`].
//!
//! Products at a point: `k + k(k-1)/2 + (k-1)`: 1, 4, 13, 43 for alpha = 0, 1, 2, 3. The method is that of Zhu, Liu
//! and Pan (2021). Backends compute the same map by an `N`-point transform stopped alpha layers early, which leaves
//! the values of one point side by side; the tests hold both against each other.

use alloc::vec::Vec;

use super::ntt::Ntt;
use super::{Method, Quotient, RingSpec, Shape, Wrap};
use crate::arith::Modulus;
use crate::{Error, Result};

/// The k-NTT of a ring `Z_q[x]/(x^N + 1)`.
///
/// ```
/// use karat::ring::kntt::Kntt;
/// let kntt = Kntt::new(&"n=8,q=17,f=x^8+1,alpha=2".parse()?)?;
/// let (f, g) = ([1, 2, 3, 4, 5, 6, 7, 8], [16, 0, 1, 0, 0, 0, 0, 0]);
/// let parts = kntt.split(&f);
/// assert_eq!(parts, [vec![1, 5], vec![2, 6], vec![3, 7], vec![4, 8]]);
/// assert_eq!(kntt.multiply(&f, &g), kntt.multiply_schoolbook(&f, &g));
/// # Ok::<(), karat::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Kntt {
    /// The `n`-point transform of a sub-polynomial.
    ntt: Ntt,
    parts: usize,
}

impl Kntt {
    /// The k-NTT with the ring's alpha.
    ///
    /// # Errors
    /// `Unsupported` where the ring's method is a lift or `f` is not `x^N + 1`.
    pub fn new(ring: &RingSpec) -> Result<Self> {
        let unsupported = |reason: &str| Error::Unsupported { what: "k-NTT", reason: reason.into() };
        if *ring.f() != Quotient::Negacyclic {
            return Err(unsupported("f is not x^N + 1"));
        }
        let Some(shape) = ring.method().shape() else {
            let Method::Lift { reason, .. } = ring.method() else { unreachable!() };
            return Err(unsupported(&reason));
        };
        let whole = Ntt::of_ring(ring)?;
        let part = Shape { points: shape.points, width: 1, wrap: Wrap::Negacyclic };
        Ok(Self { ntt: Ntt::new(part, ring.q(), Some(whole.gamma()))?, parts: shape.width })
    }

    /// Number of sub-polynomials, `2^alpha` times the odd part of `N`.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The `n`-point transform.
    pub fn ntt(&self) -> &Ntt {
        &self.ntt
    }

    fn modulus(&self) -> &Modulus<u64> {
        self.ntt.modulus()
    }

    /// Coefficient `j` of part `i` is coefficient `j·parts + i` of `f`.
    ///
    /// # Bounds
    /// `f` holds `N` coefficients.
    pub fn split(&self, f: &[u64]) -> Vec<Vec<u64>> {
        (0..self.parts).map(|i| f[i..].iter().step_by(self.parts).copied().collect()).collect()
    }

    /// The inverse of [`Kntt::split`].
    ///
    /// ```
    /// let kntt = karat::ring::kntt::Kntt::new(&"n=8,q=17,f=x^8+1,alpha=1".parse()?)?;
    /// let f = [1, 2, 3, 4, 5, 6, 7, 8];
    /// assert_eq!(kntt.interleave(&kntt.split(&f)), f);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn interleave(&self, parts: &[Vec<u64>]) -> Vec<u64> {
        let n = self.ntt.shape().points;
        (0..n).flat_map(|j| parts.iter().map(move |part| part[j])).collect()
    }

    /// Forward transform of one part, in place: slots bit-reversed.
    ///
    /// # Bounds
    /// `part` holds `n` canonical residues; so for all steps below.
    pub fn transform(&self, part: &mut [u64]) {
        let m = self.modulus();
        for layer in self.ntt.layers() {
            let zetas = &self.ntt.zetas()[layer.nodes..2 * layer.nodes];
            for (node, zeta) in part.chunks_exact_mut(2 * layer.half).zip(zetas) {
                let (low, high) = node.split_at_mut(layer.half);
                for (x, y) in low.iter_mut().zip(high) {
                    let t = m.mul(*zeta, *y);
                    (*x, *y) = (m.add(*x, t), m.sub(*x, t));
                }
            }
        }
    }

    /// Inverse transform of one part, in place, scaled by `n^-1`.
    ///
    /// ```
    /// let kntt = karat::ring::kntt::Kntt::new(&"n=8,q=17,f=x^8+1".parse()?)?;
    /// let mut part = [1, 2, 3, 4, 5, 6, 7, 8];
    /// kntt.transform(&mut part);
    /// kntt.inverse(&mut part);
    /// assert_eq!(part, [1, 2, 3, 4, 5, 6, 7, 8]);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn inverse(&self, part: &mut [u64]) {
        let m = self.modulus();
        let inverses = self.ntt.inverse_zetas();
        for layer in self.ntt.layers().rev() {
            let inverses = &inverses[layer.nodes..2 * layer.nodes];
            for (node, inverse) in part.chunks_exact_mut(2 * layer.half).zip(inverses) {
                let (low, high) = node.split_at_mut(layer.half);
                for (x, y) in low.iter_mut().zip(high) {
                    (*x, *y) = (m.add(*x, *y), m.mul(*inverse, m.sub(*x, *y)));
                }
            }
        }
        let scale = m.inv_vartime(m.reduce(self.ntt.shape().points as u64)).unwrap_or(0);
        for x in part {
            *x = m.mul(*x, scale);
        }
    }

    /// `P_ii = F_i ∘ G_i`.
    pub fn pointwise(&self, f: &[u64], g: &[u64]) -> Vec<u64> {
        f.iter().zip(g).map(|(x, y)| self.modulus().mul(*x, *y)).collect()
    }

    /// `P_ij` by Karatsuba: `(f.0 + f.1) ∘ (g.0 + g.1) - p.0 - p.1` with `p = (P_ii, P_jj)`.
    pub fn cross(&self, f: (&[u64], &[u64]), g: (&[u64], &[u64]), p: (&[u64], &[u64])) -> Vec<u64> {
        let m = self.modulus();
        let sums = self.pointwise(&self.sum(f.0, f.1), &self.sum(g.0, g.1));
        sums.iter().zip(p.0).zip(p.1).map(|((s, a), b)| m.sub(m.sub(*s, *a), *b)).collect()
    }

    /// `P_ij = F_i ∘ G_j + F_j ∘ G_i`, the schoolbook variant of [`Kntt::cross`].
    pub fn cross_schoolbook(&self, f: (&[u64], &[u64]), g: (&[u64], &[u64])) -> Vec<u64> {
        self.sum(&self.pointwise(f.0, g.1), &self.pointwise(f.1, g.0))
    }

    /// `Z = Y ∘ sum`, `Y` the evaluation points.
    pub fn wrap(&self, sum: &[u64]) -> Vec<u64> {
        self.pointwise(self.ntt.slots(), sum)
    }

    /// All `Q_k` from the products: `product(i, j)` gives `P_ij` for `i <= j`.
    pub fn knttmul<'a>(&self, product: impl Fn(usize, usize) -> &'a [u64]) -> Vec<Vec<u64>> {
        let parts = self.parts;
        let diagonal = |degree: usize| {
            let pairs = degree.saturating_sub(parts - 1)..=degree / 2;
            pairs.fold(alloc::vec![0; self.ntt.shape().points], |sum, i| self.sum(&sum, product(i, degree - i)))
        };
        (0..parts)
            .map(|k| {
                let low = diagonal(k);
                // Degree k + 2^alpha occurs for k < 2^alpha - 1 only.
                if k + 1 < parts { self.sum(&low, &self.wrap(&diagonal(k + parts))) } else { low }
            })
            .collect()
    }

    /// The whole product, cross terms by Karatsuba.
    pub fn multiply(&self, f: &[u64], g: &[u64]) -> Vec<u64> {
        self.multiply_with(f, g, true)
    }

    /// The whole product, cross terms by the schoolbook method.
    pub fn multiply_schoolbook(&self, f: &[u64], g: &[u64]) -> Vec<u64> {
        self.multiply_with(f, g, false)
    }

    fn multiply_with(&self, f: &[u64], g: &[u64], karatsuba: bool) -> Vec<u64> {
        let transformed = |poly| {
            let mut parts = self.split(poly);
            parts.iter_mut().for_each(|part| self.transform(part));
            parts
        };
        let (f, g) = (transformed(f), transformed(g));
        let squares: Vec<_> = f.iter().zip(&g).map(|(f, g)| self.pointwise(f, g)).collect();
        let cross: Vec<Vec<_>> = (0..self.parts)
            .map(|i| {
                (i + 1..self.parts)
                    .map(|j| {
                        let (f, g) = ((&f[i][..], &f[j][..]), (&g[i][..], &g[j][..]));
                        if karatsuba {
                            self.cross(f, g, (&squares[i], &squares[j]))
                        } else {
                            self.cross_schoolbook(f, g)
                        }
                    })
                    .collect()
            })
            .collect();
        let mut out = self.knttmul(|i, j| if i == j { &squares[i] } else { &cross[i][j - i - 1] });
        out.iter_mut().for_each(|part| self.inverse(part));
        self.interleave(&out)
    }

    fn sum(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        a.iter().zip(b).map(|(x, y)| self.modulus().add(*x, *y)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x^a · x^b` by definition.
    fn monomial(n: usize, q: u64, exponent: usize) -> Vec<u64> {
        let mut out = alloc::vec![0; n];
        out[exponent % n] = if exponent % (2 * n) < n { 1 } else { q - 1 };
        out
    }

    #[test]
    fn products_of_monomials_for_every_alpha() {
        for (n, q) in [(1, 17), (2, 17), (8, 17), (16, 97), (24, 97), (16, 97 * 193), (32, 193 * 193)] {
            let ring = RingSpec::negacyclic(n, q).unwrap();
            for alpha in 0..=n.trailing_zeros() {
                let Ok(ring) = ring.clone().with_alpha(alpha) else { continue };
                let kntt = Kntt::new(&ring).unwrap();
                for a in 0..n {
                    for b in 0..n {
                        let (f, g) = (monomial(n, q, a), monomial(n, q, b));
                        let expected = monomial(n, q, a + b);
                        assert_eq!(kntt.multiply(&f, &g), expected, "{ring:?}");
                        assert_eq!(kntt.multiply_schoolbook(&f, &g), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn the_transform_of_y_is_the_vector_of_slots() {
        let kntt = Kntt::new(&"n=64,q=257,f=x^64+1,alpha=2".parse().unwrap()).unwrap();
        let mut y = alloc::vec![0; 16];
        y[1] = 1;
        kntt.transform(&mut y);
        assert_eq!(y, kntt.ntt().slots());
    }

    #[test]
    fn refused_rings() {
        for ring in ["saber", "sntrup761", "q=257,f=x^256-1"] {
            assert!(Kntt::new(&ring.parse().unwrap()).is_err());
        }
    }
}
