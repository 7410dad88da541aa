//! Moments on a stream, for timing.

use std::sync::Arc;

use cudarc::driver::result;
use cudarc::driver::sys;

use super::stream::Stream;
use crate::Result;
use crate::backend::cuda::probe::failed;

/// A moment on a stream.
pub struct Event {
    raw: sys::CUevent,
    stream: Arc<Stream>,
}

// SAFETY: the driver's handles may be used from any thread that has made the context current.
unsafe impl Send for Event {}

impl Event {
    pub(super) fn new(stream: &Arc<Stream>) -> Result<Self> {
        stream.not_recording("a moment")?;
        stream.bind()?;
        let fail = failed("timing");
        let raw = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(&fail)?;
        let event = Self { raw, stream: Arc::clone(stream) };
        // SAFETY: both were made by this device.
        unsafe { result::event::record(raw, stream.raw) }.map_err(&fail)?;
        Ok(event)
    }

    /// Nanoseconds from an earlier moment, once both have come.
    ///
    /// # Errors
    /// What the device reports.
    pub fn since_ns(&self, earlier: &Self) -> Result<f64> {
        self.stream.bind()?;
        let fail = failed("timing");
        // SAFETY: both events live.
        let milliseconds = unsafe {
            result::event::synchronize(self.raw).map_err(&fail)?;
            result::event::elapsed(earlier.raw, self.raw).map_err(&fail)?
        };
        Ok(milliseconds as f64 * 1e6)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.stream.bind().is_ok() {
            // SAFETY: made by `new`, destroyed once.
            let _ = unsafe { result::event::destroy(self.raw) };
        }
    }
}
