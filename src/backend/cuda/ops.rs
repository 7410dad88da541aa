//! The operations of a ring as launches.

use super::Gpu;
use super::buffer::DeviceBuffer;
use super::device::{Device, Grid, Memory};
use super::params::{FLAG_FIX, FLAG_LIFT, FLAG_MONT, Launch};
use super::plan::{Plan, WarpPlan, operand};
use super::variant::Variant;
use crate::arith::Word;
use crate::backend::{Erase, Matrix, RingMul};
use crate::ring::Ring;
use crate::Result;

/// The kernel of this name for coefficients in words of type `W`.
macro_rules! for_word {
    ($W:ty, $name:literal) => {
        match <$W as Word>::WIDTH {
            16 => concat!($name, "_u16"),
            32 => concat!($name, "_u32"),
            _ => concat!($name, "_u64"),
        }
    };
}
pub(super) use for_word;

/// Layers that one pass through global memory does.
const PASS: u32 = 3;

impl<D: Device> Gpu<D> {
    /// Starts a kernel of the plan's; the launch block's addresses come from checked operands.
    #[allow(unsafe_code)]
    fn start(
        &self,
        module: &D::Module,
        kernel: &'static str,
        grid: Grid,
        launch: &Launch,
    ) -> Result<()> {
        // SAFETY: callers fill the block with operands of this stream whose lengths `operand` checked.
        unsafe { self.device.launch(module, kernel, grid, bytemuck::bytes_of(launch)) }
    }

    fn flat(&self, plan: &Plan<D>, kernel: &'static str, lanes: usize, launch: &Launch) -> Result<()> {
        self.start(&plan.steps, kernel, plan.flat_grid(lanes), launch)
    }

    /// The first layer from which a node's lanes fit the shared memory of a block, `None` where none does.
    fn node_layer(plan: &Plan<D>) -> Option<u32> {
        let layers = plan.launch.log_points;
        (0..layers).find(|first| {
            let lanes = (plan.launch.width as usize) << (layers - first);
            (lanes + lanes / 16 + 1) * plan.word_bytes <= plan.limits.shared.min(SHARED_OF_NODES)
        })
    }

    /// Forward transforms of lanes in place.
    fn forward_passes(&self, plan: &Plan<D>, count: usize, lanes: u64) -> Result<()> {
        let mut launch = Launch { out: lanes, count: count as u64, ..plan.launch };
        let all = count * plan.lanes;
        let nodes = Self::node_layer(plan);
        let end = nodes.unwrap_or(plan.launch.log_points);
        for first in (0..end).step_by(PASS as usize) {
            (launch.first, launch.last) = (first, (first + PASS).min(end));
            self.flat(plan, "forward_pass", all >> (launch.last - launch.first), &launch)?;
        }
        match nodes {
            Some(first) => {
                launch.first = first;
                self.start(&plan.steps, "forward_nodes", self.node_grid(plan, count, first), &launch)
            }
            None => self.flat(plan, "reduce", all, &launch),
        }
    }

    /// Inverse transforms of lanes in place, scaled.
    fn inverse_passes(&self, plan: &Plan<D>, count: usize, lanes: u64, mont: bool) -> Result<()> {
        let mut launch = Launch { out: lanes, count: count as u64, ..plan.launch };
        launch.flags |= if mont { FLAG_MONT } else { 0 };
        let all = count * plan.lanes;
        let nodes = Self::node_layer(plan);
        if let Some(first) = nodes {
            launch.first = first;
            self.start(&plan.steps, "inverse_nodes", self.node_grid(plan, count, first), &launch)?;
        }
        let mut last = nodes.unwrap_or(plan.launch.log_points);
        while last > 0 {
            (launch.first, launch.last) = (last.saturating_sub(PASS), last);
            self.flat(plan, "inverse_pass", all >> (launch.last - launch.first), &launch)?;
            last = launch.first;
        }
        self.flat(plan, "scale", all, &launch)
    }

    fn node_grid(&self, plan: &Plan<D>, count: usize, first: u32) -> Grid {
        let lanes = (plan.launch.width as usize) << (plan.launch.log_points - first);
        Grid {
            blocks: ((count * plan.launch.prime_count as usize) << first) as u32,
            threads: plan.block_threads(lanes),
            shared: ((lanes + lanes / 16 + 1) * plan.word_bytes) as u32,
        }
    }

