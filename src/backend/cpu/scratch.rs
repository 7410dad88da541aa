//! Scratch memory: on the stack while it is small, erased after use.

use alloc::vec::Vec;

use zeroize::optimization_barrier;

use crate::backend::buffer::Line;

/// Calls `work` with `len` lanes of scratch memory, zero at first, aligned to 64 bytes, erased afterwards.
///
/// Up to 72 KiB lie on the stack: products up to N = 1024 allocate nothing.
#[inline]
pub(crate) fn with_scratch<T: bytemuck::Pod, O>(len: usize, work: impl FnOnce(&mut [T]) -> O) -> O {
    let lines = (len * size_of::<T>()).div_ceil(64);
    match lines {
        0..=16 => on_stack::<16, T, O>(len, work),
        17..=64 => on_stack::<64, T, O>(len, work),
        65..=256 => on_stack::<256, T, O>(len, work),
        257..=512 => on_stack::<512, T, O>(len, work),
        _ if lines <= 9 << 7 => on_stack::<{ 9 << 7 }, T, O>(len, work),
        _ => {
            let mut memory: Vec<Line> = alloc::vec![Line::default(); lines];
            let out = work(&mut bytemuck::cast_slice_mut(&mut memory)[..len]);
            erase(&mut memory);
            out
        }
    }
}

/// Not inlined: a caller would get one frame for all sizes together, whose pages are touched at every call.
#[inline(never)]
fn on_stack<const LINES: usize, T: bytemuck::Pod, O>(len: usize, work: impl FnOnce(&mut [T]) -> O) -> O {
    let mut memory = [Line::ZERO; LINES];
    let out = work(&mut bytemuck::cast_slice_mut(memory.as_mut_slice())[..len]);
    erase(&mut memory);
    out
}

/// Overwrites memory with whole vectors, which volatile writes of single words cannot use; the barrier keeps the
/// writes.
#[inline]
fn erase(memory: &mut [Line]) {
    bytemuck::cast_slice_mut::<Line, u8>(memory).fill(0);
    optimization_barrier(memory);
}
