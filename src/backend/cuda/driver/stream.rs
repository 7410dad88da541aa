//! Streams, and what all streams of a family share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::result;
use cudarc::driver::sys;

use super::module::DriverModule;
use super::recording::Recording;
use crate::Result;
use crate::backend::cuda::Program;
use crate::backend::cuda::device::{Limits, not_recordable};
use crate::backend::cuda::probe::failed;

/// The device's primary context, kept while anything of it lives.
pub(super) struct Context {
    device: sys::CUdevice,
    raw: sys::CUcontext,
}

// SAFETY: the driver's handles may be used from any thread that has made the context current.
unsafe impl Send for Context {}
// SAFETY: as above; the driver locks.
unsafe impl Sync for Context {}

impl Context {
    pub fn new(device: sys::CUdevice) -> Result<Self> {
        // SAFETY: the driver gave the device.
        let raw = unsafe { result::primary_ctx::retain(device) }.map_err(failed("opening the device"))?;
        Ok(Self { device, raw })
    }

    pub fn bind(&self) -> Result<()> {
        // SAFETY: the context is retained.
        unsafe { result::ctx::set_current(self.raw) }.map_err(failed("using the device"))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once by `new`; nothing of it lives any more.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// What streams that were forked from one another share.
pub(super) struct Family {
    pub context: Arc<Context>,
    pub pool: sys::CUmemoryPool,
    pub ordinal: usize,
    pub name: String,
    pub driver: u32,
    pub architecture: String,
    pub limits: Limits,
    pub modules: Mutex<HashMap<Program, DriverModule>>,
    /// Where memory is made while the family's other streams record.
    pub aside: sys::CUstream,
}

// SAFETY: as for `Context`.
unsafe impl Send for Family {}
// SAFETY: as for `Context`.
unsafe impl Sync for Family {}

impl Drop for Family {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: made with the family; its last user is gone.
            unsafe {
                let _ = result::stream::synchronize(self.aside);
                let _ = result::stream::destroy(self.aside);
            }
        }
    }
}

/// One stream.
pub(super) struct Stream {
    pub family: Arc<Family>,
    pub raw: sys::CUstream,
    recording: Mutex<Option<Arc<Recording>>>,
}

// SAFETY: as for `Context`.
unsafe impl Send for Stream {}
// SAFETY: as for `Context`.
unsafe impl Sync for Stream {}

impl Stream {
    pub fn new(family: Arc<Family>) -> Result<Arc<Self>> {
        family.context.bind()?;
        let raw = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(failed("making a stream"))?;
        Ok(Arc::new(Self { family, raw, recording: Mutex::new(None) }))
    }

    pub fn bind(&self) -> Result<()> {
        self.family.context.bind()
    }

    pub fn recording(&self) -> MutexGuard<'_, Option<Arc<Recording>>> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error where the stream records.
    pub fn not_recording(&self, what: &str) -> Result<()> {
        if self.recording().is_some() { Err(not_recordable(what)) } else { Ok(()) }
    }

    pub fn synchronize(&self) -> Result<()> {
        self.bind()?;
        // SAFETY: the stream lives.
        unsafe { result::stream::synchronize(self.raw) }.map_err(failed("running kernels"))
    }

    /// What is started here from now on runs after all that was started on `other` before.
    pub fn follow(&self, other: &Self) -> Result<()> {
        self.bind()?;
        let fail = failed("ordering streams");
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).map_err(&fail)?;
        // SAFETY: the event was just made; a wait that was started holds after its event is destroyed.
        unsafe {
            let ordered = result::event::record(event, other.raw).and_then(|()| {
                result::stream::wait_event(self.raw, event, sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT)
            });
            let _ = result::event::destroy(event);
            ordered.map_err(&fail)
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.bind().is_ok() {
            // SAFETY: made by `new`; memory, graphs and launches keep the stream alive.
            unsafe {
                let _ = result::stream::synchronize(self.raw);
                let _ = result::stream::destroy(self.raw);
            }
        }
    }
}
