//! `Q2_K`: a byte holds the two-bit codes of four weights that are 32 apart. Every 16 weights share
//! a scale and a minimum of four bits.

use std::arch::aarch64::*;

use super::{
    lanes::{load, signed, two_halves},
    super_blocks::{Head, SuperBlocks},
};

pub(super) struct Q2K;

impl SuperBlocks<1> for Q2K {
    type Block = [u8; 84];

    fn blocks(row: &[u8]) -> &[Self::Block] {
        row.as_chunks().0
    }

    #[inline(always)]
    unsafe fn head(block: &Self::Block) -> Head {
        // SAFETY: every processor of this architecture has these instructions.
        unsafe {
            let both = load(block[..16].try_into().expect("16 bytes"));
            let wide = |bytes: uint8x16_t| {
                let (low, high) = (vmovl_u8(vget_low_u8(bytes)), vmovl_high_u8(bytes));
                [vreinterpretq_s16_u16(low), vreinterpretq_s16_u16(high)]
            };
            Head {
                factors: two_halves(block[80..].try_into().expect("four bytes")),
                scales: wide(vandq_u8(both, vdupq_n_u8(15))),
                shifts: wide(vshrq_n_u8::<4>(both)),
            }
        }
    }

    #[inline(always)]
    unsafe fn codes(block: &Self::Block, mut each: impl FnMut(usize, [int8x16_t; 2])) {
        let bytes = block[16..80].as_chunks().0;
        for half in 0..2 {
            for quarter in 0..4 {
                let codes =
                    std::array::from_fn(|h| signed(two_bits(load(&bytes[2 * half + h]), quarter)));
                each(4 * half + quarter, codes);
            }
        }
    }
}

/// Returns bits `2 · quarter` and `2 · quarter + 1` of each byte.
#[inline(always)]
pub(super) fn two_bits(bytes: uint8x16_t, quarter: usize) -> uint8x16_t {
    // SAFETY: every processor of this architecture has these instructions.
    unsafe {
        let moved = match quarter {
            0 => bytes,
            1 => vshrq_n_u8::<2>(bytes),
            2 => vshrq_n_u8::<4>(bytes),
            _ => return vshrq_n_u8::<6>(bytes),
        };
        vandq_u8(moved, vdupq_n_u8(3))
    }
}
