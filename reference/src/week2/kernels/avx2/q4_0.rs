//! Against the integer rung: 32 products at once, of codes in 0…15. What all codes have too much is taken off as `8 · Σ p` in the same way.

use std::arch::x86_64::*;

use super::lanes::{lane, load_scales, load_signed, load_sums, nibbles, scales};
use crate::week2::input::Int8Group;

/// The products of up to eight blocks with a group, with both their scales, in eight lanes that are still to be added up.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot(blocks: &[[u8; 18]], x: &Int8Group) -> __m256 {
    let scales = _mm256_mul_ps(scales(blocks), load_scales(&x.scales));
    let offset = _mm256_madd_epi16(load_sums(&x.sums), _mm256_set1_epi16(-8));
    let mut acc = [_mm256_mul_ps(scales, _mm256_cvtepi32_ps(offset)), _mm256_setzero_ps()];
    for (b, (block, p)) in blocks.iter().zip(x.values.as_chunks().0).enumerate() {
        let pairs = _mm256_maddubs_epi16(codes(block), load_signed(p));
        let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
        acc[b % 2] = _mm256_fmadd_ps(lane(scales, b), _mm256_cvtepi32_ps(fours), acc[b % 2]);
    }
    _mm256_add_ps(acc[0], acc[1])
}

/// 32 codes of a block, 0…15: the low halves of its bytes, then the high ones.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn codes(block: &[u8; 18]) -> __m256i {
    nibbles(block[2..].try_into().expect("16 bytes"))
}
