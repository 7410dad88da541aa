//! The suite of RNS rings: what [`RnsMul`] promises, checked by definition.
//!
//! [`rns_conformance!`](crate::rns_conformance!) makes one `#[test]` for each backend, group of rings and property:
//!
//! ```
//! karat::rns_conformance! {
//!     scalar: karat::Cpu::scalar();
//!     single: karat::Cpu::scalar().single_threaded(), small, mixed;
//! }
//! # fn main() {}
//! ```
//!
//! | group | rings |
//! |---|---|
//! | `small` | the shortest ring, one prime, one level, no special primes |
//! | `widths` | the smallest and largest primes of 14 to 62 bits, around every threshold at which kernels change |
//! | `mixed` | primes of several sizes in one ring |
//! | `many` | 64 primes, the most that a ring may have |
//! | `lengths` | `N = 2^3` to `2^12` |
//! | `long` | `N = 2^13` to `2^17`, compared at samples |
//!
//! Up to `N = 2^10` every operation runs on packed polynomials and on ones with gaps, whose contents must stay.
//! Conversions are compared with big integers, transforms with values at the points.

mod big;
mod contract;
mod macros;
mod pointwise;
pub mod rings;
mod subject;
mod switch;
mod transform;

use super::{Failure, Report};
use crate::arith::Word;
use crate::rns::{RnsMul, RnsRing};
use subject::Subject;

pub use rings::RnsCase;

/// What a backend must have right in RNS rings, one test each.
///
/// ```
/// use karat::conformance::RnsProperty;
/// assert!(RnsProperty::ALL.iter().any(|property| property.name() == "base conversion"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RnsProperty {
    /// Transforms are values at the points, inverses undo them, in place and from another operand.
    Transforms,
    /// Sums, differences, products, scalars, tensors, with a shared operand.
    Pointwise,
    /// Automorphisms in both domains.
    Automorphism,
    /// Base conversions, fast and exact, between every kind of prime.
    Conversion,
    /// Digits extended to all primes.
    ModUp,
    /// Sums of digits times keys, with and without an automorphism.
    KeyProduct,
    /// Division by special primes, and by one or more last primes, at every level.
    ModDown,
    /// Wrong operands are typed errors and change nothing.
    Operands,
    /// One plan, first used by 16 threads at once.
    Threads,
}

impl RnsProperty {
    /// All properties.
    pub const ALL: [Self; 9] = [
        Self::Transforms,
        Self::Pointwise,
        Self::Automorphism,
        Self::Conversion,
        Self::ModUp,
        Self::KeyProduct,
        Self::ModDown,
        Self::Operands,
        Self::Threads,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transforms => "transforms",
            Self::Pointwise => "pointwise",
            Self::Automorphism => "automorphism",
            Self::Conversion => "base conversion",
            Self::ModUp => "mod up",
            Self::KeyProduct => "key product",
            Self::ModDown => "mod down",
            Self::Operands => "operands",
            Self::Threads => "threads",
        }
    }
}

/// Checks one property of a backend in one RNS ring.
///
/// # Errors
/// The first [`Failure`].
///
/// ```
/// use karat::conformance::{RnsProperty, check_rns};
/// use karat::{Cpu, rns::RnsRing};
/// let ring = RnsRing::<u64>::new(8, &[97, 113, 193], &[241]).unwrap();
/// assert!(check_rns(&Cpu::scalar(), &ring, RnsProperty::ModUp)?.compared > 0);
/// # Ok::<(), karat::conformance::Failure>(())
/// ```
pub fn check_rns<B: RnsMul<W>, W: Word>(
    backend: &B,
    ring: &RnsRing<W>,
    property: RnsProperty,
) -> Result<Report, Failure> {
    let mut compared = 0;
    for gaps in [false, true] {
        if gaps && ring.n() > GAPS {
            break;
        }
        let mut subject = Subject::new(backend, ring, gaps)?;
        let s = &mut subject;
        match property {
            RnsProperty::Transforms => transform::transforms(s),
            RnsProperty::Pointwise => pointwise::pointwise(s),
            RnsProperty::Automorphism => transform::automorphism(s),
            RnsProperty::Conversion => switch::conversion(s),
            RnsProperty::ModUp => switch::mod_up(s),
            RnsProperty::KeyProduct => switch::key_product(s),
            RnsProperty::ModDown => switch::mod_down(s),
            RnsProperty::Operands => contract::operands(s),
            RnsProperty::Threads => contract::threads(s),
        }?;
        compared += subject.report().compared;
    }
    Ok(Report { compared })
}

/// Longer rings are tested without gaps between polynomials.
const GAPS: usize = 1 << 10;

/// A backend for RNS rings of both word sizes.
pub trait RnsUniversal: RnsMul<u32> + RnsMul<u64> {}

impl<B: RnsMul<u32> + RnsMul<u64>> RnsUniversal for B {}

/// Checks one property in one ring of the suite.
///
/// # Errors
/// The first [`Failure`].
///
/// ```
/// use karat::conformance::{RnsProperty, check_rns_case, rns::rings};
/// for case in rings::small()? {
///     check_rns_case(&karat::Cpu::scalar(), &case, RnsProperty::Pointwise).unwrap();
/// }
/// # Ok::<(), karat::Error>(())
/// ```
pub fn check_rns_case<B: RnsUniversal>(backend: &B, case: &RnsCase, property: RnsProperty) -> Result<Report, Failure> {
    match case {
        RnsCase::Words32(ring) => check_rns(backend, ring, property),
        RnsCase::Words64(ring) => check_rns(backend, ring, property),
    }
}
