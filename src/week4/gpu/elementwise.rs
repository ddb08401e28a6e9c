//! Day 5. One thread for each number, and how many workgroups that takes.
//!
//! Tasks here: week4-day5 task 1 (`dispatch_size`, `add`, `silu_gate`). Everything else is
//! provided.

use anyhow::{Result, ensure};

/// Threads per workgroup, unless a kernel says otherwise.
pub const THREADS: u32 = 64;

/// Maximum number of workgroups along one axis, on every device.
pub const GROUPS: u32 = 65_535;

/// The inputs and outputs of kernels with two inputs.
pub const BINDINGS: &str = "
struct Sizes { n: u32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;
";

/// Returns the number of workgroups `[x, y, 1]` that have a thread for each of `n` items, with
/// `per_group` threads per workgroup. `y` is the smallest number of rows that is enough, with at
/// most [`GROUPS`] workgroups in each; `x` is the smallest that is enough with this `y`. For no
/// items, it's one workgroup.
///
/// # Errors
/// If there are more than `GROUPS` rows can hold. One line with the number of items.
pub fn dispatch_size(n: usize, per_group: u32) -> Result<[u32; 3]> {
    todo!("week4-day5 task 1: dispatch_size")
}

/// WGSL that follows [`BINDINGS`]: `main`, [`THREADS`] threads per workgroup. Workgroups may be in
/// several rows. `result = a + b`, for the first `sizes.n` numbers; what comes after them is
/// another buffer's.
#[must_use]
pub fn add() -> &'static str {
    todo!("week4-day5 task 1: add")
}

/// The same for `result = silu(a) · b`: `a` are the gates, `b` what passes through them. `exp` must
/// not overflow, whatever the gate: a device may not support infinity.
#[must_use]
pub fn silu_gate() -> &'static str {
    todo!("week4-day5 task 1: silu_gate")
}
