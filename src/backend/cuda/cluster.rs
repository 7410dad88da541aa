//! Products of long polynomials in one launch by clusters of blocks: which rings, which shapes, and the programs of
//! `cluster.cu`.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::device::{Device, Grid, Memory};
use super::params::Launch;
use super::rns::SplitTwiddle;
use super::source::{Family, Program, WordClass, programs as known};
use super::tables::Tables;
use super::tuning::Tuning;
use crate::Result;
use crate::backend::Erase;
use crate::ring::ntt::Ntt;
use crate::ring::{RingSpec, Shape, Wrap};

/// Logarithms of the lengths.
pub(super) const LOGS: std::ops::RangeInclusive<u32> = 13..=16;

/// How a cluster computes a product.
///
/// ```
/// use karat::backend::cuda::{ClusterShape, Variant};
/// let shape = ClusterShape { blocks: 8, lanes: 16, alpha: 1 };
/// assert_eq!(Variant::parse("product:cluster/8/16/1")?, Variant::Cluster(Some(shape)));
/// # Ok::<(), karat::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClusterShape {
    /// Blocks of a product: 2, 4, 8 or 16, at most `lanes`.
    pub blocks: u32,
    /// Lanes that a thread holds: 8 or 16.
    pub lanes: u32,
    /// Layers that the k-NTT leaves out, where the ring does not need more: `2^alpha` is at most `lanes`.
    pub alpha: u32,
}

impl ClusterShape {
    /// Whether kernels can be compiled for it.
    pub(super) fn is_sane(self) -> bool {
        matches!(self.blocks, 2 | 4 | 8 | 16)
            && matches!(self.lanes, 8 | 16)
            && self.blocks <= self.lanes
            && self.alpha <= self.lanes.ilog2()
    }

    /// Reads `blocks/lanes/alpha`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('/').map(|number| number.parse().ok());
        let mut next = || numbers.next().flatten();
        let shape = Self { blocks: next()?, lanes: next()?, alpha: next()? };
        (shape.is_sane() && numbers.next().is_none()).then_some(shape)
    }

    /// Threads of a block.
    fn threads(self, log: u32) -> u32 {
        (1 << log) / self.lanes / self.blocks
    }

    /// Bytes of a block's shared memory: both factors' shares, one word of padding after 16.
    fn shared(self, log: u32, word: usize) -> usize {
        let lanes = (1usize << log) / self.blocks as usize;
        2 * (lanes + lanes / 16 + 1) * word
    }
}

impl fmt::Display for ClusterShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.blocks, self.lanes, self.alpha)
    }
}

/// The arithmetic of lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Word32,
    Double,
    Word64,
}

impl Class {
    /// Sixteen times a modulus fits a word; doubles hold moduli below 2^50. Without doubles the moduli between, whose
    /// tables have words of 32 bits, are left out.
    fn of(q: u64, double: bool) -> Option<Self> {
        match q {
            q if q < 1 << 28 => Some(Self::Word32),
            q if q < 1 << 50 && double => Some(Self::Double),
            q if (1 << 30..1 << 60).contains(&q) => Some(Self::Word64),
            _ => None,
        }
    }

    fn word(self) -> WordClass {
        if self == Self::Word32 { WordClass::Word32 } else { WordClass::Word64 }
    }

    const fn bits(self) -> u32 {
        match self {
            Self::Word32 => 32,
            Self::Double => 53,
            Self::Word64 => 64,
        }
    }
}

/// Products in a ring of this kind.
pub(super) struct Cluster<D: Device> {
    pub module: D::Module,
    /// The launch block, operands left out.
    pub launch: Launch,
    pub tables: D::Memory,
    /// Bits of a coefficient in memory.
    pub word_bits: u32,
    shape: ClusterShape,
    log: u32,
    /// Bytes of a lane.
    pub word_bytes: usize,
}

