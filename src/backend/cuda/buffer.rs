//! Words in a device's memory.

use core::fmt;
use core::marker::PhantomData;

use super::device::Device;
use crate::arith::Word;
use crate::backend::Erase;
use crate::{Error, Result};

/// Words resident on a device; overwritten before the memory is given back where they were secret. `Debug` prints no
/// contents.
pub struct DeviceBuffer<D: Device, W> {
    memory: D::Memory,
    len: usize,
    word: PhantomData<W>,
}

impl<D: Device, W: Word> DeviceBuffer<D, W> {
    pub(super) fn new(device: &D, len: usize, erase: Erase) -> Result<Self> {
        let bytes = len
            .checked_mul(size_of::<W>())
            .filter(|bytes| *bytes <= isize::MAX as usize)
            .ok_or(Error::OutOfMemory { bytes: len as u128 * size_of::<W>() as u128 })?;
        Ok(Self { memory: device.alloc(bytes.max(16), erase)?, len, word: PhantomData })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn memory(&self) -> &D::Memory {
        &self.memory
    }

    pub(super) fn memory_mut(&mut self) -> &mut D::Memory {
        &mut self.memory
    }
}

impl<D: Device, W> fmt::Debug for DeviceBuffer<D, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceBuffer({} words)", self.len)
    }
}
