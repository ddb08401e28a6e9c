//! Day 5. Multiplies a matrix by vectors. The matrix is in blocks, as stored in the file.
//!
//! Tasks here: week4-day5 task 3 (`q8_0`, `q4_0`, `mat_vec`). Everything else is provided.

/// The bindings of the product kernels: `x [columns, k]` → `result [columns, rows]`. The kernels
/// read the bytes of the weights as little-endian words of 32 bits, because WGSL has no shorter
/// integers.
pub const BINDINGS: &str = "
struct Sizes { k: u32, rows: u32, columns: u32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;
@group(0) @binding(2) var<storage, read_write> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;
";

/// Two functions that read weights. `four_bytes` reads the bytes `at` to `at + 3` as a word, with
/// the first byte in the lowest bits. `half_float` reads two bytes as an f16. For both, `at` must
/// be even.
pub const READING: &str = "
fn four_bytes(at: u32) -> u32 {
    let word = words[at / 4u];
    if at % 4u == 0u {
        return word;
    }
    return (word >> 16u) | (words[at / 4u + 1u] << 16u);
}
fn half_float(at: u32) -> f32 {
    return unpack2x16float(words[at / 4u] >> (8u * (at % 4u))).x;
}
";

/// Returns WGSL source to append to [`BINDINGS`] and [`READING`]: two functions for Q8_0, whose
/// blocks have 34 bytes (an f16 scale, then 32 signed bytes).
///
/// - `fn scale(block: u32) -> f32` returns the scale of block number `block` of the whole matrix.
/// - `fn four(block: u32, i: u32) -> vec4<f32>` returns the block's elements `4 · i` to
///   `4 · i + 3`, before they are scaled. The index `i` is below 8.
#[must_use]
pub fn q8_0() -> &'static str {
    // SOLUTION week4-day5 task 3
    r"
    fn scale(block: u32) -> f32 {
        return half_float(34u * block);
    }
    fn four(block: u32, i: u32) -> vec4<f32> {
        let bytes = i32(four_bytes(34u * block + 2u + 4u * i));
        return vec4<f32>(
            f32(extractBits(bytes, 0u, 8u)),
            f32(extractBits(bytes, 8u, 8u)),
            f32(extractBits(bytes, 16u, 8u)),
            f32(extractBits(bytes, 24u, 8u)),
        );
    }
    "
    // END SOLUTION
}

/// Returns the same two functions as [`q8_0`], but for Q4_0, whose blocks have 18 bytes: an f16
/// scale, then 16 bytes. The low half of byte `j` is element `j`, and the high half is element
/// `j + 16`. Each element is stored as its value plus 8.
#[must_use]
pub fn q4_0() -> &'static str {
    // SOLUTION week4-day5 task 3
    r"
    fn scale(block: u32) -> f32 {
        return half_float(18u * block);
    }
    fn four(block: u32, i: u32) -> vec4<f32> {
        let bytes = four_bytes(18u * block + 2u + 4u * (i % 4u));
        let shifted = vec4<u32>(bytes) >> vec4<u32>(0u, 8u, 16u, 24u);
        let halves = shifted >> vec4<u32>(i / 4u * 4u);
        return vec4<f32>(halves & vec4<u32>(15u)) - 8.0;
    }
    "
    // END SOLUTION
}

/// Returns WGSL source to append to [`BINDINGS`], [`READING`] and a format's functions: `main`,
/// with 64 threads per workgroup. A workgroup computes `result[column, row]`, the dot product of
/// one row of weights and one column of `x`. Its index along the grid's `z` axis is the column. For
/// each column, the grid has a workgroup for every row of weights. These workgroups may form
/// several rows along the grid's `x` and `y` axes. There may be more of them than `sizes.rows`. A
/// row of weights has `sizes.k / 32` blocks. Each block is read once for each column.
#[must_use]
pub fn mat_vec() -> &'static str {
    // SOLUTION week4-day5 task 3
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
        let blocks = sizes.k / 32u;
        var sum = 0.0;
        for (var b = thread; b < blocks; b += 64u) {
            let block = row * blocks + b;
            var at = group.z * sizes.k + b * 32u;
            var dot_product = 0.0;
            for (var i = 0u; i < 8u; i += 1u) {
                let inputs = vec4<f32>(x[at], x[at + 1u], x[at + 2u], x[at + 3u]);
                dot_product += dot(four(block, i), inputs);
                at += 4u;
            }
            sum += scale(block) * dot_product;
        }
        sums[thread] = sum;
        workgroupBarrier();
        for (var half = 32u; half > 0u; half /= 2u) {
            if thread < half {
                sums[thread] += sums[thread + half];
            }
            workgroupBarrier();
        }
        if thread == 0u {
            result[group.z * sizes.rows + row] = sums[0];
        }
    }
    "
    // END SOLUTION
}
