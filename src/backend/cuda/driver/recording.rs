//! Recordings of streams (stream capture) and the graphs that come of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::result;
use cudarc::driver::sys;

use super::memory::DriverMemory;
use super::module::DriverModule;
use super::stream::Stream;
use crate::Result;
use crate::backend::cuda::probe::failed;

/// What recorded operations use and need to be there when they run.
#[derive(Default)]
pub(super) struct Kept {
    pub memory: HashMap<u64, DriverMemory>,
    pub modules: Vec<DriverModule>,
    /// Memory that was dropped meanwhile: a free would be recorded.
    pub dropped: Vec<DriverMemory>,
    /// The streams that record together.
    pub streams: Vec<Arc<Stream>>,
}

/// A recording in progress.
#[derive(Default)]
pub(super) struct Recording(Mutex<Kept>);

impl Recording {
    pub fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a stream take part.
    pub fn admit(self: &Arc<Self>, stream: &Arc<Stream>) {
        *stream.recording() = Some(Arc::clone(self));
        self.kept().streams.push(Arc::clone(stream));
    }
}

/// Recorded operations, ready to run.
pub struct DriverGraph {
    raw: sys::CUgraphExec,
    pub(super) stream: Arc<Stream>,
    /// Freed behind the operations, by the order of streams.
    _kept: Kept,
}

// SAFETY: the driver's handles may be used from any thread that has made the context current; runs are serialised by
// the stream.
unsafe impl Send for DriverGraph {}
// SAFETY: as above; launching does not change the graph.
unsafe impl Sync for DriverGraph {}

pub(super) fn start(stream: &Arc<Stream>) -> Result<()> {
    stream.not_recording("a recording")?;
    stream.bind()?;
    // Relaxed: memory is made aside meanwhile.
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the stream lives.
    unsafe { result::stream::begin_capture(stream.raw, mode) }.map_err(failed("recording operations"))?;
    Arc::<Recording>::default().admit(stream);
    Ok(())
}

pub(super) fn end(stream: &Arc<Stream>) -> Result<DriverGraph> {
    let fail = failed("recording operations");
    stream.bind()?;
    // SAFETY: the stream lives; a graph that comes out is destroyed below.
    let graph = unsafe { result::stream::end_capture(stream.raw) };
    let mut kept = match stream.recording().take() {
        Some(recording) => std::mem::take(&mut *recording.kept()),
        None => Kept::default(),
    };
    for other in std::mem::take(&mut kept.streams) {
        *other.recording() = None;
    }
    let graph = graph.map_err(&fail)?;
    for memory in kept.memory.values().chain(&kept.dropped) {
        memory.used_by(stream);
    }
    let mut raw = std::ptr::null_mut();
    // SAFETY: the graph was recorded just now; the executable form holds what it needs of it.
    unsafe {
        let made = sys::cuGraphInstantiateWithFlags(&mut raw, graph, 0).result();
        let _ = result::graph::destroy(graph);
        made.map_err(&fail)?;
    }
    let graph = DriverGraph { raw, stream: Arc::clone(stream), _kept: kept };
    // SAFETY: both live.
    unsafe { result::graph::upload(raw, stream.raw) }.map_err(&fail)?;
    Ok(graph)
}

impl DriverGraph {
    pub(super) fn run(&self) -> Result<()> {
        self.stream.not_recording("another recording")?;
        self.stream.bind()?;
        // SAFETY: all that the operations use is kept.
        unsafe { result::graph::launch(self.raw, self.stream.raw) }.map_err(failed("replaying operations"))
    }
}

impl Drop for DriverGraph {
    fn drop(&mut self) {
        if self.stream.bind().is_ok() {
            // SAFETY: made by `end`; a graph that still runs is freed by the driver when it has ended.
            let _ = unsafe { result::graph::exec_destroy(self.raw) };
        }
    }
}
