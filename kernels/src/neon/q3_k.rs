//! `Q3_K`: like `Q2_K`, with a third bit for each code. A byte holds the third bits of eight
//! weights that are 32 apart. Codes are stored with 4 added, and there are no minimums.

use std::arch::aarch64::*;

use super::{
    lanes::{load, load_signed, one_half, signed},
    q2_k::two_bits,
    super_blocks::{Head, SuperBlocks},
};
use crate::blocks::q3_k;

pub(super) struct Q3K;

impl SuperBlocks<1> for Q3K {
    type Block = [u8; 110];
    const ONE_FACTOR: bool = true;

    fn blocks(row: &[u8]) -> &[Self::Block] {
        row.as_chunks().0
    }

    #[inline(always)]
    unsafe fn head(block: &Self::Block) -> Head {
        // SAFETY: every processor of this architecture has these instructions.
        unsafe {
            let scales = load_signed(&q3_k::scales(block[96..108].try_into().expect("12 bytes")));
            let scales = [vmovl_s8(vget_low_s8(scales)), vmovl_high_s8(scales)];
            Head {
                factors: one_half(block[108..].try_into().expect("two bytes")),
                scales,
                shifts: scales.map(|scales| vshlq_n_s16::<2>(scales)),
            }
        }
    }

    #[inline(always)]
    unsafe fn codes(block: &Self::Block, mut each: impl FnMut(usize, [int8x16_t; 2])) {
        // SAFETY: every processor of this architecture has these instructions.
        unsafe {
            let bytes = block[..96].as_chunks().0;
            let mut third = [load(&bytes[0]), load(&bytes[1])];
            for half in 0..2 {
                for quarter in 0..4 {
                    let codes = std::array::from_fn(|h| {
                        let two = two_bits(load(&bytes[2 + 2 * half + h]), quarter);
                        let code = vsliq_n_u8::<2>(two, vandq_u8(third[h], vdupq_n_u8(1)));
                        third[h] = vshrq_n_u8::<1>(third[h]);
                        signed(code)
                    });
                    each(4 * half + quarter, codes);
                }
            }
        }
    }
}
