//! Secrets on the stack.

use core::ops::{Deref, DerefMut};

use bytemuck::Pod;
use zeroize::Zeroize;

/// Overwrites bytes in a way that no compiler leaves out, sixteen at a time where it can.
pub(super) fn wipe(bytes: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    type Wide = core::arch::x86_64::__m128i;
    #[cfg(not(target_arch = "x86_64"))]
    type Wide = u64;
    let (start, middle, end) = bytemuck::pod_align_to_mut::<u8, Wide>(bytes);
    start.zeroize();
    middle.iter_mut().for_each(Zeroize::zeroize);
    end.zeroize();
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
