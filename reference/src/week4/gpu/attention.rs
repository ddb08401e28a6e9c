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
    // SOLUTION week4-day5 task 5
    r"
    var<workgroup> shares: array<f32, 64>;

    @compute @workgroup_size(64)
    fn main(
        @builtin(workgroup_id) group: vec3<u32>,
        @builtin(local_invocation_index) thread: u32,
    ) {
        let head = group.x;
        let kv_head = head / (sizes.heads / sizes.kv_heads);
        let query = (group.y * sizes.heads + head) * sizes.d;
        let positions = sizes.first + group.y + 1u;
        let stride = sizes.kv_heads * sizes.d;
        var largest = -3.0e38;
        var total = 0.0;
        var mixed = vec4<f32>();
        for (var start = 0u; start < positions; start += 64u) {
            let count = min(64u, positions - start);
            var score = -3.0e38;
            if thread < count {
                let key = (start + thread) * stride + kv_head * sizes.d;
                score = 0.0;
                for (var i = 0u; i < sizes.d; i += 1u) {
                    score += queries[query + i] * keys[key + i];
                }
                score *= sizes.scale;
            }
            shares[thread] = score;
            workgroupBarrier();
            var now = largest;
            for (var j = 0u; j < count; j += 1u) {
                now = max(now, shares[j]);
            }
            workgroupBarrier();
            shares[thread] = exp(score - now);
            workgroupBarrier();
            let kept = exp(largest - now);
            largest = now;
            total *= kept;
            mixed *= kept;
            for (var j = 0u; j < count; j += 1u) {
                let share = shares[j];
                let value = (start + j) * stride + kv_head * sizes.d;
                total += share;
                for (var part = 0u; part < 4u; part += 1u) {
                    let i = part * 64u + thread;
                    if i < sizes.d {
                        mixed[part] += share * values[value + i];
                    }
                }
            }
            workgroupBarrier();
        }
        for (var part = 0u; part < 4u; part += 1u) {
            let i = part * 64u + thread;
            if i < sizes.d {
                result[query + i] = mixed[part] / total;
            }
        }
    }
    "
    // END SOLUTION
}
