//! The kernels' text, embedded, and the programs that are made of it.

use super::params;

/// Headers, by the names that `#include` uses.
pub(super) const HEADERS: [(&str, &str); 6] = [
    ("platform.cuh", include_str!("../../../kernels/include/platform.cuh")),
    ("word.cuh", include_str!("../../../kernels/include/word.cuh")),
    ("launch.cuh", include_str!("../../../kernels/include/launch.cuh")),
    ("ntt.cuh", include_str!("../../../kernels/include/ntt.cuh")),
    ("points.cuh", include_str!("../../../kernels/include/points.cuh")),
    ("lift.cuh", include_str!("../../../kernels/include/lift.cuh")),
];

/// The files of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// The general path, pass by pass.
    Steps,
    /// Transforms and products of a polynomial that one block holds.
    Product,
    /// The k-NTT step by step.
    Patent,
}

impl Family {
    /// The file under `kernels/`.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Steps => "steps.cu",
            Self::Product => "product.cu",
            Self::Patent => "patent.cu",
        }
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Steps => include_str!("../../../kernels/steps.cu"),
            Self::Product => include_str!("../../../kernels/product.cu"),
            Self::Patent => include_str!("../../../kernels/patent.cu"),
        }
    }
}

/// The words that residues are computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordClass {
    /// Odd moduli below 2^30.
    Word32,
    /// Odd moduli below 2^62.
    Word64,
}

impl WordClass {
    /// Bytes of a word.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Word32 => 4,
            Self::Word64 => 8,
        }
    }

    const fn type_name(self) -> &'static str {
        match self {
            Self::Word32 => "u32",
            Self::Word64 => "u64",
        }
    }
}

/// A file of kernels with the constants that it is compiled with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Program {
    family: Family,
    word: WordClass,
}

impl Program {
    pub(super) const fn new(family: Family, word: WordClass) -> Self {
        Self { family, word }
    }

    /// The file of kernels.
    pub fn family(&self) -> Family {
        self.family
    }

    /// A name for messages, unique among programs.
    ///
    /// ```
    /// let names: Vec<_> = karat::backend::cuda::programs().iter().map(|p| p.name()).collect();
    /// assert!(names.contains(&"steps_u32".to_string()));
    /// ```
    pub fn name(&self) -> String {
        format!("{}_{}", self.family.file().trim_end_matches(".cu"), self.word.type_name())
    }

    /// The constants: what Rust knows and kernels take as given.
    ///
    /// ```
    /// let program = &karat::backend::cuda::programs()[0];
    /// assert!(program.defines().iter().any(|(name, value)| *name == "KARAT_WORD" && value == "u32"));
    /// ```
    pub fn defines(&self) -> Vec<(&'static str, String)> {
        let mut defines = params::defines();
        defines.push(("KARAT_WORD", self.word.type_name().into()));
        defines
    }
}

/// Every program that rings are multiplied with: what a kernel pack holds, and what runs emulated on a CPU.
pub fn programs() -> Vec<Program> {
    [Family::Steps, Family::Product, Family::Patent]
        .into_iter()
        .flat_map(|family| [WordClass::Word32, WordClass::Word64].map(|word| Program::new(family, word)))
        .collect()
}
