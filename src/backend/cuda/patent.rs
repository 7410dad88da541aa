//! The k-NTT on a device exactly as the patent describes it, one kernel a step.
//!
//! Each step has the name and meaning of a step of [`Kntt`](crate::ring::kntt::Kntt). Values between the steps are
//! canonical residues `[batch][part][n]` in words of the ring's class. The transforms take one block for each
//! sub-polynomial and `n/2` threads with two values each, so `n <= 2048`.

use super::device::{Device, Grid, Memory};
use super::ops::for_word;
use super::params::{Cross, Launch};
use super::plan::{THREADS, upload_tables};
use super::source::{Family, Program, WordClass};
use super::tables::Tables;
use crate::arith::Word;
use crate::backend::Erase;
use crate::ring::RingSpec;
use crate::ring::kntt::Kntt;
use crate::{Error, Result};

/// The steps for one ring on one device.
pub struct Patent<D: Device> {
    device: D,
    module: D::Module,
    word: WordClass,
    launch: Launch,
    kntt: Kntt,
    tables: D::Memory,
}

/// Values between two steps, on a device: `[batch][rows][n]`, erased when dropped.
pub struct Values<D: Device> {
    memory: D::Memory,
    batch: usize,
    rows: usize,
}

/// Where values lie.
#[derive(Clone, Copy)]
struct Place {
    address: u64,
    batch: usize,
    rows: usize,
}

/// Coefficients of a sub-polynomial that one block transforms: two for each of its threads.
pub const MAX_POINTS: usize = 1 << 11;

impl<D: Device> Patent<D> {
    /// Prepares a ring `Z_q[x]/(x^N + 1)`.
    ///
    /// # Errors
    /// `Unsupported` where the ring has no k-NTT; `InvalidAlpha` where sub-polynomials have more than [`MAX_POINTS`]
    /// coefficients, with the least usable alpha.
    pub fn new(device: &D, ring: &RingSpec) -> Result<Self> {
        let kntt = Kntt::new(ring)?;
        let points = kntt.ntt().shape().points;
        if points > MAX_POINTS {
            let most = ring.n().trailing_zeros();
            let alpha = most - points.trailing_zeros();
            let least = most - MAX_POINTS.trailing_zeros();
            return Err(Error::InvalidAlpha {
                alpha,
                reason: format!(
                    "variant `patent` transforms at most {MAX_POINTS} coefficients a block: the least usable alpha is {least}"
                ),
            });
        }
        let tables = Tables::of_transform(ring, kntt.ntt())?;
        let (memory, mut launch) = upload_tables(device, &tables)?;
        (launch.n, launch.width) = (ring.n() as u32, kntt.parts() as u32);
        Ok(Self {
            device: device.clone(),
            module: device.load(&Program::new(Family::Patent, tables.word))?,
            word: tables.word,
            launch,
            kntt,
            tables: memory,
        })
    }

    /// The scalar steps that these are tested against.
    pub fn kntt(&self) -> &Kntt {
        &self.kntt
    }

