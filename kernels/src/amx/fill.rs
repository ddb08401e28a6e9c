//! Rows out of their blocks with 512-bit instructions: what kernels for few rows of activations
//! unpack, put where tiles want it.

use std::arch::x86_64::*;

use super::panel::Panel;
use crate::{
    avx512::columns::Eight,
    format::{Format, Zero},
    input::BLOCK,
};

/// Eight blocks of row `i`.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn eight<F: Format>(panel: &mut Panel, i: usize, eight: Eight) {
    let offset = if let Zero::Offset(offset) = F::ZERO { offset } else { 0 };
    let offset = _mm512_set1_epi8(offset as i8);
    let [a, b, c, d] = eight.codes.map(|codes| _mm512_sub_epi8(codes, offset));
    // Eight columns of each block are in each vector, block after block. Two blocks are in each lane
    // of these: first columns 0 to 15 of blocks 0, 2, 4 and 6, then of the others.
    let (a, b, c, d) = (
        _mm512_unpacklo_epi64(a, b),
        _mm512_unpackhi_epi64(a, b),
        _mm512_unpacklo_epi64(c, d),
        _mm512_unpackhi_epi64(c, d),
    );
    let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    let even = [
        _mm512_permutex2var_epi64(a, first, c),
        _mm512_permutex2var_epi64(a, second, c),
    ];
    let odd = [
        _mm512_permutex2var_epi64(b, first, d),
        _mm512_permutex2var_epi64(b, second, d),
    ];
    for j in 0..2 {
        for (k, v) in [even[j], odd[j]].into_iter().enumerate() {
            store_block(panel, i, 4 * j + k, _mm512_castsi512_si256(v));
            store_block(panel, i, 4 * j + k + 2, _mm512_extracti64x4_epi64::<1>(v));
        }
    }
    store_scales(panel, i, eight.scales);
    if F::ZERO == Zero::Minimum {
        // SAFETY: 16 numbers of 32 bits are 64 bytes.
        unsafe { _mm512_storeu_ps(panel.minimums[i].as_mut_ptr(), eight.minimums) };
    }
}

/// The scales of row `i`, each twice.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_scales(panel: &mut Panel, i: usize, scales: __m512) {
    // SAFETY: 16 numbers of 32 bits are 64 bytes.
    unsafe { _mm512_storeu_ps(panel.scales[i].as_mut_ptr(), scales) };
}

/// 32 columns of row `i`, number `block` of them.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(crate) fn store_block(panel: &mut Panel, i: usize, block: usize, codes: __m256i) {
    let to = &mut panel.codes[(16 * block + i) * BLOCK..][..BLOCK];
    // SAFETY: 32 bytes are there.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), codes) };
}
