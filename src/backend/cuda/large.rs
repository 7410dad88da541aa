//! Products of long polynomials in three launches: which rings, and the programs of `large.cu`.

use super::device::{Device, Grid, Memory};
use super::params::Launch;
use super::rns::centred;
use super::source::{Family, Program, WordClass, programs as known};
use crate::Result;
use crate::backend::Erase;
use crate::ring::ntt::Ntt;
use crate::ring::{RingSpec, Wrap};

/// Logarithms of the lengths.
const LOGS: std::ops::RangeInclusive<u32> = 12..=16;

/// Columns of a block, lanes of a thread, and threads of a block of rows, as in `large.cu`.
const COLUMNS: usize = 16;
const PER_THREAD: usize = 16;
const ROWS_THREADS: usize = 128;

/// Products in a ring of this kind.
pub(super) struct Large<D: Device> {
    pub module: D::Module,
    /// The launch block, operands left out.
    pub launch: Launch,
    pub tables: Option<D::Memory>,
    log: u32,
    first: u32,
    /// Whether the device lets a launch start before the one before has ended.
    early: bool,
}

fn first(log: u32) -> u32 {
    log / 2
}

fn program(log: u32, doubles: bool) -> Program {
    let class = if doubles { 53 } else { 64 };
    let constants = vec![
        ("KARAT_LOG", log.to_string()),
        ("KARAT_FIRST", first(log).to_string()),
        ("KARAT_CLASS", class.to_string()),
    ];
    Program::new(Family::Large, WordClass::Word64).with_constants(&format!("{log}_{class}"), String::new(), constants)
}

pub(super) fn programs() -> impl Iterator<Item = Program> {
    LOGS.flat_map(|log| [false, true].map(|doubles| program(log, doubles)))
}

/// Tables in double precision: factors around 0; q, 1/q and n^-1; the inverse factors.
pub(super) fn doubles(ntt: &Ntt) -> (Vec<f64>, [f64; 4], Vec<f64>) {
    let m = ntt.modulus();
    let q = m.value();
    let invert = |x: u64| m.inv_vartime(x).unwrap_or(0);
    let zetas = ntt.zetas().iter().map(|z| centred(*z, q)).collect();
    let constants = [q as f64, 1.0 / q as f64, centred(invert(m.reduce(ntt.shape().points as u64)), q), 0.0];
    (zetas, constants, ntt.zetas().iter().map(|z| centred(invert(*z), q)).collect())
}

impl<D: Device> Large<D> {
    /// Nothing where the ring does not fit, or where the device has no program for it. `launch` has the tables of the
    /// ring's own words.
    pub fn new(device: &D, ring: &RingSpec, launch: &Launch, word: WordClass) -> Result<Option<Self>> {
        let Some(shape) = ring.method().shape() else { return Ok(None) };
        let (log, q) = (shape.layers(), ring.q());
        let fits =
            shape.wrap == Wrap::Negacyclic && shape.width == 1 && LOGS.contains(&log) && word == WordClass::Word64;
        if !fits || ring.word_bits() != 64 || q >= 1 << 60 {
            return Ok(None);
        }
        let double = q < 1 << 50;
        // Both came with the same generation of GPUs.
        let early = device.limits().cluster > 1;
        let (program, mut launch, mut kept) = (program(log, double), *launch, None);
        if !(device.limits().compiles || known().contains(&program)) {
            return Ok(None);
        }
        if double {
            let (zetas, constants, inverse) = doubles(&Ntt::of_ring(ring)?);
            let tables = [&zetas[..], &constants, &inverse].concat();
            let mut memory = device.alloc(size_of_val(&tables[..]), Erase::No)?;
            device.upload(bytemuck::cast_slice(&tables), &mut memory)?;
            launch.zetas = memory.address();
            launch.inverse_zetas = memory.address() + ((8 << log) + 4 * 8);
            kept = Some(memory);
        }
        Ok(Some(Self { module: device.load(&program)?, launch, tables: kept, log, first: first(log), early }))
    }

    /// Blocks of columns of this many polynomials.
    pub fn columns_grid(&self, polynomials: usize) -> Grid {
        let (rows, distance) = (1usize << self.first, 1usize << (self.log - self.first));
        let threads = COLUMNS * rows / PER_THREAD;
        self.grid(polynomials * distance / COLUMNS, threads, 8 * COLUMNS * rows)
    }

    /// Blocks of rows of this many products.
    pub fn rows_grid(&self, polynomials: usize) -> Grid {
        let lanes = 1usize << (self.log - self.first);
        let share = lanes / PER_THREAD;
        let region = lanes + lanes / PER_THREAD + 1;
        let threads = polynomials << (self.log - PER_THREAD.ilog2());
        let shared = ROWS_THREADS / share * 2 * region * 8;
        self.grid(threads / ROWS_THREADS, ROWS_THREADS, shared)
    }

    fn grid(&self, blocks: usize, threads: usize, shared: usize) -> Grid {
        let grid = Grid::new(blocks as u32, threads as u32, shared as u32);
        if self.early { grid.early() } else { grid }
    }

    /// Bytes of work space of a product.
    pub fn work_bytes(&self) -> usize {
        (2 * 8) << self.log
    }
}
