//! The CUDA driver as a [`Device`]: streams, memory from the device's pool, programs by name.
#![allow(unsafe_code)]

mod event;
mod memory;
mod module;
mod pinned;
mod recording;
mod stream;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::result;
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};

use super::device::{Device, Grid, Limits, Memory, Scratch};
use super::probe::{devices, failed, unavailable};
use super::{Program, cache};
use crate::backend::Erase;
use crate::{Error, Result};

pub use event::Event;
pub use memory::DriverMemory;
pub use module::DriverModule;
pub use pinned::DriverPinned;
pub use recording::DriverGraph;

use stream::{Context, Family, Stream};

/// A stream of an NVIDIA GPU. Clones share the stream.
#[derive(Clone)]
pub struct Driver(Arc<Handle>);

struct Handle {
    // Before the stream: it is erased on it.
    scratch: Scratch<DriverMemory>,
    stream: Arc<Stream>,
}

/// The oldest compute capability that kernels are written for, and the oldest with clusters.
const OLDEST: (u32, u32) = (8, 0);
const OLDEST_WITH_CLUSTERS: (u32, u32) = (9, 0);

/// Blocks of a cluster where the kernel asks for more than every device grants.
const WIDEST_CLUSTER: u32 = 16;

/// Bytes of one operation's work space, where the device has much more.
const WORKSPACE: usize = 2 << 30;

impl Driver {
    /// Compiles a program for this device, or finds it, so that [`Device::load`] will find it.
    pub(crate) fn compile(&self, program: &Program) -> Result<()> {
        cache::find(program, &self.family().architecture).map(drop)
    }

    /// A new stream on the GPU of this number.
    ///
    /// # Errors
    /// `BackendUnavailable` where there is none, or where it is too old.
    pub fn new(ordinal: usize) -> Result<Self> {
        let name = format!("cuda:{ordinal}");
        let all = devices()?;
        let Some(info) = all.get(ordinal) else {
            return Err(unavailable(&name, format!("this machine's GPUs are 0 to {}", all.len() - 1)));
        };
        let (major, minor) = info.capability;
        if info.capability < OLDEST {
            let reason = format!("{} has compute capability {major}.{minor}; 8.0 or newer is needed", info.name);
            return Err(unavailable(&name, reason));
        }
        let fail = failed("opening the device");
        let device = result::device::get(ordinal as i32).map_err(&fail)?;
        let context = Arc::new(Context::new(device)?);
        context.bind()?;
        // SAFETY: the device exists.
        let attribute = |which| unsafe { result::device::get_attribute(device, which) }.map_err(&fail);
        let multiprocessors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
        if attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? == 0 {
            return Err(unavailable(&name, "this GPU has no stream-ordered memory"));
        }
        let limits = Limits {
            shared: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as usize,
            blocks: 16 * multiprocessors,
            threads: 512,
            workspace: WORKSPACE.min(info.memory / 8),
            // Consumer GPUs of later generations grant the portable size only; the launch says so then.
            cluster: match info.capability {
                OLDEST_WITH_CLUSTERS | (10, 0) => WIDEST_CLUSTER,
                newer if newer > OLDEST_WITH_CLUSTERS => WIDEST_CLUSTER / 2,
                _ => 1,
            },
            // Of the others a multiprocessor has two units.
            double: matches!(info.capability, (8, 0) | (9, 0) | (10, 0)),
            compiles: true,
        };
        // SAFETY: the device exists.
        let pool = unsafe { result::device::get_default_mem_pool(device) }.map_err(&fail)?;
        let mut threshold = u64::MAX;
        let release = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the attribute is one 64-bit number.
        unsafe { result::mem_pool::set_attribute(pool, release, (&raw mut threshold).cast()) }.map_err(&fail)?;
        let family = Arc::new(Family {
            context,
            pool,
            ordinal,
            name: info.name.clone(),
            driver: info.driver,
            architecture: format!("sm_{major}{minor}"),
            limits,
            modules: Mutex::default(),
            aside: result::stream::create(result::stream::StreamKind::NonBlocking).map_err(&fail)?,
        });
        Self::on(family)
    }

    fn on(family: Arc<Family>) -> Result<Self> {
        Ok(Self(Arc::new(Handle { scratch: Mutex::new(None), stream: Stream::new(family)? })))
    }

    fn stream(&self) -> &Arc<Stream> {
        &self.0.stream
    }

    fn family(&self) -> &Family {
        &self.0.stream.family
    }

    /// The number of the GPU.
    pub fn ordinal(&self) -> usize {
        self.family().ordinal
    }

    /// The GPU's name.
    pub fn gpu(&self) -> &str {
        &self.family().name
    }

    /// Version of the driver, as in 13000 for 13.0.
    pub fn driver_version(&self) -> u32 {
        self.family().driver
    }

