//! What lies in heap memory when it is given back. The allocator looks at each block before the system gets it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What is looked for, on this thread.
#[derive(Clone, Copy)]
enum Watch {
    Nothing,
    /// Patterns of 16 bytes: where they begin, and how many there are.
    Patterns(*const [u8; 16], usize),
    /// Anything that is not zero, in blocks of so many bytes or more.
    Dirt(usize),
}

/// Patterns that are counted apart.
const MOST: usize = 32;

thread_local! {
    static WATCH: Cell<Watch> = const { Cell::new(Watch::Nothing) };
    static FOUND: Cell<[u32; MOST]> = const { Cell::new([0; MOST]) };
}

/// The system's allocator behind a look at what is given back.
struct Looking;

// SAFETY: every call goes to the system's allocator unchanged. Before memory is given back its bytes are read, which the
// caller still owns; the default `realloc` comes through here too. Thread-local cells need no allocation.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Zeroed, so that what was never written is not what someone left there.
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if !matches!(WATCH.get(), Watch::Nothing) {
            // SAFETY: the block is the caller's until it is given back below, and all of it was initialised by `alloc`.
            look(unsafe { std::slice::from_raw_parts(pointer, layout.size()) });
        }
        // SAFETY: as above; the pointer came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Looking = Looking;

fn look(block: &[u8]) {
    let mut found = FOUND.get();
    match WATCH.get() {
        Watch::Nothing => {}
        Watch::Dirt(least) => {
            if block.len() >= least && block.iter().any(|byte| *byte != 0) {
                found[0] += 1;
                found[1] = found[1].max(block.len() as u32);
            }
        }
        Watch::Patterns(patterns, count) => {
            // SAFETY: `leaves` keeps them for as long as it watches.
            let patterns = unsafe { std::slice::from_raw_parts(patterns, count) };
            for window in block.windows(16) {
                for (found, pattern) in found.iter_mut().zip(patterns) {
                    *found += u32::from(window == pattern);
                }
            }
        }
    }
    FOUND.set(found);
}

fn watched(watch: Watch, work: impl FnOnce()) -> [u32; MOST] {
    FOUND.set([0; MOST]);
    WATCH.set(watch);
    work();
    WATCH.set(Watch::Nothing);
    FOUND.get()
}

/// How often each pattern lies in memory that this thread gives back.
pub fn leaves(patterns: &[[u8; 16]], work: impl FnOnce()) -> Vec<u32> {
    assert!(patterns.len() <= MOST);
    watched(Watch::Patterns(patterns.as_ptr(), patterns.len()), work)[..patterns.len()].to_vec()
}

/// How many blocks of so many bytes or more this thread gives back that are not all zero, and the size of the largest.
pub fn dirt(least: usize, work: impl FnOnce()) -> (u32, u32) {
    let found = watched(Watch::Dirt(least), work);
    (found[0], found[1])
}

#[test]
fn the_search_finds() {
    let secret: [u8; 32] = std::array::from_fn(|i| i as u8 * 7 + 3);
    let pattern = [*secret[5..].first_chunk().unwrap()];
    assert_eq!(leaves(&pattern, || drop(secret.to_vec())), [1]);
    // Growing moves the contents: the old block is given back as well.
    let grow = || {
        let mut bytes = Vec::with_capacity(32);
        bytes.extend_from_slice(&secret);
        bytes.reserve_exact(1 << 20);
        bytes.iter_mut().for_each(|byte| *byte = 0);
        drop(std::hint::black_box(bytes));
    };
    assert_eq!(leaves(&pattern, grow), [1]);
    assert_eq!(leaves(&pattern, || drop(vec![0u8; 100])), [0]);
    assert_eq!(dirt(16, || drop(secret.to_vec())), (1, 32));
    assert_eq!(dirt(64, || drop(secret.to_vec())), (0, 0));
    assert_eq!(dirt(16, || drop(vec![0u8; 100])), (0, 0));
}