    /// Parts, and the points of each.
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.parts(), self.points())
    }

    fn parts(&self) -> usize {
        self.launch.width as usize
    }

    fn pairs(&self) -> usize {
        self.parts() * (self.parts() - 1) / 2
    }

    fn points(&self) -> usize {
        1 << self.launch.log_points
    }

    fn values(&self, batch: usize, rows: usize) -> Result<Values<D>> {
        let bytes = (batch * rows * self.word.bytes())
            .checked_shl(self.launch.log_points)
            .ok_or(Error::OutOfMemory { bytes: u128::MAX })?;
        Ok(Values { memory: self.device.alloc(bytes.max(16), Erase::OnDrop)?, batch, rows })
    }

    /// Values that a step uses, of the shape that it needs.
    fn place(&self, what: &'static str, values: &Values<D>, batch: usize, rows: usize) -> Result<Place> {
        if !self.device.owns(&values.memory) {
            return Err(Error::Foreign("streams"));
        }
        if (values.batch, values.rows) != (batch, rows) {
            return Err(Error::WrongLength { what, expected: batch * rows, got: values.batch * values.rows });
        }
        self.device.keep(&values.memory);
        Ok(Place { address: values.memory.address(), batch, rows })
    }

    /// New values, and what a step puts there.
    fn make(&self, batch: usize, rows: usize, step: impl FnOnce(&D, Place) -> Result<()>) -> Result<Values<D>> {
        let out = self.values(batch, rows)?;
        step(&self.device, self.place("the result", &out, batch, rows)?)?;
        Ok(out)
    }

    /// Puts canonical residues `[batch][rows][n]` on the device, to begin at any step.
    ///
    /// # Errors
    /// `WrongLength`, or what the device reports; so for all steps.
    pub fn upload(&self, batch: usize, rows: usize, residues: &[u64]) -> Result<Values<D>> {
        if residues.len() != batch * rows * self.points() {
            let expected = batch * rows * self.points();
            return Err(Error::WrongLength { what: "the values", expected, got: residues.len() });
        }
        let mut out = self.values(batch, rows)?;
        let bytes: Vec<u8> = residues.iter().flat_map(|x| x.to_le_bytes()[..self.word.bytes()].to_vec()).collect();
        self.device.upload(&bytes, &mut out.memory)?;
        Ok(out)
    }

    /// Fetches the residues after any step.
    ///
    /// # Errors
    /// What the device reports.
    pub fn download(&self, values: &Values<D>) -> Result<Vec<u64>> {
        let mut bytes = vec![0; values.batch * values.rows * self.points() * self.word.bytes()];
        self.device.download(&values.memory, &mut bytes)?;
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        Ok(bytes.chunks_exact(self.word.bytes()).map(word).collect())
    }

    /// Splits coefficients `[batch][N]` of the host.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn split_host(&self, coefficients: &[u64]) -> Result<Values<D>> {
        let batch = coefficients.len() / self.launch.n as usize;
        let mut memory = self.device.alloc(size_of_val(coefficients).max(16), Erase::OnDrop)?;
        self.device.upload(bytemuck::cast_slice(coefficients), &mut memory)?;
        self.device.keep(&memory);
        self.make(batch, self.parts(), |device, out| self.split::<u64>(device, memory.address(), out))
    }

    /// Joins parts to coefficients `[batch][N]` on the host.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn interleave_host(&self, values: &Values<D>) -> Result<Vec<u64>> {
        let parts = self.place("the parts", values, values.batch, self.parts())?;
        let mut out = vec![0u64; values.batch * self.launch.n as usize];
        let memory = self.device.alloc(size_of_val(&out[..]).max(16), Erase::OnDrop)?;
        self.device.keep(&memory);
        self.interleave::<u64>(&self.device, parts, memory.address())?;
        self.device.download(&memory, bytemuck::cast_slice_mut(&mut out))?;
        Ok(out)
    }

    /// Forward transforms of all parts, in place.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn transform(&self, values: &mut Values<D>) -> Result<()> {
        let parts = self.place("the parts", values, values.batch, values.rows)?;
        self.blocks(&self.device, "transform", parts)
    }

    /// Inverse transforms of all parts, in place, scaled by `n^-1` in the final store.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn inverse(&self, values: &mut Values<D>) -> Result<()> {
        let parts = self.place("the parts", values, values.batch, values.rows)?;
        self.blocks(&self.device, "inverse", parts)
    }

    /// `P_ii = F_i ∘ G_i` of all parts.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn pointwise(&self, f: &Values<D>, g: &Values<D>) -> Result<Values<D>> {
        let [f, g] = self.factors(f, g)?;
        self.make(f.batch, self.parts(), |device, out| self.squares(device, f, g, out))
    }

    fn factors(&self, f: &Values<D>, g: &Values<D>) -> Result<[Place; 2]> {
        Ok([
            self.place("the first factor", f, f.batch, self.parts())?,
            self.place("the second factor", g, f.batch, self.parts())?,
        ])
    }

    /// `P_ij` for all pairs `i < j` by Karatsuba, in the order (0,1), (0,2), …, (1,2), …; `squares` are the `P_ii`.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn cross(&self, f: &Values<D>, g: &Values<D>, squares: &Values<D>) -> Result<Values<D>> {
        let [f, g] = self.factors(f, g)?;
        let squares = self.place("the squares", squares, f.batch, self.parts())?;
        self.make(f.batch, self.pairs(), |device, out| self.crosses(device, f, g, squares, out))
    }

    /// `Z_k = Y ∘ sum of P_ij over i + j = k + parts`, `k < parts - 1`.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn wrap(&self, squares: &Values<D>, cross: &Values<D>) -> Result<Values<D>> {
        let [squares, cross] = self.products(squares, cross)?;
        self.make(squares.batch, self.parts() - 1, |device, out| self.wraps(device, squares, cross, out))
    }

    /// `Q_k = Z_k + sum of P_ij over i + j = k`.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn knttmul(&self, squares: &Values<D>, cross: &Values<D>, wraps: &Values<D>) -> Result<Values<D>> {
        let [squares, cross] = self.products(squares, cross)?;
        let wraps = self.place("the Z_k", wraps, squares.batch, self.parts() - 1)?;
        self.make(squares.batch, self.parts(), |device, out| self.sums(device, squares, cross, wraps, out))
    }

    fn products(&self, squares: &Values<D>, cross: &Values<D>) -> Result<[Place; 2]> {
        Ok([
            self.place("the P_ii", squares, squares.batch, self.parts())?,
            self.place("the P_ij", cross, squares.batch, self.pairs())?,
        ])
    }
}

