//! What threads share: the standard library's, or `loom`'s, which runs a test once for every order
//! in which threads can take their steps (`RUSTFLAGS="--cfg loom" cargo test --test loom`).

#[cfg(loom)]
pub(super) use loom::{
    cell::UnsafeCell,
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread::{JoinHandle, spawn, yield_now},
};
#[cfg(not(loom))]
pub(super) use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread::{JoinHandle, spawn, yield_now},
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

/// How often a waiting thread looks before it offers its core to another: some tens of
/// microseconds.
#[cfg(not(loom))]
const SPINS: u32 = if cfg!(miri) { 1 } else { 1 << 10 };

/// How often a thread looks for the next pass before it sleeps, some hundreds of microseconds:
/// passes that follow each other, as steps mostly do, need not wake it, and a smaller model may draft
/// in between.
pub(super) const LINGER: u32 = if cfg!(any(loom, miri)) { 0 } else { 1 << 14 };

/// Waits by looking.
pub(super) fn wait_until(done: impl Fn() -> bool) {
    let mut spins = 0;
    while !done() {
        relax(&mut spins);
    }
}

/// A moment's rest for a thread that has looked `spins` times.
#[cfg(not(loom))]
pub(super) fn relax(spins: &mut u32) {
    *spins = spins.wrapping_add(1);
    if spins.is_multiple_of(SPINS) { yield_now() } else { std::hint::spin_loop() }
}

/// Looking again is no use until another thread has taken a step.
#[cfg(loom)]
pub(super) fn relax(_spins: &mut u32) {
    yield_now();
}
