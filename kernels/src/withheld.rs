//! Answers that tests of a task withhold from what they test: some kernels here would give them.

use std::sync::atomic::{AtomicBool, Ordering};

static WITHHELD: AtomicBool = AtomicBool::new(false);

/// Withholds the provided kernels of formats and rungs until the process ends. There is no way
/// back: the tested code runs in the same process.
pub fn withhold() {
    WITHHELD.store(true, Ordering::Relaxed);
}

/// Panics if they are withheld.
pub(crate) fn check(name: &str) {
    assert!(
        !WITHHELD.load(Ordering::Relaxed),
        "tiny_llm_kernels::{name} was called; expected this task's own code to compute the answer"
    );
}