    /// Blocks of one polynomial in the largest launch of the passes.
    fn node_blocks(plan: &Plan<D>) -> usize {
        (plan.launch.prime_count as usize) << Self::node_layer(plan).unwrap_or(0)
    }

    /// Canonical lanes of all primes to coefficients.
    fn store<W: Word>(&self, plan: &Plan<D>, count: usize, lanes: u64, out: u64) -> Result<()> {
        let launch = Launch { a: lanes, out, count: count as u64, ..plan.launch };
        if plan.launch.flags & FLAG_LIFT == 0 {
            return self.flat(plan, for_word!(W, "store"), count * plan.n, &launch);
        }
        let grid = Grid {
            blocks: count as u32,
            threads: plan.block_threads(2 * plan.n).min(plan.limits.threads),
            shared: 0,
        };
        self.start(&plan.steps, for_word!(W, "finish"), grid, &launch)
    }

    fn load<W: Word>(&self, plan: &Plan<D>, count: usize, coefficients: u64, lanes: u64) -> Result<()> {
        let launch = Launch { a: coefficients, out: lanes, count: count as u64, ..plan.launch };
        self.flat(plan, for_word!(W, "load"), count * plan.lanes, &launch)
    }

    /// Work space for this many polynomials' lanes; erased afterwards, for it may hold secrets.
    fn workspace(&self, plan: &Plan<D>, polynomials: usize) -> Result<D::Memory> {
        self.device.alloc(polynomials * plan.words * 8, Erase::OnDrop)
    }

    fn sums(
        &self,
        plan: &Plan<D>,
        shape: Matrix,
        flags: u32,
        (matrix, vector, out): (u64, u64, u64),
    ) -> Result<()> {
        let mut launch = Launch {
            a: matrix,
            b: vector,
            out,
            count: shape.batch as u64,
            rows: shape.rows as u32,
            columns: shape.columns as u32,
            shared: shape.shared as u32,
            ..plan.launch
        };
        launch.flags |= flags;
        self.flat(plan, "mat_vec", shape.batch * shape.rows * plan.lanes, &launch)
    }

    fn mul_fused<W: Word>(&self, plan: &Plan<D>, batch: usize, regions: usize, a: u64, b: u64, out: u64) -> Result<()> {
        let part = plan.part(batch, 0, 1);
        for first in (0..batch).step_by(part) {
            let count = part.min(batch - first);
            let offset = (first * plan.n * size_of::<W>()) as u64;
            let mut launch =
                Launch { a: a + offset, b: b + offset, out: out + offset, count: count as u64, ..plan.launch };
            launch.flags |= FLAG_MONT;
            self.start(&plan.product, for_word!(W, "product"), plan.block_grid(count, regions), &launch)?;
        }
        Ok(())
    }

    fn mul_warp<W: Word>(&self, plan: &Plan<D>, warp: &WarpPlan<D>, batch: usize, a: u64, b: u64, out: u64) -> Result<()> {
        let part = plan.part(batch, 0, 1);
        for first in (0..batch).step_by(part) {
            let count = part.min(batch - first);
            let offset = (first * plan.n * size_of::<W>()) as u64;
            let launch =
                Launch { a: a + offset, b: b + offset, out: out + offset, count: count as u64, ..warp.launch };
            let grid = Grid {
                blocks: count.div_ceil(warp.ring.per_block()) as u32,
                threads: warp.ring.threads(),
                shared: warp.ring.shared_bytes() as u32,
            };
            self.start(&warp.module, "product", grid, &launch)?;
        }
        Ok(())
    }

    fn mul_passes<W: Word>(&self, plan: &Plan<D>, batch: usize, a: u64, b: u64, out: u64) -> Result<()> {
        let polynomials = if plan.launch.width == 1 { 2 } else { 3 };
        let part = plan.part(batch, polynomials * plan.words * 8, Self::node_blocks(plan));
        let work = self.workspace(plan, polynomials * part)?;
        let size = (part * plan.words * 8) as u64;
        let (x, y) = (work.address(), work.address() + size);
        let z = if polynomials == 2 { x } else { y + size };
        for first in (0..batch).step_by(part) {
            let count = part.min(batch - first);
            let offset = (first * plan.n * size_of::<W>()) as u64;
            for (source, lanes) in [(a + offset, x), (b + offset, y)] {
                self.load::<W>(plan, count, source, lanes)?;
                self.forward_passes(plan, count, lanes)?;
            }
            self.sums(plan, Matrix { batch: count, rows: 1, columns: 1, shared: false }, 0, (x, y, z))?;
            self.inverse_passes(plan, count, z, true)?;
            self.store::<W>(plan, count, z, out + offset)?;
        }
        Ok(())
    }
}

