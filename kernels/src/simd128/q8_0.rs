//! `Q8_0`: codes are signed bytes, which need no unpacking.

use std::arch::wasm32::v128;

use super::{blocks::Blocks, lanes::load};

pub(super) struct Q8_0;

impl Blocks<34> for Q8_0 {
    #[inline(always)]
    fn codes(block: &[u8; 34]) -> [v128; 2] {
        let codes = block[2..].as_chunks().0;
        [load(&codes[0]), load(&codes[1])]
    }
}
