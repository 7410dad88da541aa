//! A ring bound to a device: tables and programs there, and the geometry of its launches.

use core::fmt;

use super::buffer::DeviceBuffer;
use super::device::{Device, Grid, Limits, Memory};
use super::large::Large;
use super::long::Long;
use super::params::Launch;
use super::patent::Patent;
use super::source::{Family, Program, WordClass, programs};
use super::tables::Tables;
use super::tuning::Tuning;
use super::variant::Variant;
use super::warp::WarpRing;
use crate::arith::Word;
use crate::backend::Erase;
use crate::ring::{Method, RingSpec};
use crate::{Error, Result};

/// Everything that products in one ring need on a device.
pub struct Plan<D: Device> {
    pub(super) n: usize,
    pub(super) method: Method,
    pub(super) variant: Variant,
    pub(super) word_bytes: usize,
    /// Lanes of one polynomial, all primes.
    pub(super) lanes: usize,
    /// 64-bit words of one polynomial in the transform domain.
    pub(super) words: usize,
    /// The launch block, operands left out.
    pub(super) launch: Launch,
    pub(super) max_terms: u64,
    pub(super) steps: D::Module,
    pub(super) product: D::Module,
    pub(super) halves: Option<Halves<D>>,
    pub(super) limits: Limits,
    fused_lanes: usize,
    patent: Option<Patent<D>>,
    pub(super) warp: Option<WarpPlan<D>>,
    pub(super) long: Long<D>,
    /// Whether lanes are stored in 16 bits, four to a word.
    pub(super) packed: bool,
    tables: D::Memory,
}

/// Words of shared memory for this many lanes, as in `ntt.cuh`.
fn padded(lanes: usize) -> usize {
    lanes + lanes / 16 + 1
}

/// Threads of a block that works on this many lanes: eight lanes each, whole warps.
pub(super) fn block_threads(lanes: usize, limits: &Limits) -> u32 {
    (lanes as u32 / 8).next_power_of_two().clamp(32, limits.threads)
}

/// What transforms in two halves need.
pub(super) struct Halves<D: Device> {
    pub module: D::Module,
    /// Layers of the first half.
    pub first: u32,
    /// Columns of a block.
    pub columns: u32,
    /// Lanes of a node, and of a column block.
    node_lanes: usize,
    column_lanes: usize,
    word_bytes: usize,
    limits: Limits,
}

/// The fewest layers of the first half.
const LEAST_COLUMN_LAYERS: u32 = 5;

impl<D: Device> Halves<D> {
    /// Nothing where no split fits the device's blocks.
    fn new(device: &D, word: WordClass, launch: &Launch, variant: Variant, tuning: &Tuning) -> Result<Option<Self>> {
        let (limits, layers) = (device.limits(), launch.log_points);
        let split = |first: u32| {
            let node_lanes = (launch.width as usize) << (layers - first);
            let columns = (tuning.column_bytes / word.bytes()).max(1).min(node_lanes);
            let column_lanes = columns << first;
            let most = (3 * padded(node_lanes)).max(padded(column_lanes)) * word.bytes();
            (most <= limits.shared).then_some((first, columns as u32, node_lanes, column_lanes))
        };
        let wished = match variant {
            Variant::Passes => return Ok(None),
            Variant::Halves(first) if (1..layers).contains(&first) => first,
            _ => layers.saturating_sub(tuning.node_layers).max(LEAST_COLUMN_LAYERS).min(layers.div_ceil(2)),
        };
        // Then ever shorter nodes.
        let Some((first, columns, node_lanes, column_lanes)) = (wished..layers).find_map(split) else {
            return Ok(None);
        };
        let module = device.load(&Program::new(Family::Halves, word))?;
        let word_bytes = word.bytes();
        Ok(Some(Self { module, first, columns, node_lanes, column_lanes, word_bytes, limits }))
    }

    /// The grid of the columns' kernels.
    pub(super) fn column_grid(&self, rows: usize) -> Grid {
        Grid::new(
            (rows * self.node_lanes.div_ceil(self.columns as usize)) as u32,
            block_threads(self.column_lanes, &self.limits),
            (padded(self.column_lanes) * self.word_bytes) as u32,
        )
    }