/// As [`Matrix::lengths`], for shapes that nothing has checked.
fn checked_lengths(shape: Matrix) -> Result<(usize, usize, usize)> {
    let product = |factors: [usize; 3]| factors.into_iter().try_fold(1usize, |x, y| x.checked_mul(y));
    let whole = product([shape.batch, shape.rows, shape.columns]);
    let small = u32::try_from(shape.rows.max(shape.columns)).is_ok();
    match whole.filter(|_| small) {
        Some(_) => Ok(shape.lengths()),
        None => Err(crate::Error::WrongLength { what: "the matrix", expected: usize::MAX, got: 0 }),
    }
}

/// Shared memory of a block that transforms a node: several blocks run on one multiprocessor.
const SHARED_OF_NODES: usize = 48 << 10;

impl<D: Device, R: Ring> RingMul<R> for Gpu<D> {
    type Plan = Plan<D>;

    fn plan(&self, ring: &R) -> Result<Plan<D>> {
        Plan::new(&self.device, ring.spec(), self.variant)
    }

    fn ntt_words(&self, plan: &Plan<D>) -> usize {
        plan.words
    }

    fn prepared_words(&self, plan: &Plan<D>) -> usize {
        plan.words
    }

    fn max_terms(&self, plan: &Plan<D>) -> u64 {
        plan.max_terms
    }

    fn ntt(
        &self,
        plan: &Plan<D>,
        batch: usize,
        coefficients: &DeviceBuffer<D, R::Word>,
        ntt: &mut DeviceBuffer<D, u64>,
    ) -> Result<()> {
        let a = operand(&self.device, "the operand", coefficients, batch, plan.n)?;
        let out = operand(&self.device, "the result", ntt, batch, plan.words)?;
        let fused = plan.region_bytes(1) <= plan.limits.shared && plan.variant != Variant::Passes;
        let primes = plan.launch.prime_count as usize;
        let part = plan.part(batch, 0, if fused { primes } else { Self::node_blocks(plan) });
        for first in (0..batch).step_by(part) {
            let count = part.min(batch - first);
            let a = a + (first * plan.n * size_of::<R::Word>()) as u64;
            let out = out + (first * plan.words * 8) as u64;
            if fused {
                let launch = Launch { a, out, count: count as u64, ..plan.launch };
                self.start(
                    &plan.product,
                    for_word!(R::Word, "forward"),
                    plan.block_grid(count * primes, 1),
                    &launch,
                )?;
            } else {
                self.load::<R::Word>(plan, count, a, out)?;
                self.forward_passes(plan, count, out)?;
            }
        }
        Ok(())
    }

    fn intt(
        &self,
        plan: &Plan<D>,
        batch: usize,
        ntt: &DeviceBuffer<D, u64>,
        coefficients: &mut DeviceBuffer<D, R::Word>,
    ) -> Result<()> {
        let a = operand(&self.device, "the operand", ntt, batch, plan.words)?;
        let out = operand(&self.device, "the result", coefficients, batch, plan.n)?;
        let primes = plan.launch.prime_count as usize;
        let fused = plan.region_bytes(primes) <= plan.limits.shared && plan.variant != Variant::Passes;
        let work_bytes = if fused { 0 } else { plan.words * 8 };
        let part = plan.part(batch, work_bytes, if fused { 1 } else { Self::node_blocks(plan) });
        let work = if fused { None } else { Some(self.workspace(plan, part)?) };
        for first in (0..batch).step_by(part) {
            let count = part.min(batch - first);
            let a = a + (first * plan.words * 8) as u64;
            let out = out + (first * plan.n * size_of::<R::Word>()) as u64;
            match &work {
                None => {
                    let launch = Launch { a, out, count: count as u64, ..plan.launch };
                    let grid = plan.block_grid(count, primes);
                    self.start(&plan.product, for_word!(R::Word, "inverse"), grid, &launch)?;
                }
                Some(work) => {
                    let lanes = work.address();
                    let copy = Launch { a, out: lanes, count: (count * plan.words) as u64, ..plan.launch };
                    self.flat(plan, "copy", count * plan.words, &copy)?;
                    self.inverse_passes(plan, count, lanes, false)?;
                    self.store::<R::Word>(plan, count, lanes, out)?;
                }
            }
        }
        Ok(())
    }

