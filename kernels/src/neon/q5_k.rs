//! `Q5_K`: like `Q4_K`, with a fifth bit for each code. A byte holds the fifth bits of eight
//! sub-blocks.

use std::arch::aarch64::*;

use super::{
    lanes::{load, signed},
    q4_k::six_bit_head,
    super_blocks::{Head, SuperBlocks},
};

pub(super) struct Q5K;

impl SuperBlocks<2> for Q5K {
    type Block = [u8; 176];

    fn blocks(row: &[u8]) -> &[Self::Block] {
        row.as_chunks().0
    }

    #[inline(always)]
    unsafe fn head(block: &Self::Block) -> Head {
        six_bit_head(block[..16].try_into().expect("16 bytes"))
    }

    #[inline(always)]
    unsafe fn codes(block: &Self::Block, mut each: impl FnMut(usize, [int8x16_t; 2])) {
        // SAFETY: every processor of this architecture has these instructions.
        unsafe {
            let bytes = block[16..].as_chunks().0;
            let mut fifth = [load(&bytes[0]), load(&bytes[1])];
            let mut next = |i: usize| {
                let codes = std::array::from_fn(|h| {
                    let four = load(&bytes[2 + i / 2 * 2 + h]);
                    let four = if i.is_multiple_of(2) { four } else { vshrq_n_u8::<4>(four) };
                    // Inserting the fifth bit also overwrites the bits above the low four.
                    let code = vsliq_n_u8::<4>(four, vandq_u8(fifth[h], vdupq_n_u8(1)));
                    fifth[h] = vshrq_n_u8::<1>(fifth[h]);
                    signed(code)
                });
                each(i, codes);
            };
            // This is not a loop, because the compiler would not unroll it and would compute the
            // sub-block's position each time.
            next(0);
            next(1);
            next(2);
            next(3);
            next(4);
            next(5);
            next(6);
            next(7);
        }
    }
}
