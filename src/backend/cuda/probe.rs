//! What this machine has for CUDA, in words.
//!
//! cudarc panics where a library is missing, so everything asks here first.
#![allow(unsafe_code)]

use cudarc::driver::{result, sys};
use cudarc::nvrtc;

use crate::{Error, Result};

/// An NVIDIA GPU of this machine.
///
/// ```
/// match karat::backend::cuda::devices() {
///     Ok(all) => all.iter().for_each(|gpu| println!("{} sm_{}{}", gpu.name, gpu.capability.0, gpu.capability.1)),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The number that `cuda:i` takes.
    pub ordinal: usize,
    /// The product's name.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Bytes of memory.
    pub memory: usize,
    /// Version of the driver, as in 13000 for 13.0.
    pub driver: u32,
}

pub(super) fn unavailable(name: &str, reason: impl Into<String>) -> Error {
    Error::BackendUnavailable { name: name.into(), reason: reason.into() }
}

/// What the driver reported, in words.
pub(super) fn failed(operation: &'static str) -> impl Fn(result::DriverError) -> Error {
    move |error| Error::Device { operation, reason: describe(error) }
}

fn describe(error: result::DriverError) -> String {
    match error.error_string() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => format!("error {}", error.0 as i32),
    }
}

/// Loads and starts the driver.
pub(super) fn driver() -> Result<()> {
    // SAFETY: opens a library by name and closes it again.
    if !unsafe { sys::is_culib_present() } {
        return Err(unavailable("cuda", "no NVIDIA driver: libcuda was not found"));
    }
    result::init().map_err(|error| unavailable("cuda", format!("the driver does not start: {}", describe(error))))
}

/// The GPUs of this machine.
///
/// # Errors
/// `BackendUnavailable` where there is no driver or no GPU, with the reason.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    driver()?;
    let count = result::device::get_count().map_err(failed("counting devices"))?;
    if count == 0 {
        return Err(unavailable("cuda", "the driver knows no GPU"));
    }
    (0..count).map(device).collect()
}

fn device(ordinal: i32) -> Result<DeviceInfo> {
    use sys::CUdevice_attribute as Attribute;
    let fail = failed("asking a device");
    let device = result::device::get(ordinal).map_err(&fail)?;
    // SAFETY: the device was just given by the driver.
    let attribute = |which| unsafe { result::device::get_attribute(device, which) }.map_err(&fail);
    let mut version = 0;
    // SAFETY: writes one number.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(&fail)?;
    Ok(DeviceInfo {
        ordinal: ordinal as usize,
        name: result::device::get_name(device).map_err(&fail)?,
        capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)? as u32,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)? as u32,
        ),
        // SAFETY: as above.
        memory: unsafe { result::device::total_mem(device) }.map_err(&fail)?,
        driver: version as u32,
    })
}

/// The version of NVRTC, CUDA's run-time compiler.
///
/// # Errors
/// `BackendUnavailable` where it is not installed.
///
/// ```
/// match karat::backend::cuda::nvrtc_version() {
///     Ok((major, minor)) => println!("NVRTC {major}.{minor}"),
///     Err(error) => println!("{error}"),
/// }
/// ```
pub fn nvrtc_version() -> Result<(u32, u32)> {
    // SAFETY: opens a library by name and closes it again.
    if !unsafe { nvrtc::sys::is_culib_present() } {
        let reason = "libnvrtc was not found: install CUDA's run-time compiler, or name a folder of compiled kernels \
                      in KARAT_KERNEL_PACK";
        return Err(unavailable("nvrtc", reason));
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: writes two numbers.
    let result = unsafe { nvrtc::sys::nvrtcVersion(&mut major, &mut minor) }.result();
    result.map_err(|error| unavailable("nvrtc", format!("{error}")))?;
    Ok((major as u32, minor as u32))
}
