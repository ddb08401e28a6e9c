//! `Q4_0`: two codes in a byte, the first 16 in the low halves; each lacks 8.

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
