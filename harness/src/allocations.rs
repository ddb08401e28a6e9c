//! Counts heap allocations, for tests that check that there are none.
//!
//! ```ignore
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//! ```

#![allow(unsafe_code, reason = "an allocator is an unsafe trait; this one hands everything on")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    /// Number of allocations of this thread. It has a constant initialiser and no destructor, so
    /// accessing it never allocates.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a per-thread count of allocations.
pub struct CountingAllocator;

fn count_one() {
    COUNT.set(COUNT.get() + 1);
}

// SAFETY: every call is forwarded to the system allocator, with the same arguments.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: the caller's guarantees are those that this function needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_one();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Counts allocations and reallocations of this thread while `action` runs. Does not count those of
/// other threads, so if `action` needs a thread pool, pass it one with a single thread.
pub fn count<T>(action: impl FnOnce() -> T) -> (usize, T) {
    let before = COUNT.get();
    let result = action();
    (COUNT.get() - before, result)
}
