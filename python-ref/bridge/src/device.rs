//! The process's GPU, which both solutions share.

use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use tiny_llm_gpu::Gpu;

/// The open GPU. Locked during each call, so that the call that runs a kernel gets its timeout.
static GPU: Mutex<Option<Gpu>> = Mutex::new(None);

/// Runs `work` on the device. Opens the device at the first call, and again after it is lost.
///
/// # Errors
/// If no device can be opened. Also any error that `work` returns.
pub(crate) fn with<T>(work: impl FnOnce(&Gpu) -> Result<T>) -> Result<T> {
    let mut held = GPU.lock().unwrap_or_else(PoisonError::into_inner);
    let gpu = match held.take() {
        Some(gpu) if !gpu.is_lost() => gpu,
        _ => Gpu::open()?,
    };
    work(held.insert(gpu))
}