    /// The grid of the nodes' kernels.
    pub(super) fn node_grid(&self, rows: usize, regions: usize) -> Grid {
        Grid::new(
            (rows << self.first) as u32,
            block_threads(self.node_lanes, &self.limits),
            (regions * padded(self.node_lanes) * self.word_bytes) as u32,
        )
    }

    /// Blocks of one row in the larger launch.
    pub(super) fn blocks(&self) -> usize {
        (1 << self.first).max(self.node_lanes.div_ceil(self.columns as usize))
    }
}

/// What products in registers need.
pub(super) struct WarpPlan<D: Device> {
    pub ring: WarpRing,
    pub module: D::Module,
    /// The launch block, operands left out.
    pub launch: Launch,
    tables: D::Memory,
}

impl<D: Device> WarpPlan<D> {
    /// Nothing where the ring does not fit, or where the device has no program for it.
    fn new(device: &D, ring: &RingSpec, tuning: &Tuning) -> Result<Option<Self>> {
        let Some(ring) = WarpRing::new(ring, tuning) else { return Ok(None) };
        let program = ring.program();
        let limits = device.limits();
        if ring.shared_bytes() > limits.shared || !(limits.compiles || programs().contains(&program)) {
            return Ok(None);
        }
        let [zetas, inverse_zetas] = ring.tables();
        let mut memory = device.alloc(zetas.len() + inverse_zetas.len(), Erase::No)?;
        device.upload(&[&zetas[..], &inverse_zetas].concat(), &mut memory)?;
        let address = memory.address();
        let launch = Launch { zetas: address, inverse_zetas: address + zetas.len() as u64, ..Launch::default() };
        Ok(Some(Self { module: device.load(&program)?, ring, launch, tables: memory }))
    }
}

/// Threads of a block for element-wise work.
pub(super) const THREADS: u32 = 256;

impl<D: Device> Plan<D> {
    pub(super) fn new(device: &D, ring: &RingSpec, variant: Variant, tuning: &Tuning) -> Result<Self> {
        // Halves leave lazy lanes between their launches, which 16 bits do not hold.
        let whole = ring.method().shape().is_some_and(|shape| shape.len() <= tuning.fused_lanes);
        let tables = Tables::new(ring, whole && !matches!(variant, Variant::Halves(_)))?;
        let (memory, mut launch) = upload_tables(device, &tables)?;
        let word_bytes = tables.word.bytes();
        let lanes = tables.shape.len() * tables.primes.len();
        let words = (lanes * tables.word.lane_bytes()).div_ceil(8);
        launch.stride = (words * 8 / tables.word.lane_bytes()) as u32;
        let packed = tables.word == WordClass::Word16;
        let large = Large::new(device, ring, &launch, tables.word)?;
        let halves = if packed { None } else { Halves::new(device, tables.word, &launch, variant, tuning)? };
        Ok(Self {
            n: ring.n(),
            method: ring.method(),
            variant,
            halves,
            word_bytes,
            lanes,
            words,
            launch,
            max_terms: tables.max_terms,
            steps: device.load(&Program::new(Family::Steps, tables.word))?,
            product: device.load(&Program::new(Family::Product, tables.word))?,
            limits: device.limits(),
            fused_lanes: tuning.fused_lanes,
            patent: (variant == Variant::Patent).then(|| Patent::new(device, ring)).transpose()?,
            warp: WarpPlan::new(device, ring, tuning)?,
            long: Long::new(device, ring, variant, tuning, large)?,
            packed,
            tables: memory,
        })
    }

    /// As [`RingMul::ntt_words`](crate::RingMul::ntt_words).
    pub fn ntt_words(&self) -> usize {
        self.words
    }

    /// As [`RingMul::prepared_words`](crate::RingMul::prepared_words).
    pub fn prepared_words(&self) -> usize {
        self.words
    }

    /// As [`RingMul::max_terms`](crate::RingMul::max_terms).
    pub fn max_terms(&self) -> u64 {
        self.max_terms
    }

    /// Bytes of shared memory for this many regions of one polynomial and one prime.
    fn region_bytes(&self, regions: usize) -> usize {
        regions * padded(self.launch.len as usize) * self.word_bytes
    }

    /// Whether one block holds this many regions, and may by the variant.
    pub(super) fn block_holds(&self, regions: usize) -> bool {
        let wanted = match self.variant {
            Variant::Automatic => self.halves.is_none() || self.launch.len as usize <= self.fused_lanes,
            Variant::Fused | Variant::Patent | Variant::Cluster(_) => true,
            Variant::Halves(_) | Variant::Passes | Variant::Large => false,
        };
        wanted && self.region_bytes(regions) <= self.limits.shared
    }