fn program(log: u32, class: Class, word_bits: u32, shape: ClusterShape) -> Program {
    let ClusterShape { blocks, lanes, alpha } = shape;
    let constants = vec![
        ("KARAT_LOG", log.to_string()),
        ("KARAT_CLASS", class.bits().to_string()),
        ("KARAT_CLUSTER", blocks.ilog2().to_string()),
        ("KARAT_POINTS", lanes.ilog2().to_string()),
        ("KARAT_WIDTH", alpha.to_string()),
        ("KARAT_COEFFICIENT", format!("u{word_bits}")),
    ];
    let suffix = format!("{log}_{}_{word_bits}_blocks{blocks}_lanes{lanes}_alpha{alpha}", class.bits());
    Program::new(Family::Cluster, class.word()).with_constants(&suffix, String::new(), constants)
}

/// The usual shapes of all lengths, and the shortest in every class with cross terms and with other lanes.
pub(super) fn programs() -> Vec<Program> {
    let usual = Tuning::default().cluster;
    let mut programs = Vec::new();
    for (log, shape) in LOGS.zip(usual) {
        programs.extend([Class::Word64, Class::Double].map(|class| program(log, class, 64, shape)));
    }
    let shortest = *LOGS.start();
    let shape = |lanes, alpha| ClusterShape { lanes, alpha, ..usual[0] };
    let cross = shape(16, 2);
    for (class, word_bits) in [(Class::Word32, 32), (Class::Double, 64), (Class::Word64, 64)] {
        programs.push(program(shortest, class, word_bits, cross));
    }
    programs.push(program(shortest, Class::Word32, 16, ClusterShape { alpha: 4, ..usual[0] }));
    programs.push(program(shortest, Class::Word64, 64, shape(8, 1)));
    programs.push(program(shortest, Class::Double, 64, shape(8, 2)));
    programs
}

/// Tables as the kernel reads them: factors of the last pass, those below a node of layer `log2 shares`, lie by factor
/// and then by node; all others as [`Ntt::zetas`] has them.
fn spread<T: Copy>(zetas: &[T], shares: usize) -> Vec<T> {
    let mut out = zetas.to_vec();
    for (v, zeta) in zetas.iter().enumerate().skip(shares) {
        let layer = (v / shares).ilog2();
        let (node, inside) = ((v >> layer) - shares, v & ((1 << layer) - 1));
        out[((1 << layer) + inside) * shares + node] = *zeta;
    }
    out
}

/// The ring's own shape, the logarithm of its length and the class of its words, where clusters compute in it.
fn fitting(ring: &RingSpec, double: bool) -> Option<(Shape, u32, Class)> {
    let own = ring.method().shape().filter(|own| own.wrap == Wrap::Negacyclic && own.len().is_power_of_two())?;
    let log = own.len().ilog2();
    (LOGS.contains(&log) && own.width <= 16).then_some((own, log, Class::of(ring.q(), double)?))
}

/// Whether clusters compute in this ring, given a device that has them.
pub(super) fn takes(ring: &RingSpec) -> bool {
    fitting(ring, true).is_some()
}

impl<D: Device> Cluster<D> {
    /// Nothing where the ring or the device does not fit, or where the device has no program for it. Without a shape
    /// the one of the tuning, else the next that the device grants.
    pub fn new(device: &D, ring: &RingSpec, shape: Option<ClusterShape>, tuning: &Tuning) -> Result<Option<Self>> {
        let limits = device.limits();
        let Some((own, log, class)) = fitting(ring, limits.double) else { return Ok(None) };
        let least = own.width.ilog2();
        let word_bytes = class.word().bytes();
        let usual = shape.unwrap_or(tuning.cluster[(log - LOGS.start()) as usize]);
        // A ring with an alpha of its own keeps it.
        let alpha = if ring.alpha().is_some() { least } else { usual.alpha.max(least) };
        let fits = |shape: &ClusterShape| {
            shape.is_sane()
                && shape.blocks <= limits.cluster
                && shape.threads(log) <= MAX_THREADS
                && shape.shared(log, word_bytes) <= limits.shared
                && (limits.compiles || known().contains(&program(log, class, ring.word_bits(), *shape)))
        };
        let wished = ClusterShape { alpha, ..usual };
        let others = [16, 8, 4].map(|blocks| ClusterShape { blocks, lanes: 16, alpha });
        let mut shapes = core::iter::once(wished).chain(others.into_iter().filter(|_| shape.is_none()));
        let Some(shape) = shapes.find(fits) else { return Ok(None) };
        let width = 1 << shape.alpha;
        let gamma = if width == own.width { ring.gamma() } else { None };
        let ntt = Ntt::new(Shape { points: own.len() / width, width, wrap: Wrap::Negacyclic }, ring.q(), gamma)?;
        let (bytes, offset, mut launch) = tables(ring, &ntt, class, (1usize << log) / shape.lanes as usize)?;
        let mut memory = device.alloc(bytes.len(), Erase::No)?;
        device.upload(&bytes, &mut memory)?;
        launch.primes = memory.address();
        launch.zetas = memory.address() + offset[0];
        launch.inverse_zetas = memory.address() + offset[1];
        let word_bits = ring.word_bits();
        let module = device.load(&program(log, class, word_bits, shape))?;
        Ok(Some(Self { module, launch, tables: memory, word_bits, shape, log, word_bytes }))
    }

