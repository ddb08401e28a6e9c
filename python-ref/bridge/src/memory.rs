//! Whether there is room for what a call is about to compute. An allocation that fails ends the
//! whole process, so sizes are looked at before anything is asked for.

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
        "{what}: found shape {shape:?}, which takes {} and the same again temporarily, expected \
         less than the {} that are free",
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

/// Bytes that the system would give, or fewer if this process or its container may not have as
/// many.
fn free() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let text = read("/proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let available = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
    Some(available.min(container(&read)).min(process(&read)))
}

/// What is left of the container's limit.
fn container(read: &impl Fn(&str) -> Option<String>) -> u64 {
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let Some(limit) = number("/sys/fs/cgroup/memory.max") else { return u64::MAX };
    limit.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0))
}

/// What is left of this process's limit on addresses (`ulimit -v`).
fn process(read: &impl Fn(&str) -> Option<String>) -> u64 {
    let limit = || {
        let text = read("/proc/self/limits")?;
        let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let used = || {
        let text = read("/proc/self/status")?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
    };
    limit().map_or(u64::MAX, |limit| limit.saturating_sub(used().unwrap_or(0)))
}
