//! Against Q4_0: a fifth bit for each code. Its byte is brought to the code's lane, its bit
//! compared.

use std::arch::x86_64::*;

use super::lanes::{lane, load_scales, load_signed, load_sums, nibbles, scales};
use crate::input::Int8Group;

/// The products of up to eight blocks with a group, with both their scales, in eight lanes that are
/// still to be added up.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot(blocks: &[[u8; 22]], x: &Int8Group) -> __m256 {
    let scales = _mm256_mul_ps(scales(blocks), load_scales(&x.scales));
    let offset = _mm256_madd_epi16(load_sums(&x.sums), _mm256_set1_epi16(-16));
    let mut acc = [_mm256_mul_ps(scales, _mm256_cvtepi32_ps(offset)), _mm256_setzero_ps()];
    for (b, (block, p)) in blocks.iter().zip(x.values.as_chunks().0).enumerate() {
        let pairs = _mm256_maddubs_epi16(codes(block), load_signed(p));
        let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
        acc[b % 2] = _mm256_fmadd_ps(lane(scales, b), _mm256_cvtepi32_ps(fours), acc[b % 2]);
    }
    _mm256_add_ps(acc[0], acc[1])
}

/// 32 codes of a block, 0…31.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn codes(block: &[u8; 22]) -> __m256i {
    let low = nibbles(block[6..].try_into().expect("16 bytes"));
    // Lane i: byte i / 8 of the fifth bits, of which bit i % 8 is its own.
    let fifth = _mm256_set1_epi32(i32::from_le_bytes([block[2], block[3], block[4], block[5]]));
    let spread =
        _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let own = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    let set = _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(fifth, spread), own), own);
    _mm256_or_si256(low, _mm256_and_si256(set, _mm256_set1_epi8(16)))
}
