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
    // SOLUTION week4-day5 task 2
    r"
    var<workgroup> sums: array<f32, 64>;

    @compute @workgroup_size(64)
    fn main(
        @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32,
    ) {
        let row = group.y * groups.x + group.x;
        if row >= sizes.rows {
            return;
        }
        let start = row * sizes.width;
        var sum = 0.0;
        for (var i = thread; i < sizes.width; i += 64u) {
            sum += x[start + i] * x[start + i];
        }
        sums[thread] = sum;
        workgroupBarrier();
        for (var half = 32u; half > 0u; half /= 2u) {
            if thread < half {
                sums[thread] += sums[thread + half];
            }
            workgroupBarrier();
        }
        let mean = sums[0] / f32(sizes.width);
        let scale = inverseSqrt(mean + sizes.eps);
        for (var i = thread; i < sizes.width; i += 64u) {
            result[start + i] = x[start + i] * scale * weight[i];
        }
    }
    "
    // END SOLUTION
}