    /// Records an event on the stream, for timing.
    ///
    /// # Errors
    /// What the device reports.
    pub fn record(&self) -> Result<Event> {
        Event::new(self.stream())
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver(cuda:{}, {})", self.ordinal(), self.gpu())
    }
}

// SAFETY: memory is zeroed on the stream, has a fixed address, and is freed by the stream after all earlier work.
unsafe impl Device for Driver {
    type Memory = DriverMemory;
    type Module = DriverModule;
    type Graph = DriverGraph;
    type Pinned = DriverPinned;

    fn name(&self) -> &'static str {
        "cuda"
    }

    fn limits(&self) -> Limits {
        self.family().limits
    }

    fn owns(&self, memory: &DriverMemory) -> bool {
        memory.stream().is_some_and(|stream| Arc::ptr_eq(&stream.family, &self.stream().family))
    }

    fn keep(&self, memory: &DriverMemory) {
        if !self.owns(memory) {
            return;
        }
        memory.used_by(self.stream());
        if let Some(recording) = &*self.stream().recording() {
            recording.kept().memory.entry(memory.address()).or_insert_with(|| memory.clone());
        }
    }

    fn alloc(&self, bytes: usize, erase: Erase) -> Result<DriverMemory> {
        DriverMemory::new(self.stream(), bytes, erase)
    }

    fn upload(&self, source: &[u8], target: &mut DriverMemory) -> Result<()> {
        let stream = self.stream();
        stream.not_recording("a copy")?;
        stream.bind()?;
        assert!(source.len() <= target.bytes());
        // SAFETY: the target is long enough; the source is borrowed until the copy has ended.
        unsafe { result::memcpy_htod_async(target.address(), source, stream.raw) }.map_err(failed("copying to it"))?;
        stream.synchronize()
    }

    fn download(&self, source: &DriverMemory, target: &mut [u8]) -> Result<()> {
        let stream = self.stream();
        stream.not_recording("a copy")?;
        stream.bind()?;
        assert!(target.len() <= source.bytes());
        // SAFETY: the source is long enough; the target is borrowed until the copy has ended.
        unsafe { result::memcpy_dtoh_async(target, source.address(), stream.raw) }
            .map_err(failed("copying from it"))?;
        stream.synchronize()
    }

    fn synchronize(&self) -> Result<()> {
        self.stream().not_recording("waiting")?;
        self.stream().synchronize()
    }

    fn load(&self, program: &Program) -> Result<DriverModule> {
        let family = self.family();
        let mut modules = family.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(program) {
            return Ok(module.clone());
        }
        let module = DriverModule::new(&family.context, &cache::find(program, &family.architecture)?)?;
        modules.insert(program.clone(), module.clone());
        Ok(module)
    }

    // SAFETY: as the trait's method says.
    unsafe fn launch(&self, module: &DriverModule, kernel: &'static str, grid: Grid, launch: &[u8]) -> Result<()> {
        let stream = self.stream();
        stream.bind()?;
        if let Some(recording) = &*stream.recording() {
            let modules = &mut recording.kept().modules;
            if !modules.iter().any(|other| other.is(module)) {
                modules.push(module.clone());
            }
        }
        // SAFETY: as the trait's method says.
        unsafe { module.launch(stream, kernel, grid, launch) }
    }

    fn scratch(&self) -> &Scratch<DriverMemory> {
        &self.0.scratch
    }

    fn fork(&self) -> Result<Self> {
        let forked = Self::on(Arc::clone(&self.stream().family))?;
        forked.follow(self)?;
        Ok(forked)
    }

    fn follow(&self, other: &Self) -> Result<()> {
        let (this, other) = (self.stream(), other.stream());
        if !Arc::ptr_eq(&this.family, &other.family) {
            return Err(Error::Foreign("devices"));
        }
        let recording = other.recording().clone();
        if recording.is_none() {
            this.not_recording("the order after a stream that does not record")?;
        }
        this.follow(other)?;
        match recording {
            Some(recording) if this.recording().is_none() => recording.admit(this),
            _ => {}
        }
        Ok(())
    }

    fn start_recording(&self) -> Result<()> {
        recording::start(self.stream())
    }

    fn end_recording(&self) -> Result<DriverGraph> {
        recording::end(self.stream())
    }

    fn replay(&self, graph: &DriverGraph) -> Result<()> {
        if !Arc::ptr_eq(self.stream(), &graph.stream) {
            return Err(Error::Foreign("streams"));
        }
        graph.run()
    }

    fn pinned(&self, bytes: usize, erase: Erase) -> Result<DriverPinned> {
        DriverPinned::new(&self.family().context, bytes, erase)
    }

    fn start_upload(
        &self,
        source: &DriverPinned,
        offset: usize,
        target: &mut DriverMemory,
        bytes: usize,
    ) -> Result<()> {
        source.upload(offset, target, bytes, self.stream())
    }

    fn start_download(
        &self,
        source: &DriverMemory,
        target: &mut DriverPinned,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        target.download(source, offset, bytes, self.stream())
    }
}
