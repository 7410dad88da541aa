//! Streams of the emulated device: launches run at once, or are recorded.

use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use karat::Result;
use karat::backend::cuda::{Grid, Scratch, not_recordable};

use crate::memory::{EmulatedMemory, Freed};

/// What streams that were forked from one another share.
#[derive(Default)]
pub(crate) struct Family(Mutex<Option<Vec<Freed>>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Family {
    pub fn watch(&self) {
        lock(&self.0).get_or_insert_default();
    }

    pub fn freed(&self) -> Vec<Freed> {
        lock(&self.0).clone().unwrap_or_default()
    }

    pub fn watches(&self) -> bool {
        lock(&self.0).is_some()
    }

    pub fn note(&self, freed: Freed) {
        if let Some(all) = &mut *lock(&self.0) {
            all.push(freed);
        }
    }
}

/// One recorded launch.
#[derive(Clone)]
pub(crate) struct Start {
    pub module: CString,
    pub kernel: &'static str,
    pub grid: Grid,
    pub launch: Vec<u8>,
}

#[derive(Default)]
struct Recording {
    starts: Vec<Start>,
    memory: Vec<EmulatedMemory>,
    streams: Vec<Arc<Stream>>,
}

#[derive(Default)]
pub(crate) struct Stream {
    scratch: Scratch<EmulatedMemory>,
    recording: Mutex<Option<Arc<Mutex<Recording>>>>,
}

/// Recorded operations.
pub struct EmulatedGraph {
    starts: Vec<Start>,
    _memory: Vec<EmulatedMemory>,
    stream: Arc<Stream>,
}

impl EmulatedGraph {
    pub(crate) fn starts(&self) -> &[Start] {
        &self.starts
    }

    pub(crate) fn is_of(&self, stream: &Arc<Stream>) -> bool {
        Arc::ptr_eq(&self.stream, stream)
    }
}

impl Stream {
    fn recording(&self) -> Option<Arc<Mutex<Recording>>> {
        lock(&self.recording).clone()
    }

    pub fn scratch(&self) -> &Scratch<EmulatedMemory> {
        &self.scratch
    }

    pub fn not_recording(&self, what: &str) -> Result<()> {
        if self.recording().is_some() { Err(not_recordable(what)) } else { Ok(()) }
    }

    pub fn keep(&self, memory: &EmulatedMemory) {
        if let Some(recording) = self.recording() {
            lock(&recording).memory.push(memory.clone());
        }
    }

    /// Records a launch, where the stream records.
    pub fn records(&self, start: impl FnOnce() -> Start) -> bool {
        let recording = self.recording();
        if let Some(recording) = &recording {
            lock(recording).starts.push(start());
        }
        recording.is_some()
    }

    fn admit(this: &Arc<Self>, recording: Arc<Mutex<Recording>>) {
        lock(&recording).streams.push(Arc::clone(this));
        *lock(&this.recording) = Some(recording);
    }

    pub fn follow(self: &Arc<Self>, other: &Self) -> Result<()> {
        match other.recording() {
            None => self.not_recording("the order after a stream that does not record"),
            Some(_) if self.recording().is_some() => Ok(()),
            Some(recording) => {
                Self::admit(self, recording);
                Ok(())
            }
        }
    }

    pub fn start_recording(this: &Arc<Self>) {
        Self::admit(this, Arc::default());
    }

    pub fn end_recording(this: &Arc<Self>) -> Result<EmulatedGraph> {
        let Some(recording) = this.recording() else { return Err(not_recordable("the end of no recording")) };
        let Recording { starts, memory, streams } = std::mem::take(&mut *lock(&recording));
        for stream in streams {
            *lock(&stream.recording) = None;
        }
        Ok(EmulatedGraph { starts, _memory: memory, stream: Arc::clone(this) })
    }
}
