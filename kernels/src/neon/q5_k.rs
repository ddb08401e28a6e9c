//! `Q5_K`: against `Q4_K` a fifth bit for each code, of eight sub-blocks in one byte.

use std::arch::aarch64::*;

use super::{
    lanes::{load, signed},
    q4_k::six_bit_head,
    superblocks::{Head, Superblocks},
};

pub(super) struct Q5K;

impl Superblocks<2> for Q5K {
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
            for j in 0..4 {
                for half in 0..2 {
                    let codes = std::array::from_fn(|h| {
                        let four = load(&bytes[2 + 2 * j + h]);
                        let four = if half == 0 { four } else { vshrq_n_u8::<4>(four) };
                        // What is above the four bits goes when the fifth is put there.
                        let code = vsliq_n_u8::<4>(four, vandq_u8(fifth[h], vdupq_n_u8(1)));
                        fifth[h] = vshrq_n_u8::<1>(fifth[h]);
                        signed(code)
                    });
                    each(2 * j + half, codes);
                }
            }
        }
    }
}
