//! Against Q4_K: codes come from two places, and a scale belongs to 16 weights, a register.

use std::arch::aarch64::*;

use super::{
    Format,
    lanes::{Multiply, dot_16, less, load, nibbles},
};
use crate::{blocks::f16_at, input::Int8Group};

pub(super) struct Q6K;

impl Format for Q6K {
    unsafe fn dot<M: Multiply>(row: &[u8], x: &[Int8Group]) -> f32 {
        let mut sum = 0.0;
        for (block, x) in row.chunks_exact(210).zip(x) {
            let bytes: &[[u8; 16]] = block[..192].as_chunks().0;
            let p: &[[i8; 16]] = x.values.as_chunks().0;
            let mut scaled = 0;
            for half in 0..2 {
                // 16 weights of each quarter at a time: their low parts are in two bytes, their
                // upper ones in one.
                for sixteen in 0..2 {
                    let upper = load(&bytes[8 + 2 * half + sixteen]);
                    let [first, third] = nibbles(&bytes[4 * half + sixteen]);
                    let [second, fourth] = nibbles(&bytes[4 * half + 2 + sixteen]);
                    for (quarter, codes) in
                        with_upper([first, second, third, fourth], upper).into_iter().enumerate()
                    {
                        let s = 8 * half + 2 * quarter + sixteen;
                        // SAFETY: as for this function.
                        let qp = unsafe { dot_16::<M>(less(codes, 32), &p[s]) };
                        scaled += i32::from(block[192 + s] as i8) * qp;
                    }
                }
            }
            sum += x.scales[0] * f16_at(block, 208) * scaled as f32;
        }
        sum
    }
}

/// The upper two bits of four quarters' codes stand in one byte, the first quarter's lowest.
#[inline(always)]
fn with_upper(low: [uint8x16_t; 4], upper: uint8x16_t) -> [uint8x16_t; 4] {
    // SAFETY: every processor of this architecture has these instructions.
    unsafe {
        let two = vdupq_n_u8(0x30);
        [
            vorrq_u8(low[0], vandq_u8(vshlq_n_u8::<4>(upper), two)),
            vorrq_u8(low[1], vandq_u8(vshlq_n_u8::<2>(upper), two)),
            vorrq_u8(low[2], vandq_u8(upper, two)),
            vorrq_u8(low[3], vandq_u8(vshrq_n_u8::<2>(upper), two)),
        ]
    }
}
