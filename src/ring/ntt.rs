//! A transform as data: layers, twiddles, slots and orders, from which every backend derives its tables.
//!
//! The transform of `Shape { points: n, width: k, .. }` splits `Z_q[x]/(x^(nk) ± 1)` by `log2 n` layers of
//! Cooley–Tukey butterflies. Layer `l` has `2^l` nodes; node `i` holds a residue modulo `x^(2L) - z²`, `L` its half
//! length, and becomes residues modulo `x^L - z` (first) and `x^L + z` (second):
//!
//! ```text
//! t = z · a[j + L];   a[j + L] = a[j] - t;   a[j] = a[j] + t        z = zetas[2^l + i]
//! ```
//!
//! After the last layer slot `t` holds a polynomial of `k` coefficients modulo `x^k - slots[t]`. This is FIPS 203's
//! incomplete transform for `k = 2` and FIPS 204's for `k = 1`, in their order.

use alloc::vec::Vec;

use super::{Method, RingSpec, Shape, Wrap};
use crate::arith::{Modulus, bit_reverse, negacyclic_root};
use crate::{Error, Result};

/// One layer of butterflies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// Half length of a node: the distance between the two operands of a butterfly.
    pub half: usize,
    /// Number of nodes; their twiddles are `zetas[nodes..2·nodes]`.
    pub nodes: usize,
}

/// Tables of one transform over one modulus, canonical residues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ntt {
    shape: Shape,
    modulus: Modulus<u64>,
    gamma: u64,
    zetas: Vec<u64>,
    slots: Vec<u64>,
}

impl Ntt {
    /// Tables for a shape and a modulus; the root is `gamma`, or the least one.
    ///
    /// `gamma^points = -1` for the negacyclic wrap, `gamma^(points/2) = -1` for the cyclic one.
    ///
    /// # Errors
    /// `NoRoot` where the modulus has no such root or `gamma` is none.
    ///
    /// ```
    /// use karat::ring::{Shape, Wrap, ntt::Ntt};
    /// let kem = Ntt::new(Shape { points: 128, width: 2, wrap: Wrap::Negacyclic }, 3329, Some(17))?;
    /// assert_eq!(kem.zetas()[1], 1729); // FIPS 203, appendix A
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn new(shape: Shape, q: u64, gamma: Option<u64>) -> Result<Self> {
        let modulus = Modulus::<u64>::new(q)?;
        let n = shape.points;
        let half_order = match shape.wrap {
            Wrap::Negacyclic => n,
            Wrap::Cyclic => n / 2,
        } as u64;
        let is_root = |g: u64| g < q && modulus.pow(g, half_order) == q - 1;
        let gamma = match gamma {
            _ if half_order == 0 => 1,
            Some(g) if is_root(g) => g,
            Some(g) => {
                return Err(Error::NoRoot {
                    what: "root of -1",
                    q,
                    reason: alloc::format!("{g}^{half_order} is not -1"),
                });
            }
            None => negacyclic_root(q, half_order)?,
        };
        let mut powers = Vec::with_capacity(2 * n);
        let mut power = 1;
        for _ in 0..2 * n {
            powers.push(power);
            power = modulus.mul(power, gamma);
        }
        let layers = shape.layers();
        let mut zetas = alloc::vec![0; n];
        for layer in 0..layers {
            let nodes = 1usize << layer;
            for node in 0..nodes {
                let reversed = bit_reverse(node, layer);
                zetas[nodes + node] = powers[match shape.wrap {
                    Wrap::Negacyclic => (n >> (layer + 1)) * (1 + 2 * reversed),
                    Wrap::Cyclic => (n >> (layer + 1)) * reversed,
                }];
            }
        }
        let slots = (0..n)
            .map(|t| match shape.wrap {
                Wrap::Negacyclic if n == 1 => q - 1,
                Wrap::Negacyclic => powers[1 + 2 * bit_reverse(t, layers)],
                Wrap::Cyclic => powers[bit_reverse(t, layers)],
            })
            .collect();
        Ok(Self { shape, modulus, gamma, zetas, slots })
    }

    /// Tables for a ring that has a transform over its own modulus.
    ///
    /// # Errors
    /// `Unsupported` for a lifted ring.
    ///
    /// ```
    /// let ntt = karat::ring::ntt::Ntt::of_ring(&"ml-dsa".parse()?)?;
    /// assert_eq!(ntt.gamma(), 1753);
    /// assert!(karat::ring::ntt::Ntt::of_ring(&"saber".parse()?).is_err());
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn of_ring(ring: &RingSpec) -> Result<Self> {
        let method = ring.method();
        let Some(shape) = method.shape() else {
            let Method::Lift { reason, .. } = method else { unreachable!() };
            return Err(Error::Unsupported { what: "transform over its own modulus", reason });
        };
        // A standard's root belongs to the standard's shape; a forced alpha takes the power that fits it.
        let gamma = ring.gamma().map(|gamma| {
            let standard = RingSpec::clone(ring).automatic().method().shape().map_or(1, |s| s.points);
            Modulus::<u64>::new(ring.q()).map(|m| m.pow(gamma, (standard / shape.points) as u64))
        });
        Self::new(shape, ring.q(), gamma.transpose()?)
    }

    /// The transform's shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The modulus.
    pub fn modulus(&self) -> &Modulus<u64> {
        &self.modulus
    }

    /// The root of unity.
    pub fn gamma(&self) -> u64 {
        self.gamma
    }

