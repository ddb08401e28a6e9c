//! Day 5. Multiplies a matrix, stored in blocks, by many columns. Each block is unpacked once for
//! sixteen columns.
//!
//! Tasks here: week4-day5 task 4 (`mat_mat`). Everything else is provided.

/// Number of rows in a tile, and also its number of columns. A workgroup has one thread for each
/// result in its tile.
pub const TILE: u32 = 16;

/// Returns WGSL source to append to the same text as for [`mat_vec`](super::mat_vec): `BINDINGS`,
/// `READING` and a format's functions. The source is `main`, with 16 × 16 threads per workgroup. A
/// workgroup computes one tile of results, 16 rows by 16 columns. The tile begins at row
/// `16 · group.x` and column `16 · group.y`, where `group` is the workgroup's index in the grid.
/// (Tiles at the edges may have fewer rows or columns.) The workgroup unpacks each weight of the
/// tile's rows once, into memory that its threads share.
#[must_use]
pub fn mat_mat() -> &'static str {
    // SOLUTION week4-day5 task 4
    r"
    var<workgroup> weights: array<vec4<f32>, 128>;
    var<workgroup> inputs: array<vec4<f32>, 128>;

    @compute @workgroup_size(16, 16)
    fn main(
        @builtin(workgroup_id) group: vec3<u32>,
        @builtin(local_invocation_id) local: vec3<u32>,
        @builtin(local_invocation_index) thread: u32,
    ) {
        let row = group.x * 16u + local.x;
        let column = group.y * 16u + local.y;
        let blocks = sizes.k / 32u;
        var sum = 0.0;
        for (var b = 0u; b < blocks; b += 1u) {
            // One block of each row and of each column. Half of the threads unpack four weights
            // each; the others read four elements of x each.
            let line = thread % 128u / 8u;
            let i = thread % 8u;
            if thread < 128u {
                let of_line = group.x * 16u + line;
                var unpacked = vec4<f32>();
                if of_line < sizes.rows {
                    let block = of_line * blocks + b;
                    unpacked = scale(block) * four(block, i);
                }
                weights[thread] = unpacked;
            } else {
                let of_line = group.y * 16u + line;
                var read = vec4<f32>();
                if of_line < sizes.columns {
                    let at = of_line * sizes.k + b * 32u + i * 4u;
                    read = vec4<f32>(x[at], x[at + 1u], x[at + 2u], x[at + 3u]);
                }
                inputs[thread - 128u] = read;
            }
            workgroupBarrier();
            for (var i = 0u; i < 8u; i += 1u) {
                sum += dot(weights[local.x * 8u + i], inputs[local.y * 8u + i]);
            }
            workgroupBarrier();
        }
        if row < sizes.rows && column < sizes.columns {
            result[column * sizes.rows + row] = sum;
        }
    }
    "
    // END SOLUTION
}
