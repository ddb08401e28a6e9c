//! `Q6_K`: half a byte holds four bits of a code, and two more are stored elsewhere. Codes are
//! stored with 32 added. Every 16 weights, which fill a register, share a scale.

use std::arch::aarch64::*;

use super::{
    lanes::{load, one_half, signed},
    q2_k::two_bits,
    super_blocks::{Head, SuperBlocks},
};

pub(super) struct Q6K;

impl SuperBlocks<1> for Q6K {
    type Block = [u8; 210];
    const ONE_FACTOR: bool = true;

    fn blocks(row: &[u8]) -> &[Self::Block] {
        row.as_chunks().0
    }

    #[inline(always)]
    unsafe fn head(block: &Self::Block) -> Head {
        // SAFETY: every processor of this architecture has these instructions.
        unsafe {
            let scales = vreinterpretq_s8_u8(load(block[192..208].try_into().expect("16 bytes")));
            let scales = [vmovl_s8(vget_low_s8(scales)), vmovl_high_s8(scales)];
            Head {
                factors: one_half(block[208..].try_into().expect("two bytes")),
                scales,
                shifts: scales.map(|scales| vshlq_n_s16::<5>(scales)),
            }
        }
    }

    #[inline(always)]
    unsafe fn codes(block: &Self::Block, mut each: impl FnMut(usize, [int8x16_t; 2])) {
        // SAFETY: every processor of this architecture has these instructions.
        unsafe {
            let (low, upper) = (block[..128].as_chunks().0, block[128..192].as_chunks().0);
            for half in 0..2 {
                for quarter in 0..4 {
                    let codes = std::array::from_fn(|h| {
                        let four = load(&low[4 * half + quarter % 2 * 2 + h]);
                        let four = if quarter < 2 { four } else { vshrq_n_u8::<4>(four) };
                        // Inserting the two upper bits also overwrites the bits above the low four.
                        signed(vsliq_n_u8::<4>(four, two_bits(load(&upper[2 * half + h]), quarter)))
                    });
                    each(4 * half + quarter, codes);
                }
            }
        }
    }
}
