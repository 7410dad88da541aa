//! The CUDA driver as a [`Device`]: one stream, memory from the device's pool, programs by name.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};

use super::device::{Device, Grid, Limits, Memory};
use super::probe::{devices, failed, unavailable};
use super::{Program, cache};
use crate::backend::Erase;
use crate::{Error, Result};

/// A stream of an NVIDIA GPU. Clones share the stream.
#[derive(Clone)]
pub struct Driver(Arc<Stream>);

/// The device's primary context, kept while anything of it lives.
struct Context {
    device: sys::CUdevice,
    raw: sys::CUcontext,
}

// SAFETY: the driver's handles may be used from any thread that has made the context current.
unsafe impl Send for Context {}
// SAFETY: as above; the driver locks.
unsafe impl Sync for Context {}

impl Context {
    fn new(device: sys::CUdevice) -> Result<Self> {
        // SAFETY: the driver gave the device.
        let raw = unsafe { result::primary_ctx::retain(device) }.map_err(failed("opening the device"))?;
        Ok(Self { device, raw })
    }

    fn bind(&self) -> Result<()> {
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

struct Stream {
    context: Arc<Context>,
    raw: sys::CUstream,
    pool: sys::CUmemoryPool,
    ordinal: usize,
    name: String,
    architecture: String,
    limits: Limits,
    modules: Mutex<HashMap<Program, DriverModule>>,
}

// SAFETY: as for `Context`.
unsafe impl Send for Stream {}
// SAFETY: as for `Context`.
unsafe impl Sync for Stream {}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: made by `Driver::new`; memory and launches keep the stream alive.
            unsafe {
                let _ = result::stream::synchronize(self.raw);
                let _ = result::stream::destroy(self.raw);
            }
        }
    }
}

/// The oldest compute capability that kernels are written for.
const OLDEST: (u32, u32) = (8, 0);

/// Bytes of one operation's work space, where the device has much more.
const WORKSPACE: usize = 2 << 30;

impl Driver {
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
            compiles: true,
        };
        let raw = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(&fail)?;
        // SAFETY: the device exists.
        let pool = unsafe { result::device::get_default_mem_pool(device) }.map_err(&fail)?;
        let mut threshold = u64::MAX;
        let release = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the attribute is one 64-bit number.
        unsafe { result::mem_pool::set_attribute(pool, release, (&raw mut threshold).cast()) }.map_err(&fail)?;
        Ok(Self(Arc::new(Stream {
            context,
            raw,
            pool,
            ordinal,
            name: info.name.clone(),
            architecture: format!("sm_{major}{minor}"),
            limits,
            modules: Mutex::default(),
        })))
    }

    /// The number of the GPU.
    pub fn ordinal(&self) -> usize {
        self.0.ordinal
    }

    /// The GPU's name.
    pub fn gpu(&self) -> &str {
        &self.0.name
    }

    /// Records an event on the stream, for timing.
    ///
    /// # Errors
    /// What the device reports.
    pub fn record(&self) -> Result<Event> {
        self.0.context.bind()?;
        let fail = failed("timing");
        let raw = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(&fail)?;
        let event = Event { raw, stream: Arc::clone(&self.0) };
        // SAFETY: both were made by this device.
        unsafe { result::event::record(raw, self.0.raw) }.map_err(&fail)?;
        Ok(event)
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver(cuda:{}, {})", self.0.ordinal, self.0.name)
    }
}

/// A moment on a stream.
pub struct Event {
    raw: sys::CUevent,
    stream: Arc<Stream>,
}

// SAFETY: as for `Context`.
unsafe impl Send for Event {}

impl Event {
    /// Nanoseconds from an earlier moment, once both have come.
    ///
    /// # Errors
    /// What the device reports.
    pub fn since_ns(&self, earlier: &Self) -> Result<f64> {
        self.stream.context.bind()?;
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
        if self.stream.context.bind().is_ok() {
            // SAFETY: made by `record`, destroyed once.
            let _ = unsafe { result::event::destroy(self.raw) };
        }
    }
}

/// Memory of a stream; overwritten before it is given back where it held secrets.
pub struct DriverMemory {
    address: sys::CUdeviceptr,
    bytes: usize,
    erase: Erase,
    stream: Arc<Stream>,
}

