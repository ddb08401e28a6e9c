//! Reads blocks of repacked weights, sixteen rows side by side, and unpacks their parts.

use std::arch::x86_64::*;

use super::{
    lanes::{load32, load64, part},
    many::super_block_bytes,
    panel::{Factors, LANES},
};
use crate::matrix::Matrix;

/// Returns the blocks of super-block `g` of sixteen rows. If `row`, the first of them, is past the
/// end of the matrix, returns the last sixteen rows instead.
#[inline(always)]
pub(super) fn blocks<const WIDE: usize>(weight: &Matrix, row: usize, g: usize) -> &[[u8; WIDE]] {
    let group = row.min(weight.rows - LANES) / LANES;
    let rows = weight.side_by_side(LANES, group).expect("a repacked matrix");
    let size = LANES * super_block_bytes(weight);
    rows[g * size..rows.len().min((g + 1) * size)].as_chunks().0
}

/// Returns word `i` of each row: the four bytes at `AT / 16 + 4i` of its block.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn word<const AT: usize>(block: &[u8], i: usize) -> __m512i {
    load64(part(block, AT + 64 * i))
}

/// Returns the low nibble of each byte if `high` is 0, or the high nibble if it is 1.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn nibble(bytes: __m512i, high: usize) -> __m512i {
    let moved = _mm512_srl_epi16(bytes, _mm_cvtsi32_si128(4 * high as i32));
    _mm512_and_si512(moved, _mm512_set1_epi8(15))
}

/// Converts the half-precision numbers of sixteen rows, which begin at byte `AT` of `block`, to
/// f32.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn halves<const AT: usize>(block: &[u8]) -> __m512i {
    _mm512_castps_si512(_mm512_cvtph_ps(load32(part(block, AT))))
}

impl Factors {
    /// Unpacks the scales, the minimums and their factors of blocks of `Q4_K` or `Q5_K`.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_sub_blocks(&mut self, block: &[u8]) {
        self.minimums[8] = halves::<0>(block);
        self.minimums[9] = halves::<{ LANES * 2 }>(block);
        self.set_six_bits([0, 1, 2].map(|i| word::<{ LANES * 4 }>(block, i)));
    }
}
