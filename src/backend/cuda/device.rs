//! What a device does for the backend: memory, launches on streams, recordings of them, and pinned host memory.
//!
//! Two things implement it: the CUDA driver, and the emulation that runs the same kernels on a CPU in tests.

use std::sync::{Mutex, PoisonError};

use super::Program;
use crate::backend::Erase;
use crate::{Error, Result};

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
    /// Blocks of a cluster, at most; 1 where blocks have no access to each other's shared memory.
    pub cluster: u32,
    /// Whether double precision is as fast as a good part of integer arithmetic.
    pub double: bool,
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

/// Host memory that a device copies to and from while the host goes on.
pub trait Pinned: Send + Sync {
    /// The bytes, once every copy that was started has ended.
    ///
    /// # Errors
    /// What the device reports.
    fn bytes(&self) -> Result<&[u8]>;

    /// The bytes to write to, once every copy that was started has ended.
    ///
    /// # Errors
    /// What the device reports.
    fn bytes_mut(&mut self) -> Result<&mut [u8]>;
}

/// How many blocks and threads a launch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Blocks, at least 1, a multiple of `cluster`.
    pub blocks: u32,
    /// Threads of each block.
    pub threads: u32,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Blocks that run at the same time and see each other's shared memory; 1 for none.
    pub cluster: u32,
    /// Whether blocks may start before the launch before has ended: the kernel waits for it itself.
    pub early: bool,
}

impl Grid {
    /// Blocks that know nothing of each other, after all that was launched before.
    pub const fn new(blocks: u32, threads: u32, shared: u32) -> Self {
        Self { blocks, threads, shared, cluster: 1, early: false }
    }

    /// In clusters of this many blocks.
    pub const fn cluster(self, blocks: u32) -> Self {
        Self { cluster: blocks, ..self }
    }

    /// May start early.
    pub const fn early(self) -> Self {
        Self { early: true, ..self }
    }
}

/// Work space of a stream, kept from one operation to the next: the stream runs them in order.
pub type Scratch<M> = Mutex<Option<M>>;

/// One stream of one device: everything on it runs in order. Streams that were forked from one another are a family:
/// they use each other's memory.
///
/// # Safety
/// Memory must be at least as long as asked for, be zero at first, stay at its address until it is dropped, and be
/// freed only after all that was launched before has ended, on its own stream and on those that kept it.
#[allow(unsafe_code)]
pub unsafe trait Device: Clone + Send + Sync + 'static {
    /// Memory.
    type Memory: Memory;
    /// A compiled program.
    type Module: Send + Sync;
    /// Recorded operations.
    type Graph: Send + Sync;
    /// Pinned host memory.
    type Pinned: Pinned;

    /// The name that `KARAT_BACKEND` knows.
    fn name(&self) -> &'static str;

    /// What bounds launches.
    fn limits(&self) -> Limits;

    /// Whether memory was made by a stream of this family.
    fn owns(&self, memory: &Self::Memory) -> bool;

    /// Says that what is started next on this stream uses memory: it is freed after that, and a recording in progress
    /// keeps it for itself. Memory of another family is left alone.
    fn keep(&self, memory: &Self::Memory);

    /// Zeroed memory.
    ///
    /// # Errors
    /// `OutOfMemory`, or what the device reports; so for all.
    fn alloc(&self, bytes: usize, erase: Erase) -> Result<Self::Memory>;

    /// Copies to the start of memory, which is long enough; the source may change afterwards. Cannot be recorded.
    fn upload(&self, source: &[u8], target: &mut Self::Memory) -> Result<()>;

    /// Copies the start of memory, which is long enough, and waits. Cannot be recorded.
    fn download(&self, source: &Self::Memory, target: &mut [u8]) -> Result<()>;

    /// Waits until everything that was started has ended. Cannot be recorded.
    fn synchronize(&self) -> Result<()>;

    /// Compiles or finds a program.
    fn load(&self, program: &Program) -> Result<Self::Module>;

    /// Starts a kernel with its launch block.
    ///
    /// # Safety
    /// The block is the one that the kernel takes; its addresses are memory of this device, long enough for what
    /// the kernel does there, and given to [`Device::keep`] before.
    unsafe fn launch(&self, module: &Self::Module, kernel: &'static str, grid: Grid, launch: &[u8]) -> Result<()>;

    /// The stream's work space.
    fn scratch(&self) -> &Scratch<Self::Memory>;

    /// A new stream of this family. What is started there runs after all that was started here before.
    fn fork(&self) -> Result<Self>;

    /// What is started here from now on runs after all that was started on `other`, of the same family, before.
    ///
    /// # Errors
    /// `Foreign` for another family.
    fn follow(&self, other: &Self) -> Result<()>;

    /// From now on launches are recorded and not run.
    fn start_recording(&self) -> Result<()>;

    /// Ends a recording. All streams that follow this one have been joined again.
    fn end_recording(&self) -> Result<Self::Graph>;

    /// Starts what was recorded on this stream.
    ///
    /// # Errors
    /// `Foreign` for another stream's.
    fn replay(&self, graph: &Self::Graph) -> Result<()>;

    /// Zeroed pinned host memory.
    fn pinned(&self, bytes: usize, erase: Erase) -> Result<Self::Pinned>;

    /// Starts a copy of `bytes` bytes from `offset` on to the start of memory; both are long enough. Cannot be
    /// recorded.
    fn start_upload(&self, source: &Self::Pinned, offset: usize, target: &mut Self::Memory, bytes: usize)
    -> Result<()>;

    /// Starts a copy of the first `bytes` bytes of memory to `offset`; both are long enough. Cannot be recorded.
    fn start_download(
        &self,
        source: &Self::Memory,
        target: &mut Self::Pinned,
        offset: usize,
        bytes: usize,
    ) -> Result<()>;

    /// Calls `work` with the address of this many bytes of the stream's work space, which no other operation uses until
    /// it returns. It keeps what was there before, and is erased with the stream.
    ///
    /// # Errors
    /// `OutOfMemory`, or what `work` gives.
    fn with_scratch<O>(&self, bytes: usize, work: impl FnOnce(u64) -> Result<O>) -> Result<O> {
        let mut kept = self.scratch().lock().unwrap_or_else(PoisonError::into_inner);
        // The old one goes first: there may not be room for both.
        let memory = match kept.take().filter(|memory| memory.bytes() >= bytes) {
            Some(memory) => memory,
            None => self.alloc(bytes, Erase::OnDrop)?,
        };
        let memory = kept.insert(memory);
        self.keep(memory);
        work(memory.address())
    }
}

/// What a stream cannot do while it records.
pub fn not_recordable(what: &str) -> Error {
    Error::Device {
        operation: "recording operations",
        reason: format!("{what} cannot be recorded: do it before or after"),
    }
}
