//! karat's CUDA kernels on a CPU.
//!
//! The same `.cu` files that NVRTC compiles for a GPU are compiled here as C++20 and run thread by thread: one fiber
//! a thread, blocks (or clusters of them) one after another. Every load and store passes a detector, which reports races between threads
//! and blocks, accesses outside buffers, uninitialised shared memory and barriers that not all threads reach, also
//! where the result happens to be right. A report becomes a [`karat::Error::Device`].
//!
//! Not modelled: partial warps, memory ordering of the hardware, asynchronous copies.

mod memory;
mod stream;

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Arc;

use karat::backend::Erase;
use karat::backend::cuda::{Device, Gpu, Grid, Limits, Program, Scratch, Variant};
use karat::{Error, Result};

pub use memory::{EmulatedMemory, EmulatedPinned, Freed};
pub use stream::EmulatedGraph;

use stream::{Family, Start, Stream};

unsafe extern "C" {
    fn emulation_launch(
        program: *const c_char,
        name: *const c_char,
        blocks: u32,
        threads: u32,
        shared: u32,
        cluster: u32,
        launch: *const c_void,
        launch_bytes: usize,
        detect: c_int,
        order: u32,
        report: *mut c_char,
        report_bytes: usize,
    ) -> c_int;
}

/// In which order the threads of a block run between barriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// From thread 0 up.
    Ascending,
    /// From the last thread down.
    Descending,
    /// From a thread that changes with every round.
    Rotating(u32),
}

/// A CPU that runs kernels as a GPU would.
#[derive(Clone)]
pub struct Emulated {
    settings: Settings,
    family: Arc<Family>,
    stream: Arc<Stream>,
}

#[derive(Debug, Clone, Copy)]
struct Settings {
    detect: bool,
    order: Order,
    limits: Limits,
    /// Programs with this fault planted run in place of those without.
    fault: Option<(&'static str, &'static str)>,
}

/// The backend `emulated`.
pub type EmulatedGpu = Gpu<Emulated>;

impl Emulated {
    /// With the detector, threads ascending, and the limits of a small GPU.
    pub fn new() -> Self {
        let limits = Limits {
            shared: 96 << 10,
            blocks: 3,
            threads: 64,
            workspace: 1 << 20,
            cluster: 8,
            double: true,
            compiles: false,
        };
        let settings = Settings { detect: true, order: Order::Ascending, limits, fault: None };
        Self { settings, family: Arc::default(), stream: Arc::default() }
    }

    /// Without the detector: some four times as fast.
    pub fn without_detector(mut self) -> Self {
        self.settings.detect = false;
        self
    }

    /// Threads in another order.
    pub fn with_order(mut self, order: Order) -> Self {
        self.settings.order = order;
        self
    }

    /// With other limits, to reach other paths.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// With a fault planted in one program: see `FAULTS` in `build.rs`.
    pub fn with_fault(mut self, program: &'static str, fault: &'static str) -> Self {
        self.settings.fault = Some((program, fault));
        self
    }

    /// Remembers memory that is given back from now on.
    pub fn watch_freed(&self) {
        self.family.watch();
    }

    /// The memory that was given back since it is watched.
    pub fn freed(&self) -> Vec<Freed> {
        self.family.freed()
    }

    /// As a backend.
    pub fn backend(self, variant: Variant) -> EmulatedGpu {
        Gpu::on(self, variant)
    }
}

impl Default for Emulated {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Emulated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Emulated({:?})", self.settings)
    }
}

// SAFETY: kernels run to their end inside `launch`; memory is zeroed and stays where it is until the last of those
// that keep it is gone.
unsafe impl Device for Emulated {
    type Memory = EmulatedMemory;
    type Module = CString;
    type Graph = EmulatedGraph;
    type Pinned = EmulatedPinned;

