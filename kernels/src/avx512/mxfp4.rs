//! `MXFP4`: a byte holds two codes, each looked up in a table of 16. The scale is a power of two.

use std::arch::x86_64::*;

use super::{
    blocks,
    columns::{COLUMNS, Eight},
    four_bit_floats::{BYTES, halves_of_powers, looked_up},
    lanes::{load_lanes, load64, part},
    many,
    panel::{Panel, Rows},
    turn::turned_heads,
};
use crate::{format::MXFP4, input::Input, matrix::Matrix, parallel::Tile};

/// Number of bytes before the codes in a block.
const HEAD: usize = 1;

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<MXFP4, BYTES, HEAD>(weight, x, tile);
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<MXFP4>(weight, x, tile, |panel, rows| fill(panel, rows));
}

/// Unpacks up to eight blocks.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(crate) fn unpack(bytes: &[u8]) -> Eight {
    let mut filled = [0; 8 * BYTES];
    let eight: &[u8; 8 * BYTES] = bytes.first_chunk().unwrap_or_else(|| {
        // Missing blocks have exponents of zero (the smallest scales) and codes of zero.
        filled[..bytes.len()].copy_from_slice(bytes);
        &filled
    });
    let block = |b: usize| part(eight, b * BYTES + HEAD);
    let first = load_lanes([block(0), block(1), block(2), block(3)]);
    let second = load_lanes([block(4), block(5), block(6), block(7)]);
    let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    let odd = _mm512_add_epi64(even, _mm512_set1_epi64(1));
    let a = _mm512_permutex2var_epi64(first, even, second);
    let b = _mm512_permutex2var_epi64(first, odd, second);
    let low = |bytes| looked_up(_mm512_and_si512(bytes, _mm512_set1_epi8(15)));
    let high = |bytes| low(_mm512_srli_epi16::<4>(bytes));
    // As in `four_bit_floats::scales`, but with each scale twice.
    let places = _mm512_setr_epi32(0, 0, 4, 4, 8, 8, 12, 12, 16, 16, 20, 20, 24, 24, 28, 28);
    let shifts = _mm512_setr_epi32(0, 0, 8, 8, 16, 16, 24, 24, 0, 0, 8, 8, 16, 16, 24, 24);
    let four = |i: usize| load64(part(eight, 4 * i * BYTES));
    let exponents = _mm512_permutex2var_epi32(four(0), places, four(1));
    let scales = halves_of_powers(_mm512_srlv_epi32(exponents, shifts));
    Eight { codes: [low(a), low(b), high(a), high(b)], scales, minimums: _mm512_setzero_ps() }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn fill(panel: &mut Panel, rows: &Rows<'_>) {
    let Some(rows) = rows.whole::<{ 8 * BYTES }>() else {
        panel.fill(&COLUMNS, rows, |bytes| unpack(bytes).row());
        return;
    };
    rows.fetch_rest(32);
    for block in 0..8 {
        for line in 4 * block..4 * (block + 1) {
            rows.soon.fetch(line);
        }
        let scale = halves_of_powers(turned_heads(&rows, block * BYTES)[0]);
        let scale = _mm512_castps_si512(scale);
        panel.factors.scales[2 * block] = scale;
        panel.set_block_nibbles(block, turned_heads(&rows, block * BYTES + HEAD));
        for codes in &mut panel.codes[8 * block..][..8] {
            *codes = looked_up(*codes);
        }
    }
}
