//! Host memory for polynomials: aligned for vectors, erased on drop where it held secrets.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use zeroize::{DefaultIsZeroes, Zeroize};

use super::Erase;
use crate::arith::Word;
use crate::{Error, Result};

/// One cache line, the unit of allocation.
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(super) struct Line([u64; 8]);

impl Line {
    /// Zeros, as a constant: whole blocks of them become one `memset`.
    pub(super) const ZERO: Self = Self([0; 8]);
}

impl DefaultIsZeroes for Line {}

/// Words on the host, aligned to 64 bytes. `Debug` prints no contents.
///
/// ```
/// use karat::backend::{Backend, Cpu, Erase};
/// let buffer = Cpu::scalar().alloc::<u16>(256, Erase::OnDrop)?;
/// assert_eq!(buffer[..], [0; 256]);
/// assert_eq!(buffer.as_ptr() as usize % 64, 0);
/// # Ok::<(), karat::Error>(())
/// ```
pub struct HostBuffer<W> {
    lines: Vec<Line>,
    len: usize,
    erase: Erase,
    word: PhantomData<W>,
}

impl<W: Word> HostBuffer<W> {
    /// `len` words, zero.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(len: usize, erase: Erase) -> Result<Self> {
        let count = len.div_ceil(64 / size_of::<W>());
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).map_err(|_| Error::OutOfMemory { bytes: count as u128 * 64 })?;
        lines.resize(count, Line::default());
        Ok(Self { lines, len, erase, word: PhantomData })
    }
}

impl<W: Word> Deref for HostBuffer<W> {
    type Target = [W];

    #[inline]
    fn deref(&self) -> &[W] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl<W: Word> DerefMut for HostBuffer<W> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [W] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

impl<W> Drop for HostBuffer<W> {
    fn drop(&mut self) {
        if self.erase == Erase::OnDrop {
            self.lines.zeroize();
        }
    }
}

impl<W> fmt::Debug for HostBuffer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBuffer({} words)", self.len)
    }
}

/// Implements [`Backend`](super::Backend)'s memory for a backend that computes in host memory.
macro_rules! host_memory {
    () => {
        type Buffer<W: crate::arith::Word> = crate::backend::HostBuffer<W>;

        fn alloc<W: crate::arith::Word>(
            &self,
            len: usize,
            erase: crate::backend::Erase,
        ) -> crate::Result<Self::Buffer<W>> {
            crate::backend::HostBuffer::new(len, erase)
        }

        fn upload<W: crate::arith::Word>(&self, source: &[W], target: &mut Self::Buffer<W>) -> crate::Result<()> {
            crate::backend::expect_len("the buffer", target.len(), source.len())?;
            target[..source.len()].copy_from_slice(source);
            Ok(())
        }

        fn download<W: crate::arith::Word>(&self, source: &Self::Buffer<W>, target: &mut [W]) -> crate::Result<()> {
            crate::backend::expect_len("the buffer", source.len(), target.len())?;
            target.copy_from_slice(&source[..target.len()]);
            Ok(())
        }

        fn synchronize(&self) -> crate::Result<()> {
            Ok(())
        }
    };
}
pub(super) use host_memory;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(matches!(HostBuffer::<u64>::new(usize::MAX, Erase::No), Err(Error::OutOfMemory { .. })));
        assert_eq!(HostBuffer::<u16>::new(0, Erase::No).unwrap().len(), 0);
    }
}
