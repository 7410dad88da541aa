//! Scratch memory: on the stack while it is small, erased after use.

use zeroize::optimization_barrier;

use crate::backend::buffer::Line;

/// Calls `work` with `len` lanes of scratch memory, zero at first, aligned to 64 bytes, erased afterwards.
///
/// Up to 72 KiB lie on the stack: products up to N = 1024 allocate nothing. More is allocated once a thread and kept,
/// erased, for its next call: allocating and zeroing it again costs up to a tenth of a product.
#[inline]
pub(crate) fn with_scratch<T: bytemuck::Pod, O>(len: usize, work: impl FnOnce(&mut [T]) -> O) -> O {
    let lines = (len * size_of::<T>()).div_ceil(64);
    match lines {
        0..=16 => on_stack::<16, T, O>(len, work),
        17..=32 => on_stack::<32, T, O>(len, work),
        33..=64 => on_stack::<64, T, O>(len, work),
        65..=128 => on_stack::<128, T, O>(len, work),
        129..=256 => on_stack::<256, T, O>(len, work),
        257..=512 => on_stack::<512, T, O>(len, work),
        _ if lines <= 9 << 7 => on_stack::<{ 9 << 7 }, T, O>(len, work),
        _ => {
            let mut memory = kept::take();
            if memory.len() < lines {
                memory = alloc::vec![Line::default(); lines];
            }
            let out = work(&mut bytemuck::cast_slice_mut(&mut memory)[..len]);
            erase(&mut memory[..lines]);
            kept::keep(memory);
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

/// Memory between two calls of a thread, all of it zero.
#[cfg(feature = "std")]
mod kept {
    use alloc::vec::Vec;
    use core::cell::Cell;

    use super::Line;

    /// 8 MiB: a product at N = 2^18 in 64-bit lanes.
    const MOST: usize = 1 << 17;

    std::thread_local! {
        static KEPT: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
    }

    /// What is there; nothing inside another call, or while the thread ends.
    pub(super) fn take() -> Vec<Line> {
        KEPT.try_with(Cell::take).unwrap_or_default()
    }

    pub(super) fn keep(memory: Vec<Line>) {
        if memory.len() <= MOST {
            // A thread that ends keeps nothing.
            let _ = KEPT.try_with(|kept| kept.set(memory));
        }
    }
}

/// Without threads' own memory nothing is kept.
#[cfg(not(feature = "std"))]
mod kept {
    use alloc::vec::Vec;

    use super::Line;

    pub(super) fn take() -> Vec<Line> {
        Vec::new()
    }

    pub(super) fn keep(_: Vec<Line>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kept memory must not show what an earlier call left, in calls of other sizes and inside each other.
    #[test]
    fn memory_is_zero_at_first() {
        for len in [1usize, 100, 5000, 20000, 15000, 40000, 10000] {
            with_scratch(len, |outer: &mut [u64]| {
                assert!(outer.len() == len && outer.iter().all(|x| *x == 0));
                outer.fill(u64::MAX);
                with_scratch(len / 2 + 1, |inner: &mut [u32]| {
                    assert!(inner.iter().all(|x| *x == 0));
                    inner.fill(1);
                });
                assert!(outer.iter().all(|x| *x == u64::MAX));
            });
        }
    }
}
