//! Types that threads share: the standard library's, or those of `loom`, which runs a test once for
//! every order in which threads can take their steps (`RUSTFLAGS="--cfg loom" cargo test --test
//! loom`).

#[cfg(loom)]
pub(super) use loom::{
    cell::UnsafeCell,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread::{JoinHandle, Thread, current, park, spawn},
};
#[cfg(not(loom))]
pub(super) use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread::{JoinHandle, Thread, current, park, spawn},
};

/// The standard library's cell, with the two functions that `loom` checks.
#[cfg(not(loom))]
pub(super) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(super) fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Calls `read` with a pointer for reading.
    pub(super) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Calls `write` with a pointer for writing.
    pub(super) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// Number of checks after which a waiting thread yields its core.
#[cfg(not(loom))]
const SPINS: u32 = if cfg!(miri) { 1 } else { 1 << 10 };

/// Number of times that a caller checks whether the last worker is done before it sleeps. All
/// checks together take tens of microseconds. A worker that takes longer has a long tile, or has
/// lost its core.
pub(super) const PATIENCE: u32 = if cfg!(any(loom, miri)) { 0 } else { 1 << 11 };

/// Number of times that a worker checks for the next job before it sleeps. All checks together take
/// hundreds of microseconds. The next job usually comes before that, even if a draft model runs
/// between two steps. So the worker is usually still awake.
pub(super) const LINGER: u32 = if cfg!(any(loom, miri)) { 0 } else { 1 << 13 };

/// Pauses briefly, and counts the pause in `looks`. After every [`SPINS`] pauses, yields the core,
/// because the thread that this one waits for may need it.
#[cfg(not(loom))]
pub(super) fn relax(looks: &mut u32) {
    *looks += 1;
    if looks.is_multiple_of(SPINS) { std::thread::yield_now() } else { std::hint::spin_loop() }
}

/// Does nothing, because under `loom` a thread checks only once before it sleeps.
#[cfg(loom)]
pub(super) fn relax(_: &mut u32) {}
