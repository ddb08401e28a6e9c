//! Against Q4_0: a fifth bit for each code. Its byte is brought to the code's lane, and the bit
//! that is the code's own tested.

use std::arch::aarch64::*;

use super::{
    Format,
    lanes::{Multiply, dot_32, less, load, nibbles},
};
use crate::{blocks::f16_at, input::Int8Group};

pub(super) struct Q5_0;

impl Format for Q5_0 {
    unsafe fn dot<M: Multiply>(row: &[u8], x: &[Int8Group]) -> f32 {
        let mut sum = 0.0;
        for (blocks, x) in row.chunks(8 * 22).zip(x) {
            for ((block, p), scale) in
                blocks.chunks_exact(22).zip(x.values.as_chunks().0.chunks_exact(2)).zip(x.scales)
            {
                let [low, high] = nibbles(block[6..].try_into().expect("16 bytes"));
                let codes = [
                    less(with_fifth(low, block[2], block[3]), 16),
                    less(with_fifth(high, block[4], block[5]), 16),
                ];
                // SAFETY: as for this function.
                let qp = unsafe { dot_32::<M>(codes, p) };
                sum += scale * f16_at(block, 0) * qp as f32;
            }
        }
        sum
    }
}

/// Adds 16 to the codes whose bit is set: bits of `first` belong to codes 0…7, those of `second` to
/// 8…15.
#[inline(always)]
fn with_fifth(codes: uint8x16_t, first: u8, second: u8) -> uint8x16_t {
    let own = load(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]);
    // SAFETY: every processor of this architecture has these instructions.
    unsafe {
        let bits = vcombine_u8(vdup_n_u8(first), vdup_n_u8(second));
        vorrq_u8(codes, vandq_u8(vtstq_u8(bits, own), vdupq_n_u8(16)))
    }
}
