//! The integer rung's product of Q5_0, a format that a day reads and no day multiplies. Those that no
//! day teaches have none here: they are unpacked, for one row of activations too.

use crate::{blocks::f16_at, input::Int8SuperBlock};

/// The product of a row of blocks with as many values,
/// [`SUPER_BLOCK`](crate::input::SUPER_BLOCK) in a super-block, the last of which may be longer than
/// the row.
pub type Dot = fn(row: &[u8], x: &[Int8SuperBlock]) -> f32;

/// [`crate::fused::dot_q5_0`] with activations in int8.
#[must_use]
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
