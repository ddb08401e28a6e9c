//! `Q8_0`: codes are signed bytes.

use std::arch::aarch64::*;

use super::{blocks::Blocks, lanes::four_pairs};

pub(super) struct Q8_0;

impl Blocks for Q8_0 {
    const BYTES: usize = 34;

    #[inline(always)]
    unsafe fn codes(_: *const u8, own: &mut *const u8) -> [int8x16_t; 8] {
        // SAFETY: this function has the same requirements; the codes are all bytes after the scale.
        unsafe { four_pairs(own, Self::BYTES) }
    }
}
