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
    todo!("week4-day5 task 3: q8_0")
}

/// Returns the same two functions as [`q8_0`], but for Q4_0, whose blocks have 18 bytes: an f16
/// scale, then 16 bytes. The low half of byte `j` is element `j`, and the high half is element
/// `j + 16`. Each element is stored as its value plus 8.
#[must_use]
pub fn q4_0() -> &'static str {
    todo!("week4-day5 task 3: q4_0")
}

/// Returns WGSL source to append to [`BINDINGS`], [`READING`] and a format's functions: `main`,
/// with 64 threads per workgroup. A workgroup computes `result[column, row]`, the dot product of
/// one row of weights and one column of `x`. Its index along the grid's `z` axis is the column. For
/// each column, the grid has a workgroup for every row of weights. These workgroups may form
/// several rows along the grid's `x` and `y` axes. There may be more of them than `sizes.rows`. A
/// row of weights has `sizes.k / 32` blocks. Each block is read once for each column.
#[must_use]
pub fn mat_vec() -> &'static str {
    todo!("week4-day5 task 3: mat_vec")
}
