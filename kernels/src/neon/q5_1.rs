//! `Q5_1`: a scale and a minimum, then codes as in `Q5_0`, without an offset.

use std::arch::aarch64::*;

use super::{blocks::Blocks, q5_0::five_bits};

pub(super) struct Q5_1;

impl Blocks for Q5_1 {
    const BYTES: usize = 24;
    const OFFSET: f32 = 16.0;
    const MINIMUM: bool = true;

    #[inline(always)]
    unsafe fn codes(four: *const u8, _: &mut *const u8) -> [int8x16_t; 8] {
        // SAFETY: this function has the same requirements; four bytes come before the fifth bits.
        unsafe { five_bits::<{ Self::BYTES }, 4>(four) }
    }
}
