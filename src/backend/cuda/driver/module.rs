//! Loaded programs, and launches of their kernels.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::result;
use cudarc::driver::sys::{self, CUfunction_attribute_enum as Attribute};

use super::stream::{Context, Stream};
use crate::Result;
use crate::backend::cuda::device::Grid;
use crate::backend::cuda::probe::failed;

/// A loaded program.
#[derive(Clone)]
pub struct DriverModule(Arc<Loaded>);

struct Loaded {
    context: Arc<Context>,
    raw: sys::CUmodule,
    functions: Mutex<HashMap<&'static str, Function>>,
}

/// A kernel, and what it was allowed so far.
#[derive(Clone, Copy)]
struct Function {
    raw: sys::CUfunction,
    shared: u32,
    wide_clusters: bool,
}

/// Blocks of a cluster that every device with clusters grants.
const PORTABLE_CLUSTER: u32 = 8;

// SAFETY: the driver's handles may be used from any thread that has made the context current.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Send for Loaded {}
// SAFETY: as above; the driver locks.
unsafe impl Sync for Loaded {}

impl DriverModule {
    pub(super) fn new(context: &Arc<Context>, cubin: &[u8]) -> Result<Self> {
        context.bind()?;
        // SAFETY: the bytes are a whole cubin: compiled just now, or checked by their digest.
        let raw =
            unsafe { result::module::load_data(cubin.as_ptr().cast::<c_void>()) }.map_err(failed("loading kernels"))?;
        Ok(Self(Arc::new(Loaded { context: Arc::clone(context), raw, functions: Mutex::default() })))
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The kernel of this name, allowed what the grid asks for.
    fn function(&self, name: &'static str, grid: Grid) -> Result<sys::CUfunction> {
        let fail = failed("loading kernels");
        let mut functions = self.0.functions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut function = match functions.get(name) {
            Some(function) => *function,
            None => {
                let symbol = CString::new(name).unwrap_or_default();
                // SAFETY: the module is loaded.
                let raw = unsafe { result::module::get_function(self.0.raw, symbol) }.map_err(&fail)?;
                Function { raw, shared: 0, wide_clusters: false }
            }
        };
        // SAFETY: the function was found in this module.
        let allow = |what, value| unsafe { result::function::set_function_attribute(function.raw, what, value) };
        if grid.shared > function.shared {
            allow(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, grid.shared as i32).map_err(&fail)?;
            function.shared = grid.shared;
        }
        if grid.cluster > PORTABLE_CLUSTER && !function.wide_clusters {
            allow(Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1).map_err(&fail)?;
            function.wide_clusters = true;
        }
        functions.insert(name, function);
        Ok(function.raw)
    }

    /// Starts a kernel.
    ///
    /// # Safety
    /// As [`Device::launch`](crate::backend::cuda::Device::launch).
    pub(super) unsafe fn launch(&self, stream: &Stream, kernel: &'static str, grid: Grid, block: &[u8]) -> Result<()> {
        use sys::CUlaunchAttributeID_enum as Id;
        let function = self.function(kernel, grid)?;
        let mut attributes = Vec::with_capacity(2);
        if grid.cluster > 1 {
            let blocks = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x: grid.cluster, y: 1, z: 1 };
            let value = sys::CUlaunchAttributeValue { clusterDim: blocks };
            attributes.push(attribute(Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value));
        }
        if grid.early {
            let value = sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 };
            attributes.push(attribute(Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, value));
        }
        let config = sys::CUlaunchConfig {
            gridDimX: grid.blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: grid.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: grid.shared,
            hStream: stream.raw,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        };
        let mut parameters = [block.as_ptr().cast_mut().cast::<c_void>()];
        // SAFETY: the caller vouches for the block; the driver copies it and the attributes before it returns.
        unsafe { sys::cuLaunchKernelEx(&config, function, parameters.as_mut_ptr(), std::ptr::null_mut()) }
            .result()
            .map_err(failed("starting a kernel"))
    }
}

fn attribute(id: sys::CUlaunchAttributeID, value: sys::CUlaunchAttributeValue) -> sys::CUlaunchAttribute {
    sys::CUlaunchAttribute { id, pad: [0; 4], value }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: loaded once, by `new`; families and graphs keep what they launch.
            let _ = unsafe { result::module::unload(self.raw) };
        }
    }
}
