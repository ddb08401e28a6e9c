//! `Q8_0`: codes are signed bytes. `vpdpbusd` needs one unsigned operand, so 128 is added to each
//! code.

use std::arch::x86_64::*;

use super::{
    byte_scales::BYTES,
    bytes::{self, codes},
    lanes::{part, transpose, twice},
    many,
    panel::{LANES, Panel, Row, Rows},
    q6_k, side_by_side,
    sixteen_rows::{halves, word},
};
use crate::{format::Q8_0, input::Input, matrix::Matrix, parallel::Tile};

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    bytes::multiply(weight, x, tile);
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q8_0>(weight, x, tile, |panel, rows| fill(panel, rows));
}

/// Unpacks up to eight blocks.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
fn row(bytes: &[u8]) -> Row {
    let mut row = Row {
        codes: [_mm512_setzero_si512(); 4],
        scales: _mm512_setzero_ps(),
        minimums: _mm512_setzero_si512(),
    };
    for v in 0..4 {
        row.codes[v] = codes(bytes, v);
    }
    row.scales = twice(scales(bytes));
    row
}

/// Returns the scales of eight blocks, with zeros for missing blocks.
#[inline]
#[target_feature(enable = "avx512vl,f16c")]
pub(crate) fn scales(bytes: &[u8]) -> __m256 {
    let four = |b: usize| {
        let word = |i: usize| scale(bytes, b + i) << (16 * i);
        (word(0) | word(1) | word(2) | word(3)) as i64
    };
    _mm256_cvtph_ps(_mm_set_epi64x(four(4), four(0)))
}

/// Returns the bits of a block's scale, or zero if the block is missing.
#[inline(always)]
fn scale(bytes: &[u8], b: usize) -> u64 {
    match (b + 1) * BYTES <= bytes.len() {
        true => u64::from(u16::from_le_bytes(*part(bytes, b * BYTES))),
        false => 0,
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn fill(panel: &mut Panel, rows: &Rows<'_>) {
    let Some(rows) = rows.whole::<{ 8 * BYTES }>() else {
        panel.fill(&q6_k::ORDER.columns, rows, |bytes| row(bytes));
        return;
    };
    rows.fetch_rest(4 * LANES);
    for block in 0..8 {
        panel.set_block_scale(block, &rows, block * BYTES);
    }
    for v in 0..4 {
        let mut bytes = [_mm512_setzero_si512(); LANES];
        for i in 0..LANES {
            rows.soon.fetch(LANES * v + i);
            bytes[i] = codes(rows.rows[i], v);
        }
        panel.codes[16 * v..][..LANES].copy_from_slice(&transpose(bytes));
    }
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    side_by_side::multiply::<Q8_0, { LANES * BYTES }>(
        weight,
        x,
        tile,
        |factors, i, block| factors.scales[2 * i] = halves::<0>(block),
        |block, i| _mm512_xor_si512(word::<{ LANES * 2 }>(block, i), _mm512_set1_epi8(-128)),
    );
}