    /// The grid of this many products.
    pub fn grid(&self, products: usize) -> Grid {
        let shared = self.shape.shared(self.log, self.word_bytes);
        let blocks = products as u32 * self.shape.blocks;
        Grid::new(blocks, self.shape.threads(self.log), shared as u32).cluster(self.shape.blocks)
    }

    /// Blocks of a product.
    pub fn blocks(&self) -> usize {
        self.shape.blocks as usize
    }
}

/// Threads of a block, at most.
const MAX_THREADS: u32 = 1 << 10;

/// The prime, both tables of factors, where these begin, and a launch block without addresses.
fn tables(ring: &RingSpec, ntt: &Ntt, class: Class, shares: usize) -> Result<(Vec<u8>, [u64; 2], Launch)> {
    let tables = Tables::of_transform(ring, ntt)?;
    let mut bytes: Vec<u8> = bytemuck::cast_slice(&tables.primes).to_vec();
    let mut offsets = [0; 2];
    let both: [Vec<u8>; 2] = match class {
        Class::Word32 => {
            [&tables.zetas, &tables.inverse_zetas].map(|table| spread(table.as_chunks::<8>().0, shares).concat())
        }
        Class::Word64 => {
            super::large::splits(ntt).map(|table| SplitTwiddle::table(&spread(&table, shares), ntt.modulus().value()))
        }
        Class::Double => {
            let (zetas, constants, inverse) = super::large::doubles(ntt);
            let forward = [&spread(&zetas, shares)[..], &constants].concat();
            [bytemuck::cast_slice(&forward).to_vec(), bytemuck::cast_slice(&spread(&inverse, shares)).to_vec()]
        }
    };
    for (offset, table) in offsets.iter_mut().zip(&both) {
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        *offset = bytes.len() as u64;
        bytes.extend_from_slice(table);
    }
    Ok((bytes, offsets, tables.launch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_fit_their_tables() {
        for (q, double, class) in [
            ((1 << 28) - 1, false, Some(Class::Word32)),
            (1 << 28, true, Some(Class::Double)),
            (1 << 28, false, None),
            (1 << 30, false, Some(Class::Word64)),
            ((1 << 50) - 1, true, Some(Class::Double)),
            (1 << 50, true, Some(Class::Word64)),
            (1 << 60, true, None),
        ] {
            assert_eq!(Class::of(q, double), class, "{q}");
        }
    }

    /// Four threads: each layer of the last pass lies by factor, and its threads side by side.
    #[test]
    fn tables_of_the_last_pass() {
        let table: Vec<u32> = (0..16).collect();
        let expected = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 9, 11, 13, 15];
        assert_eq!(spread(&table, 4), expected);
    }

    #[test]
    fn shapes_by_name() {
        for shape in ["16/16/4", "2/8/0"] {
            assert_eq!(ClusterShape::parse(shape).unwrap().to_string(), shape);
        }
        for wrong in ["", "8", "8/16", "8/16/0/1", "3/16/0", "16/8/0", "8/16/5", "8/4/0", "8/16/-1"] {
            assert_eq!(ClusterShape::parse(wrong), None, "{wrong}");
        }
    }
}
