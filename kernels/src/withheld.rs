//! Disables kernels of this crate that would solve a task for the code under test.

use std::sync::atomic::{AtomicBool, Ordering};

static WITHHELD: AtomicBool = AtomicBool::new(false);

/// Disables the kernels of this crate that would solve a task, until the process ends. Nothing can
/// enable them again, because the code under test runs in the same process and could do so.
pub fn withhold() {
    WITHHELD.store(true, Ordering::Relaxed);
}

/// Panics if kernels are disabled. `name` is the name of the kernel that was called.
pub(crate) fn check(name: &str) {
    assert!(
        !WITHHELD.load(Ordering::Relaxed),
        "tiny_llm_kernels::{name} was called; expected this task's own code to compute the answer"
    );
}
