//! Several tables in one piece of a device's memory.

use bytemuck::NoUninit;

use crate::Result;
use crate::backend::Erase;
use crate::backend::cuda::Device;

/// Tables on their way to a device.
pub(super) struct Blob(Vec<u8>);

impl Blob {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends a table; where it will start.
    pub(super) fn add<T: NoUninit>(&mut self, table: &[T]) -> u64 {
        let at = self.0.len();
        self.0.extend_from_slice(bytemuck::cast_slice(table));
        // Kernels read 16 bytes at once; a line of the cache has 128.
        self.0.resize(self.0.len().next_multiple_of(128), 0);
        at as u64
    }

    pub(super) fn upload<D: Device>(&self, device: &D) -> Result<D::Memory> {
        let mut memory = device.alloc(self.0.len().max(16), Erase::No)?;
        device.upload(&self.0, &mut memory)?;
        Ok(memory)
    }
}
