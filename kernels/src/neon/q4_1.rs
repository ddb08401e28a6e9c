//! `Q4_1`: a scale and a minimum, then codes as in `Q4_0`.

use std::arch::aarch64::*;

use super::{blocks::Blocks, q4_0::halves};

pub(super) struct Q4_1;

impl Blocks for Q4_1 {
    const BYTES: usize = 20;
    const MINIMUM: bool = true;

    #[inline(always)]
    unsafe fn codes(four: *const u8, _: &mut *const u8) -> [int8x16_t; 8] {
        // SAFETY: this function has the same requirements; the codes are the last 16 bytes of a
        // block.
        unsafe { halves::<{ Self::BYTES }, 4>(four) }
    }
}
