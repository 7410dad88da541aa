//! The kernels' text, embedded, and the programs that are made of it.

use super::tuning::Tuning;
use super::warp::WarpRing;
use super::{cluster, large, params, rns};
use crate::ring::presets;

/// Headers, by the names that `#include` uses.
const HEADERS: [(&str, &str); 18] = [
    ("platform.cuh", include_str!("../../../kernels/include/platform.cuh")),
    ("word.cuh", include_str!("../../../kernels/include/word.cuh")),
    ("launch.cuh", include_str!("../../../kernels/include/launch.cuh")),
    ("ntt.cuh", include_str!("../../../kernels/include/ntt.cuh")),
    ("points.cuh", include_str!("../../../kernels/include/points.cuh")),
    ("lift.cuh", include_str!("../../../kernels/include/lift.cuh")),
    ("rns.cuh", include_str!("../../../kernels/include/rns.cuh")),
    ("rns_arith.cuh", include_str!("../../../kernels/include/rns_arith.cuh")),
    ("rns_convert.cuh", include_str!("../../../kernels/include/rns_convert.cuh")),
    ("rns_pack.cuh", include_str!("../../../kernels/include/rns_pack.cuh")),
    ("rns_group.cuh", include_str!("../../../kernels/include/rns_group.cuh")),
    ("small.cuh", include_str!("../../../kernels/include/small.cuh")),
    ("split.cuh", include_str!("../../../kernels/include/split.cuh")),
    ("class_split.cuh", include_str!("../../../kernels/include/class_split.cuh")),
    ("class53.cuh", include_str!("../../../kernels/include/class53.cuh")),
    ("class_word.cuh", include_str!("../../../kernels/include/class_word.cuh")),
    ("passes.cuh", include_str!("../../../kernels/include/passes.cuh")),
    ("shoup.cuh", include_str!("../../../kernels/include/shoup.cuh")),
];

/// The files of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// What works on single lanes, and layers in global memory.
    Steps,
    /// Transforms and products of a polynomial that one block holds.
    Product,
    /// Transforms and products in two halves, for polynomials that one block cannot hold.
    Halves,
    /// The k-NTT step by step.
    Patent,
    /// Products of small rings in registers; compiled for one ring.
    Warp,
    /// RNS transforms in two launches; compiled for one length and class of primes.
    RnsNtt,
    /// RNS transforms through global memory.
    RnsPasses,
    /// RNS operations word by word.
    RnsOps,
    /// Products of long polynomials in three launches; compiled for one length.
    Large,
    /// Products of long polynomials in one launch, by clusters; compiled for one length and shape.
    Cluster,
}

impl Family {
    /// The file under `kernels/`.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Steps => "steps.cu",
            Self::Product => "product.cu",
            Self::Halves => "halves.cu",
            Self::Patent => "patent.cu",
            Self::Warp => "warp.cu",
            Self::RnsNtt => "rns_ntt.cu",
            Self::RnsPasses => "rns_passes.cu",
            Self::RnsOps => "rns_ops.cu",
            Self::Large => "large.cu",
            Self::Cluster => "cluster.cu",
        }
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Steps => include_str!("../../../kernels/steps.cu"),
            Self::Product => include_str!("../../../kernels/product.cu"),
            Self::Halves => include_str!("../../../kernels/halves.cu"),
            Self::Patent => include_str!("../../../kernels/patent.cu"),
            Self::Warp => include_str!("../../../kernels/warp.cu"),
            Self::RnsNtt => include_str!("../../../kernels/rns_ntt.cu"),
            Self::RnsPasses => include_str!("../../../kernels/rns_passes.cu"),
            Self::RnsOps => include_str!("../../../kernels/rns_ops.cu"),
            Self::Large => include_str!("../../../kernels/large.cu"),
            Self::Cluster => include_str!("../../../kernels/cluster.cu"),
        }
    }
}

/// The words that residues are computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordClass {
    /// Odd moduli below 2^14, stored in 16 bits and computed in 32.
    Word16,
    /// Odd moduli below 2^30.
    Word32,
    /// Odd moduli below 2^62.
    Word64,
}

impl WordClass {
    /// Bytes of a word in registers and shared memory.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Word16 | Self::Word32 => 4,
            Self::Word64 => 8,
        }
    }

    pub(super) const fn type_name(self) -> &'static str {
        match self {
            Self::Word16 | Self::Word32 => "u32",
            Self::Word64 => "u64",
        }
    }

    /// Bytes of a lane in device memory.
    pub const fn lane_bytes(self) -> usize {
        match self {
            Self::Word16 => 2,
            _ => self.bytes(),
        }
    }

    const fn lane_name(self) -> &'static str {
        match self {
            Self::Word16 => "u16",
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
    /// What the name gets behind it.
    suffix: String,
    /// The text of `constants.cuh`, for programs of one ring.
    constants: String,
    extra: Vec<(&'static str, String)>,
}

impl Program {
    pub(super) const fn new(family: Family, word: WordClass) -> Self {
        Self { family, word, suffix: String::new(), constants: String::new(), extra: Vec::new() }
    }

    /// The program of one ring, with a header of constants.
    pub(super) fn with_constants(self, suffix: &str, constants: String, extra: Vec<(&'static str, String)>) -> Self {
        Self { suffix: format!("_{suffix}"), constants, extra, ..self }
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
        let family = self.family.file().trim_end_matches(".cu");
        format!("{family}_{}{}", self.word.lane_name(), self.suffix)
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
        defines.push(("KARAT_LANE", self.word.lane_name().into()));
        defines.extend(self.extra.iter().cloned());
        defines
    }

    /// The header `constants.cuh` of a program of one ring, else empty.
    pub fn constants(&self) -> &str {
        &self.constants
    }

    /// Every header, by the name that `#include` uses.
    pub(super) fn headers(&self) -> Vec<(&'static str, &str)> {
        let mut headers = HEADERS.to_vec();
        headers.push(("constants.cuh", &self.constants));
        headers
    }
}

/// Every program that the presets are multiplied with, and the general ones for all other rings: what a kernel pack
/// holds, and what runs emulated on a CPU.
pub fn programs() -> Vec<Program> {
    let general = [Family::Steps, Family::Product, Family::Halves, Family::Patent]
        .into_iter()
        .flat_map(|family| [WordClass::Word32, WordClass::Word64].map(|word| Program::new(family, word)));
    let packed = [Family::Steps, Family::Product].map(|family| Program::new(family, WordClass::Word16));
    let general = general.chain(packed).chain(large::programs()).chain(cluster::programs());
    let usual = Tuning::default();
    let presets = presets::all().into_iter().filter_map(|ring| WarpRing::new(ring, &usual)).map(|ring| ring.program());
    let mut programs: Vec<Program> = Vec::new();
    for program in general.chain(presets).chain(rns::programs()) {
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    programs
}
