//! `Q4_K`: 32 bytes hold 64 codes. The low nibbles hold the codes of one sub-block, and the high
//! nibbles the codes of the next.

use std::arch::aarch64::*;

use super::{
    lanes::{load, nibbles, two_halves},
    super_blocks::{Head, SuperBlocks},
};
use crate::blocks::six_bits;

pub(super) struct Q4K;

impl SuperBlocks<2> for Q4K {
    type Block = [u8; 144];

    fn blocks(row: &[u8]) -> &[Self::Block] {
        row.as_chunks().0
    }

    #[inline(always)]
    unsafe fn head(block: &Self::Block) -> Head {
        six_bit_head(block[..16].try_into().expect("16 bytes"))
    }

    #[inline(always)]
    unsafe fn codes(block: &Self::Block, mut each: impl FnMut(usize, [int8x16_t; 2])) {
        let bytes = block[16..].as_chunks().0;
        for j in 0..4 {
            let (first, second) = (nibbles(load(&bytes[2 * j])), nibbles(load(&bytes[2 * j + 1])));
            each(2 * j, [first[0], second[0]]);
            each(2 * j + 1, [first[1], second[1]]);
        }
    }
}

/// Unpacks eight scales into an array, and eight minimums into the lanes of a register.
#[inline(always)]
pub fn scales_and_mins(packed: &[u8; 12]) -> ([i16; 8], int16x8_t) {
    let (scales, minimums) = six_bits::unpack(packed);
    (scales.to_le_bytes().map(i16::from), wide(minimums))
}

/// Widens eight bytes to 16 bits each.
#[inline(always)]
fn wide(bytes: u64) -> int16x8_t {
    // SAFETY: every processor of this architecture has these instructions.
    unsafe { vreinterpretq_s16_u16(vmovl_u8(vcreate_u8(bytes))) }
}

/// Unpacks `d`, `dmin`, and eight scales and minimums of six bits.
#[inline(always)]
pub(super) fn six_bit_head(head: &[u8; 16]) -> Head {
    // SAFETY: every processor of this architecture has these instructions.
    unsafe {
        let (scales, minimums) = six_bits::unpack(head[4..].try_into().expect("12 bytes"));
        let zero = vdupq_n_s16(0);
        Head {
            factors: two_halves(head[..4].try_into().expect("four bytes")),
            scales: [wide(scales), zero],
            shifts: [wide(minimums), zero],
        }
    }
}
