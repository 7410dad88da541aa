//! Products of long polynomials in three launches: which rings, and the programs of `large.cu`.

use super::device::{Device, Grid, Memory};
use super::params::Launch;
use super::rns::{SplitTwiddle, centred};
use super::source::{Family, Program, WordClass, programs as known};
use crate::backend::Erase;
use crate::ring::ntt::Ntt;
use crate::ring::{RingSpec, Wrap};
use crate::{Error, Result};

/// Logarithms of the lengths.
const LOGS: std::ops::RangeInclusive<u32> = 12..=16;

/// Lanes of a thread, as in `large.cu`.
const PER_THREAD: usize = 16;

/// Columns of a block; threads of a block of rows for one factor, and whether the other factor has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Blocks {
    columns: usize,
    threads: usize,
    apart: bool,
}

/// Many products. Measured on an H200: 45 of 50 bits take 75.3 µs at 2^16 with 16 columns and 72.9 with 8, but 39.9 and
/// 40.8 at 2^15; of 60 bits 119.9 and 121.4, 63.8 and 64.5.
fn usual(log: u32, doubles: bool) -> Blocks {
    Blocks { columns: if doubles && log == 16 { 8 } else { 16 }, threads: 128, apart: false }
}

/// Few products, spread over as many multiprocessors as can be. Of 60 bits at 2^16 one takes 14.2 µs instead of 18.9 and
/// six 23.9 instead of 33.7, in doubles 10.2 and 12.6, 18.5 and 21.3; twelve 38.9 and 37.8, 24.7 and 26.0.
const SPREAD: Blocks = Blocks { columns: 8, threads: 64, apart: true };

/// Lengths for which that is there, and coefficients up to which it wins.
const SPREAD_LOGS: std::ops::RangeInclusive<u32> = 15..=16;
const FEW: usize = 8 << 16;

/// Products in a ring of this kind.
pub(super) struct Large<D: Device> {
    /// For many products and, where there is one, for few.
    ways: [Option<Way<D>>; 2],
    /// The launch block, operands left out.
    pub launch: Launch,
    pub tables: D::Memory,
    log: u32,
    first: u32,
    /// Whether the device lets a launch start before the one before has ended.
    early: bool,
}

/// Kernels for blocks of one kind.
pub(super) struct Way<D: Device> {
    pub module: D::Module,
    blocks: Blocks,
}

fn first(log: u32) -> u32 {
    log / 2
}

/// The blocks for many products and for few.
fn blocks(log: u32, doubles: bool) -> [Option<Blocks>; 2] {
    [Some(usual(log, doubles)), SPREAD_LOGS.contains(&log).then_some(SPREAD)]
}

fn program(log: u32, doubles: bool, blocks: Blocks) -> Program {
    let class = if doubles { 53 } else { 64 };
    let constants = vec![
        ("KARAT_LOG", log.to_string()),
        ("KARAT_FIRST", first(log).to_string()),
        ("KARAT_CLASS", class.to_string()),
        ("KARAT_COLUMNS", blocks.columns.to_string()),
        ("KARAT_ROWS_THREADS", blocks.threads.to_string()),
        ("KARAT_APART", u32::from(blocks.apart).to_string()),
    ];
    let suffix = format!("{log}_{class}{}", if blocks.apart { "_few" } else { "" });
    Program::new(Family::Large, WordClass::Word64).with_constants(&suffix, String::new(), constants)
}

pub(super) fn programs() -> impl Iterator<Item = Program> {
    let classes = LOGS.flat_map(|log| [false, true].map(|doubles| (log, doubles)));
    classes.flat_map(|(log, doubles)| {
        blocks(log, doubles).into_iter().flatten().map(move |blocks| program(log, doubles, blocks))
    })
}

/// Tables in double precision: factors around 0; q, 1/q and n^-1; the inverse factors.
pub(super) fn doubles(ntt: &Ntt) -> (Vec<f64>, [f64; 4], Vec<f64>) {
    let m = ntt.modulus();
    let q = m.value();
    let n_inv = m.inv_vartime(m.reduce(ntt.shape().points as u64)).unwrap_or(0);
    let zetas = ntt.zetas().iter().map(|z| centred(*z, q)).collect();
    let constants = [q as f64, 1.0 / q as f64, centred(n_inv, q), 0.0];
    (zetas, constants, ntt.inverse_zetas().iter().map(|z| centred(*z, q)).collect())
}

/// Tables in split words: the factors and the inverse factors.
pub(super) fn splits(ntt: &Ntt) -> [Vec<u64>; 2] {
    [ntt.zetas().to_vec(), ntt.inverse_zetas()]
}

impl<D: Device> Large<D> {
    /// Nothing where the ring does not fit, or where the device has no program for it. `launch` has the ring's prime.
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
        let known = |blocks: &Blocks| device.limits().compiles || known().contains(&program(log, double, *blocks));
        if !known(&usual(log, double)) {
            return Ok(None);
        }
        let ntt = Ntt::of_ring(ring)?;
        let [zetas, inverse] = if double {
            let (zetas, constants, inverse) = doubles(&ntt);
            let zetas = [&zetas[..], &constants].concat();
            [zetas, inverse].map(|table| bytemuck::cast_slice(&table).to_vec())
        } else {
            splits(&ntt).map(|table| SplitTwiddle::table(&table, q))
        };
        let mut tables = device.alloc(zetas.len() + inverse.len(), Erase::No)?;
        device.upload(&[&zetas[..], &inverse].concat(), &mut tables)?;
        let (zetas, inverse_zetas) = (tables.address(), tables.address() + zetas.len() as u64);
        let launch = Launch { zetas, inverse_zetas, ..*launch };
        let load = |blocks| Ok::<_, Error>(Way { module: device.load(&program(log, double, blocks))?, blocks });
        let [many, few] = blocks(log, double).map(|blocks| blocks.filter(known).map(load).transpose());
        Ok(Some(Self { ways: [many?, few?], launch, tables, log, first: first(log), early }))
    }

    /// The kernels for so many products.
    pub fn way(&self, products: usize) -> Option<&Way<D>> {
        self.ways[1].as_ref().filter(|_| products << self.log <= FEW).or(self.ways[0].as_ref())
    }

    /// Blocks of columns of this many polynomials.
    pub fn columns_grid(&self, way: &Way<D>, polynomials: usize) -> Grid {
        let columns = way.blocks.columns;
        let (rows, distance) = (1usize << self.first, 1usize << (self.log - self.first));
        let threads = columns * rows / PER_THREAD;
        self.grid(polynomials * distance / columns, threads, 8 * columns * rows)
    }

    /// Blocks of rows of this many products.
    pub fn rows_grid(&self, way: &Way<D>, polynomials: usize) -> Grid {
        let Blocks { threads: block, apart, .. } = way.blocks;
        let lanes = 1usize << (self.log - self.first);
        let share = lanes / PER_THREAD;
        let region = lanes + lanes / PER_THREAD + 1;
        let threads = polynomials << (self.log - PER_THREAD.ilog2());
        let shared = block / share * 2 * region * 8;
        self.grid(threads / block, if apart { 2 * block } else { block }, shared)
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
