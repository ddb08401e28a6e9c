//! `Q4_0`: the low nibbles of 16 bytes are a block's first 16 codes, and the high nibbles are the
//! others. Codes are stored with 8 added.

use std::arch::aarch64::*;

use super::{blocks::Blocks, lanes::nibbles};

pub(super) struct Q4_0;

impl Blocks for Q4_0 {
    const BYTES: usize = 18;
    const OFFSET: f32 = -8.0;

    #[inline(always)]
    unsafe fn codes(four: *const u8, _: &mut *const u8) -> [int8x16_t; 8] {
        // SAFETY: this function has the same requirements; the codes are the last 16 bytes of a
        // block.
        unsafe { halves::<{ Self::BYTES }, 2>(four) }
    }
}

/// Returns the low and the high nibbles of 16 bytes in each of four blocks. The 16 bytes begin at
/// byte `FIRST` of the block.
///
/// # Safety
/// There must be four blocks at `four`.
#[inline(always)]
pub(super) unsafe fn halves<const BYTES: usize, const FIRST: usize>(
    four: *const u8,
) -> [int8x16_t; 8] {
    // SAFETY: this function has the same requirements; reads 16 bytes of a block.
    let block = |b: usize| nibbles(unsafe { vld1q_u8(four.add(b * BYTES + FIRST)) });
    let [[a, b], [c, d], [e, f], [g, h]] = [block(0), block(1), block(2), block(3)];
    [a, b, c, d, e, f, g, h]
}
