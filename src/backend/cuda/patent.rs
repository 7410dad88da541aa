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
    _tables: D::Memory,
}

/// Values between two steps, on a device: `[batch][rows][n]`, erased when dropped.
pub struct Values<D: Device> {
    memory: D::Memory,
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
            _tables: memory,
        })
    }

    /// The scalar steps that these are tested against.
    pub fn kntt(&self) -> &Kntt {
        &self.kntt
    }

    fn parts(&self) -> usize {
        self.launch.width as usize
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

    #[allow(unsafe_code)]
    fn start(&self, kernel: &'static str, grid: Grid, launch: &[u8]) -> Result<()> {
        // SAFETY: addresses are those of `Values` whose shapes were checked, or of checked operands.
        unsafe { self.device.launch(&self.module, kernel, grid, launch) }
    }

    fn flat(&self, kernel: &'static str, lanes: usize, launch: &[u8]) -> Result<()> {
        let blocks = lanes.div_ceil(THREADS as usize).clamp(1, self.device.limits().blocks as usize) as u32;
        self.start(kernel, Grid { blocks, threads: THREADS, shared: 0 }, launch)
    }

    fn check(&self, what: &'static str, values: &Values<D>, batch: usize, rows: usize) -> Result<()> {
        if !self.device.owns(&values.memory) {
            return Err(Error::Foreign("streams"));
        }
        if (values.batch, values.rows) != (batch, rows) {
            return Err(Error::WrongLength { what, expected: batch * rows, got: values.batch * values.rows });
        }
        Ok(())
    }

    /// Coefficient `j` of part `i` is coefficient `j·parts + i`; `coefficients` is the device's address of
    /// `[batch][N]` words.
    fn split<W: Word>(&self, batch: usize, coefficients: u64) -> Result<Values<D>> {
        let out = self.values(batch, self.parts())?;
        let launch = Launch { a: coefficients, out: out.memory.address(), count: batch as u64, ..self.launch };
        self.flat(for_word!(W, "split"), batch * self.launch.n as usize, bytemuck::bytes_of(&launch))?;
        Ok(out)
    }

    fn interleave<W: Word>(&self, values: &Values<D>, out: u64) -> Result<()> {
        let launch = Launch { a: values.memory.address(), out, count: values.batch as u64, ..self.launch };
        self.flat(for_word!(W, "interleave"), values.batch * self.launch.n as usize, bytemuck::bytes_of(&launch))
    }

    /// Splits coefficients `[batch][N]` of the host.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn split_host(&self, coefficients: &[u64]) -> Result<Values<D>> {
        let batch = coefficients.len() / self.launch.n as usize;
        let mut memory = self.device.alloc(size_of_val(coefficients).max(16), Erase::OnDrop)?;
        self.device.upload(bytemuck::cast_slice(coefficients), &mut memory)?;
        self.split::<u64>(batch, memory.address())
    }

    /// Joins parts to coefficients `[batch][N]` on the host.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn interleave_host(&self, values: &Values<D>) -> Result<Vec<u64>> {
        self.check("the parts", values, values.batch, self.parts())?;
        let mut out = vec![0u64; values.batch * self.launch.n as usize];
        let memory = self.device.alloc(size_of_val(&out[..]).max(16), Erase::OnDrop)?;
        self.interleave::<u64>(values, memory.address())?;
        self.device.download(&memory, bytemuck::cast_slice_mut(&mut out))?;
        Ok(out)
    }

    fn blocks(&self, kernel: &'static str, values: &Values<D>) -> Result<()> {
        let launch = Launch { out: values.memory.address(), ..self.launch };
        let grid = Grid {
            blocks: (values.batch * values.rows) as u32,
            threads: (self.points() / 2).max(1) as u32,
            shared: (self.points() * self.word.bytes()) as u32,
        };
        self.start(kernel, grid, bytemuck::bytes_of(&launch))
    }

    /// Forward transforms of all parts, in place.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn transform(&self, values: &mut Values<D>) -> Result<()> {
        self.check("the parts", values, values.batch, values.rows)?;
        self.blocks("transform", values)
    }

    /// Inverse transforms of all parts, in place, scaled by `n^-1` in the final store.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn inverse(&self, values: &mut Values<D>) -> Result<()> {
        self.check("the parts", values, values.batch, values.rows)?;
        self.blocks("inverse", values)
    }

    /// `P_ii = F_i ∘ G_i` of all parts.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn pointwise(&self, f: &Values<D>, g: &Values<D>) -> Result<Values<D>> {
        self.check("the first factor", f, f.batch, self.parts())?;
        self.check("the second factor", g, f.batch, self.parts())?;
        let out = self.values(f.batch, self.parts())?;
        let launch = self.three(f, g, &out);
        self.flat("pointwise", f.batch * self.launch.n as usize, bytemuck::bytes_of(&launch))?;
        Ok(out)
    }

    fn three(&self, a: &Values<D>, b: &Values<D>, out: &Values<D>) -> Launch {
        Launch {
            a: a.memory.address(),
            b: b.memory.address(),
            out: out.memory.address(),
            count: a.batch as u64,
            ..self.launch
        }
    }

    /// `P_ij` for all pairs `i < j` by Karatsuba, in the order (0,1), (0,2), …, (1,2), …; `squares` are the `P_ii`.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn cross(&self, f: &Values<D>, g: &Values<D>, squares: &Values<D>) -> Result<Values<D>> {
        for (what, values) in [("the first factor", f), ("the second factor", g), ("the squares", squares)] {
            self.check(what, values, f.batch, self.parts())?;
        }
        let pairs = self.parts() * (self.parts() - 1) / 2;
        let out = self.values(f.batch, pairs)?;
        let launch = Cross { launch: self.three(f, g, &out), third: squares.memory.address() };
        if pairs > 0 {
            self.flat("cross", f.batch * pairs * self.points(), bytemuck::bytes_of(&launch))?;
        }
        Ok(out)
    }

    /// `Z_k = Y ∘ sum of P_ij over i + j = k + parts`, `k < parts - 1`.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn wrap(&self, squares: &Values<D>, cross: &Values<D>) -> Result<Values<D>> {
        self.check_products(squares, cross)?;
        let out = self.values(squares.batch, self.parts() - 1)?;
        let launch = self.three(squares, cross, &out);
        if self.parts() > 1 {
            let lanes = squares.batch * (self.parts() - 1) * self.points();
            self.flat("wrap", lanes, bytemuck::bytes_of(&launch))?;
        }
        Ok(out)
    }

    /// `Q_k = Z_k + sum of P_ij over i + j = k`.
    ///
    /// # Errors
    /// As [`Patent::upload`].
    pub fn knttmul(&self, squares: &Values<D>, cross: &Values<D>, wraps: &Values<D>) -> Result<Values<D>> {
        self.check_products(squares, cross)?;
        self.check("the Z_k", wraps, squares.batch, self.parts() - 1)?;
        let out = self.values(squares.batch, self.parts())?;
        let launch = Cross { launch: self.three(squares, cross, &out), third: wraps.memory.address() };
        self.flat("knttmul", squares.batch * self.launch.n as usize, bytemuck::bytes_of(&launch))?;
        Ok(out)
    }

    fn check_products(&self, squares: &Values<D>, cross: &Values<D>) -> Result<()> {
        self.check("the P_ii", squares, squares.batch, self.parts())?;
        self.check("the P_ij", cross, squares.batch, self.parts() * (self.parts() - 1) / 2)
    }

    /// Whole products of coefficients `[batch][N]` at device addresses, in parts of bounded work space.
    pub(super) fn multiply<W: Word>(&self, batch: usize, a: u64, b: u64, out: u64) -> Result<()> {
        // Two factors, squares, wraps, results, and the pairs.
        let parts = self.parts();
        let work = (5 * parts + parts * (parts - 1) / 2) * self.points() * self.word.bytes();
        let blocks = i32::MAX as usize / parts;
        let part = (self.device.limits().workspace / work.max(1)).min(blocks).clamp(1, batch.max(1));
        for first in (0..batch).step_by(part) {
            let count = part.min(batch - first);
            let offset = (first * self.launch.n as usize * size_of::<W>()) as u64;
            let mut f = self.split::<W>(count, a + offset)?;
            let mut g = self.split::<W>(count, b + offset)?;
            self.transform(&mut f)?;
            self.transform(&mut g)?;
            let squares = self.pointwise(&f, &g)?;
            let cross = self.cross(&f, &g, &squares)?;
            let wraps = self.wrap(&squares, &cross)?;
            let mut product = self.knttmul(&squares, &cross, &wraps)?;
            self.inverse(&mut product)?;
            self.interleave::<W>(&product, out + offset)?;
        }
        Ok(())
    }
}
