//! Checks that there is memory for a computation. A failed allocation ends the whole process, so
//! sizes are checked before anything is allocated.

use std::fs;

use pyo3::{exceptions::PyMemoryError, prelude::*};

/// Memory that a computation needs, in multiples of its result: the result and two temporary
/// copies.
const COPIES: u64 = 3;

/// Maximum number of bytes that are allowed without a check of the free memory.
const SMALL: u64 = 1 << 26;

/// Free bytes that are assumed if the system does not report them.
const UNKNOWN: u64 = 16 << 30;

/// Checks that there is memory for f32 numbers of this shape.
///
/// # Errors
/// A `MemoryError` that names `what`, the shape and, if they can be counted, the needed bytes and
/// the free bytes.
pub(crate) fn room(what: &str, shape: &[usize]) -> PyResult<()> {
    room_for(what, shape, size_of::<f32>())
}

/// Works like [`room`], for elements of `element` bytes.
pub(crate) fn room_for(what: &str, shape: &[usize], element: usize) -> PyResult<()> {
    // Axes of length 0 are skipped, because strides are computed from the other axes.
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

/// Returns the system's free bytes, or fewer if this process or its container has a lower limit.
fn free() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let text = read("/proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let available = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
    Some(available.min(container(&read)).min(process(&read)))
}

/// Returns how many bytes are left of the container's limit. `read` returns the text of a file.
fn container(read: &impl Fn(&str) -> Option<String>) -> u64 {
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let Some(limit) = number("/sys/fs/cgroup/memory.max") else { return u64::MAX };
    limit.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0))
}

/// Returns how many bytes are left of this process's address space limit (`ulimit -v`).
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
