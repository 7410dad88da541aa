//! The levels of the CPU backend, and what each needs.

use alloc::vec::Vec;

/// The instruction sets that kernels exist for, each including those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// Portable code.
    Scalar,
    /// AVX2 and FMA: Intel since Haswell, AMD since Excavator.
    Avx2,
    /// AVX-512 F, BW, DQ, VL and IFMA: Intel servers since Ice Lake, AMD since Zen 4.
    Avx512,
}

impl Level {
    /// All levels, lowest first.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Avx2, Self::Avx512];

    /// The name that `KARAT_BACKEND` knows.
    ///
    /// ```
    /// assert_eq!(karat::backend::cpu::Level::Avx512.name(), "avx512");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// What this CPU, or this build, lacks for the level; empty where it can run.
    ///
    /// ```
    /// assert!(karat::backend::cpu::Level::Scalar.missing().is_empty());
    /// ```
    pub fn missing(self) -> Vec<&'static str> {
        let features = features();
        let needed = match self {
            Self::Scalar => 0,
            Self::Avx2 => AVX2_FEATURES,
            Self::Avx512 => features.len(),
        };
        features[..needed].iter().filter(|(_, here)| !here).map(|(name, _)| *name).collect()
    }
}

/// Features of the level AVX2, first in the list of all.
const AVX2_FEATURES: usize = 2;

/// Every feature that a level needs, and whether it is here.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn features() -> [(&'static str, bool); 7] {
    [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512dq", is_x86_feature_detected!("avx512dq")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
        ("avx512ifma", is_x86_feature_detected!("avx512ifma")),
    ]
}

/// No level above the portable one: it needs an x86-64 CPU, and `std` to ask it for its features.
#[cfg(not(all(target_arch = "x86_64", feature = "std")))]
fn features() -> [(&'static str, bool); 2] {
    [("x86-64", cfg!(target_arch = "x86_64")), ("the feature std", cfg!(feature = "std"))]
}
