//! Finds the fastest shape of transforms in two launches on the GPU at hand.
//!
//! Columns and rows are kernels of their own, so a search varies both at once and times each alone; the best of both
//! are then timed together. Times do not depend on residues: operands and twiddles are zeros.

use super::geometry::{automatic, lanes};
use crate::backend::Erase;
use crate::backend::cuda::rns::{
    Geometry, Lanes, NttVariant, RnsFactor, RnsLaunch, RnsPrime, RnsView, SCALED, Scheme, transform_program,
};
use crate::backend::cuda::{Cuda, Device, Driver, DriverModule, Graph, Memory, NttShape, Program};
use crate::rns::MAX_PRIMES;
use crate::{Error, Result};

/// What is tuned: transforms of one length, width of primes and number of primes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NttCase {
    /// The logarithm of the length.
    pub log_n: u32,
    /// Bits of the largest prime; to 31 they lie in words of 32 bits.
    pub bits: u32,
    /// Primes, one polynomial each.
    pub primes: usize,
}

/// One shape, with the microseconds of all transforms.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct NttMeasured {
    /// What was measured; of this variant only the shape.
    pub variant: NttVariant,
    /// Forward.
    pub forward_us: f64,
    /// Inverse.
    pub inverse_us: f64,
}

impl NttMeasured {
    fn total(&self) -> f64 {
        self.forward_us + self.inverse_us
    }
}

/// Microseconds of one kernel of each kind.
#[derive(Debug, Clone, Copy)]
struct Parts {
    columns: f64,
    rows: f64,
}

/// Registers of a thread that blocks a multiprocessor are chosen for; and the registers there are.
const REGISTERS: [u32; 8] = [128, 104, 96, 88, 80, 72, 64, 48];
const ALL_REGISTERS: u32 = 1 << 16;
/// Threads that a multiprocessor holds.
const MOST_THREADS: u32 = 1 << 11;

/// Launches of one recording, and replays that are timed.
const REPEATS: u32 = 20;
const SAMPLES: usize = 9;

/// How many of the best columns and rows are tried together.
const FINALISTS: usize = 4;

/// Blocks a multiprocessor for these registers a thread, each once, and no bound.
fn occupancies(threads: u32) -> Vec<u32> {
    let mut all: Vec<u32> = REGISTERS.iter().map(|registers| ALL_REGISTERS / (registers * threads)).collect();
    all.push(1);
    all.retain(|blocks| (1..=MOST_THREADS / threads).contains(blocks));
    all.sort_unstable();
    all.dedup();
    all
}

/// A search over one length on one device.
struct Search<'a> {
    gpu: &'a Cuda,
    case: NttCase,
    lanes: Lanes,
    launch: RnsLaunch,
    /// What the launch points to.
    _memory: Vec<<Driver as Device>::Memory>,
}

impl Cuda {
    /// Measures shapes for one case: the fastest first, by the sum of both directions. `seen` is told each shape that is
    /// timed.
    ///
    /// # Errors
    /// `Unsupported` for lengths, widths or numbers of primes that transforms in two launches are not for; what the
    /// device reports.
    ///
    /// ```
    /// use karat::{backend::cuda::Cuda, rns::cuda::NttCase};
    /// let Ok(gpu) = Cuda::new(0) else { return Ok(()) };
    /// assert!(gpu.tune_ntt(NttCase { log_n: 30, bits: 60, primes: 45 }, |_| ()).is_err());
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn tune_ntt(&self, case: NttCase, mut seen: impl FnMut(&str)) -> Result<Vec<NttMeasured>> {
        if !(10..=17).contains(&case.log_n)
            || !(20..=62).contains(&case.bits)
            || !(1..=MAX_PRIMES).contains(&case.primes)
        {
            return Err(Error::Unsupported {
                what: "tuning of such transforms",
                reason: format!(
                    "lengths are 2^10 to 2^17, primes of 20 to 62 bits, 1 to {MAX_PRIMES}; asked for {case:?}"
                ),
            });
        }
        let search = Search::new(self, case)?;
        let start = automatic(search.lanes, case.log_n, case.primes);
        let mut all = Vec::new();
        let other = Geometry { column_layers: start.row_layers, row_layers: start.column_layers, ..start };
        for split in [start, other].into_iter().take(if case.log_n % 2 == 1 { 2 } else { 1 }) {
            all.extend(search.split(split, &mut seen)?);
        }
        all.sort_by(|a, b| a.total().total_cmp(&b.total()));
        Ok(all)
    }

