//! Backends that may be absent, rings of any word size.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{
    Failure, Property, Report, RnsCase, RnsProperty, RnsUniversal, Universal, check, check_methods, check_rns_case,
};
use crate::Result;
use crate::arith::Word;
use crate::backend::RingMul;
use crate::ring::{RingSpec, UserRing};

/// Rings up to this `N` are tested in every word that holds their coefficients, longer ones in the smallest.
const EVERY_WORD: usize = 64;

/// Checks one property of a backend in a ring that is known by its description.
///
/// # Errors
/// The first [`Failure`].
///
/// ```
/// use karat::{Cpu, conformance::{Property, check_spec}};
/// check_spec(&Cpu::scalar(), &"n=100,q=97,f=x^100+3x^7+5".parse().unwrap(), Property::Prepared)?;
/// # Ok::<(), karat::conformance::Failure>(())
/// ```
pub fn check_spec<B: Universal>(
    backend: &B,
    spec: &RingSpec,
    property: Property,
) -> core::result::Result<Report, Failure> {
    let mut compared = 0;
    for bits in [16, 32, 64] {
        if bits == spec.word_bits() || (bits > spec.word_bits() && spec.n() <= EVERY_WORD) {
            compared += match bits {
                16 => in_words::<B, u16>(backend, spec, property),
                32 => in_words::<B, u32>(backend, spec, property),
                _ => in_words::<B, u64>(backend, spec, property),
            }?
            .compared;
        }
    }
    Ok(Report { compared })
}

fn in_words<B: RingMul<UserRing<W>>, W: Word>(
    backend: &B,
    spec: &RingSpec,
    property: Property,
) -> core::result::Result<Report, Failure> {
    check(backend, &UserRing::<W>::new(spec.clone()).map_err(Failure::Ring)?, property)
}

/// What [`conformance!`](crate::conformance!) takes as a backend: one, or the `Result` of looking for one.
///
/// ```
/// use karat::{AnyBackend, Cpu, conformance::Provide};
/// assert!(Cpu::scalar().provide().is_ok());
/// assert!(AnyBackend::from_name("abacus").provide().is_err());
/// ```
pub trait Provide {
    /// The backend's type.
    type Backend: Universal;

    /// The backend, or why it is not there.
    ///
    /// # Errors
    /// The reason in words.
    fn provide(self) -> core::result::Result<Self::Backend, String>;
}

impl<B: Universal> Provide for B {
    type Backend = B;

    fn provide(self) -> core::result::Result<B, String> {
        Ok(self)
    }
}

impl<B: Universal, E: ToString> Provide for core::result::Result<B, E> {
    type Backend = B;

    fn provide(self) -> core::result::Result<B, String> {
        self.map_err(|error| error.to_string())
    }
}

/// A backend under test, by the name that `KARAT_REQUIRE` uses.
///
/// ```
/// use karat::conformance::{Candidate, Property, rings};
/// let candidate = Candidate::new("scalar", karat::Cpu::scalar());
/// candidate.run(rings::named("q=17,f=x^8+1"), Property::RoundTrip)?;
/// # Ok::<(), karat::conformance::Failure>(())
/// ```
#[derive(Debug)]
pub struct Candidate<B> {
    name: &'static str,
    backend: core::result::Result<B, String>,
}

impl<B: Universal> Candidate<B> {
    /// A candidate that may be absent.
    pub fn new(name: &'static str, backend: impl Provide<Backend = B>) -> Self {
        Self { name, backend: backend.provide() }
    }

    /// Checks a property in all these rings; an absent backend is skipped in words.
    ///
    /// # Errors
    /// The first [`Failure`]; `Missing` where the backend is absent and required.
    pub fn run(&self, rings: Result<Vec<RingSpec>>, property: Property) -> core::result::Result<(), Failure> {
        self.each(rings, |backend, ring| check_spec(backend, ring, property))
    }

    /// Checks all methods of all these rings against each other, see [`check_methods`].
    ///
    /// # Errors
    /// As [`Candidate::run`].
    pub fn run_methods(&self, rings: Result<Vec<RingSpec>>) -> core::result::Result<(), Failure> {
        self.each(rings, check_methods)
    }

    /// Checks a property in all these RNS rings.
    ///
    /// # Errors
    /// As [`Candidate::run`].
    pub fn run_rns(&self, rings: Result<Vec<RnsCase>>, property: RnsProperty) -> core::result::Result<(), Failure>
    where
        B: RnsUniversal,
    {
        self.each(rings, |backend, ring| check_rns_case(backend, ring, property))
    }

    fn each<R>(
        &self,
        rings: Result<Vec<R>>,
        work: impl Fn(&B, &R) -> core::result::Result<Report, Failure>,
    ) -> core::result::Result<(), Failure> {
        let rings = rings.map_err(Failure::Ring)?;
        match &self.backend {
            Ok(backend) => rings.iter().try_for_each(|ring| work(backend, ring).map(drop)),
            Err(reason) if required().iter().any(|name| name == self.name) => {
                Err(Failure::Missing { backend: self.name, reason: reason.clone() })
            }
            Err(reason) => {
                std::eprintln!("skipped: {}: {reason}", self.name);
                Ok(())
            }
        }
    }
}

/// The backends that the environment variable `KARAT_REQUIRE` names, a list with commas. A test binary can check
/// that it knows them all, so that a misspelt name requires nothing in silence.
///
/// ```
/// assert!(karat::conformance::required().iter().all(|name| !name.is_empty()));
/// ```
pub fn required() -> Vec<String> {
    std::env::var("KARAT_REQUIRE").map(|list| names(&list)).unwrap_or_default()
}

fn names(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_names() {
        assert_eq!(names("cuda, avx512,"), ["cuda", "avx512"]);
        assert!(names(" ").is_empty());
    }

    #[test]
    fn an_absent_backend_is_skipped() {
        let absent = || Candidate::<crate::Cpu>::new("abacus", Err::<crate::Cpu, _>("no beads"));
        assert!(
            required().iter().any(|name| name == "abacus") || absent().run(Ok(Vec::new()), Property::Lanes).is_ok()
        );
    }
}
