//! Host memory that the device copies to and from on its own.

use core::fmt;
use core::marker::PhantomData;

use super::buffer::DeviceBuffer;
use super::device::{Device, Pinned};
use super::{Erase, Gpu};
use crate::arith::Word;
use crate::backend::expect_len;
use crate::{Error, Result};

/// Pinned host words: copies run while the host goes on, at the full speed of the bus. Overwritten when dropped where
/// they were secret. `Debug` prints no contents.
pub struct PinnedBuffer<D: Device, W> {
    memory: D::Pinned,
    len: usize,
    word: PhantomData<W>,
}

impl<D: Device, W: Word> PinnedBuffer<D, W> {
    /// The words, once every copy that was started has ended.
    ///
    /// # Errors
    /// What the device reports.
    pub fn words(&self) -> Result<&[W]> {
        Ok(&bytemuck::cast_slice(self.memory.bytes()?)[..self.len])
    }

    /// The words to write to, once every copy that was started has ended.
    ///
    /// # Errors
    /// What the device reports.
    pub fn words_mut(&mut self) -> Result<&mut [W]> {
        Ok(&mut bytemuck::cast_slice_mut(self.memory.bytes_mut()?)[..self.len])
    }

    /// How many words.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<D: Device, W> fmt::Debug for PinnedBuffer<D, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedBuffer({} words)", self.len)
    }
}

impl<D: Device> Gpu<D> {
    /// `len` pinned host words, zero.
    ///
    /// # Errors
    /// `OutOfMemory`, or what the device reports.
    ///
    /// ```
    /// use karat::backend::{Backend, Erase, cuda::Cuda};
    /// let Ok(gpu) = Cuda::new(0) else { return Ok(()) };
    /// let mut host = gpu.pinned::<u16>(256, Erase::No)?;
    /// host.words_mut()?.fill(7);
    /// let mut buffer = gpu.alloc::<u16>(256, Erase::No)?;
    /// gpu.start_upload(&host, 0, &mut buffer, 256)?;
    /// gpu.start_download(&buffer, &mut host, 0, 256)?;
    /// assert_eq!(host.words()?, [7; 256]);
    /// # Ok::<(), karat::Error>(())
    /// ```
    pub fn pinned<W: Word>(&self, len: usize, erase: Erase) -> Result<PinnedBuffer<D, W>> {
        let bytes = len
            .checked_mul(size_of::<W>())
            .filter(|bytes| *bytes <= isize::MAX as usize)
            .ok_or(Error::OutOfMemory { bytes: len as u128 * size_of::<W>() as u128 })?;
        // Whole 64-bit words, so that the bytes can be seen as words of any size.
        let memory = self.device.pinned(bytes.max(8).next_multiple_of(8), erase)?;
        Ok(PinnedBuffer { memory, len, word: PhantomData })
    }

    /// Starts a copy of `len` words from word `first` on to the start of a buffer, in the order of the stream.
    ///
    /// # Errors
    /// `WrongLength` where one of them is shorter, `Foreign` for another device's buffer, or what the device reports.
    pub fn start_upload<W: Word>(
        &self,
        source: &PinnedBuffer<D, W>,
        first: usize,
        target: &mut DeviceBuffer<D, W>,
        len: usize,
    ) -> Result<()> {
        expect_len("the host's buffer", source.len, first.saturating_add(len))?;
        expect_len("the buffer", target.len(), len)?;
        self.check(target)?;
        self.device.start_upload(&source.memory, first * size_of::<W>(), target.memory_mut(), len * size_of::<W>())
    }

    /// Starts a copy of the first `len` words of a buffer to word `first` and on, in the order of the stream.
    ///
    /// # Errors
    /// As [`Gpu::start_upload`].
    pub fn start_download<W: Word>(
        &self,
        source: &DeviceBuffer<D, W>,
        target: &mut PinnedBuffer<D, W>,
        first: usize,
        len: usize,
    ) -> Result<()> {
        expect_len("the buffer", source.len(), len)?;
        expect_len("the host's buffer", target.len, first.saturating_add(len))?;
        self.check(source)?;
        self.device.start_download(source.memory(), &mut target.memory, first * size_of::<W>(), len * size_of::<W>())
    }
}
