//! A ring bound to a device: tables and programs there, and the geometry of its launches.

use core::fmt;

use super::buffer::DeviceBuffer;
use super::device::{Device, Grid, Limits, Memory};
use super::params::Launch;
use super::patent::Patent;
use super::source::{Family, Program, programs};
use super::tables::Tables;
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
    pub(super) limits: Limits,
    patent: Option<Patent<D>>,
    pub(super) warp: Option<WarpPlan<D>>,
    _tables: D::Memory,
}

/// What products in registers need.
pub(super) struct WarpPlan<D: Device> {
    pub ring: WarpRing,
    pub module: D::Module,
    /// The launch block, operands left out.
    pub launch: Launch,
    _tables: D::Memory,
}

impl<D: Device> WarpPlan<D> {
    /// Nothing where the ring does not fit, or where the device has no program for it.
    fn new(device: &D, ring: &RingSpec) -> Result<Option<Self>> {
        let Some(ring) = WarpRing::new(ring) else { return Ok(None) };
        let program = ring.program();
        let limits = device.limits();
        if ring.shared_bytes() > limits.shared || !(limits.compiles || programs().contains(&program)) {
            return Ok(None);
        }
        let [zetas, inverse_zetas] = ring.tables();
        let mut memory = device.alloc(zetas.len() + inverse_zetas.len(), Erase::No)?;
        device.upload(&[&zetas[..], &inverse_zetas].concat(), &mut memory)?;
        let address = memory.address();
        let launch =
            Launch { zetas: address, inverse_zetas: address + zetas.len() as u64, ..Launch::default() };
        Ok(Some(Self { module: device.load(&program)?, ring, launch, _tables: memory }))
    }
}

/// Threads of a block for element-wise work.
pub(super) const THREADS: u32 = 256;

impl<D: Device> Plan<D> {
    pub(super) fn new(device: &D, ring: &RingSpec, variant: Variant) -> Result<Self> {
        let tables = Tables::new(ring)?;
        let (memory, mut launch) = upload_tables(device, &tables)?;
        let word_bytes = tables.word.bytes();
        let lanes = tables.shape.len() * tables.primes.len();
        let words = (lanes * word_bytes).div_ceil(8);
        launch.stride = (words * 8 / word_bytes) as u32;
        Ok(Self {
            n: ring.n(),
            method: ring.method(),
            variant,
            word_bytes,
            lanes,
            words,
            launch,
            max_terms: tables.max_terms,
            steps: device.load(&Program::new(Family::Steps, tables.word))?,
            product: device.load(&Program::new(Family::Product, tables.word))?,
            limits: device.limits(),
            patent: (variant == Variant::Patent).then(|| Patent::new(device, ring)).transpose()?,
            warp: WarpPlan::new(device, ring)?,
            _tables: memory,
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
    pub(super) fn region_bytes(&self, regions: usize) -> usize {
        let lanes = self.launch.len as usize;
        regions * (lanes + lanes / 16 + 1) * self.word_bytes
    }

    /// Regions of a fused product, `None` where a block cannot hold it.
    pub(super) fn product_regions(&self) -> Option<usize> {
        let extra = if self.launch.width == 1 { 1 } else { 2 };
        let regions = self.launch.prime_count as usize + extra;
        (self.region_bytes(regions) <= self.limits.shared).then_some(regions)
    }

    /// Launches a kernel that gives each polynomial a block.
    pub(super) fn block_grid(&self, blocks: usize, regions: usize) -> Grid {
        Grid {
            blocks: blocks as u32,
            threads: self.block_threads(self.launch.len as usize),
            shared: self.region_bytes(regions) as u32,
        }
    }

    /// Eight lanes a thread, whole warps.
    pub(super) fn block_threads(&self, lanes: usize) -> u32 {
        (lanes as u32 / 8).next_power_of_two().clamp(32, self.limits.threads)
    }

    /// The grid of an element-wise kernel.
    pub(super) fn flat_grid(&self, threads: usize) -> Grid {
        let blocks = threads.div_ceil(THREADS as usize).clamp(1, self.limits.blocks as usize);
        Grid { blocks: blocks as u32, threads: THREADS, shared: 0 }
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
    Ok(buffer.memory().address())
}
