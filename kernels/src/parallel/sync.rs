//! What threads share: the standard library's, or `loom`'s, which runs a test once for every order
//! in which threads can take their steps (`RUSTFLAGS="--cfg loom" cargo test --test loom`).

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

/// The standard library's cell with the two functions that `loom` checks.
#[cfg(not(loom))]
pub(super) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(super) fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// For reading.
    pub(super) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// For writing.
    pub(super) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// How often a thread looks for a change before it sleeps, without an offer of its core to another.
#[cfg(not(loom))]
const SPINS: u32 = if cfg!(miri) { 1 } else { 1 << 10 };

/// How often a caller looks whether the last worker is done: some tens of microseconds. A worker
/// that takes longer has a long tile, or has lost its core.
pub(super) const PATIENCE: u32 = if cfg!(any(loom, miri)) { 0 } else { 1 << 11 };

/// How often a worker looks for the next job: some hundreds of microseconds. Steps that follow each
/// other, as they mostly do, need not wake it, and a smaller model may draft in between.
pub(super) const LINGER: u32 = if cfg!(any(loom, miri)) { 0 } else { 1 << 13 };

/// A moment's rest for a thread that has looked `looks` times. Now and then it offers its core to
/// another thread: the one that it waits for may have none.
#[cfg(not(loom))]
pub(super) fn relax(looks: &mut u32) {
    *looks += 1;
    if looks.is_multiple_of(SPINS) { std::thread::yield_now() } else { std::hint::spin_loop() }
}

/// Nobody looks twice.
#[cfg(loom)]
pub(super) fn relax(_: &mut u32) {}
