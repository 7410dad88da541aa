//! Bytes that end, or begin, where memory does: the page behind them, or before them, cannot be read.

use std::ptr::null_mut;

/// A copy of some bytes between two pages that no access survives.
pub struct Guarded {
    start: *mut u8,
    pages: usize,
    offset: usize,
    len: usize,
}

const PAGE: usize = 1 << 14;

impl Guarded {
    /// The bytes end at the guard behind them.
    pub fn before_the_end(bytes: &[u8]) -> Self {
        let pages = bytes.len().div_ceil(PAGE).max(1);
        Self::at(bytes, pages, pages * PAGE - bytes.len())
    }

    /// The bytes begin at the guard before them.
    pub fn after_the_start(bytes: &[u8]) -> Self {
        Self::at(bytes, bytes.len().div_ceil(PAGE).max(1), 0)
    }

    fn at(bytes: &[u8], pages: usize, offset: usize) -> Self {
        let len = (pages + 2) * PAGE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, wherever the system likes; the result is checked.
        let start = unsafe { libc::mmap(null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        let start: *mut u8 = start.cast();
        for guard in [0, pages + 1] {
            // SAFETY: the page lies in the mapping, which nothing else knows yet.
            let result = unsafe { libc::mprotect(start.add(guard * PAGE).cast(), PAGE, libc::PROT_NONE) };
            assert_eq!(result, 0);
        }
        let out = Self { start, pages, offset, len: bytes.len() };
        // SAFETY: offset and length lie inside the pages that can be written.
        unsafe { out.start.add(PAGE + offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        out
    }
}

impl std::ops::Deref for Guarded {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: these bytes were written and live as long as the mapping.
        unsafe { std::slice::from_raw_parts(self.start.add(PAGE + self.offset), self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping that `at` made; nothing borrows it any more.
        unsafe { libc::munmap(self.start.cast(), (self.pages + 2) * PAGE) };
    }
}
