//! The fused rung (set of kernels), for formats whose product is not a task of the course: each
//! block is decoded into a small array, which the compiler keeps in registers, and multiplied
//! immediately.

use half::{bf16, f16};
use tiny_llm_formats::gguf::TensorType;

use crate::blocks::{f16_at, mxfp4, q2_k, q3_k, q4_1, q5_1, q5_k};

/// Computes the dot product of a row of weights, stored in blocks, and `x`, which has a value for
/// each weight.
pub type Dot = fn(row: &[u8], x: &[f32]) -> f32;

/// Returns the fused dot product for a type, or `None` if that product is a task of the course.
pub fn dot(tensor_type: TensorType) -> Option<Dot> {
    Some(match tensor_type {
        TensorType::F32 => |row, x| each(row, x, |b, [w]| *w = f32::from_le_bytes(*b)),
        TensorType::F16 => |row, x| each(row, x, |b, [w]| *w = f16::from_le_bytes(*b).to_f32()),
        TensorType::BF16 => |row, x| each(row, x, |b, [w]| *w = bf16::from_le_bytes(*b).to_f32()),
        TensorType::Q4_1 => |row, x| each(row, x, q4_1::dequantize),
        TensorType::Q5_0 => dot_q5_0,
        TensorType::Q5_1 => |row, x| each(row, x, q5_1::dequantize),
        TensorType::Q2_K => |row, x| each(row, x, q2_k::dequantize),
        TensorType::Q3_K => |row, x| each(row, x, q3_k::dequantize),
        TensorType::Q5_K => |row, x| each(row, x, q5_k::dequantize),
        TensorType::MXFP4 => |row, x| each(row, x, mxfp4::dequantize),
        _ => return None,
    })
}

#[inline(always)]
fn each<const BYTES: usize, const LEN: usize>(
    row: &[u8],
    x: &[f32],
    dequantize: impl Fn(&[u8; BYTES], &mut [f32; LEN]),
) -> f32 {
    let mut weights = [0.0; LEN];
    let mut sum = 0.0;
    for (block, x) in row.as_chunks().0.iter().zip(x.as_chunks::<LEN>().0) {
        dequantize(block, &mut weights);
        sum += weights.iter().zip(x).map(|(w, x)| w * x).sum::<f32>();
    }
    sum
}

/// Computes `Σ w·x` for a row of Q5_0 blocks, `x [32 · blocks]`. A block is `d` (f16), the fifth
/// bits of its 32 weights, and 16 bytes that each hold the low four bits of two weights: `w = d·(q
/// − 16)`.
pub fn dot_q5_0(row: &[u8], x: &[f32]) -> f32 {
    crate::withheld::check("fused::dot_q5_0");
    let mut sum = 0.0;
    for (block, x) in row.chunks_exact(22).zip(x.chunks_exact(32)) {
        let fifth = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
        let (mut qx, mut x_sum) = (0.0, 0.0);
        for (j, byte) in block[6..].iter().enumerate() {
            let low = u32::from(byte & 15) | (fifth >> j & 1) << 4;
            let high = u32::from(byte >> 4) | (fifth >> (j + 16) & 1) << 4;
            qx += low as f32 * x[j] + high as f32 * x[j + 16];
            x_sum += x[j] + x[j + 16];
        }
        sum += f16_at(block, 0) * (qx - 16.0 * x_sum);
    }
    sum
}
