//! `Q4_0`: a byte holds two codes. The first 16 codes are in the low nibbles. Codes are stored with
//! 8 added.

use std::arch::wasm32::*;

use super::{blocks::Blocks, lanes::load};

pub(super) struct Q4_0;

impl Blocks<18> for Q4_0 {
    #[inline(always)]
    fn codes(block: &[u8; 18]) -> [v128; 2] {
        let bytes = load(&block[2..].as_chunks().0[0]);
        let halves = [v128_and(bytes, u8x16_splat(15)), u8x16_shr(bytes, 4)];
        halves.map(|codes| i8x16_sub(codes, i8x16_splat(8)))
    }
}
