//! Secrets on the stack.

use core::ops::{Deref, DerefMut};

use bytemuck::Pod;
use zeroize::optimization_barrier;

/// Overwrites bytes in a way that no compiler leaves out, with the widest stores there are.
pub(super) fn wipe(bytes: &mut [u8]) {
    bytes.fill(0);
    optimization_barrier(bytes);
}

/// Bytes that a permutation takes from the stack for what does not fit in registers, and more.
const FRAME: usize = 2048;

/// Overwrites the stack below the caller's frame: functions that it called before had theirs there.
#[inline(never)]
pub(super) fn wipe_below() {
    // A variable: of a constant, no copy would lie on the stack.
    let frame = [0u8; FRAME];
    optimization_barrier(&frame);
}

/// A plain value that is erased when it goes out of scope.
pub(super) struct Wiped<T: Pod>(T);

impl<T: Pod> Wiped<T> {
    pub(super) fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T: Pod> Deref for Wiped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Pod> DerefMut for Wiped<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Pod> Drop for Wiped<T> {
    fn drop(&mut self) {
        wipe(bytemuck::bytes_of_mut(&mut self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_alignment() {
        for start in 0..17 {
            for len in 0..70 {
                let mut bytes = [0xff; 100];
                wipe(&mut bytes[start..start + len]);
                assert!(bytes.iter().enumerate().all(|(i, byte)| (*byte == 0) == (start..start + len).contains(&i)));
            }
        }
    }
}