impl Memory for DriverMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for DriverMemory {
    fn drop(&mut self) {
        if self.stream.context.bind().is_err() {
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

/// A loaded program.
#[derive(Clone)]
pub struct DriverModule(Arc<Loaded>);

struct Loaded {
    context: Arc<Context>,
    raw: sys::CUmodule,
    /// Functions, and the dynamic shared memory that they were allowed.
    functions: Mutex<HashMap<&'static str, (Function, u32)>>,
}

#[derive(Clone, Copy)]
struct Function(sys::CUfunction);

// SAFETY: as for `Context`.
unsafe impl Send for Function {}
// SAFETY: as for `Context`.
unsafe impl Send for Loaded {}
// SAFETY: as for `Context`.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// The function of this name, allowed this much dynamic shared memory.
    fn function(&self, name: &'static str, shared: u32) -> Result<Function> {
        let fail = failed("loading kernels");
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((function, allowed)) = functions.get(name).filter(|(_, allowed)| *allowed >= shared) {
            let _ = allowed;
            return Ok(*function);
        }
        let symbol = CString::new(name).unwrap_or_default();
        // SAFETY: the module is loaded.
        let raw = unsafe { result::module::get_function(self.raw, symbol) }.map_err(&fail)?;
        let limit = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function was just found.
        unsafe { result::function::set_function_attribute(raw, limit, shared as i32) }.map_err(&fail)?;
        functions.insert(name, (Function(raw), shared));
        Ok(Function(raw))
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: loaded once, by `Driver::load`.
            let _ = unsafe { result::module::unload(self.raw) };
        }
    }
}

impl Stream {
    fn allocate(&self, bytes: usize) -> std::result::Result<sys::CUdeviceptr, DriverError> {
        // SAFETY: the stream lives; memory is zeroed right after.
        unsafe { result::malloc_async(self.raw, bytes) }
    }
}

// SAFETY: memory is zeroed on the stream, has a fixed address, and is freed by the stream after all earlier work.
unsafe impl Device for Driver {
    type Memory = DriverMemory;
    type Module = DriverModule;

    fn name(&self) -> &'static str {
        "cuda"
    }

    fn limits(&self) -> Limits {
        self.0.limits
    }

    fn owns(&self, memory: &DriverMemory) -> bool {
        Arc::ptr_eq(&self.0, &memory.stream)
    }

    fn alloc(&self, bytes: usize, erase: Erase) -> Result<DriverMemory> {
        let stream = &self.0;
        stream.context.bind()?;
        let full = |error: &DriverError| error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        let address = match stream.allocate(bytes) {
            Err(error) if full(&error) => {
                // What the pool keeps for later may be what is missing.
                self.synchronize()?;
                // SAFETY: the pool is the device's own.
                unsafe { result::mem_pool::trim_to(stream.pool, 0) }.map_err(failed("freeing memory"))?;
                stream.allocate(bytes)
            }
            other => other,
        };
        let address = address.map_err(|error| {
            if full(&error) { Error::OutOfMemory { bytes: bytes as u128 } } else { failed("allocating")(error) }
        })?;
        let memory = DriverMemory { address, bytes, erase, stream: Arc::clone(stream) };
        // SAFETY: just allocated on this stream with this size.
        unsafe { result::memset_d8_async(address, 0, bytes, stream.raw) }.map_err(failed("clearing memory"))?;
        Ok(memory)
    }

    fn upload(&self, source: &[u8], target: &mut DriverMemory) -> Result<()> {
        self.0.context.bind()?;
        assert!(source.len() <= target.bytes);
        // SAFETY: the target is long enough; the source is borrowed until the copy has ended.
        unsafe { result::memcpy_htod_async(target.address, source, self.0.raw) }.map_err(failed("copying to it"))?;
        self.synchronize()
    }

    fn download(&self, source: &DriverMemory, target: &mut [u8]) -> Result<()> {
        self.0.context.bind()?;
        assert!(target.len() <= source.bytes);
        // SAFETY: the source is long enough; the target is borrowed until the copy has ended.
        unsafe { result::memcpy_dtoh_async(target, source.address, self.0.raw) }.map_err(failed("copying from it"))?;
        self.synchronize()
    }

    fn synchronize(&self) -> Result<()> {
        self.0.context.bind()?;
        // SAFETY: the stream lives.
        unsafe { result::stream::synchronize(self.0.raw) }.map_err(failed("running kernels"))
    }

    fn load(&self, program: &Program) -> Result<DriverModule> {
        let stream = &self.0;
        let mut modules = stream.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(program) {
            return Ok(module.clone());
        }
        let cubin = cache::find(program, &stream.architecture)?;
        stream.context.bind()?;
        // SAFETY: the bytes are a whole cubin: compiled just now, or checked by their digest.
        let raw =
            unsafe { result::module::load_data(cubin.as_ptr().cast::<c_void>()) }.map_err(failed("loading kernels"))?;
        let loaded = Loaded { context: Arc::clone(&stream.context), raw, functions: Mutex::default() };
        let module = DriverModule(Arc::new(loaded));
        modules.insert(program.clone(), module.clone());
        Ok(module)
    }

    // SAFETY: as the trait's method says.
    unsafe fn launch(&self, module: &DriverModule, kernel: &'static str, grid: Grid, launch: &[u8]) -> Result<()> {
        self.0.context.bind()?;
        let function = module.0.function(kernel, grid.shared)?;
        let mut parameters = [launch.as_ptr().cast_mut().cast::<c_void>()];
        // SAFETY: the caller vouches for the block; the driver copies it before it returns.
        unsafe {
            result::launch_kernel(
                function.0,
                (grid.blocks, 1, 1),
                (grid.threads, 1, 1),
                grid.shared,
                self.0.raw,
                &mut parameters,
            )
        }
        .map_err(failed("starting a kernel"))
    }
}
