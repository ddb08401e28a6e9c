//! Day 5. RMSNorm, with one workgroup for each row. The workgroup's threads add up the squares
//! together.
//!
//! Tasks here: week4-day5 task 2 (`rms_norm`). Everything else is provided.

/// The RMSNorm kernel's inputs and outputs. The kernel adds `sizes.eps` to the mean square.
pub const BINDINGS: &str = "
struct Sizes { width: u32, rows: u32, eps: f32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;
";

/// Returns WGSL source to append to [`BINDINGS`]: `main`, with 64 threads per workgroup and one
/// workgroup per row of `x`. The grid of workgroups may itself have several rows, and there may be
/// more workgroups than `sizes.rows`. `main` divides each row of `x [rows, width]` by the row's
/// root mean square, and multiplies the quotient by `weight [width]`. A row may have any length.
#[must_use]
pub fn rms_norm() -> &'static str {
    todo!("week4-day5 task 2: rms_norm")
}
