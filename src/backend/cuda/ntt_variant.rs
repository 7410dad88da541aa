//! How RNS transforms run: the choice, and the override for tests and benches.

use core::fmt;

use super::rns::Geometry;
use crate::{Error, Result};

/// How RNS transforms are computed on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NttVariant {
    pub(crate) scheme: Scheme,
    pub(crate) arithmetic: Arithmetic,
}

/// How layers are split into launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Scheme {
    /// The fastest that is known for the length and the primes.
    #[default]
    Automatic,
    /// This many layers a launch, in registers.
    Passes(u32),
    /// Two launches, lanes of a block in shared memory, `2^points` of them a thread; twiddles factored on the fly.
    Shared { points: u32, fly: bool },
    /// Passes for the first layers, one launch for those that a block can hold.
    Mixed,
    /// Two launches of this shape.
    Shape(Geometry),
}

/// How residues are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Arithmetic {
    /// The fastest for the primes on this device.
    #[default]
    Automatic,
    Shoup,
    Double,
    Barrett,
    Native,
}

const KNOWN: &str = "ntt: takes radix2, radix4, radix8, radix16, smem, smem-ot (both with /4, /8 or /16), mixed, fp64, \
                     shoup, barrett, native, a scheme and an arithmetic joined by +, or shape/ with nine numbers: layers of \
                     columns and rows, points of both (log2), columns and rows a block, layers on the fly, blocks of both";

impl NttVariant {
    /// The variant that `KARAT_CUDA_VARIANT` names with a part that starts with `ntt:`; automatic where none does.
    ///
    /// # Errors
    /// `Parse` for an unknown one.
    pub fn from_env() -> Result<Self> {
        match std::env::var_os("KARAT_CUDA_VARIANT") {
            None => Ok(Self::default()),
            Some(text) => Self::parse(&text.to_string_lossy()),
        }
    }

    /// Reads the value of `KARAT_CUDA_VARIANT`: `ntt:` with `radix2`, `radix4`, `radix8` or `radix16` (one launch for
    /// so many layers), `smem` or `smem-ot` (two launches; with twiddles factored on the fly; `/4`, `/8` or `/16`
    /// points a thread), `mixed`, and `shoup`, `fp64`, `barrett` or `native` products, alone or behind a `+`.
    ///
    /// # Errors
    /// `Parse` for an unknown value.
    ///
    /// ```
    /// use karat::backend::cuda::NttVariant;
    /// assert_eq!(NttVariant::parse("ntt:radix4+native")?.to_string(), "radix4+native");
    /// assert_eq!(NttVariant::parse("product:fused")?, NttVariant::default());
    /// assert!(NttVariant::parse("ntt:abacus").is_err());
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let mut variant = Self::default();
        for part in text.split(',').map(str::trim).filter_map(|part| part.strip_prefix("ntt:")) {
            for word in part.split('+') {
                variant
                    .read(word)
                    .ok_or_else(|| Error::Parse { text: crate::error::excerpt(word), reason: KNOWN.into() })?;
            }
        }
        Ok(variant)
    }

    fn read(&mut self, word: &str) -> Option<()> {
        let (name, detail) = word.split_once('/').unwrap_or((word, ""));
        let points = match detail {
            "4" => Some(2),
            "8" => Some(3),
            "" | "16" => Some(4),
            _ => None,
        };
        match name {
            "radix2" | "radix4" | "radix8" | "radix16" if detail.is_empty() => {
                let radix: u32 = name.strip_prefix("radix")?.parse().ok()?;
                self.scheme = Scheme::Passes(radix.ilog2());
            }
            "smem" => self.scheme = Scheme::Shared { points: points?, fly: false },
            "smem-ot" => self.scheme = Scheme::Shared { points: points?, fly: true },
            "mixed" if detail.is_empty() => self.scheme = Scheme::Mixed,
            "shape" => {
                let numbers: Vec<u32> = detail.split('.').map(|x| x.parse().ok()).collect::<Option<_>>()?;
                let [a, b, c, d, columns, rows, fly, e, f] = numbers.try_into().ok()?;
                let geometry = Geometry {
                    column_layers: a,
                    row_layers: b,
                    column_points: c,
                    row_points: d,
                    columns,
                    rows,
                    fly,
                    loose: false,
                    column_blocks: e,
                    row_blocks: f,
                };
                self.scheme = Scheme::Shape(geometry);
            }
            "auto" if detail.is_empty() => {}
            "shoup" if detail.is_empty() => self.arithmetic = Arithmetic::Shoup,
            "fp64" if detail.is_empty() => self.arithmetic = Arithmetic::Double,
            "barrett" if detail.is_empty() => self.arithmetic = Arithmetic::Barrett,
            "native" if detail.is_empty() => self.arithmetic = Arithmetic::Native,
            _ => return None,
        }
        Some(())
    }
}

impl fmt::Display for NttVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scheme {
            Scheme::Automatic => f.write_str("auto"),
            Scheme::Passes(layers) => write!(f, "radix{}", 1 << layers),
            Scheme::Shared { points, fly } => write!(f, "smem{}/{}", if fly { "-ot" } else { "" }, 1 << points),
            Scheme::Mixed => f.write_str("mixed"),
            Scheme::Shape(g) => {
                let (a, b, c, d) = (g.column_layers, g.row_layers, g.column_points, g.row_points);
                let (columns, rows, fly, e, h) = (g.columns, g.rows, g.fly, g.column_blocks, g.row_blocks);
                write!(f, "shape/{a}.{b}.{c}.{d}.{columns}.{rows}.{fly}.{e}.{h}")
            }
        }?;
        match self.arithmetic {
            Arithmetic::Automatic => Ok(()),
            Arithmetic::Shoup => f.write_str("+shoup"),
            Arithmetic::Double => f.write_str("+fp64"),
            Arithmetic::Barrett => f.write_str("+barrett"),
            Arithmetic::Native => f.write_str("+native"),
        }
    }
}
