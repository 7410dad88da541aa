//! One test suite for every backend: what [`RingMul`] promises, checked against schoolbook products.
//!
//! [`conformance!`](crate::conformance!) makes one `#[test]` for each backend, ring and property; a backend that lives
//! in another crate is tested by the same line as this crate's own:
//!
//! ```
//! karat::conformance! {
//!     scalar: karat::Cpu::scalar();
//!     single: karat::Cpu::scalar().single_threaded(), presets, user;
//! }
//! # fn main() {}
//! ```
//!
//! A backend is an expression, evaluated in every test, of a [`Backend`] or of a `Result` of one; behind it may stand
//! the groups of rings to test (all of them where none is named):
//!
//! | group | rings | properties |
//! |---|---|---|
//! | `presets` | every published scheme's | all |
//! | `user` | what only a user would name: any `f`, tiny, composite and prime-power moduli, odd factors of `N` | all |
//! | `small` | one short ring of every method; part of `user`, for slow backends | all |
//! | `thresholds` | moduli on both sides of every size at which kernels change | all but batches |
//! | `lengths` | `N = 1, 2, 4 .. 2^17`, word sizes, complete, cyclic and lifted | transforms and products |
//! | `methods` | every method that a ring has, against each other | [`methods`](check_methods) |
//! | `large_batches` | the presets, 1000 polynomials at once | [`Property::LargeBatch`] |
//!
//! A backend that is not there (the `Result` is an error) prints `skipped: <reason>`, and the test passes, unless
//! the environment variable `KARAT_REQUIRE` names it: `KARAT_REQUIRE=cuda,avx512` turns those skips into failures.
//!
//! RNS rings have a suite of their own, [`rns`].
//!
//! [`differential`] tests a single product function, without a backend around it.
//!
//! Functions return a [`Failure`] that says where what went wrong, and never panic over a wrong result. Up to
//! `N = 2^12` whole products are compared with the oracle, above that 64 coefficients and both ends. Inputs are made
//! by [`SplitMix64`] and the same in every run.

mod contract;
mod differential;
mod domain;
mod failure;
mod inputs;
mod macros;
mod methods;
mod products;
pub mod rings;
pub mod rns;
mod run;
mod subject;
mod transform;

pub use differential::{Counterexample, Differential, Outcome, differential};
pub use failure::{Failure, Place};
pub use inputs::{Pattern, SplitMix64};
pub use methods::check_methods;
pub use rns::{RnsCase, RnsProperty, RnsUniversal, check_rns, check_rns_case};
pub use run::{Candidate, Provide, check_spec, required};

use crate::backend::RingMul;
use crate::ring::{Ring, UserRing};
use subject::Subject;

/// What a backend must have right, one test each.
///
/// ```
/// use karat::conformance::Property;
/// assert!(Property::ALL.iter().any(|property| property.name() == "canonical order"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Property {
    /// Products of every pattern at its bound are the oracle's, and operands stay as they were.
    Products,
    /// So are products of one coefficient at `q - 1`, for each index.
    Lanes,
    /// Batches of 1, 2, 3 and 31: right, and the same as one by one.
    Batches,
    /// A batch of 1000, `N` up to `2^10`.
    LargeBatch,
    /// `intt(ntt(a)) = a`, every pattern, each lane alone.
    RoundTrip,
    /// `ntt(c·a + d·b) = c·ntt(a) + d·ntt(b)`.
    Linearity,
    /// Exported values are the residues modulo `x^width - gamma^(2·brv(t)+1)`, and import is the inverse.
    CanonicalOrder,
    /// Pointwise products; their results are factors again, or a lifted ring refuses.
    Pointwise,
    /// Sums of 1 to 7 and of 33 products at their bounds; as many as a lifted ring has room for, and no more.
    Accumulation,
    /// Matrices, shared or one for each item.
    MatVec,
    /// Prepared factors, shared or one for each item.
    Prepared,
    /// Wrong operands are typed errors, long buffers are none, secrets compute like public values.
    Operands,
}

impl Property {
    /// All properties.
    pub const ALL: [Self; 12] = [
        Self::Products,
        Self::Lanes,
        Self::Batches,
        Self::LargeBatch,
        Self::RoundTrip,
        Self::Linearity,
        Self::CanonicalOrder,
        Self::Pointwise,
        Self::Accumulation,
        Self::MatVec,
        Self::Prepared,
        Self::Operands,
    ];

    /// The name in failures and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Products => "products",
            Self::Lanes => "lanes",
            Self::Batches => "batches",
            Self::LargeBatch => "large batch",
            Self::RoundTrip => "round trip",
            Self::Linearity => "linearity",
            Self::CanonicalOrder => "canonical order",
            Self::Pointwise => "pointwise",
            Self::Accumulation => "accumulation",
            Self::MatVec => "matrix-vector",
            Self::Prepared => "prepared",
            Self::Operands => "operands",
        }
    }
}

/// What a check looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Polynomials that were compared with what they should be.
    pub compared: u64,
}

/// Checks one property of a backend in one ring.
///
/// # Errors
/// The first [`Failure`].
///
/// ```
/// use karat::{Cpu, conformance::{Property, check}, ring::presets::MlKem};
/// let report = check(&Cpu::scalar(), &MlKem, Property::Products)?;
/// assert!(report.compared > 0);
/// # Ok::<(), karat::conformance::Failure>(())
/// ```
pub fn check<B: RingMul<R>, R: Ring>(backend: &B, ring: &R, property: Property) -> Result<Report, Failure> {
    let mut subject = Subject::new(backend, ring)?;
    let s = &mut subject;
    match property {
        Property::Products => products::products(s),
        Property::Lanes => products::lanes(s),
        Property::Batches => products::batches(s),
        Property::LargeBatch => products::large_batch(s),
        Property::RoundTrip => transform::round_trip(s),
        Property::Linearity => transform::linearity(s),
        Property::CanonicalOrder => transform::canonical_order(s),
        Property::Pointwise => domain::pointwise(s),
        Property::Accumulation => domain::accumulation(s),
        Property::MatVec => domain::mat_vec(s),
        Property::Prepared => domain::prepared(s),
        Property::Operands => contract::operands(s),
    }?;
    Ok(subject.report())
}

/// A backend for every ring that a user describes.
pub trait Universal: RingMul<UserRing<u16>> + RingMul<UserRing<u32>> + RingMul<UserRing<u64>> {}

impl<B: RingMul<UserRing<u16>> + RingMul<UserRing<u32>> + RingMul<UserRing<u64>>> Universal for B {}

#[cfg(doc)]
use crate::backend::Backend;
