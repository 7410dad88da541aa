//! The operations of a ring as launches.

use super::Gpu;
use super::buffer::DeviceBuffer;
use super::device::{Device, Grid};
use super::params::{FLAG_FIX, FLAG_LIFT, FLAG_MONT, Launch};
use super::plan::{Halves, Plan, WarpPlan, block_threads, operand};
use super::variant::Variant;
use crate::Result;
use crate::arith::Word;
use crate::backend::{Matrix, RingMul};
use crate::ring::Ring;

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
    pub(super) fn start(&self, module: &D::Module, kernel: &'static str, grid: Grid, launch: &Launch) -> Result<()> {
        // SAFETY: callers fill the block with operands of this stream whose lengths `operand` checked.
        unsafe { self.device.launch(module, kernel, grid, bytemuck::bytes_of(launch)) }
    }

    fn flat(&self, plan: &Plan<D>, kernel: &'static str, lanes: usize, launch: &Launch) -> Result<()> {
        self.start(&plan.steps, kernel, plan.flat_grid(lanes), launch)
    }

    /// Forward transforms of coefficients, canonical lanes.
    fn forward<W: Word>(&self, plan: &Plan<D>, count: usize, coefficients: u64, lanes: u64) -> Result<()> {
        let Some(halves) = &plan.halves else {
            self.load::<W>(plan, count, coefficients, lanes)?;
            return self.forward_passes(plan, count, lanes);
        };
        self.forward_columns::<W>(plan, halves, count, coefficients, lanes)?;
        let launch = Launch { out: lanes, first: halves.first, ..plan.launch };
        self.start(&halves.module, "forward_nodes", halves.node_grid(count * plan.primes(), 1), &launch)
    }

    fn forward_columns<W: Word>(
        &self,
        plan: &Plan<D>,
        halves: &Halves<D>,
        count: usize,
        coefficients: u64,
        lanes: u64,
    ) -> Result<()> {
        let launch =
            Launch { a: coefficients, out: lanes, first: halves.first, columns: halves.columns, ..plan.launch };
        let grid = halves.column_grid(count * plan.primes());
        self.start(&halves.module, for_word!(W, "forward_columns"), grid, &launch)
    }

    /// Ends an inverse transform whose nodes are done: scaled coefficients.
    fn inverse_columns<W: Word>(
        &self,
        plan: &Plan<D>,
        halves: &Halves<D>,
        count: usize,
        lanes: u64,
        out: u64,
        mont: bool,
    ) -> Result<()> {
        let lift = plan.launch.flags & FLAG_LIFT != 0;
        let mut launch = Launch {
            a: lanes,
            out: if lift { lanes } else { out },
            first: halves.first,
            columns: halves.columns,
            ..plan.launch
        };
        launch.flags |= if mont { FLAG_MONT } else { 0 };
        let grid = halves.column_grid(count * plan.primes());
        self.start(&halves.module, for_word!(W, "inverse_columns"), grid, &launch)?;
        if lift { self.store::<W>(plan, count, lanes, out) } else { Ok(()) }
    }

    /// Forward transforms of lanes in place, all layers in global memory.
    fn forward_passes(&self, plan: &Plan<D>, count: usize, lanes: u64) -> Result<()> {
        let mut launch = Launch { out: lanes, count: count as u64, ..plan.launch };
        let all = count * plan.lanes;
        for first in (0..plan.launch.log_points).step_by(PASS as usize) {
            (launch.first, launch.last) = (first, (first + PASS).min(plan.launch.log_points));
            self.flat(plan, "forward_pass", all >> (launch.last - launch.first), &launch)?;
        }
        self.flat(plan, "reduce", all, &launch)
    }

    /// Inverse transforms of lanes in place, scaled.
    fn inverse_passes(&self, plan: &Plan<D>, count: usize, lanes: u64, mont: bool) -> Result<()> {
        let mut launch = Launch { out: lanes, count: count as u64, ..plan.launch };
        launch.flags |= if mont { FLAG_MONT } else { 0 };
        let all = count * plan.lanes;
        let mut last = plan.launch.log_points;
        while last > 0 {
            (launch.first, launch.last) = (last.saturating_sub(PASS), last);
            self.flat(plan, "inverse_pass", all >> (launch.last - launch.first), &launch)?;
            last = launch.first;
        }
        self.flat(plan, "scale", all, &launch)
    }

    /// Canonical lanes of all primes to coefficients.
    fn store<W: Word>(&self, plan: &Plan<D>, count: usize, lanes: u64, out: u64) -> Result<()> {
        let launch = Launch { a: lanes, out, count: count as u64, ..plan.launch };
        if plan.launch.flags & FLAG_LIFT == 0 {
            return self.flat(plan, for_word!(W, "store"), count * plan.n, &launch);
        }
        let grid = Grid::new(count as u32, block_threads(2 * plan.n, &plan.limits), 0);
        self.start(&plan.steps, for_word!(W, "finish"), grid, &launch)
    }

    fn load<W: Word>(&self, plan: &Plan<D>, count: usize, coefficients: u64, lanes: u64) -> Result<()> {
        let launch = Launch { a: coefficients, out: lanes, count: count as u64, ..plan.launch };
        self.flat(plan, for_word!(W, "load"), count * plan.lanes, &launch)
    }

    fn sums(&self, plan: &Plan<D>, shape: Matrix, flags: u32, (matrix, vector, out): (u64, u64, u64)) -> Result<()> {
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
        // Sums of so many products need no reduction between.
        if plan.packed && plan.launch.width <= 4 && plan.launch.width.is_power_of_two() && shape.columns < 1 << 18 {
            return self.flat(plan, "mat_vec_four", shape.batch * plan.lanes / 4, &launch);
        }
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

    fn mul_warp<W: Word>(
        &self,
        plan: &Plan<D>,
        warp: &WarpPlan<D>,
        batch: usize,
        a: u64,
        b: u64,
        out: u64,
    ) -> Result<()> {
        let part = plan.part(batch, 0, 1);
        for first in (0..batch).step_by(part) {
            let count = part.min(batch - first);
            let offset = (first * plan.n * size_of::<W>()) as u64;
            let launch = Launch { a: a + offset, b: b + offset, out: out + offset, count: count as u64, ..warp.launch };
            let blocks = count.div_ceil(warp.ring.per_block()) as u32;
            let grid = Grid::new(blocks, warp.ring.threads(), warp.ring.shared_bytes() as u32);
            self.start(&warp.module, "product", grid, &launch)?;
        }
        Ok(())
    }

    /// Inverse transforms of canonical lanes `a`, through the work space `lanes`.
    fn inverse_split<W: Word>(&self, plan: &Plan<D>, count: usize, a: u64, lanes: u64, out: u64) -> Result<()> {
        if let Some(halves) = &plan.halves {
            let launch = Launch { a, out: lanes, first: halves.first, ..plan.launch };
            self.start(&halves.module, "inverse_nodes", halves.node_grid(count * plan.primes(), 1), &launch)?;
            return self.inverse_columns::<W>(plan, halves, count, lanes, out, false);
        }
        let copy = Launch { a, out: lanes, count: (count * plan.words) as u64, ..plan.launch };
        self.flat(plan, "copy", count * plan.words, &copy)?;
        self.inverse_passes(plan, count, lanes, false)?;
        self.store::<W>(plan, count, lanes, out)
    }

    /// In halves, or pass by pass; lanes in work space.
    fn mul_split<W: Word>(&self, plan: &Plan<D>, batch: usize, a: u64, b: u64, out: u64) -> Result<()> {
        let polynomials = if plan.launch.width == 1 || plan.halves.is_some() { 2 } else { 3 };
        let part = plan.part(batch, polynomials * plan.words * 8, plan.split_blocks());
        let size = (part * plan.words * 8) as u64;
        self.device.with_scratch(polynomials * part * plan.words * 8, |x| {
            let y = x + size;
            let z = if polynomials == 2 { x } else { y + size };
            for first in (0..batch).step_by(part) {
                let count = part.min(batch - first);
                let offset = (first * plan.n * size_of::<W>()) as u64;
                let (a, b, out) = (a + offset, b + offset, out + offset);
                match &plan.halves {
                    Some(halves) => self.mul_halves::<W>(plan, halves, count, [a, b, out], x, y)?,
                    None => {
                        self.forward::<W>(plan, count, a, x)?;
                        self.forward::<W>(plan, count, b, y)?;
                        self.sums(plan, Matrix { batch: count, rows: 1, columns: 1, shared: false }, 0, (x, y, z))?;
                        self.inverse_passes(plan, count, z, true)?;
                        self.store::<W>(plan, count, z, out)?;
                    }
                }
            }
            Ok(())
        })
    }

    fn mul_halves<W: Word>(
        &self,
        plan: &Plan<D>,
        halves: &Halves<D>,
        count: usize,
        [a, b, out]: [u64; 3],
        x: u64,
        y: u64,
    ) -> Result<()> {
        self.forward_columns::<W>(plan, halves, count, a, x)?;
        self.forward_columns::<W>(plan, halves, count, b, y)?;
        let launch = Launch { a: x, b: y, out: x, first: halves.first, ..plan.launch };
        let regions = if plan.launch.width == 1 { 2 } else { 3 };
        let grid = halves.node_grid(count * plan.primes(), regions);
        self.start(&halves.module, "product_nodes", grid, &launch)?;
        self.inverse_columns::<W>(plan, halves, count, x, out, true)
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

impl<D: Device, R: Ring> RingMul<R> for Gpu<D> {
    type Plan = Plan<D>;

    fn plan(&self, ring: &R) -> Result<Plan<D>> {
        Plan::new(&self.device, ring.spec(), self.variant, &self.tuning)
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
        plan.keep(&self.device)?;
        let a = operand(&self.device, "the operand", coefficients, batch, plan.n)?;
        let out = operand(&self.device, "the result", ntt, batch, plan.words)?;
        let fused = plan.block_holds(1);
        let part = plan.part(batch, 0, if fused { plan.primes() } else { plan.split_blocks() });
        for first in (0..batch).step_by(part) {
            let count = part.min(batch - first);
            let a = a + (first * plan.n * size_of::<R::Word>()) as u64;
            let out = out + (first * plan.words * 8) as u64;
            if fused {
                let launch = Launch { a, out, ..plan.launch };
                let grid = plan.block_grid(count * plan.primes(), 1);
                self.start(&plan.product, for_word!(R::Word, "forward"), grid, &launch)?;
            } else {
                self.forward::<R::Word>(plan, count, a, out)?;
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
        plan.keep(&self.device)?;
        let a = operand(&self.device, "the operand", ntt, batch, plan.words)?;
        let out = operand(&self.device, "the result", coefficients, batch, plan.n)?;
        let fused = plan.block_holds(plan.primes());
        let work_bytes = if fused { 0 } else { plan.words * 8 };
        let part = plan.part(batch, work_bytes, if fused { 1 } else { plan.split_blocks() });
        let each = |lanes: Option<u64>| {
            for first in (0..batch).step_by(part) {
                let count = part.min(batch - first);
                let a = a + (first * plan.words * 8) as u64;
                let out = out + (first * plan.n * size_of::<R::Word>()) as u64;
                match lanes {
                    Some(lanes) => self.inverse_split::<R::Word>(plan, count, a, lanes, out)?,
                    None => {
                        let launch = Launch { a, out, ..plan.launch };
                        let grid = plan.block_grid(count, plan.primes());
                        self.start(&plan.product, for_word!(R::Word, "inverse"), grid, &launch)?;
                    }
                }
            }
            Ok(())
        };
        if fused { each(None) } else { self.device.with_scratch(part * work_bytes, |x| each(Some(x))) }
    }

    fn mat_vec(
        &self,
        plan: &Plan<D>,
        shape: Matrix,
        matrix: &DeviceBuffer<D, u64>,
        vector: &DeviceBuffer<D, u64>,
        out: &mut DeviceBuffer<D, u64>,
    ) -> Result<()> {
        plan.keep(&self.device)?;
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
        plan.keep(&self.device)?;
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
        plan.keep(&self.device)?;
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
        plan.keep(&self.device)?;
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
        if self.mul_long::<R::Word>(plan, batch, [a, b, out])? {
            return Ok(());
        }
        if plan.variant == Variant::Patent {
            return plan.patent()?.multiply::<R::Word>(&self.device, batch, a, b, out);
        }
        if plan.block_holds(plan.product_regions()) {
            return self.mul_fused::<R::Word>(plan, batch, plan.product_regions(), a, b, out);
        }
        self.mul_split::<R::Word>(plan, batch, a, b, out)
    }

    fn export_ntt(
        &self,
        plan: &Plan<D>,
        batch: usize,
        ntt: &DeviceBuffer<D, u64>,
        residues: &mut DeviceBuffer<D, R::Word>,
    ) -> Result<()> {
        plan.keep(&self.device)?;
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
        plan.keep(&self.device)?;
        let a = operand(&self.device, "the operand", residues, batch, plan.n)?;
        let out = operand(&self.device, "the result", ntt, batch, plan.words)?;
        plan.check_exportable()?;
        self.load::<R::Word>(plan, batch, a, out)
    }
}
