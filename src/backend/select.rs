//! The choice of a backend by name: `KARAT_BACKEND` is read here and nowhere else.

use super::cpu::Level;
use super::{AnyBackend, Cpu, Reference};
use crate::error::excerpt;
use crate::{Error, Result};

impl AnyBackend {
    /// The backend of this name: `auto`, `scalar`, `avx2`, `avx512` or `reference`; with the feature `cuda` also
    /// `cuda`, `cuda:i` for the GPU of number `i`, and `cuda:all`, which splits each batch over all GPUs.
    ///
    /// `auto` is the fastest level of this CPU; it never moves data to another device.
    ///
    /// # Errors
    /// `BackendUnavailable` where the name is unknown or this machine or build lacks the backend: an override that
    /// cannot be met never falls back.
    pub fn from_name(name: &str) -> Result<Self> {
        let unavailable = |reason: &str| Err(Error::BackendUnavailable { name: excerpt(name), reason: reason.into() });
        #[cfg(feature = "cuda")]
        if let Some(ordinal) = cuda_ordinal(name) {
            return super::cuda::Cuda::new(ordinal).map(Self::Cuda);
        }
        match name {
            #[cfg(feature = "cuda")]
            "cuda:all" => super::cuda::Gpus::all().map(Self::CudaAll),
            "auto" => Ok(Self::Cpu(Cpu::new())),
            "reference" => Ok(Self::Reference(Reference)),
            _ => match Level::ALL.into_iter().find(|level| level.name() == name) {
                Some(level) => Cpu::with_level(level).map(Self::Cpu),
                None if cfg!(feature = "cuda") => {
                    unavailable("this build knows auto, scalar, avx2, avx512, cuda, cuda:i, cuda:all and reference")
                }
                None if name.starts_with("cuda") => unavailable("this build lacks the feature `cuda`"),
                None => unavailable("this build knows auto, scalar, avx2, avx512 and reference"),
            },
        }
    }

    /// The backend that the environment variable `KARAT_BACKEND` names, `auto` where it is not set or empty.
    ///
    /// # Errors
    /// As [`AnyBackend::from_name`].
    ///
    /// ```
    /// assert!(karat::AnyBackend::from_env().is_ok() || std::env::var("KARAT_BACKEND").is_ok());
    /// ```
    #[cfg(feature = "std")]
    pub fn from_env() -> Result<Self> {
        match std::env::var_os("KARAT_BACKEND").filter(|name| !name.is_empty()) {
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
        let names = [
            "scalar",
            "avx2",
            "avx512",
            #[cfg(feature = "cuda")]
            "cuda",
            "reference",
        ];
        names.into_iter().map(|name| (name, Self::from_name(name))).collect()
    }
}

/// The number of the GPU that a name means: 0 for `cuda`, `i` for `cuda:i`.
#[cfg(feature = "cuda")]
fn cuda_ordinal(name: &str) -> Option<usize> {
    match name.strip_prefix("cuda")? {
        "" => Some(0),
        rest => rest.strip_prefix(':').filter(|digits| digits.bytes().all(|c| c.is_ascii_digit()))?.parse().ok(),
    }
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::*;

    #[test]
    fn names_of_gpus() {
        assert_eq!(cuda_ordinal("cuda"), Some(0));
        assert_eq!(cuda_ordinal("cuda:12"), Some(12));
        for wrong in ["cuda:", "cuda:x", "cuda:+1", "cuda:-1", "cuda0", "cud", "cuda:99999999999999999999999"] {
            assert_eq!(cuda_ordinal(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_missing_gpu_is_an_error_in_words() {
        let error = AnyBackend::from_name("cuda:4096").unwrap_err();
        assert!(matches!(error, Error::BackendUnavailable { .. }), "{error}");
        // Without a GPU the whole set is missing too.
        assert_eq!(AnyBackend::from_name("cuda:all").is_ok(), AnyBackend::from_name("cuda").is_ok());
        let error = AnyBackend::from_name("cuda:one").unwrap_err();
        assert!(error.to_string().contains("cuda:i"), "{error}");
    }
}
