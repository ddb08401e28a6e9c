//! The dot product of the integer rung (set of kernels) for Q5_0, which the course decodes but does
//! not multiply. Formats that the course does not teach have no product here: their weights are
//! always unpacked first, even for a single row of activations.

use crate::{blocks::f16_at, input::Int8SuperBlock};

/// Computes the dot product of a row of blocks and a row of activations. There are
/// [`SUPER_BLOCK`](crate::input::SUPER_BLOCK) values per super-block, and the last super-block may
/// extend past the end of the row.
pub type Dot = fn(row: &[u8], x: &[Int8SuperBlock]) -> f32;

/// Computes [`crate::fused::dot_q5_0`] with quantized activations.
pub fn dot_q5_0(row: &[u8], x: &[Int8SuperBlock]) -> f32 {
    crate::withheld::check("integer::dot_q5_0");
    let mut sum = 0.0;
    for (blocks, x) in row.chunks(8 * 22).zip(x) {
        for (b, block) in blocks.chunks_exact(22).enumerate() {
            let p = &x.values[b * 32..][..32];
            let fifth = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
            let mut qp = -16 * (i32::from(x.sums[2 * b]) + i32::from(x.sums[2 * b + 1]));
            for (j, byte) in block[6..].iter().enumerate() {
                let low = u32::from(byte & 15) | (fifth >> j & 1) << 4;
                let high = u32::from(byte >> 4) | (fifth >> (j + 16) & 1) << 4;
                qp += low as i32 * i32::from(p[j]) + high as i32 * i32::from(p[j + 16]);
            }
            sum += x.scales[b] * f16_at(block, 0) * qp as f32;
        }
    }
    sum
}
