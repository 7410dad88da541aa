//! Which method multiplies in a ring, and why.

use alloc::string::String;
use core::fmt;

use super::spec::Choice;
use super::{Quotient, RingSpec};
use crate::arith::{factor_vartime, max_negacyclic_length};
use crate::{Error, Result};

/// What `x^N` equals inside a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrap {
    /// `x^N = -1`.
    Negacyclic,
    /// `x^N = 1`.
    Cyclic,
}

/// The shape of a transform: `N = points · width` coefficients become `points` polynomials of degree below `width`,
/// the residues modulo `x^width - slot`.
///
/// `width = 2^alpha` is the k-NTT; `width = 1` the complete NTT. Odd factors of `N` go into the width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of points, a power of two.
    pub points: usize,
    /// Coefficients at each point.
    pub width: usize,
    /// What `x^N` equals.
    pub wrap: Wrap,
}

impl Shape {
    /// Coefficients in all.
    ///
    /// ```
    /// use karat::ring::{Shape, Wrap};
    /// assert_eq!(Shape { points: 128, width: 2, wrap: Wrap::Negacyclic }.len(), 256);
    /// ```
    #[allow(clippy::len_without_is_empty)] // never empty
    pub const fn len(&self) -> usize {
        self.points * self.width
    }

    /// Number of butterfly layers.
    ///
    /// ```
    /// use karat::ring::{Shape, Wrap};
    /// assert_eq!(Shape { points: 128, width: 2, wrap: Wrap::Negacyclic }.layers(), 7);
    /// ```
    pub const fn layers(&self) -> u32 {
        self.points.trailing_zeros()
    }
}

/// How products in a ring are computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Method {
    /// One transform of `N` points over `Z_q` itself.
    Complete(Shape),
    /// The k-NTT: sub-polynomials of `points` coefficients over `Z_q` itself.
    Kntt {
        /// The transform.
        shape: Shape,
        /// `width = 2^alpha` times the odd part of `N`.
        alpha: u32,
    },
    /// Over the integers, through auxiliary primes that the backend chooses.
    Lift {
        /// Where the integer product is formed: `x^N ± 1` inside the transform, or `None` for the linear product,
        /// which is reduced modulo `f` afterwards.
        inside: Option<Wrap>,
        /// Why no transform over `Z_q` itself is used.
        reason: String,
    },
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete(shape) => write!(f, "complete NTT of {} points", shape.points),
            Self::Kntt { shape, alpha } => {
                write!(f, "k-NTT, alpha = {alpha}: {} transforms of {} points", shape.width, shape.points)
            }
            Self::Lift { inside: Some(_), .. } => write!(f, "lift, reduced inside the transform"),
            Self::Lift { inside: None, .. } => write!(f, "lift, linear product"),
        }
    }
}

impl Method {
    /// The shape of the transform over `Z_q`, if there is one.
    ///
    /// ```
    /// let ring: karat::RingSpec = "ml-kem".parse()?;
    /// assert_eq!(ring.method().shape().unwrap().points, 128);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn shape(&self) -> Option<Shape> {
        match self {
            Self::Complete(shape) | Self::Kntt { shape, .. } => Some(*shape),
            Self::Lift { .. } => None,
        }
    }

    /// The method's name and, for the k-NTT, its alpha, as the tables of `karat` print them.
    ///
    /// ```
    /// let ring: karat::RingSpec = "ml-kem".parse()?;
    /// assert_eq!(ring.method().label(), ("k-ntt", Some(1)));
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn label(&self) -> (&'static str, Option<u32>) {
        match self {
            Self::Complete(_) => ("complete", Some(0)),
            Self::Kntt { alpha, .. } => ("k-ntt", Some(*alpha)),
            Self::Lift { .. } => ("lift", None),
        }
    }

    /// Why this method was chosen.
    ///
    /// ```
    /// let ring: karat::RingSpec = "saber".parse()?;
    /// assert!(ring.method().why(&ring).contains("even"));
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn why(&self, ring: &RingSpec) -> String {
        match self {
            Self::Lift { reason, .. } => reason.clone(),
            _ if ring.alpha().is_some() => "alpha was given".into(),
            Self::Complete(shape) => alloc::format!("{} divides p - 1 for every prime p of q", order(shape)),
            Self::Kntt { shape, .. } => {
                alloc::format!("{} divides p - 1 for every prime p of q, {} does not", order(shape), 2 * order(shape))
            }
        }
    }
}

/// The order of the root of unity that a transform needs.
fn order(shape: &Shape) -> usize {
    match shape.wrap {
        Wrap::Negacyclic => 2 * shape.points,
        Wrap::Cyclic => shape.points,
    }
}

/// Cross terms cost `width` products a coefficient; beyond this width the lift is faster.
const MAX_AUTOMATIC_WIDTH: usize = 16;

/// The greatest power of two of points for `N` coefficients that the modulus allows, 0 if it allows none.
fn max_points(n: usize, q: u64, wrap: Wrap) -> usize {
    let even_part = 1u64 << n.trailing_zeros();
    match wrap {
        Wrap::Negacyclic => max_negacyclic_length(q, even_part) as usize,
        Wrap::Cyclic => (2 * max_negacyclic_length(q, even_part)).min(even_part) as usize,
    }
}

