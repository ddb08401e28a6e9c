//! Against the integer rung: 16 codes from a mask, 16 from a shift, 8 taken off all of them at
//! once.

use super::{
    Format,
    lanes::{Multiply, dot_32, less, nibbles},
};
use crate::{blocks::f16_at, input::Int8Group};

pub(super) struct Q4_0;

impl Format for Q4_0 {
    unsafe fn dot<M: Multiply>(row: &[u8], x: &[Int8Group]) -> f32 {
        let mut sum = 0.0;
        for (blocks, x) in row.chunks(8 * 18).zip(x) {
            for ((block, p), scale) in
                blocks.chunks_exact(18).zip(x.values.as_chunks().0.chunks_exact(2)).zip(x.scales)
            {
                let [low, high] = nibbles(block[2..].try_into().expect("16 bytes"));
                // SAFETY: as for this function.
                let qp = unsafe { dot_32::<M>([less(low, 8), less(high, 8)], p) };
                sum += scale * f16_at(block, 0) * qp as f32;
            }
        }
        sum
    }
}
