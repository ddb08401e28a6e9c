//! `Q8_0`: codes are signed bytes, as they lie in the file.

use std::arch::x86_64::*;

use super::lanes::load;

/// 32 codes of a block.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn codes(block: &[u8; 34]) -> __m256i {
    load(block[2..].try_into().expect("32 codes"))
}
