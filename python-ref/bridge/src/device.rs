//! The graphics processor of the process, which both solutions share.

use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use tiny_llm_gpu::Gpu;

/// One call at a time has it, so that a kernel that never ends is told of the call that runs it.
static GPU: Mutex<Option<Gpu>> = Mutex::new(None);

/// Does something with the device, which is opened when it is first asked for, and again once it is
/// lost.
///
/// # Errors
/// If there is none, and whatever `work` returns.
pub(crate) fn with<T>(work: impl FnOnce(&Gpu) -> Result<T>) -> Result<T> {
    let mut held = GPU.lock().unwrap_or_else(PoisonError::into_inner);
    let gpu = match held.take() {
        Some(gpu) if !gpu.is_lost() => gpu,
        _ => Gpu::open()?,
    };
    work(held.insert(gpu))
}