    /// What a measurement is kept as.
    ///
    /// # Errors
    /// As [`Cuda::tune_ntt`].
    pub fn ntt_shape(&self, case: NttCase, measured: &NttMeasured) -> Result<NttShape> {
        let lanes = case_lanes(self, case)?;
        let shape = measured.variant.to_string();
        Ok(NttShape { lanes: lanes.name(), log_n: case.log_n, primes: case.primes, shape })
    }
}

fn case_lanes(gpu: &Cuda, case: NttCase) -> Result<Lanes> {
    let largest = (1u64 << case.bits) - 1;
    lanes(&gpu.device().limits(), NttVariant::default(), if case.bits <= 31 { 32 } else { 64 }, largest)
}

impl<'a> Search<'a> {
    fn new(gpu: &'a Cuda, case: NttCase) -> Result<Self> {
        let lanes = case_lanes(gpu, case)?;
        let words = (case.primes << case.log_n) * lanes.word().bytes() as usize;
        // As long as any shape's tables.
        let tables = 2 * (lanes.twiddle_bytes() << case.log_n) * case.primes;
        let device = gpu.device();
        // As long as the primes and as the factors.
        let constants = case.primes * size_of::<RnsPrime>().max(SCALED * size_of::<RnsFactor>());
        let memory = [words, tables, constants].map(|bytes| device.alloc(bytes, Erase::No));
        let memory = memory.into_iter().collect::<Result<Vec<_>>>()?;
        let [words, tables, constants] = [0, 1, 2].map(|i| memory[i].address());
        let (limbs, view) = (case.primes as u32, RnsView { words, stride: case.primes as u64 });
        let launch = RnsLaunch {
            primes: constants,
            factors: constants,
            tables,
            table_len: 2 << case.log_n,
            a: view,
            out: view,
            log_n: case.log_n,
            polys: 1,
            limbs,
            q_limbs: limbs,
            special: limbs,
            galois: 1,
            ..RnsLaunch::default()
        };
        memory.iter().for_each(|memory| device.keep(memory));
        Ok(Self { gpu, case, lanes, launch, _memory: memory })
    }

    /// The search for one split of the layers.
    fn split(&self, start: Geometry, seen: &mut impl FnMut(&str)) -> Result<Vec<NttMeasured>> {
        if start.fault().is_some() {
            return Ok(Vec::new());
        }
        // Points and how many a block takes; then registers; then layers on the fly.
        let (mut columns, mut rows) = (vec![start], vec![start]);
        for points in 2..=4 {
            for count in [1, 2, 4, 8, 16, 32] {
                columns.push(Geometry { column_points: points, columns: count, column_blocks: 1, ..start });
                rows.push(Geometry {
                    row_points: points,
                    rows: count,
                    row_blocks: 1,
                    fly: start.fly.min(points),
                    ..start
                });
            }
        }
        let (best_columns, best_rows) = self.round(start, columns, rows, seen)?;
        let (mut columns, mut rows) = (Vec::new(), Vec::new());
        for g in &best_columns {
            columns.extend(occupancies(g.column_threads()).into_iter().map(|n| Geometry { column_blocks: n, ..*g }));
        }
        for g in &best_rows {
            rows.extend(occupancies(g.row_threads()).into_iter().map(|n| Geometry { row_blocks: n, ..*g }));
        }
        let (best_columns, best_rows) = self.round(start, columns, rows, seen)?;
        let mut rows = best_rows.clone();
        if !matches!(self.lanes, Lanes::Barrett(_) | Lanes::Native(_)) {
            rows.extend(best_rows.iter().flat_map(|g| (0..=g.row_points).map(|fly| Geometry { fly, ..*g })));
        }
        let (_, best_rows) = self.round(start, best_columns.clone(), rows, seen)?;
        let mut finals = vec![start];
        for c in &best_columns {
            for r in &best_rows {
                finals.push(joined(c, r));
            }
        }
        finals.dedup();
        self.compile(&finals)?;
        finals.iter().map(|g| self.whole(g)).collect()
    }

