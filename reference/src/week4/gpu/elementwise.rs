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
    // SOLUTION week4-day5 task 1
    let groups = n.div_ceil(per_group as usize).max(1);
    let rows = groups.div_ceil(GROUPS as usize);
    ensure!(
        rows <= GROUPS as usize,
        "found {n} items, with {per_group} per workgroup; expected at most {GROUPS} × {GROUPS} \
         workgroups"
    );
    Ok([groups.div_ceil(rows) as u32, rows as u32, 1])
    // END SOLUTION
}

/// Returns WGSL source to append to [`BINDINGS`]: `main`, with [`THREADS`] threads per workgroup.
/// The grid of workgroups may have several rows. `main` computes `result = a + b` for the first
/// `sizes.n` elements. It doesn't touch the memory after them, which may belong to another buffer.
#[must_use]
pub fn add() -> &'static str {
    // SOLUTION week4-day5 task 1
    r"
    @compute @workgroup_size(64)
    fn main(
        @builtin(global_invocation_id) id: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
    ) {
        let i = id.y * groups.x * 64u + id.x;
        if i < sizes.n {
            result[i] = a[i] + b[i];
        }
    }
    "
    // END SOLUTION
}

/// Returns WGSL source like that of [`add`], but `main` computes `result = silu(a) · b`, where `a`
/// is the gate. `exp` must not overflow for any gate, because some devices don't support infinity.
#[must_use]
pub fn silu_gate() -> &'static str {
    // SOLUTION week4-day5 task 1
    r"
    @compute @workgroup_size(64)
    fn main(
        @builtin(global_invocation_id) id: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
    ) {
        let i = id.y * groups.x * 64u + id.x;
        if i < sizes.n {
            let gate = a[i];
            let e = exp(-abs(gate));
            let sigmoid = select(e, 1.0, gate >= 0.0) / (1.0 + e);
            result[i] = gate * sigmoid * b[i];
        }
    }
    "
    // END SOLUTION
}
