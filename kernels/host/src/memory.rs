//! Memory of the emulated device, and host memory that it copies to and from.

use std::ffi::c_void;
use std::sync::Arc;

use karat::backend::Erase;
use karat::backend::cuda::{Memory, Pinned};
use karat::{Error, Result};

use crate::stream::Family;

unsafe extern "C" {
    fn emulation_alloc(bytes: usize) -> *mut c_void;
    fn emulation_free(at: *mut c_void, read: *mut u64, written: *mut u64);
}

/// Memory of the emulated device.
#[derive(Clone)]
pub struct EmulatedMemory(Arc<Block>);

struct Block {
    at: *mut c_void,
    bytes: usize,
    erase: Erase,
    family: Arc<Family>,
}

/// Memory that was given back.
#[derive(Debug, Clone)]
pub struct Freed {
    /// Whether it was to be erased.
    pub erase: Erase,
    /// What it held when it was given back.
    pub contents: Vec<u8>,
    /// Bytes that kernels read and wrote there while the detector was on.
    pub read: u64,
    /// As above.
    pub written: u64,
}

// SAFETY: owned memory; the device writes to it as its owners let it.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl EmulatedMemory {
    pub(crate) fn new(family: &Arc<Family>, bytes: usize, erase: Erase) -> Result<Self> {
        if bytes > 1 << 40 {
            return Err(Error::OutOfMemory { bytes: bytes as u128 });
        }
        // SAFETY: any size is allowed; null is checked.
        let at = unsafe { emulation_alloc(bytes) };
        if at.is_null() {
            return Err(Error::OutOfMemory { bytes: bytes as u128 });
        }
        Ok(Self(Arc::new(Block { at, bytes, erase, family: Arc::clone(family) })))
    }

    pub(crate) fn is_of(&self, family: &Arc<Family>) -> bool {
        Arc::ptr_eq(&self.0.family, family)
    }

    pub(crate) fn write(&mut self, source: &[u8]) {
        assert!(source.len() <= self.0.bytes);
        // SAFETY: long enough; nothing runs meanwhile.
        unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), self.0.at.cast(), source.len()) };
    }

    pub(crate) fn read(&self, target: &mut [u8]) {
        assert!(target.len() <= self.0.bytes);
        // SAFETY: long enough; nothing runs meanwhile.
        unsafe { std::ptr::copy_nonoverlapping(self.0.at.cast(), target.as_mut_ptr(), target.len()) };
    }
}

impl Memory for EmulatedMemory {
    fn address(&self) -> u64 {
        self.0.at as u64
    }

    fn bytes(&self) -> usize {
        self.0.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` with this size, freed once.
        unsafe {
            if self.erase == Erase::OnDrop {
                std::ptr::write_bytes(self.at.cast::<u8>(), 0, self.bytes);
            }
            let kept =
                self.family.watches().then(|| std::slice::from_raw_parts(self.at.cast::<u8>(), self.bytes).to_vec());
            let (mut read, mut written) = (0, 0);
            emulation_free(self.at, &raw mut read, &raw mut written);
            if let Some(contents) = kept {
                self.family.note(Freed { erase: self.erase, contents, read, written });
            }
        }
    }
}

/// Host memory; copies end before they return.
pub struct EmulatedPinned {
    words: Vec<u64>,
    erase: Erase,
}

impl EmulatedPinned {
    pub(crate) fn new(bytes: usize, erase: Erase) -> Result<Self> {
        let mut words = Vec::new();
        let out_of_memory = |_| Error::OutOfMemory { bytes: bytes as u128 };
        words.try_reserve_exact(bytes.div_ceil(8)).map_err(out_of_memory)?;
        words.resize(bytes.div_ceil(8), 0);
        Ok(Self { words, erase })
    }

    pub(crate) fn part(&self, offset: usize, bytes: usize) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[offset..offset + bytes]
    }

    pub(crate) fn part_mut(&mut self, offset: usize, bytes: usize) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[offset..offset + bytes]
    }
}

impl Pinned for EmulatedPinned {
    fn bytes(&self) -> Result<&[u8]> {
        Ok(bytemuck::cast_slice(&self.words))
    }

    fn bytes_mut(&mut self) -> Result<&mut [u8]> {
        Ok(bytemuck::cast_slice_mut(&mut self.words))
    }
}

impl Drop for EmulatedPinned {
    fn drop(&mut self) {
        if self.erase == Erase::OnDrop {
            self.words.fill(0);
        }
    }
}