/// The method with this many points.
fn transform(n: usize, points: usize, wrap: Wrap) -> Method {
    let shape = Shape { points, width: n / points, wrap };
    if shape.width == 1 {
        Method::Complete(shape)
    } else {
        Method::Kntt { shape, alpha: n.trailing_zeros() - shape.layers() }
    }
}

pub(super) fn choose(ring: &RingSpec) -> Method {
    let (n, q) = (ring.n(), ring.q());
    let wrap = match ring.f() {
        Quotient::Negacyclic => Wrap::Negacyclic,
        Quotient::Cyclic => Wrap::Cyclic,
        Quotient::Sparse(_) => {
            return Method::Lift {
                inside: None,
                reason: "f is neither x^N + 1 nor x^N - 1: linear product, then reduction modulo f".into(),
            };
        }
    };
    // A transform of N coefficients with a small odd part reduces x^N ± 1 by itself.
    let odd_part = n >> n.trailing_zeros();
    let inside = (odd_part <= MAX_AUTOMATIC_WIDTH).then_some(wrap);
    match ring.choice() {
        Choice::Automatic => {}
        Choice::Alpha(alpha) => return transform(n, 1 << (n.trailing_zeros() - alpha), wrap),
        Choice::Lift => return Method::Lift { inside, reason: "the lift was asked for".into() },
    }
    let points = max_points(n, q, wrap);
    let reason = match n.checked_div(points) {
        None => "q is even: no root of -1".into(),
        Some(..=MAX_AUTOMATIC_WIDTH) => return transform(n, points, wrap),
        Some(width) => alloc::format!(
            "q allows {points} points for {n} coefficients: {width} at each point are more than {MAX_AUTOMATIC_WIDTH}"
        ),
    };
    Method::Lift { inside, reason }
}

/// Checks an alpha that a user gives.
pub(super) fn check_alpha(ring: &RingSpec, alpha: u32) -> Result<()> {
    let error = |reason: String| Err(Error::InvalidAlpha { alpha, reason });
    if *ring.f() != Quotient::Negacyclic {
        return error("the k-NTT needs f = x^N + 1".into());
    }
    let (n, q) = (ring.n(), ring.q());
    let most = n.trailing_zeros();
    let points = max_points(n, q, Wrap::Negacyclic);
    if points == 0 {
        return error("the k-NTT needs an odd modulus".into());
    }
    let least = most - points.trailing_zeros();
    if alpha > most {
        return error(alloc::format!("2^alpha must divide N = {n}: usable are {least} to {most}"));
    }
    if alpha < least {
        return error(alloc::format!(
            "2N/2^alpha = {} must divide p - 1 for every prime p of q = {q} ({}): usable are {least} to {most}",
            2 * (n >> alpha),
            factors(q)
        ));
    }
    Ok(())
}

fn factors(q: u64) -> String {
    let mut out = String::new();
    for (i, (p, exponent)) in factor_vartime(q).into_iter().enumerate() {
        let times = if i > 0 { " · " } else { "" };
        match exponent {
            1 => out += &alloc::format!("{times}{p}"),
            _ => out += &alloc::format!("{times}{p}^{exponent}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str) -> (&'static str, Option<u32>) {
        text.parse::<RingSpec>().unwrap().method().label()
    }

    #[test]
    fn methods_of_known_rings() {
        assert_eq!(label("ml-kem"), ("k-ntt", Some(1)));
        assert_eq!(label("ml-dsa"), ("complete", Some(0)));
        assert_eq!(label("raccoon"), ("complete", Some(0)));
        assert_eq!(label("saber"), ("lift", None));
        assert_eq!(label("sntrup761"), ("lift", None));
        assert_eq!(label("q=257,f=x^1024+1"), ("k-ntt", Some(3)));
        assert_eq!(label("q=12289,f=x^16384+1"), ("k-ntt", Some(3)));
        assert_eq!(label("q=17,f=x^16384+1"), ("lift", None));
        assert_eq!(label("q=17,f=x^16384+1,alpha=12"), ("k-ntt", Some(12)));
        assert_eq!(label("q=12289,f=x^1536+1"), ("k-ntt", Some(0)));
        assert_eq!(label("q=257,f=x^256-1"), ("complete", Some(0)));
        assert_eq!(label("q=2,f=x^64+1"), ("lift", None));
        assert_eq!(label("q=17,f=x+1"), ("complete", Some(0)));
    }

    #[test]
    fn every_ring_has_a_lift() {
        for (text, inside) in [
            ("ml-kem", Some(Wrap::Negacyclic)),
            ("q=257,f=x^256-1", Some(Wrap::Cyclic)),
            ("q=257,f=x^34+1", None),
            ("sntrup761", None),
            ("q=12289,f=x^64+1,alpha=3", Some(Wrap::Negacyclic)),
        ] {
            let ring = text.parse::<RingSpec>().unwrap().with_lift();
            assert!(matches!(ring.method(), Method::Lift { inside: found, .. } if found == inside), "{text}");
            assert_eq!(ring.alpha(), None);
        }
    }

    #[test]
    fn usable_alphas_are_named() {
        let ring: RingSpec = "n=512,q=3329,f=x^512+1".parse().unwrap();
        let message = |alpha| alloc::format!("{}", ring.clone().with_alpha(alpha).unwrap_err());
        assert!(message(1).contains("usable are 2 to 9"), "{}", message(1));
        assert!(message(10).contains("usable are 2 to 9"));
        assert!((2..=9).all(|alpha| ring.clone().with_alpha(alpha).is_ok()));
    }
}
