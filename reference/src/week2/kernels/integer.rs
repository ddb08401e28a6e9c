//! The integer rung. (A rung is one set of kernels.) Unlike in the fused rung, the activations are
//! small integers, like the codes of the weights. So the products are computed exactly, in integer
//! arithmetic, and floats are needed only once for each scale.
//!
//! The weights have the scale `d` and codes `q`, and the activations have the scale `s` and values
//! `p`. Both scales can be factored out: `Σ d·q · s·p = d · s · Σ q·p`. A block of 32 weights is
//! multiplied by 32 activations that share a scale. A block of 256 weights is multiplied by a
//! super-block of 256 activations that share a scale. So even the multiplications by the
//! sub-blocks' own scales are done in integers.
//!
//! For minimums, the fused rung adds up the activations `x` for every row of weights. Here, use
//! [`Int8SuperBlock::sums`] instead: sums of 16 values `p`, computed once for all rows.
//!
//! Tasks here: week2-day5 task 3 (`dot_q4_0`, `dot_q4_k`, `dot_q6_k`). Everything else is provided.

use tiny_llm_formats::gguf::TensorType;
use tiny_llm_kernels::integer;
pub use tiny_llm_kernels::integer::Dot;

use crate::week2::{
    blocks::{f16_at, q4_k::scales_and_minimums},
    input::Int8SuperBlock,
};

/// Returns the integer kernels' dot-product function for rows of type `Q8_0`, `Q4_0`, `Q5_0`,
/// `Q4_K` or `Q6_K`. Returns `None` for any other type.
#[must_use]
pub fn dot(tensor_type: TensorType) -> Option<Dot> {
    Some(match tensor_type {
        TensorType::Q8_0 => dot_q8_0,
        TensorType::Q4_0 => dot_q4_0,
        TensorType::Q5_0 => dot_q5_0,
        TensorType::Q4_K => dot_q4_k,
        TensorType::Q6_K => dot_q6_k,
        _ => return None,
    })
}

/// Like [`super::fused::dot_q8_0`], with activations in int8. Each super-block of activations is
/// multiplied by eight blocks, or by fewer at the end of a row. (This function is provided, as an
/// example.)
#[must_use]
pub fn dot_q8_0(row: &[u8], x: &[Int8SuperBlock]) -> f32 {
    let mut sum = 0.0;
    for (blocks, x) in row.chunks(8 * 34).zip(x) {
        for ((block, p), scale) in
            blocks.chunks_exact(34).zip(x.values.chunks_exact(32)).zip(x.scales)
        {
            let qp: i32 =
                block[2..].iter().zip(p).map(|(&q, &p)| i32::from(q as i8) * i32::from(p)).sum();
            sum += scale * f16_at(block, 0) * qp as f32;
        }
    }
    sum
}

/// Like [`super::fused::dot_q4_0`], with activations in int8.
#[must_use]
pub fn dot_q4_0(row: &[u8], x: &[Int8SuperBlock]) -> f32 {
    // SOLUTION week2-day5 task 3
    let mut sum = 0.0;
    for (blocks, x) in row.chunks(8 * 18).zip(x) {
        for (b, block) in blocks.chunks_exact(18).enumerate() {
            let (low, high) = x.values[b * 32..][..32].split_at(16);
            let mut qp = -8 * sum_of_32(x, b);
            for ((byte, &low), &high) in block[2..].iter().zip(low).zip(high) {
                qp +=
                    i32::from(byte & 15) * i32::from(low) + i32::from(byte >> 4) * i32::from(high);
            }
            sum += x.scales[b] * f16_at(block, 0) * qp as f32;
        }
    }
    sum
    // END SOLUTION
}

/// Like [`super::fused::dot_q5_0`], with activations in int8. (Provided.)
#[must_use]
pub fn dot_q5_0(row: &[u8], x: &[Int8SuperBlock]) -> f32 {
    integer::dot_q5_0(row, x)
}

/// Like [`super::fused::dot_q4_k`], with activations in int8. Each block is multiplied by one
/// super-block of activations. The sub-blocks' scales and minimums are multiplied as integers.
#[must_use]
pub fn dot_q4_k(row: &[u8], x: &[Int8SuperBlock]) -> f32 {
    // SOLUTION week2-day5 task 3
    let mut sum = 0.0;
    for (block, x) in row.chunks_exact(144).zip(x) {
        let (scales, mins) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
        let (mut scaled, mut shift) = (0, 0);
        for (j, p) in x.values.chunks_exact(32).enumerate() {
            let bytes = &block[16 + j / 2 * 32..][..32];
            let codes = bytes.iter().map(|byte| i32::from(byte >> (j % 2 * 4) & 15));
            let qp: i32 = codes.zip(p).map(|(q, &p)| q * i32::from(p)).sum();
            scaled += i32::from(scales[j]) * qp;
            shift += i32::from(mins[j]) * sum_of_32(x, j);
        }
        sum += x.scales[0] * (f16_at(block, 0) * scaled as f32 - f16_at(block, 2) * shift as f32);
    }
    sum
    // END SOLUTION
}

/// Like [`super::fused::dot_q6_k`], with activations in int8.
#[must_use]
pub fn dot_q6_k(row: &[u8], x: &[Int8SuperBlock]) -> f32 {
    // SOLUTION week2-day5 task 3
    let mut sum = 0.0;
    for (block, x) in row.chunks_exact(210).zip(x) {
        let mut scaled = 0;
        for (s, p) in x.values.chunks_exact(16).enumerate() {
            let (half, quarter, first) = (s / 8, s % 8 / 2, s % 2 * 16);
            let low = &block[half * 64 + quarter % 2 * 32 + first..][..16];
            let upper = &block[128 + half * 32 + first..][..16];
            let mut qp = -32 * i32::from(x.sums[s]);
            for ((low, upper), &p) in low.iter().zip(upper).zip(p) {
                let q = low >> (quarter / 2 * 4) & 15 | (upper >> (quarter * 2) & 3) << 4;
                qp += i32::from(q) * i32::from(p);
            }
            scaled += i32::from(block[192 + s] as i8) * qp;
        }
        sum += x.scales[0] * f16_at(block, 208) * scaled as f32;
    }
    sum
    // END SOLUTION
}

// SOLUTION week2-day5 task 3 (helper)
/// Returns the sum of the 32 values in `x` that are multiplied by block (or sub-block) `b`.
fn sum_of_32(x: &Int8SuperBlock, b: usize) -> i32 {
    i32::from(x.sums[2 * b]) + i32::from(x.sums[2 * b + 1])
}
// END SOLUTION
