//! NVRTC: programs to machine code (cubin) for one architecture. Headers are in memory; no GPU is needed.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char};

use cudarc::nvrtc::{result, sys};

use super::probe::nvrtc_version;
use super::source::Program;
use crate::{Error, Result};

/// Compiles a program for an architecture such as `sm_90`.
///
/// # Errors
/// `BackendUnavailable` where NVRTC is missing; `Device` where it refuses, with its log.
///
/// ```
/// use karat::backend::cuda::{compile, programs};
/// match compile(&programs()[0], "sm_90") {
///     Ok(cubin) => assert_eq!(&cubin[..4], b"\x7fELF"),
///     Err(error) => println!("{error}"),
/// }
/// ```
pub fn compile(program: &Program, architecture: &str) -> Result<Vec<u8>> {
    nvrtc_version()?;
    let failed = |reason: String| Error::Device { operation: "compiling kernels", reason };
    let text = |text: &str| CString::new(text).map_err(|_| failed("a zero byte in the text".into()));
    let source = text(program.family().text())?;
    let name = text(program.family().file())?;
    let (names, headers): (Vec<_>, Vec<_>) = program.headers().into_iter().unzip();
    let headers = headers.into_iter().map(text).collect::<Result<Vec<_>>>()?;
    let names = names.into_iter().map(text).collect::<Result<Vec<_>>>()?;
    let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).collect::<Vec<*const c_char>>();
    let (header_pointers, name_pointers) = (pointers(&headers), pointers(&names));
    let mut raw = std::ptr::null_mut();
    // SAFETY: all texts outlive the program, which this function destroys.
    unsafe {
        sys::nvrtcCreateProgram(
            &mut raw,
            source.as_ptr(),
            name.as_ptr(),
            headers.len() as i32,
            header_pointers.as_ptr(),
            name_pointers.as_ptr(),
        )
    }
    .result()
    .map_err(|error| failed(format!("{error}")))?;
    let handle = Handle(raw);
    let mut options = vec![
        format!("--gpu-architecture={architecture}"),
        "--std=c++20".into(),
        "--device-int128".into(),
        "--extra-device-vectorization".into(),
    ];
    options.extend(program.defines().into_iter().map(|(name, value)| format!("-D{name}={value}")));
    // SAFETY: the program exists until `handle` is dropped; so below.
    if let Err(error) = unsafe { result::compile_program(handle.0, &options) } {
        return Err(failed(format!("{} for {architecture}: {error}\n{}", program.name(), handle.log())));
    }
    let fail = |error| failed(format!("{error}"));
    let mut size = 0;
    // SAFETY: writes one number.
    unsafe { sys::nvrtcGetCUBINSize(handle.0, &mut size) }.result().map_err(fail)?;
    let mut cubin = vec![0u8; size];
    // SAFETY: `cubin` has the size that was asked for.
    unsafe { sys::nvrtcGetCUBIN(handle.0, cubin.as_mut_ptr().cast()) }.result().map_err(fail)?;
    Ok(cubin)
}

struct Handle(sys::nvrtcProgram);

impl Handle {
    fn log(&self) -> String {
        // SAFETY: the program exists.
        match unsafe { result::get_program_log(self.0) } {
            // SAFETY: NVRTC ends its log with a zero byte.
            Ok(log) if !log.is_empty() => unsafe { CStr::from_ptr(log.as_ptr()) }.to_string_lossy().into_owned(),
            _ => String::new(),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made by `compile`, destroyed once.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::{Family, programs};

    /// Every program for every generation of GPUs that is supported, without a GPU.
    #[test]
    fn every_program_compiles() {
        if let Err(error) = nvrtc_version() {
            let required = std::env::var("KARAT_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "nvrtc"), "KARAT_REQUIRE names nvrtc: {error}");
            eprintln!("skipped: {error}");
            return;
        }
        for (turn, architecture) in ["sm_80", "sm_90", "sm_100", "sm_120"].into_iter().enumerate() {
            for (i, program) in programs().into_iter().enumerate() {
                // Shapes of one text: each for one architecture, in turns.
                if matches!(program.family(), Family::RnsNtt | Family::Cluster) && i % 4 != turn {
                    continue;
                }
                let cubin = compile(&program, architecture).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(cubin[..4], *b"\x7fELF", "{} for {architecture}", program.name());
            }
        }
        assert!(matches!(compile(&programs()[0], "sm_1"), Err(Error::Device { .. })));
    }
}
