//! Day 5. Attention over a cache, with online softmax: no score is ever written to a buffer.
//!
//! Tasks here: week4-day5 task 5 (`attention`). Everything else is provided.

/// The attention kernel's inputs and outputs. The inputs are `queries [rows, heads, d]`,
/// `keys [positions, kv_heads, d]` and `values [positions, kv_heads, d]`. The output is
/// `result [rows, heads, d]`. Row `t` sees the positions 0 to `sizes.first + t`. Scores are
/// multiplied by `sizes.scale`.
pub const BINDINGS: &str = "
struct Sizes { rows: u32, heads: u32, kv_heads: u32, d: u32, first: u32, scale: f32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read_write> queries: array<f32>;
@group(0) @binding(2) var<storage, read_write> keys: array<f32>;
@group(0) @binding(3) var<storage, read_write> values: array<f32>;
@group(0) @binding(4) var<storage, read_write> result: array<f32>;
";

/// The maximum head size: each of 64 threads computes at most four elements of a head's result.
pub const LONGEST_HEAD: u32 = 256;

/// Returns WGSL source to append to [`BINDINGS`]: `main`, with 64 threads per workgroup. `group` is
/// a workgroup's index in the grid. The workgroup computes head `group.x` of row `group.y`. It
/// processes 64 positions at a time, and keeps a running maximum, sum and output. Query head `h`
/// reads key and value head `h / (heads / kv_heads)`.
#[must_use]
pub fn attention() -> &'static str {
    todo!("week4-day5 task 5: attention")
}
