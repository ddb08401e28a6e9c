//! Whether there is room for what a call is about to compute. An allocation that fails ends the whole process, so sizes are
//! looked at before anything is asked for.

use std::fs;

use pyo3::{exceptions::PyMemoryError, prelude::*};

/// What is computed on the way to a result is about as large as it, and may be there twice.
const COPIES: u64 = 3;

/// Below this nobody asks how much is free.
const SMALL: u64 = 1 << 26;

/// What is taken to be free where the system cannot be asked.
const UNKNOWN: u64 = 16 << 30;

/// Refuses to compute numbers of f32 that there is no room for.
///
/// # Errors
/// A `MemoryError` that names them, their shape, what they take and what is free.
pub(crate) fn room(what: &str, shape: &[usize]) -> PyResult<()> {
    room_for(what, shape, size_of::<f32>())
}

/// As [`room`], for elements of so many bytes.
///
/// # Errors
/// As [`room`].
pub(crate) fn room_for(what: &str, shape: &[usize], element: usize) -> PyResult<()> {
    // An axis of length 0 does not help: strides are computed from the others.
    let bytes = shape.iter().filter(|n| **n > 0).try_fold(element as u64, |bytes, n| {
        bytes.checked_mul(*n as u64).filter(|bytes| *bytes <= isize::MAX as u64)
    });
    let Some(bytes) = bytes else {
        return Err(PyMemoryError::new_err(format!(
            "{what}: found shape {shape:?}, expected one that memory can hold"
        )));
    };
    let needed = bytes.saturating_mul(COPIES);
    if needed <= SMALL || needed <= free().unwrap_or(UNKNOWN) {
        return Ok(());
    }
    Err(PyMemoryError::new_err(format!(
        "{what}: found shape {shape:?}, which takes {} and as much again on the way; expected less than the {} that are free",
        shown(bytes),
        shown(free().unwrap_or(UNKNOWN)),
    )))
}

fn shown(bytes: u64) -> String {
    if bytes < 1 << 30 {
        return format!("{} MiB", bytes >> 20);
    }
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Bytes that the system would give, or the container's limit if that is less.
fn free() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let available = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limit = number("/sys/fs/cgroup/memory.max");
    let used = number("/sys/fs/cgroup/memory.current").unwrap_or(0);
    Some(available.min(limit.map_or(u64::MAX, |limit| limit.saturating_sub(used))))
}