    /// Twiddles of the forward transform; entry 0 is unused.
    pub fn zetas(&self) -> &[u64] {
        &self.zetas
    }

    /// The inverses of the twiddles in the same places, by one inversion for all of them.
    ///
    /// ```
    /// use karat::ring::{Shape, Wrap, ntt::Ntt};
    /// let kem = Ntt::new(Shape { points: 128, width: 2, wrap: Wrap::Negacyclic }, 3329, Some(17))?;
    /// assert_eq!(kem.modulus().mul(kem.zetas()[77], kem.inverse_zetas()[77]), 1);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn inverse_zetas(&self) -> Vec<u64> {
        let m = &self.modulus;
        let mut out = alloc::vec![0; self.zetas.len()];
        // The products of all before; then backwards, with the inverse of the product of all up to here.
        let mut product = m.reduce(1);
        for (before, zeta) in out.iter_mut().zip(&self.zetas).skip(1) {
            *before = product;
            product = m.mul(product, *zeta);
        }
        // Roots of -1 are invertible.
        let mut inverse = m.inv_vartime(product).unwrap_or(0);
        for (out, zeta) in out.iter_mut().zip(&self.zetas).skip(1).rev() {
            *out = m.mul(*out, inverse);
            inverse = m.mul(inverse, *zeta);
        }
        out
    }

    /// `x^width` at each slot: the vector `Y` of the k-NTT.
    pub fn slots(&self) -> &[u64] {
        &self.slots
    }

    /// The layers of the forward transform, first to last; the inverse runs them backwards.
    ///
    /// ```
    /// let ntt = karat::ring::ntt::Ntt::of_ring(&"ml-kem".parse()?)?;
    /// assert_eq!(ntt.layers().map(|layer| layer.half).collect::<Vec<_>>(), [128, 64, 32, 16, 8, 4, 2]);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn layers(&self) -> impl DoubleEndedIterator<Item = Layer> + use<> {
        let len = self.shape.len();
        (0..self.shape.layers()).map(move |layer| Layer { half: len >> (layer + 1), nodes: 1 << layer })
    }
}

/// The order of a transform's values, as `karat ntt --order` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The order of the ring's own standard (FIPS 203, FIPS 204); rings without one have none.
    Standard,
    /// Slot `t` holds the residue modulo `x^width - gamma^(2t+1)` (cyclic: `gamma^t`).
    Natural,
    /// The order in which the layers leave the slots: bit-reversed.
    BitReversed,
}

impl Order {
    /// Where slot `t` of the bit-reversed order goes.
    ///
    /// # Errors
    /// `Unsupported` for [`Order::Standard`] in a ring that has no standard transform.
    ///
    /// ```
    /// use karat::ring::ntt::{Ntt, Order};
    /// let ring = "ml-kem".parse()?;
    /// let ntt = Ntt::of_ring(&ring)?;
    /// assert_eq!(Order::Natural.position(&ring, &ntt, 1)?, 64);
    /// assert_eq!(Order::Standard.position(&ring, &ntt, 1)?, 1);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn position(self, ring: &RingSpec, ntt: &Ntt, t: usize) -> Result<usize> {
        match self {
            Self::BitReversed => Ok(t),
            Self::Natural => Ok(bit_reverse(t, ntt.shape.layers())),
            // FIPS 203 and 204 leave the slots bit-reversed.
            Self::Standard if ring.gamma().is_some() && ring.alpha().is_none() => Ok(t),
            Self::Standard => Err(Error::Unsupported {
                what: "standard order",
                reason: "no standard defines one for it; use natural or bitrev".into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_identities() {
        for (shape, q) in [
            (Shape { points: 16, width: 1, wrap: Wrap::Negacyclic }, 97),
            (Shape { points: 16, width: 3, wrap: Wrap::Cyclic }, 97),
            (Shape { points: 1, width: 4, wrap: Wrap::Negacyclic }, 9),
            (Shape { points: 1, width: 4, wrap: Wrap::Cyclic }, 9),
            (Shape { points: 8, width: 2, wrap: Wrap::Negacyclic }, 17 * 97),
        ] {
            let ntt = Ntt::new(shape, q, None).unwrap();
            let m = ntt.modulus();
            // A node's z squared is its parent's value: +z for a first child, -z for a second one.
            for node in 2..shape.points {
                let parent = ntt.zetas[node / 2];
                let expected = if node % 2 == 0 { parent } else { m.neg(parent) };
                assert_eq!(m.mul(ntt.zetas[node], ntt.zetas[node]), expected);
            }
            for (t, slot) in ntt.slots.iter().enumerate() {
                let one = if shape.wrap == Wrap::Cyclic { 1 } else { q - 1 };
                assert_eq!(m.pow(*slot, shape.points as u64), one);
                if shape.points > 1 {
                    let z = ntt.zetas[(shape.points + t) / 2];
                    assert_eq!(*slot, if t % 2 == 0 { z } else { m.neg(z) });
                }
            }
        }
    }

    #[test]
    fn wrong_roots_are_refused() {
        let shape = Shape { points: 128, width: 2, wrap: Wrap::Negacyclic };
        assert!(Ntt::new(shape, 3329, Some(18)).is_err());
        assert!(Ntt::new(shape, 3329, Some(3329 + 17)).is_err());
        assert!(Ntt::new(shape, 3331, None).is_err());
    }
}
