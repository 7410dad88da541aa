//! Pinned host memory.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::result;
use cudarc::driver::sys;
use zeroize::Zeroize;

use super::memory::DriverMemory;
use super::stream::{Context, Stream};
use crate::backend::Erase;
use crate::backend::cuda::device::{Memory, Pinned};
use crate::backend::cuda::probe::failed;
use crate::{Error, Result};

/// Host memory that the device copies to and from on its own.
pub struct DriverPinned {
    at: *mut u8,
    bytes: usize,
    erase: Erase,
    context: Arc<Context>,
    /// For each stream that copied, the moment after its last copy.
    copies: Mutex<Vec<(Arc<Stream>, Moment)>>,
}

struct Moment(sys::CUevent);

// SAFETY: owned memory and driver handles; access goes through `&self` and `&mut self`.
unsafe impl Send for DriverPinned {}
// SAFETY: as above.
unsafe impl Sync for DriverPinned {}

impl DriverPinned {
    pub(super) fn new(context: &Arc<Context>, bytes: usize, erase: Erase) -> Result<Self> {
        context.bind()?;
        // Usable by every device.
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: any size is allowed.
        let at = unsafe { result::malloc_host(bytes, flags) }.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Error::OutOfMemory { bytes: bytes as u128 },
            _ => failed("allocating pinned memory")(error),
        })?;
        // SAFETY: just allocated with this size.
        unsafe { std::ptr::write_bytes(at.cast::<u8>(), 0, bytes) };
        Ok(Self { at: at.cast(), bytes, erase, context: Arc::clone(context), copies: Mutex::default() })
    }

    /// Waits for every copy that was started.
    fn wait(&self) -> Result<()> {
        let copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        if copies.is_empty() {
            return Ok(());
        }
        self.context.bind()?;
        // SAFETY: the events live.
        copies
            .iter()
            .try_for_each(|(_, moment)| unsafe { result::event::synchronize(moment.0) })
            .map_err(failed("copying"))
    }

    /// Notes that a copy was started on a stream.
    fn copied(&self, stream: &Arc<Stream>) -> Result<()> {
        let fail = failed("copying");
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let moment = match copies.iter().find(|(other, _)| Arc::ptr_eq(other, stream)) {
            Some((_, moment)) => moment.0,
            None => {
                // Copies that have ended need no moment; their streams may go.
                // SAFETY: the events live; each is destroyed as it is forgotten.
                copies.retain(|(_, moment)| unsafe {
                    let under_way = result::event::query(moment.0).is_err();
                    if !under_way {
                        let _ = result::event::destroy(moment.0);
                    }
                    under_way
                });
                let raw = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).map_err(&fail)?;
                copies.push((Arc::clone(stream), Moment(raw)));
                raw
            }
        };
        // SAFETY: both live.
        let recorded = unsafe { result::event::record(moment, stream.raw) };
        // A copy that nothing can wait for later is waited for now.
        match recorded {
            Ok(()) => Ok(()),
            Err(error) => stream.synchronize().and(Err(fail(error))),
        }
    }

    /// Starts a copy to the start of memory.
    pub(super) fn upload(
        &self,
        offset: usize,
        target: &DriverMemory,
        bytes: usize,
        stream: &Arc<Stream>,
    ) -> Result<()> {
        stream.not_recording("a copy")?;
        stream.bind()?;
        assert!(offset + bytes <= self.bytes && bytes <= target.bytes());
        // SAFETY: both are long enough; whoever writes to or frees the source waits for the copy first.
        unsafe {
            let source = std::slice::from_raw_parts(self.at.add(offset), bytes);
            result::memcpy_htod_async(target.address(), source, stream.raw).map_err(failed("copying to it"))?;
        }
        self.copied(stream)
    }

    /// Starts a copy of the start of memory.
    pub(super) fn download(
        &mut self,
        source: &DriverMemory,
        offset: usize,
        bytes: usize,
        stream: &Arc<Stream>,
    ) -> Result<()> {
        stream.not_recording("a copy")?;
        stream.bind()?;
        assert!(offset + bytes <= self.bytes && bytes <= source.bytes());
        // SAFETY: both are long enough; whoever reads, writes to or frees the target waits for the copy first.
        unsafe {
            let target = std::slice::from_raw_parts_mut(self.at.add(offset), bytes);
            result::memcpy_dtoh_async(target, source.address(), stream.raw).map_err(failed("copying from it"))?;
        }
        self.copied(stream)
    }
}

impl Pinned for DriverPinned {
    fn bytes(&self) -> Result<&[u8]> {
        self.wait()?;
        // SAFETY: allocated with this size and zeroed; no copy is under way, and one to it needs `&mut self`.
        Ok(unsafe { std::slice::from_raw_parts(self.at, self.bytes) })
    }

    fn bytes_mut(&mut self) -> Result<&mut [u8]> {
        self.wait()?;
        // SAFETY: as above; a copy from it needs `&self`.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.at, self.bytes) })
    }
}

impl Drop for DriverPinned {
    fn drop(&mut self) {
        // Memory that a copy may still write to is not given back.
        if self.context.bind().is_err() || self.wait().is_err() {
            return;
        }
        // SAFETY: allocated by `new` and freed once; events made by `copied` and destroyed once.
        unsafe {
            if self.erase == Erase::OnDrop {
                std::slice::from_raw_parts_mut(self.at, self.bytes).zeroize();
            }
            let _ = result::free_host(self.at.cast());
            for (_, moment) in self.copies.get_mut().unwrap_or_else(PoisonError::into_inner) {
                let _ = result::event::destroy(moment.0);
            }
        }
    }
}
