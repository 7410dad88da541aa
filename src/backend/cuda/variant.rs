//! How whole products run: the choice, and the override for tests and benches.

use core::fmt;

use super::cluster::ClusterShape;
use crate::{Error, Result};

/// How whole products are computed on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Variant {
    /// The fastest that fits.
    #[default]
    Automatic,
    /// The k-NTT as the patent describes it, one kernel a step.
    Patent,
    /// Everything in one launch of the general kernel where a block can hold a product, else in halves.
    Fused,
    /// Columns, nodes, columns; the first half has this many layers, 0 for an even split.
    Halves(u32),
    /// Three launches, 16 lanes a thread, for lengths from 2^12 to 2^16.
    Large,
    /// One launch by clusters of blocks, for lengths from 2^13 to 2^16; the shape of the tuning where none is given. A GPU
    /// without clusters, or without room for the shape, does as `Fused`.
    Cluster(Option<ClusterShape>),
    /// Pass by pass, through global memory.
    Passes,
}

impl Variant {
    /// The variant that `KARAT_CUDA_VARIANT` names: `product:patent`, `product:fused`, `product:halves`,
    /// `product:halves/7` (with 7 layers in the first half), `product:large`,
    /// `product:cluster`, `product:cluster/8/16/0` (with 8 blocks, 16 lanes a thread, alpha = 0) or `product:passes`;
    /// automatic where it is not set.
    ///
    /// # Errors
    /// `Parse` for anything else.
    pub fn from_env() -> Result<Self> {
        match std::env::var_os("KARAT_CUDA_VARIANT") {
            None => Ok(Self::Automatic),
            Some(text) => Self::parse(&text.to_string_lossy()),
        }
    }

    /// Reads the value of `KARAT_CUDA_VARIANT`.
    ///
    /// # Errors
    /// `Parse` for an unknown key or value.
    ///
    /// ```
    /// use karat::backend::cuda::Variant;
    /// assert_eq!(Variant::parse("product:patent")?, Variant::Patent);
    /// assert_eq!(Variant::parse("")?, Variant::Automatic);
    /// assert!(Variant::parse("product:abacus").is_err());
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let mut variant = Self::Automatic;
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty() && !part.starts_with("ntt:")) {
            variant = part.strip_prefix("product:").and_then(Self::named).ok_or_else(|| {
                let known = "KARAT_CUDA_VARIANT takes product: with patent, fused, halves, halves/7, large, cluster, \
                             cluster/8/16/0 or passes";
                Error::Parse { text: crate::error::excerpt(part), reason: known.into() }
            })?;
        }
        Ok(variant)
    }
}

impl Variant {
    /// The variant of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name.split_once('/') {
            None => match name {
                "patent" => Self::Patent,
                "fused" => Self::Fused,
                "passes" => Self::Passes,
                "large" => Self::Large,
                "cluster" => Self::Cluster(None),
                "halves" => Self::Halves(0),
                _ => return None,
            },
            Some(("halves", layers)) => Self::Halves(layers.parse().ok()?),
            Some(("cluster", shape)) => Self::Cluster(Some(ClusterShape::parse(shape)?)),
            Some(_) => return None,
        })
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Automatic => f.write_str("automatic"),
            Self::Patent => f.write_str("patent"),
            Self::Fused => f.write_str("fused"),
            Self::Halves(0) => f.write_str("halves"),
            Self::Halves(layers) => write!(f, "halves/{layers}"),
            Self::Passes => f.write_str("passes"),
            Self::Large => f.write_str("large"),
            Self::Cluster(None) => f.write_str("cluster"),
            Self::Cluster(Some(shape)) => write!(f, "cluster/{shape}"),
        }
    }
}