/// The launches of the steps.
impl<D: Device> Patent<D> {
    #[allow(unsafe_code)]
    fn start(&self, device: &D, kernel: &'static str, grid: Grid, launch: &[u8]) -> Result<()> {
        device.keep(&self.tables);
        // SAFETY: addresses are places whose shapes were checked, or those of checked operands.
        unsafe { device.launch(&self.module, kernel, grid, launch) }
    }

    fn flat(&self, device: &D, kernel: &'static str, lanes: usize, launch: &[u8]) -> Result<()> {
        if lanes == 0 {
            return Ok(());
        }
        let blocks = lanes.div_ceil(THREADS as usize).min(device.limits().blocks as usize) as u32;
        self.start(device, kernel, Grid::new(blocks, THREADS, 0), launch)
    }

    /// Coefficient `j` of part `i` is coefficient `j·parts + i`; `coefficients` is the device's address of
    /// `[batch][N]` words.
    fn split<W: Word>(&self, device: &D, coefficients: u64, out: Place) -> Result<()> {
        let launch = Launch { a: coefficients, out: out.address, count: out.batch as u64, ..self.launch };
        self.flat(device, for_word!(W, "split"), out.batch * self.launch.n as usize, bytemuck::bytes_of(&launch))
    }

    fn interleave<W: Word>(&self, device: &D, parts: Place, out: u64) -> Result<()> {
        let launch = Launch { a: parts.address, out, count: parts.batch as u64, ..self.launch };
        self.flat(device, for_word!(W, "interleave"), parts.batch * self.launch.n as usize, bytemuck::bytes_of(&launch))
    }

    fn blocks(&self, device: &D, kernel: &'static str, parts: Place) -> Result<()> {
        let launch = Launch { out: parts.address, ..self.launch };
        let blocks = (parts.batch * parts.rows) as u32;
        let threads = (self.points() / 2).max(1) as u32;
        let grid = Grid::new(blocks, threads, (self.points() * self.word.bytes()) as u32);
        self.start(device, kernel, grid, bytemuck::bytes_of(&launch))
    }

    fn three(&self, a: Place, b: Place, out: Place) -> Launch {
        Launch { a: a.address, b: b.address, out: out.address, count: a.batch as u64, ..self.launch }
    }

    fn lanes(&self, place: Place) -> usize {
        place.batch * place.rows * self.points()
    }

    fn squares(&self, device: &D, f: Place, g: Place, out: Place) -> Result<()> {
        self.flat(device, "pointwise", self.lanes(out), bytemuck::bytes_of(&self.three(f, g, out)))
    }

    fn crosses(&self, device: &D, f: Place, g: Place, squares: Place, out: Place) -> Result<()> {
        let launch = Cross { launch: self.three(f, g, out), third: squares.address };
        self.flat(device, "cross", self.lanes(out), bytemuck::bytes_of(&launch))
    }

    fn wraps(&self, device: &D, squares: Place, cross: Place, out: Place) -> Result<()> {
        self.flat(device, "wrap", self.lanes(out), bytemuck::bytes_of(&self.three(squares, cross, out)))
    }

    fn sums(&self, device: &D, squares: Place, cross: Place, wraps: Place, out: Place) -> Result<()> {
        let launch = Cross { launch: self.three(squares, cross, out), third: wraps.address };
        self.flat(device, "knttmul", self.lanes(out), bytemuck::bytes_of(&launch))
    }

    /// Whole products of coefficients `[batch][N]` at device addresses, in parts of bounded work space.
    pub(super) fn multiply<W: Word>(&self, device: &D, batch: usize, a: u64, b: u64, out: u64) -> Result<()> {
        // Two factors, squares, the pairs, wraps, and results.
        let parts = self.parts();
        let rows = [parts, parts, parts, self.pairs(), parts - 1, parts];
        let row = self.points() * self.word.bytes();
        let work = rows.iter().sum::<usize>() * row;
        let blocks = i32::MAX as usize / parts;
        let part = (device.limits().workspace / work).min(blocks).clamp(1, batch.max(1));
        device.with_scratch(part * work, |scratch| {
            for first in (0..batch).step_by(part) {
                let count = part.min(batch - first);
                let offset = (first * self.launch.n as usize * size_of::<W>()) as u64;
                let mut at = scratch;
                let [f, g, squares, cross, wraps, product] = rows.map(|rows| {
                    let place = Place { address: at, batch: count, rows };
                    at += (count * rows * row) as u64;
                    place
                });
                self.split::<W>(device, a + offset, f)?;
                self.split::<W>(device, b + offset, g)?;
                self.blocks(device, "transform", f)?;
                self.blocks(device, "transform", g)?;
                self.squares(device, f, g, squares)?;
                self.crosses(device, f, g, squares, cross)?;
                self.wraps(device, squares, cross, wraps)?;
                self.sums(device, squares, cross, wraps, product)?;
                self.blocks(device, "inverse", product)?;
                self.interleave::<W>(device, product, out + offset)?;
            }
            Ok(())
        })
    }
}
