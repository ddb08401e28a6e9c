//! Disables kernels of this crate that would solve a task for the code under test.

use std::sync::atomic::{AtomicBool, Ordering};

static WITHHELD: AtomicBool = AtomicBool::new(false);

/// Disables the provided kernels of formats and rungs until the process ends. They can't be enabled
/// again, because the tested code runs in the same process.
pub fn withhold() {
    WITHHELD.store(true, Ordering::Relaxed);
}

/// Panics if the kernel `name` is disabled.
pub(crate) fn check(name: &str) {
    assert!(
        !WITHHELD.load(Ordering::Relaxed),
        "tiny_llm_kernels::{name} was called; expected this task's own code to compute the answer"
    );
}
