//! `MXFP4`: a byte holds two codes, each looked up in a table of 16. The scale is a power of two.

use std::arch::aarch64::*;

use super::{blocks::Blocks, lanes::load_signed, q4_0::halves};
use crate::blocks::mxfp4::{TWICE, half_of_scale};

pub(super) struct Mxfp4;

impl Blocks for Mxfp4 {
    const BYTES: usize = 17;

    #[inline(always)]
    unsafe fn codes(four: *const u8, _: &mut *const u8) -> [int8x16_t; 8] {
        // SAFETY: this function has the same requirements; the codes are the last 16 bytes of a
        // block.
        unsafe {
            let table = load_signed(&TWICE);
            halves::<{ Self::BYTES }, 1>(four)
                .map(|numbers| vqtbl1q_s8(table, vreinterpretq_u8_s8(numbers)))
        }
    }

    #[inline(always)]
    unsafe fn scales(four: *const u8) -> (float32x4_t, *const u8) {
        // SAFETY: there are four blocks, as this function requires, and each begins with its
        // exponent.
        unsafe {
            let scale = |b: usize| half_of_scale(*four.add(b * Self::BYTES));
            let scales = [scale(0), scale(1), scale(2), scale(3)];
            (vld1q_f32(scales.as_ptr()), four.add(4 * Self::BYTES))
        }
    }
}
