//! karat's CUDA kernels on a CPU.
//!
//! The same `.cu` files that NVRTC compiles for a GPU are compiled here as C++20 and run thread by thread: one fiber
//! a thread, blocks one after another. Every load and store passes a detector, which reports races between threads
//! and blocks, accesses outside buffers, uninitialised shared memory and barriers that not all threads reach, also
//! where the result happens to be right. A report becomes a [`karat::Error::Device`].
//!
//! Not modelled: partial warps, memory ordering of the hardware, asynchronous copies.

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Arc;

use karat::backend::Erase;
use karat::backend::cuda::{Device, Gpu, Grid, Limits, Memory, Program, Variant};
use karat::{Error, Result};

unsafe extern "C" {
    fn emulation_alloc(bytes: usize) -> *mut c_void;
    fn emulation_free(at: *mut c_void);
    fn emulation_launch(
        program: *const c_char,
        name: *const c_char,
        blocks: u32,
        threads: u32,
        shared: u32,
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
#[derive(Debug, Clone)]
pub struct Emulated(Arc<Settings>);

#[derive(Debug)]
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
        let limits = Limits { shared: 96 << 10, blocks: 3, threads: 64, workspace: 1 << 20, compiles: false };
        Self(Arc::new(Settings { detect: true, order: Order::Ascending, limits, fault: None }))
    }

    /// Without the detector: some four times as fast.
    pub fn without_detector(self) -> Self {
        Self(Arc::new(Settings { detect: false, ..*self.0 }))
    }

    /// Threads in another order.
    pub fn with_order(self, order: Order) -> Self {
        Self(Arc::new(Settings { order, ..*self.0 }))
    }

    /// With other limits, to reach other paths.
    pub fn with_limits(self, limits: Limits) -> Self {
        Self(Arc::new(Settings { limits, ..*self.0 }))
    }

    /// With a fault planted in one program: see `FAULTS` in `build.rs`.
    pub fn with_fault(self, program: &'static str, fault: &'static str) -> Self {
        Self(Arc::new(Settings { fault: Some((program, fault)), ..*self.0 }))
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

/// Memory of the emulated device.
pub struct EmulatedMemory {
    at: *mut c_void,
    bytes: usize,
    settings: Arc<Settings>,
}

// SAFETY: owned memory; access goes through `&self` and `&mut self`.
unsafe impl Send for EmulatedMemory {}
// SAFETY: as above.
unsafe impl Sync for EmulatedMemory {}

impl Memory for EmulatedMemory {
    fn address(&self) -> u64 {
        self.at as u64
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for EmulatedMemory {
    fn drop(&mut self) {
        // SAFETY: allocated by `alloc`, freed once.
        unsafe { emulation_free(self.at) }
    }
}

// SAFETY: kernels run to their end inside `launch`; memory is zeroed and stays where it is.
unsafe impl Device for Emulated {
    type Memory = EmulatedMemory;
    type Module = CString;

    fn name(&self) -> &'static str {
        "emulated"
    }

    fn limits(&self) -> Limits {
        self.0.limits
    }

    fn owns(&self, memory: &EmulatedMemory) -> bool {
        Arc::ptr_eq(&self.0, &memory.settings)
    }

    fn alloc(&self, bytes: usize, _erase: Erase) -> Result<EmulatedMemory> {
        if bytes > 1 << 40 {
            return Err(Error::OutOfMemory { bytes: bytes as u128 });
        }
        // SAFETY: any size is allowed; null is checked.
        let at = unsafe { emulation_alloc(bytes) };
        if at.is_null() {
            return Err(Error::OutOfMemory { bytes: bytes as u128 });
        }
        Ok(EmulatedMemory { at, bytes, settings: Arc::clone(&self.0) })
    }

    fn upload(&self, source: &[u8], target: &mut EmulatedMemory) -> Result<()> {
        assert!(source.len() <= target.bytes);
        // SAFETY: the target is long enough and no one else's.
        unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), target.at.cast(), source.len()) };
        Ok(())
    }

    fn download(&self, source: &EmulatedMemory, target: &mut [u8]) -> Result<()> {
        assert!(target.len() <= source.bytes);
        // SAFETY: the source is long enough.
        unsafe { std::ptr::copy_nonoverlapping(source.at.cast(), target.as_mut_ptr(), target.len()) };
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn load(&self, program: &Program) -> Result<CString> {
        let mut name = program.name();
        if let Some((_, fault)) = self.0.fault.filter(|(faulty, _)| *faulty == name) {
            name = format!("{name}_{fault}");
        }
        Ok(CString::new(name).expect("names have no zero byte"))
    }

    unsafe fn launch(&self, module: &CString, kernel: &'static str, grid: Grid, launch: &[u8]) -> Result<()> {
        let failed = |reason: String| Err(Error::Device { operation: "running kernels", reason });
        let name = CString::new(kernel).expect("names have no zero byte");
        let order = match self.0.order {
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
                launch.as_ptr().cast(),
                launch.len(),
                self.0.detect.into(),
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
}
