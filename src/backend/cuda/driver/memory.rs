//! Device memory from the device's pool, in the order of streams.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use super::stream::Stream;
use crate::backend::Erase;
use crate::backend::cuda::device::Memory;
use crate::backend::cuda::probe::failed;
use crate::{Error, Result};

/// Memory of a stream; overwritten before it is given back where it held secrets.
#[derive(Clone)]
pub struct DriverMemory(Arc<Holder>);

struct Holder(Option<Block>);

/// Memory and who uses it.
pub(super) struct Block {
    address: sys::CUdeviceptr,
    bytes: usize,
    erase: Erase,
    stream: Arc<Stream>,
    /// Other streams of the family that used it.
    users: Mutex<Vec<Arc<Stream>>>,
}

impl Block {
    fn users(&self) -> Vec<Arc<Stream>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the memory back, behind everything that uses it.
    fn free(self) {
        let users = self.users();
        // A stream that records takes nothing that is not to be recorded: its graph frees the memory.
        let recording = users.iter().chain([&self.stream]).find_map(|stream| stream.recording().clone());
        if let Some(recording) = recording {
            recording.kept().dropped.push(DriverMemory(Arc::new(Holder(Some(self)))));
            return;
        }
        if self.stream.bind().is_err() {
            return;
        }
        let ordered = users.iter().all(|user| self.stream.follow(user).is_ok() || user.synchronize().is_ok());
        if !ordered {
            return;
        }
        // SAFETY: allocated on this stream, freed once; the stream orders both after all earlier uses.
        unsafe {
            if self.erase == Erase::OnDrop {
                let _ = result::memset_d8_async(self.address, 0, self.bytes, self.stream.raw);
            }
            let _ = result::free_async(self.address, self.stream.raw);
        }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        if let Some(block) = self.0.take() {
            block.free();
        }
    }
}

impl DriverMemory {
    /// The block is there until the holder is dropped.
    fn block(&self) -> Option<&Block> {
        self.0.0.as_ref()
    }

    pub(super) fn stream(&self) -> Option<&Arc<Stream>> {
        self.block().map(|block| &block.stream)
    }

    /// Notes that a stream uses it.
    pub(super) fn used_by(&self, stream: &Arc<Stream>) {
        let Some(block) = self.block().filter(|block| !Arc::ptr_eq(&block.stream, stream)) else { return };
        let mut users = block.users.lock().unwrap_or_else(PoisonError::into_inner);
        if !users.iter().any(|user| Arc::ptr_eq(user, stream)) {
            users.push(Arc::clone(stream));
        }
    }

    /// Zeroed memory.
    pub(super) fn new(stream: &Arc<Stream>, bytes: usize, erase: Erase) -> Result<Self> {
        let family = &stream.family;
        stream.bind()?;
        // Where the stream records, memory is made aside: there at once, and not by each replay.
        let recording = stream.recording().is_some();
        let raw = if recording { family.aside } else { stream.raw };
        let full = |error: &DriverError| error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        // SAFETY: the stream lives; memory is zeroed right after.
        let allocate = || unsafe { result::malloc_async(raw, bytes) };
        let address = match allocate() {
            Err(error) if full(&error) => {
                // What the pool keeps for later may be what is missing.
                if !recording {
                    stream.synchronize()?;
                }
                // SAFETY: the pool is the device's own.
                unsafe { result::mem_pool::trim_to(family.pool, 0) }.map_err(failed("freeing memory"))?;
                allocate()
            }
            other => other,
        };
        let address = address.map_err(|error| {
            if full(&error) { Error::OutOfMemory { bytes: bytes as u128 } } else { failed("allocating")(error) }
        })?;
        let block = Block { address, bytes, erase, stream: Arc::clone(stream), users: Mutex::default() };
        let memory = Self(Arc::new(Holder(Some(block))));
        // SAFETY: just allocated on this stream with this size.
        unsafe { result::memset_d8_async(address, 0, bytes, raw) }.map_err(failed("clearing memory"))?;
        if recording {
            // SAFETY: the stream lives.
            unsafe { result::stream::synchronize(raw) }.map_err(failed("clearing memory"))?;
        }
        Ok(memory)
    }
}

impl Memory for DriverMemory {
    fn address(&self) -> u64 {
        self.block().map_or(0, |block| block.address)
    }

    fn bytes(&self) -> usize {
        self.block().map_or(0, |block| block.bytes)
    }
}
