//! The fused rung. (A rung is one set of kernels.) Unlike the naive rung, it multiplies each weight
//! as soon as the weight is decoded, and stores no decoded row.
//!
//! All weights of a block share a scale, so it can be factored out: `Σ d·q·x = d · Σ q·x`. That
//! leaves one multiplication by `d` per block. If the weights also share an offset or a minimum
//! `m`, that can be factored out too: `Σ (d·q − m)·x = d · Σ q·x − m · Σ x`.
//!
//! Tasks here: week2-day5 task 1 (`dot_q4_0`, `dot_q4_k`, `dot_q6_k`). Everything else is provided.

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_kernels::fused;
pub use tiny_llm_kernels::fused::Dot;

use crate::week2::{
    blocks::{f16_at, q4_k::scales_and_minimums},
    input::Input,
    matrix::Matrix,
    parallel::Tile,
};

/// Returns the fused kernels' dot-product function for rows of type `tensor_type`.
#[must_use]
pub fn dot(tensor_type: TensorType) -> Dot {
    match tensor_type {
        TensorType::Q8_0 => dot_q8_0,
        TensorType::Q4_0 => dot_q4_0,
        TensorType::Q5_0 => dot_q5_0,
        TensorType::Q4_K => dot_q4_k,
        TensorType::Q6_K => dot_q6_k,
        _ => fused::dot(tensor_type).expect("every other type is provided"),
    }
}

/// Computes a tile of the output. See [`super::Kernel`].
pub fn kernel(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let dot = dot(weight.tensor_type);
    for (i, r) in tile.cols().enumerate() {
        for t in tile.rows() {
            tile.row_mut(t)[i] = dot(weight.row(r), x.row(t));
        }
    }
}

/// Computes `Σ w·x` for a row of Q8_0 blocks and `x [32 · blocks]`. A block holds `d` (f16) and 32
/// codes `q` in −128…127. A weight is `w = d·q`. (This function is provided, as an example.)
#[must_use]
pub fn dot_q8_0(row: &[u8], x: &[f32]) -> f32 {
    let mut sum = 0.0;
    for (block, x) in row.chunks_exact(34).zip(x.chunks_exact(32)) {
        let codes = block[2..].iter().map(|&q| f32::from(q as i8));
        let qx: f32 = codes.zip(x).map(|(q, x)| q * x).sum();
        sum += f16_at(block, 0) * qx;
    }
    sum
}

/// Computes `Σ w·x` for a row of Q4_0 blocks and `x [32 · blocks]`. A block holds `d` (f16) and 16
/// bytes of two codes each. Byte `j` holds code `j` in its low half and code `j + 16` in its high
/// half. A weight is `w = d·(q − 8)`.
#[must_use]
pub fn dot_q4_0(row: &[u8], x: &[f32]) -> f32 {
    // SOLUTION week2-day5 task 1
    let mut sum = 0.0;
    for (block, x) in row.chunks_exact(18).zip(x.chunks_exact(32)) {
        let (low, high) = x.split_at(16);
        let (mut qx, mut x_sum) = (0.0, 0.0);
        for ((byte, low), high) in block[2..].iter().zip(low).zip(high) {
            qx += f32::from(byte & 15) * low + f32::from(byte >> 4) * high;
            x_sum += low + high;
        }
        sum += f16_at(block, 0) * (qx - 8.0 * x_sum);
    }
    sum
    // END SOLUTION
}

/// Like [`dot_q4_0`], but codes have five bits: `w = d·(q − 16)`. `x [32 · blocks]`. (Provided.)
#[must_use]
pub fn dot_q5_0(row: &[u8], x: &[f32]) -> f32 {
    fused::dot_q5_0(row, x)
}

/// Computes `Σ w·x` for a row of Q4_K blocks and `x [256 · blocks]`. A block holds `d` and `dmin`
/// (f16), 12 bytes of scales and minimums, and 128 bytes of codes. In sub-block `j` (32 weights),
/// `w = d·scale[j]·q − dmin·min[j]`.
#[must_use]
pub fn dot_q4_k(row: &[u8], x: &[f32]) -> f32 {
    // SOLUTION week2-day5 task 1
    let mut sum = 0.0;
    for (block, x) in row.chunks_exact(144).zip(x.chunks_exact(256)) {
        let (scales, mins) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
        let (mut scaled, mut shift) = (0.0, 0.0);
        for (j, x) in x.chunks_exact(32).enumerate() {
            // 32 bytes hold two sub-blocks: the even one in the low halves, the odd one in the high
            // halves.
            let bytes = &block[16 + j / 2 * 32..][..32];
            let codes = bytes.iter().map(|byte| f32::from(byte >> (j % 2 * 4) & 15));
            let qx: f32 = codes.zip(x).map(|(q, x)| q * x).sum();
            scaled += f32::from(scales[j]) * qx;
            shift += f32::from(mins[j]) * x.iter().sum::<f32>();
        }
        sum += f16_at(block, 0) * scaled - f16_at(block, 2) * shift;
    }
    sum
    // END SOLUTION
}

/// Computes `Σ w·x` for a row of Q6_K blocks and `x [256 · blocks]`. A block holds 128 bytes with
/// the low four bits of the codes, 64 bytes with the upper two bits, 16 scales (i8), and `d` (f16).
/// Every 16 weights share a scale: `w = d·scale·(q − 32)`.
#[must_use]
pub fn dot_q6_k(row: &[u8], x: &[f32]) -> f32 {
    // SOLUTION week2-day5 task 1
    let mut sum = 0.0;
    for (block, x) in row.chunks_exact(210).zip(x.chunks_exact(256)) {
        let mut scaled = 0.0;
        for (s, x) in x.chunks_exact(16).enumerate() {
            // The half of the block, the quarter of that half, and the index of the group's first
            // weight within that quarter.
            let (half, quarter, first) = (s / 8, s % 8 / 2, s % 2 * 16);
            let low = &block[half * 64 + quarter % 2 * 32 + first..][..16];
            let upper = &block[128 + half * 32 + first..][..16];
            let mut qx = 0.0;
            for ((low, upper), x) in low.iter().zip(upper).zip(x) {
                let q = low >> (quarter / 2 * 4) & 15 | (upper >> (quarter * 2) & 3) << 4;
                qx += (f32::from(q) - 32.0) * x;
            }
            scaled += f32::from(block[192 + s] as i8) * qx;
        }
        sum += f16_at(block, 208) * scaled;
    }
    sum
    // END SOLUTION
}
