//! Transforms as launches.

use super::geometry::Shape;
use super::plan::RnsPlan;
use crate::Result;
use crate::arith::Word;
use crate::backend::cuda::rns::{Geometry, RnsConvert, RnsLaunch, RnsView};
use crate::backend::cuda::{Device, Gpu, Grid};
use crate::rns::Limbs;

/// Threads of a block that works word by word.
const THREADS: u32 = 256;

/// The name of a kernel.
type Kernel = &'static str;

impl<D: Device> Gpu<D> {
    /// A grid for this many threads.
    pub(super) fn rns_flat<W: Word>(&self, plan: &RnsPlan<D, W>, threads: usize) -> Grid {
        let blocks = threads.div_ceil(THREADS as usize).clamp(1, 4 * plan.limits.blocks as usize);
        Grid::new(blocks as u32, THREADS, 0)
    }

    /// Starts a kernel of single words: `step` words a thread.
    pub(super) fn rns_words<W: Word>(
        &self,
        plan: &RnsPlan<D, W>,
        kernel: Kernel,
        step: usize,
        launch: &RnsLaunch,
    ) -> Result<()> {
        let words = (launch.polys as usize * launch.limbs as usize) << launch.log_n;
        self.start_rns(&plan.ops, kernel, self.rns_flat(plan, words / step).early(), launch)
    }

    fn columns<W: Word>(&self, plan: &RnsPlan<D, W>, g: &Geometry, kernel: Kernel, launch: &RnsLaunch) -> Result<()> {
        self.two(plan, kernel, g.column_grid(plan.lanes, launch.polys * launch.limbs), launch)
    }

    fn rows<W: Word>(&self, plan: &RnsPlan<D, W>, g: &Geometry, kernel: Kernel, launch: &RnsLaunch) -> Result<()> {
        self.two(plan, kernel, g.row_grid(plan.lanes, launch.polys * launch.limbs), launch)
    }

    fn two<W: Word>(&self, plan: &RnsPlan<D, W>, kernel: Kernel, grid: Grid, launch: &RnsLaunch) -> Result<()> {
        match &plan.two {
            Some(module) => self.start_rns(module, kernel, grid, launch),
            None => Ok(()),
        }
    }

    /// The layers `[first, last)` of a forward transform from `a` to `out`, so many a launch.
    fn rns_forward_passes<W: Word>(
        &self,
        plan: &RnsPlan<D, W>,
        layers: u32,
        last: u32,
        mut launch: RnsLaunch,
    ) -> Result<()> {
        for first in (0..last).step_by(layers as usize) {
            (launch.first, launch.depth) = (first, layers.min(last - first));
            self.pass(plan, "forward_pass", &launch)?;
            launch.a = launch.out;
        }
        Ok(())
    }

    fn rns_inverse_passes<W: Word>(
        &self,
        plan: &RnsPlan<D, W>,
        layers: u32,
        last: u32,
        mut launch: RnsLaunch,
    ) -> Result<()> {
        for first in (0..last).step_by(layers as usize).rev() {
            (launch.first, launch.depth) = (first, layers.min(last - first));
            self.pass(plan, "inverse_pass", &launch)?;
            launch.a = launch.out;
        }
        Ok(())
    }

    fn pass<W: Word>(&self, plan: &RnsPlan<D, W>, kernel: Kernel, launch: &RnsLaunch) -> Result<()> {
        let units = (launch.polys as usize * launch.limbs as usize) << (launch.log_n - launch.depth);
        match &plan.passes {
            Some(module) => self.start_rns(module, kernel, self.rns_flat(plan, units), launch),
            None => Ok(()),
        }
    }

    /// Forward transforms from `a` to `out`.
    pub(super) fn rns_forward<W: Word>(&self, plan: &RnsPlan<D, W>, launch: &RnsLaunch) -> Result<()> {
        match &plan.shape {
            Shape::Passes(layers) => self.rns_forward_passes(plan, *layers, launch.log_n, *launch),
            Shape::Two(g) => {
                self.columns(plan, g, "forward_columns", launch)?;
                self.rows(plan, g, "forward_rows", launch)
            }
            Shape::Mixed(layers, g) => {
                self.rns_forward_passes(plan, *layers, g.column_layers, *launch)?;
                self.rows(plan, g, "forward_rows", launch)
            }
        }
    }

