//! How whole products run: the choice, and the override for tests and benches.

use core::fmt;

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
    /// Pass by pass, through global memory.
    Passes,
}

impl Variant {
    /// The variant that `KARAT_CUDA_VARIANT` names: `product:patent`, `product:fused`, `product:halves`,
    /// `product:halves/7` (with 7 layers in the first half), `product:large` or `product:passes`; automatic where it is not set.
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
            variant = match part {
                "product:patent" => Self::Patent,
                "product:fused" => Self::Fused,
                "product:passes" => Self::Passes,
                "product:large" => Self::Large,
                "product:halves" => Self::Halves(0),
                _ => match part.strip_prefix("product:halves/").map(str::parse) {
                    Some(Ok(layers)) => Self::Halves(layers),
                    _ => {
                        let known =
                            "KARAT_CUDA_VARIANT takes product: with patent, fused, halves, halves/7, large or passes";
                        return Err(Error::Parse { text: crate::error::excerpt(part), reason: known.into() });
                    }
                },
            };
        }
        Ok(variant)
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
        }
    }
}