    /// Regions of a fused product.
    pub(super) fn product_regions(&self) -> usize {
        self.launch.prime_count as usize + if self.launch.width == 1 { 1 } else { 2 }
    }

    /// Launches a kernel that gives each polynomial a block.
    pub(super) fn block_grid(&self, blocks: usize, regions: usize) -> Grid {
        let threads = block_threads(self.launch.len as usize, &self.limits);
        Grid::new(blocks as u32, threads, self.region_bytes(regions) as u32)
    }

    /// Says that what is started next uses this plan.
    ///
    /// # Errors
    /// `Foreign` where the plan was made on another device.
    pub(super) fn keep(&self, device: &D) -> Result<()> {
        if !device.owns(&self.tables) {
            return Err(Error::Foreign("devices"));
        }
        device.keep(&self.tables);
        if let Some(warp) = &self.warp {
            device.keep(&warp.tables);
        }
        self.long.tables().for_each(|tables| device.keep(tables));
        Ok(())
    }

    pub(super) fn primes(&self) -> usize {
        self.launch.prime_count as usize
    }

    /// Blocks of one polynomial in the largest launch of a split transform.
    pub(super) fn split_blocks(&self) -> usize {
        self.primes() * self.halves.as_ref().map_or(1, Halves::blocks)
    }

    /// The grid of an element-wise kernel.
    pub(super) fn flat_grid(&self, threads: usize) -> Grid {
        let blocks = threads.div_ceil(THREADS as usize).clamp(1, self.limits.blocks as usize);
        Grid::new(blocks as u32, THREADS, 0)
    }

    /// Polynomials that one launch processes where each needs this much work space and this many blocks.
    pub(super) fn part(&self, batch: usize, workspace: usize, blocks: usize) -> usize {
        let by_memory = self.limits.workspace.checked_div(workspace).unwrap_or(batch);
        let by_grid = i32::MAX as usize / blocks.max(1);
        by_memory.min(by_grid).clamp(1, batch.max(1))
    }

    /// The steps of variant `patent`.
    pub(super) fn patent(&self) -> Result<&Patent<D>> {
        let missing = Error::Unsupported { what: "variant `patent`", reason: "the plan was made for another".into() };
        self.patent.as_ref().ok_or(missing)
    }

    pub(super) fn check_exportable(&self) -> Result<()> {
        match &self.method {
            Method::Lift { reason, .. } => {
                Err(Error::Unsupported { what: "transform over its own modulus", reason: reason.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// Puts tables on a device, and their addresses into the launch block.
pub(super) fn upload_tables<D: Device>(device: &D, tables: &Tables) -> Result<(D::Memory, Launch)> {
    let mut bytes = Vec::new();
    let mut append = |part: &[u8]| {
        let at = bytes.len();
        bytes.extend_from_slice(part);
        bytes.resize(bytes.len().next_multiple_of(16), 0u8);
        at as u64
    };
    let offsets = [
        append(bytemuck::cast_slice(&tables.primes)),
        append(&tables.zetas),
        append(&tables.inverse_zetas),
        append(&tables.slots),
        append(bytemuck::cast_slice(&tables.tail)),
    ];
    let mut memory = device.alloc(bytes.len(), Erase::No)?;
    device.upload(&bytes, &mut memory)?;
    let [primes, zetas, inverse_zetas, slots, tail] = offsets.map(|offset| memory.address() + offset);
    Ok((memory, Launch { primes, zetas, inverse_zetas, slots, tail, ..tables.launch }))
}

impl<D: Device> fmt::Debug for Plan<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan(N = {}, {}, {})", self.n, self.method, self.variant)
    }
}

/// An operand of `batch` times `words` words: where it lies.
pub(super) fn operand<D: Device, W: Word>(
    device: &D,
    what: &'static str,
    buffer: &DeviceBuffer<D, W>,
    batch: usize,
    words: usize,
) -> Result<u64> {
    crate::backend::expect_len(what, buffer.len(), batch.saturating_mul(words))?;
    if !device.owns(buffer.memory()) {
        return Err(Error::Foreign("streams"));
    }
    device.keep(buffer.memory());
    Ok(buffer.memory().address())
}