    fn mat_vec(
        &self,
        plan: &Plan<D>,
        shape: Matrix,
        matrix: &DeviceBuffer<D, u64>,
        vector: &DeviceBuffer<D, u64>,
        out: &mut DeviceBuffer<D, u64>,
    ) -> Result<()> {
        let (matrices, vectors, results) = checked_lengths(shape)?;
        let a = operand(&self.device, "the matrix", matrix, matrices, plan.words)?;
        let b = operand(&self.device, "the vector", vector, vectors, plan.words)?;
        let out = operand(&self.device, "the result", out, results, plan.words)?;
        self.sums(plan, shape, FLAG_FIX, (a, b, out))
    }

    fn prepare(
        &self,
        plan: &Plan<D>,
        batch: usize,
        ntt: &DeviceBuffer<D, u64>,
        prepared: &mut DeviceBuffer<D, u64>,
    ) -> Result<()> {
        let a = operand(&self.device, "the operand", ntt, batch, plan.words)?;
        let out = operand(&self.device, "the result", prepared, batch, plan.words)?;
        let launch = Launch { a, out, count: batch as u64, ..plan.launch };
        self.flat(plan, "prepare", batch * plan.lanes, &launch)
    }

    fn pointwise_prepared(
        &self,
        plan: &Plan<D>,
        batch: usize,
        shared: bool,
        a: &DeviceBuffer<D, u64>,
        prepared: &DeviceBuffer<D, u64>,
        out: &mut DeviceBuffer<D, u64>,
    ) -> Result<()> {
        let factors = if shared { 1 } else { batch };
        let b = operand(&self.device, "the first factor", a, batch, plan.words)?;
        let a = operand(&self.device, "the prepared factor", prepared, factors, plan.words)?;
        let out = operand(&self.device, "the result", out, batch, plan.words)?;
        self.sums(plan, Matrix { batch, rows: 1, columns: 1, shared }, 0, (a, b, out))
    }

    fn mul(
        &self,
        plan: &Plan<D>,
        batch: usize,
        a: &DeviceBuffer<D, R::Word>,
        b: &DeviceBuffer<D, R::Word>,
        out: &mut DeviceBuffer<D, R::Word>,
    ) -> Result<()> {
        let a = operand(&self.device, "the first factor", a, batch, plan.n)?;
        let b = operand(&self.device, "the second factor", b, batch, plan.n)?;
        let out = operand(&self.device, "the result", out, batch, plan.n)?;
        if batch == 0 {
            return Ok(());
        }
        let warp = plan.warp.as_ref().filter(|warp| warp.ring.store_bits() == <R::Word as Word>::WIDTH);
        if let (Variant::Automatic, Some(warp)) = (plan.variant, warp) {
            return self.mul_warp::<R::Word>(plan, warp, batch, a, b, out);
        }
        match (plan.variant, plan.product_regions()) {
            (Variant::Patent, _) => plan.patent()?.multiply::<R::Word>(batch, a, b, out),
            (Variant::Automatic | Variant::Fused, Some(regions)) => {
                self.mul_fused::<R::Word>(plan, batch, regions, a, b, out)
            }
            _ => self.mul_passes::<R::Word>(plan, batch, a, b, out),
        }
    }

    fn export_ntt(
        &self,
        plan: &Plan<D>,
        batch: usize,
        ntt: &DeviceBuffer<D, u64>,
        residues: &mut DeviceBuffer<D, R::Word>,
    ) -> Result<()> {
        let a = operand(&self.device, "the operand", ntt, batch, plan.words)?;
        let out = operand(&self.device, "the result", residues, batch, plan.n)?;
        plan.check_exportable()?;
        self.store::<R::Word>(plan, batch, a, out)
    }

    fn import_ntt(
        &self,
        plan: &Plan<D>,
        batch: usize,
        residues: &DeviceBuffer<D, R::Word>,
        ntt: &mut DeviceBuffer<D, u64>,
    ) -> Result<()> {
        let a = operand(&self.device, "the operand", residues, batch, plan.n)?;
        let out = operand(&self.device, "the result", ntt, batch, plan.words)?;
        plan.check_exportable()?;
        self.load::<R::Word>(plan, batch, a, out)
    }
}
