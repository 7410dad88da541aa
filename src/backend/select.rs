//! The choice of a backend by name: `KARAT_BACKEND` is read here and nowhere else.

use super::cpu::Level;
use super::{AnyBackend, Cpu, Reference};
use crate::error::excerpt;
use crate::{Error, Result};

impl AnyBackend {
    /// The backend of this name: `auto`, `scalar`, `avx2`, `avx512` or `reference`.
    ///
    /// `auto` is the fastest level of this CPU; it never moves data to another device.
    ///
    /// # Errors
    /// `BackendUnavailable` where the name is unknown or this machine or build lacks the backend: an override that
    /// cannot be met never falls back.
    pub fn from_name(name: &str) -> Result<Self> {
        let unavailable = |reason: &str| Err(Error::BackendUnavailable { name: excerpt(name), reason: reason.into() });
        match name {
            "auto" => Ok(Self::Cpu(Cpu::new())),
            "reference" => Ok(Self::Reference(Reference)),
            _ => match Level::ALL.into_iter().find(|level| level.name() == name) {
                Some(level) => Cpu::with_level(level).map(Self::Cpu),
                None => unavailable("this build knows auto, scalar, avx2, avx512 and reference"),
            },
        }
    }

    /// The backend that the environment variable `KARAT_BACKEND` names, `auto` where it is not set.
    ///
    /// # Errors
    /// As [`AnyBackend::from_name`].
    ///
    /// ```
    /// assert!(karat::AnyBackend::from_env().is_ok() || std::env::var("KARAT_BACKEND").is_ok());
    /// ```
    #[cfg(feature = "std")]
    pub fn from_env() -> Result<Self> {
        match std::env::var_os("KARAT_BACKEND") {
            None => Self::from_name("auto"),
            Some(name) => Self::from_name(&name.to_string_lossy()),
        }
    }

    /// Every backend of this build, with the reason where this machine lacks it. The oracle comes last.
    ///
    /// ```
    /// assert!(karat::AnyBackend::all().iter().any(|(name, backend)| *name == "scalar" && backend.is_ok()));
    /// ```
    pub fn all() -> alloc::vec::Vec<(&'static str, Result<Self>)> {
        ["scalar", "avx2", "avx512", "reference"].into_iter().map(|name| (name, Self::from_name(name))).collect()
    }
}