    /// Times columns and rows, pairwise in one program, and gives the best of both.
    fn round(
        &self,
        start: Geometry,
        mut columns: Vec<Geometry>,
        mut rows: Vec<Geometry>,
        seen: &mut impl FnMut(&str),
    ) -> Result<(Vec<Geometry>, Vec<Geometry>)> {
        for list in [&mut columns, &mut rows] {
            list.retain(|g| g.fault().is_none());
            if list.is_empty() {
                list.push(start);
            }
        }
        let count = columns.len().max(rows.len());
        let pairs: Vec<Geometry> =
            (0..count).map(|i| joined(&columns[i % columns.len()], &rows[i % rows.len()])).collect();
        self.compile(&pairs)?;
        let mut parts = Vec::new();
        for g in &pairs {
            let measured = self.parts(g)?;
            seen(&format!("{}: {:.2} + {:.2} us", shaped(g), measured.columns, measured.rows));
            parts.push(measured);
        }
        let best = |list: &[Geometry], time: &dyn Fn(&Parts) -> f64| {
            let mut order: Vec<usize> = (0..list.len()).collect();
            order.sort_by(|i, j| time(&parts[*i]).total_cmp(&time(&parts[*j])));
            order.into_iter().take(FINALISTS).map(|i| list[i]).collect::<Vec<_>>()
        };
        Ok((best(&columns, &|p| p.columns), best(&rows, &|p| p.rows)))
    }

    fn program(&self, g: &Geometry) -> Program {
        transform_program(self.lanes, g)
    }

    /// Compiles programs side by side, so that loading finds them.
    fn compile(&self, all: &[Geometry]) -> Result<()> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let next = std::sync::atomic::AtomicUsize::new(0);
        let work = || -> Result<()> {
            while let Some(g) = all.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                self.gpu.device().compile(&self.program(g))?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let failed = || Error::Device { operation: "compiling kernels", reason: "a thread ended early".into() };
            handles.into_iter().try_for_each(|handle| handle.join().map_err(|_| failed())?)
        })
    }

    /// Both directions of columns, and of rows.
    fn parts(&self, g: &Geometry) -> Result<Parts> {
        let module = self.gpu.device().load(&self.program(g))?;
        let time = |kernels: &[&'static str]| self.time(&module, g, kernels);
        Ok(Parts {
            columns: time(&["forward_columns"])? + time(&["inverse_columns"])?,
            rows: time(&["forward_rows"])? + time(&["inverse_rows"])?,
        })
    }

    fn whole(&self, g: &Geometry) -> Result<NttMeasured> {
        let module = self.gpu.device().load(&self.program(g))?;
        Ok(NttMeasured {
            variant: shaped(g),
            forward_us: self.time(&module, g, &["forward_columns", "forward_rows"])?,
            inverse_us: self.time(&module, g, &["inverse_rows", "inverse_columns"])?,
        })
    }

    /// Microseconds of some kernels one behind the other, the median of replays.
    fn time(&self, module: &DriverModule, g: &Geometry, kernels: &[&'static str]) -> Result<f64> {
        let (gpu, limbs) = (self.gpu, self.case.primes as u32);
        let grid = |kernel: &str| match kernel.ends_with("columns") {
            true => g.column_grid(self.lanes, limbs),
            false => g.row_grid(self.lanes, limbs),
        };
        let graph = Graph::record::<Error>(gpu, |gpu| {
            for _ in 0..REPEATS {
                for kernel in kernels {
                    gpu.start_rns(module, kernel, grid(kernel), &self.launch)?;
                }
            }
            Ok(())
        })?;
        Ok(graph.median_ns(SAMPLES)? / 1e3 / f64::from(REPEATS))
    }
}

/// The columns of one shape with the rows of another.
fn joined(columns: &Geometry, rows: &Geometry) -> Geometry {
    Geometry {
        column_points: columns.column_points,
        columns: columns.columns,
        column_blocks: columns.column_blocks,
        ..*rows
    }
}

fn shaped(g: &Geometry) -> NttVariant {
    NttVariant { scheme: Scheme::Shape(*g), ..NttVariant::default() }
}
