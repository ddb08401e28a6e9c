//! Day 5. Kernels with one thread per element, and the number of workgroups that they need.
//!
//! Tasks here: week4-day5 task 1 (`dispatch_size`, `add`, `silu_gate`). Everything else is
//! provided.

use anyhow::{Result, ensure};

/// Number of threads per workgroup in most kernels.
pub const THREADS: u32 = 64;

/// Number of workgroups that every device allows along one axis of a grid.
pub const GROUPS: u32 = 65_535;

/// The bindings of kernels with the inputs `a` and `b` and the output `result`.
pub const BINDINGS: &str = "
struct Sizes { n: u32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;
";

/// Returns the size `[x, y, 1]` of a grid of workgroups that handles `n` items. Each workgroup
/// handles `per_group` items. `y` is the smallest sufficient number of rows, each of at most
/// [`GROUPS`] workgroups. `x` is the smallest sufficient number of workgroups per row. If `n` is 0,
/// returns a grid of one workgroup.
///
/// # Errors
/// If [`GROUPS`] rows are not enough. The message is one line with the number of items.
pub fn dispatch_size(n: usize, per_group: u32) -> Result<[u32; 3]> {
    todo!("week4-day5 task 1: dispatch_size")
}

/// Returns WGSL source to append to [`BINDINGS`]: `main`, with [`THREADS`] threads per workgroup.
/// The grid of workgroups may have several rows. `main` computes `result = a + b` for the first
/// `sizes.n` elements. It doesn't touch the memory after them, which may belong to another buffer.
#[must_use]
pub fn add() -> &'static str {
    todo!("week4-day5 task 1: add")
}

/// Returns WGSL source like that of [`add`], but `main` computes `result = silu(a) · b`, where `a`
/// is the gate. `exp` must not overflow for any gate, because some devices don't support infinity.
#[must_use]
pub fn silu_gate() -> &'static str {
    todo!("week4-day5 task 1: silu_gate")
}
