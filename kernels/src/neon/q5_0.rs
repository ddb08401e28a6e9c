//! `Q5_0`: like `Q4_0`, with a fifth bit for each code. The byte with the bit is copied to the
//! code's lane, which then tests its own bit.

use std::arch::aarch64::*;

use super::{blocks::Blocks, lanes::signed};

pub(super) struct Q5_0;

impl Blocks for Q5_0 {
    const BYTES: usize = 22;

    #[inline(always)]
    unsafe fn codes(four: *const u8, _: &mut *const u8) -> [int8x16_t; 8] {
        // SAFETY: this function has the same requirements; two bytes come before the fifth bits.
        unsafe { five_bits::<{ Self::BYTES }, 2>(four) }
    }
}

/// Returns the codes of four blocks, minus 16. In each block, the fifth bits take four bytes, from
/// byte `FIRST` on. The 16 bytes after them each hold the low four bits of two codes.
///
/// # Safety
/// There must be four blocks at `four`.
#[inline(always)]
pub(super) unsafe fn five_bits<const BYTES: usize, const FIRST: usize>(
    four: *const u8,
) -> [int8x16_t; 8] {
    // SAFETY: this function has the same requirements; reads 20 bytes of a block.
    unsafe {
        let own = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
        let first_two = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1));
        let last_two = vcombine_u8(vdup_n_u8(2), vdup_n_u8(3));
        let block = |b: usize| {
            let fifth = four.add(b * BYTES + FIRST);
            let bytes = vld1q_u8(fifth.add(4));
            // If the bit is not set, the upper half of the code's byte becomes ones, which
            // subtracts 16. If the bit is set, the upper half becomes zeros.
            let missing = vdupq_n_u32(!fifth.cast::<u32>().read_unaligned());
            let missing = vreinterpretq_u8_u32(missing);
            let low = vtstq_u8(vqtbl1q_u8(missing, first_two), own);
            let high = vtstq_u8(vqtbl1q_u8(missing, last_two), own);
            [
                signed(vsliq_n_u8::<4>(bytes, low)),
                signed(vsliq_n_u8::<4>(vshrq_n_u8::<4>(bytes), high)),
            ]
        };
        let [[a, b], [c, d], [e, f], [g, h]] = [block(0), block(1), block(2), block(3)];
        [a, b, c, d, e, f, g, h]
    }
}
