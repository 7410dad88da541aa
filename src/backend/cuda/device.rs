//! What a device does for the backend: memory, and launches on one stream.
//!
//! Two things implement it: the CUDA driver, and the emulation that runs the same kernels on a CPU in tests.

use super::Program;
use crate::Result;
use crate::backend::Erase;

/// What bounds launches on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of shared memory that one block may have.
    pub shared: usize,
    /// Blocks that keep the whole device busy with element-wise work.
    pub blocks: u32,
    /// Threads of a block for work in shared memory, at most.
    pub threads: u32,
    /// Bytes of work space for one operation; larger batches are processed in parts.
    pub workspace: usize,
    /// Whether it takes any program, or those of [`programs`](super::programs) only.
    pub compiles: bool,
}

/// Memory of a device. Freed when dropped, after what was started before.
pub trait Memory: Send + Sync {
    /// Where it lies, in the device's address space.
    fn address(&self) -> u64;

    /// Its size.
    fn bytes(&self) -> usize;
}

/// How many blocks and threads a launch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Blocks, at least 1.
    pub blocks: u32,
    /// Threads of each block.
    pub threads: u32,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
}

/// One stream of one device: everything on it runs in order.
///
/// # Safety
/// Memory must be at least as long as asked for, be zero at first, stay at its address until it is dropped, and be
/// freed only after all that was launched before has ended.
#[allow(unsafe_code)]
pub unsafe trait Device: Clone + Send + Sync + 'static {
    /// Memory.
    type Memory: Memory;
    /// A compiled program.
    type Module: Send + Sync;

    /// The name that `KARAT_BACKEND` knows.
    fn name(&self) -> &'static str;

    /// What bounds launches.
    fn limits(&self) -> Limits;

    /// Whether memory was made by this stream.
    fn owns(&self, memory: &Self::Memory) -> bool;

    /// Zeroed memory.
    ///
    /// # Errors
    /// `OutOfMemory`, or what the device reports; so for all.
    fn alloc(&self, bytes: usize, erase: Erase) -> Result<Self::Memory>;

    /// Copies to the start of memory, which is long enough; the source may change afterwards.
    fn upload(&self, source: &[u8], target: &mut Self::Memory) -> Result<()>;

    /// Copies the start of memory, which is long enough, and waits.
    fn download(&self, source: &Self::Memory, target: &mut [u8]) -> Result<()>;

    /// Waits until everything that was started has ended.
    fn synchronize(&self) -> Result<()>;

    /// Compiles or finds a program.
    fn load(&self, program: &Program) -> Result<Self::Module>;

    /// Starts a kernel with its launch block.
    ///
    /// # Safety
    /// The block is the one that the kernel takes; its addresses are memory of this device, long enough for what
    /// the kernel does there, and not freed by another stream before the kernel has ended.
    unsafe fn launch(&self, module: &Self::Module, kernel: &'static str, grid: Grid, launch: &[u8]) -> Result<()>;
}