    /// Inverse transforms from `a` to `out`, times the launch's factors.
    pub(super) fn rns_inverse<W: Word>(&self, plan: &RnsPlan<D, W>, launch: &RnsLaunch) -> Result<()> {
        match &plan.shape {
            Shape::Passes(layers) => self.rns_inverse_passes(plan, *layers, launch.log_n, *launch),
            Shape::Two(g) => {
                self.rows(plan, g, "inverse_rows", launch)?;
                self.columns(plan, g, "inverse_columns", launch)
            }
            Shape::Mixed(layers, g) => {
                self.rows(plan, g, "inverse_rows", launch)?;
                self.rns_inverse_passes(plan, *layers, g.column_layers, RnsLaunch { a: launch.out, ..*launch })
            }
        }
    }

    /// Forward transforms of `out` in place by these kernels, of which that of the rows reads `a`. False where the
    /// plan's transforms have no such kernels.
    pub(super) fn rns_forward_finished<W: Word>(
        &self,
        plan: &RnsPlan<D, W>,
        launch: &RnsLaunch,
        [columns, rows]: [Kernel; 2],
    ) -> Result<bool> {
        let Shape::Two(g) = &plan.shape else { return Ok(false) };
        self.columns(plan, g, columns, &RnsLaunch { a: launch.out, ..*launch })?;
        self.rows(plan, g, rows, launch)?;
        Ok(true)
    }

    /// Residues of the launch's digits modulo all primes of its limbs, to `out`.
    pub(super) fn rns_converted<W: Word>(&self, plan: &RnsPlan<D, W>, launch: &RnsLaunch) -> Result<()> {
        let packs = (size_of::<W>() << launch.log_n) / 16;
        let chunks = packs.div_ceil(THREADS as usize) * launch.polys as usize;
        // Digits are read once more for each part: no more parts than keep the device busy with threads of many registers.
        let parts = (plan.limits.blocks as usize / 8).div_ceil(chunks).clamp(1, launch.limbs as usize) as u32;
        let convert = RnsConvert { parts, ..launch.convert };
        // A row for each target: factors, in whole packs, and four words more.
        let row = (launch.convert.width as usize * size_of::<W>()).next_multiple_of(16) + 4 * size_of::<W>();
        let shared = launch.limbs.div_ceil(parts) as usize * row;
        let grid = Grid::new(chunks as u32 * parts, THREADS, shared as u32).early();
        self.start_rns(&plan.ops, "convert", grid, &RnsLaunch { convert, ..*launch })
    }
}

/// The view of the limbs from `first` on.
pub(super) fn after<W: Word>(view: RnsView, n: usize, first: usize) -> RnsView {
    RnsView { words: view.words + (first * n * size_of::<W>()) as u64, ..view }
}

/// Bytes that transforms read and write in a device's memory, counted from their access pattern: each word and each
/// twiddle once a launch, whatever caches hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// Residues.
    pub data: u64,
    /// Twiddles; those of one prime serve all polynomials that run together.
    pub twiddles: u64,
}

impl<D: Device, W: Word> RnsPlan<D, W> {
    /// What forward transforms of `polys` polynomials move.
    ///
    /// ```
    /// use karat::{backend::cuda::Cuda, rns::{Limbs, RnsMul, RnsRing}};
    /// let Ok(gpu) = Cuda::new(0) else { return Ok(()) };
    /// let ring = RnsRing::<u64>::new(8, &[97, 113], &[])?;
    /// let traffic = gpu.rns_plan(&ring)?.forward_traffic(Limbs { q: 2, p: 0 }, 1);
    /// assert_eq!(traffic.data, 2 * 2 * 8 * 8);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn forward_traffic(&self, limbs: Limbs, polys: usize) -> Traffic {
        let (log_n, rows) = (self.ring.n().ilog2(), limbs.count() as u64);
        let passes = |layers: u32, last: u32| u64::from(last.div_ceil(layers));
        let twiddle = self.lanes.twiddle_bytes() as u64;
        // Layers below `last` in natural order, then arrays of one entry a slot.
        let two = |g: &Geometry| (1 + u64::from(g.entries(self.lanes))) << (log_n - g.last_depth());
        let (launches, twiddles) = match &self.shape {
            Shape::Passes(layers) => (passes(*layers, log_n), 1 << log_n),
            Shape::Two(g) => (2, two(g) + (1 << g.column_layers)),
            Shape::Mixed(layers, g) => (1 + passes(*layers, g.column_layers), two(g) + (1 << g.column_layers)),
        };
        let data = 2 * launches * rows * (polys as u64) * ((size_of::<W>() as u64) << log_n);
        Traffic { data, twiddles: rows * twiddles * twiddle }
    }
}