    fn name(&self) -> &'static str {
        "emulated"
    }

    fn limits(&self) -> Limits {
        self.settings.limits
    }

    fn owns(&self, memory: &EmulatedMemory) -> bool {
        memory.is_of(&self.family)
    }

    fn keep(&self, memory: &EmulatedMemory) {
        if self.owns(memory) {
            self.stream.keep(memory);
        }
    }

    fn alloc(&self, bytes: usize, erase: Erase) -> Result<EmulatedMemory> {
        EmulatedMemory::new(&self.family, bytes, erase)
    }

    fn upload(&self, source: &[u8], target: &mut EmulatedMemory) -> Result<()> {
        self.stream.not_recording("a copy")?;
        target.write(source);
        Ok(())
    }

    fn download(&self, source: &EmulatedMemory, target: &mut [u8]) -> Result<()> {
        self.stream.not_recording("a copy")?;
        source.read(target);
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        self.stream.not_recording("waiting")
    }

    fn load(&self, program: &Program) -> Result<CString> {
        let mut name = program.name();
        if let Some((_, fault)) = self.settings.fault.filter(|(faulty, _)| *faulty == name) {
            name = format!("{name}_{fault}");
        }
        Ok(CString::new(name).expect("names have no zero byte"))
    }

    unsafe fn launch(&self, module: &CString, kernel: &'static str, grid: Grid, launch: &[u8]) -> Result<()> {
        if self.stream.records(|| Start { module: module.clone(), kernel, grid, launch: launch.to_vec() }) {
            return Ok(());
        }
        let failed = |reason: String| Err(Error::Device { operation: "running kernels", reason });
        let name = CString::new(kernel).expect("names have no zero byte");
        let order = match self.settings.order {
            Order::Ascending => 0,
            Order::Descending => 1,
            Order::Rotating(seed) => seed.max(2),
        };
        let mut report = [0u8; 512];
        // SAFETY: the report is as long as said; the caller vouches for the block, and the detector checks it.
        let known = unsafe {
            emulation_launch(
                module.as_ptr(),
                name.as_ptr(),
                grid.blocks,
                grid.threads,
                grid.shared,
                grid.cluster,
                launch.as_ptr().cast(),
                launch.len(),
                self.settings.detect.into(),
                order,
                report.as_mut_ptr().cast(),
                report.len(),
            )
        };
        if known == 0 {
            return failed(format!("no kernel {kernel} in {module:?} takes this launch: {grid:?}"));
        }
        let text = report.split(|byte| *byte == 0).next().unwrap_or_default();
        if text.is_empty() { Ok(()) } else { failed(String::from_utf8_lossy(text).into_owned()) }
    }

    fn scratch(&self) -> &Scratch<EmulatedMemory> {
        self.stream.scratch()
    }

    fn fork(&self) -> Result<Self> {
        let forked = Self { stream: Arc::default(), ..self.clone() };
        forked.follow(self)?;
        Ok(forked)
    }

    fn follow(&self, other: &Self) -> Result<()> {
        if !Arc::ptr_eq(&self.family, &other.family) {
            return Err(Error::Foreign("devices"));
        }
        // What was started has ended; only recordings meet here.
        self.stream.follow(&other.stream)
    }

    fn start_recording(&self) -> Result<()> {
        self.stream.not_recording("a recording")?;
        Stream::start_recording(&self.stream);
        Ok(())
    }

    fn end_recording(&self) -> Result<EmulatedGraph> {
        Stream::end_recording(&self.stream)
    }

    fn replay(&self, graph: &EmulatedGraph) -> Result<()> {
        self.stream.not_recording("another recording")?;
        if !graph.is_of(&self.stream) {
            return Err(Error::Foreign("streams"));
        }
        // SAFETY: each was given to `launch` with what it needs, and the graph keeps the memory.
        graph
            .starts()
            .iter()
            .try_for_each(|start| unsafe { self.launch(&start.module, start.kernel, start.grid, &start.launch) })
    }

    fn pinned(&self, bytes: usize, erase: Erase) -> Result<EmulatedPinned> {
        EmulatedPinned::new(bytes, erase)
    }

    fn start_upload(
        &self,
        source: &EmulatedPinned,
        offset: usize,
        target: &mut EmulatedMemory,
        bytes: usize,
    ) -> Result<()> {
        self.upload(source.part(offset, bytes), target)
    }

    fn start_download(
        &self,
        source: &EmulatedMemory,
        target: &mut EmulatedPinned,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        self.download(source, target.part_mut(offset, bytes))
    }
}
