//! Values that end, or begin, where memory does: the page behind them, or before them, cannot be accessed.

use std::ops::{Deref, DerefMut};
use std::ptr::null_mut;

/// Where values lie between the two pages.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// They end at the guard behind them.
    End,
    /// They begin at the guard before them.
    Start,
    /// They begin this many bytes, rounded up to whole values, behind it.
    Offset(usize),
}

impl Place {
    /// Both ends, and offsets of 1 to 31 bytes.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::End, Self::Start].into_iter().chain((1..32).map(Self::Offset))
    }

    /// As [`Place::all`], with offsets that differ for values of this type.
    pub fn of<T>() -> impl Iterator<Item = Self> {
        Self::all().filter(|place| !matches!(place, Self::Offset(offset) if offset % size_of::<T>().min(8) != 0))
    }

    /// A copy of some values there.
    pub fn put<T: Copy>(self, values: &[T]) -> Guarded<T> {
        let len = size_of_val(values);
        let offset = match self {
            Self::End | Self::Start => 0,
            Self::Offset(offset) => offset.next_multiple_of(align_of::<T>()),
        };
        let pages = (len + offset).div_ceil(PAGE).max(1);
        let offset = if matches!(self, Self::End) { pages * PAGE - len } else { offset };
        assert!(offset.is_multiple_of(align_of::<T>()));
        Guarded::at(values, pages, offset)
    }
}

/// A copy of some values between two pages that no access survives.
pub struct Guarded<T: Copy = u8> {
    start: *mut u8,
    pages: usize,
    values: *mut T,
    len: usize,
}

const PAGE: usize = 1 << 14;

impl<T: Copy> Guarded<T> {
    fn at(values: &[T], pages: usize, offset: usize) -> Self {
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
        // SAFETY: offset and length lie inside the pages that can be written, and `put` has aligned the offset.
        let into: *mut T = unsafe { start.add(PAGE + offset) }.cast();
        // SAFETY: as above; the mapping is new, so that nothing overlaps.
        unsafe { into.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Self { start, pages, values: into, len: values.len() }
    }
}

impl<T: Copy> Deref for Guarded<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: these values were written and live as long as the mapping.
        unsafe { std::slice::from_raw_parts(self.values, self.len) }
    }
}

impl<T: Copy> DerefMut for Guarded<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the mapping is borrowed for as long as the slice lives.
        unsafe { std::slice::from_raw_parts_mut(self.values, self.len) }
    }
}

impl<T: Copy> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping that `at` made; nothing borrows it any more.
        unsafe { libc::munmap(self.start.cast(), (self.pages + 2) * PAGE) };
    }
}
