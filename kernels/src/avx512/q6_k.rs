//! `Q6_K`: half a byte holds four bits of a code, and two more are stored elsewhere. Codes are
//! stored with 32 added. Every 16 weights share a scale.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    lanes::{load16, load32, load64, one_half, part},
    many,
    order::Order,
    panel::{LANES, Panel, Rows},
    side_by_side,
    sixteen_rows::{halves, nibble, word},
    super_blocks::{self, SuperBlock},
    turn::turned,
};
use crate::{format::Q6_K, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q6_K.block_bytes();

/// The order of columns: the same as in the matrix.
pub(crate) const ORDER: Order = Order::new([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    super_blocks::multiply::<Q6_K, BYTES>(weight, x, tile, &ORDER, |block| unpack(block));
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q6_K>(weight, x, tile, |panel, rows| fill(panel, rows));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
pub(crate) fn unpack(block: &[u8; BYTES]) -> SuperBlock {
    let (low, upper) = (_mm512_set1_epi8(15), _mm512_set1_epi8(48));
    let with = |codes: __m512i, bits: __m512i| {
        _mm512_or_si512(_mm512_and_si512(codes, low), _mm512_and_si512(bits, upper))
    };
    let half = |h: usize| {
        let codes = load64(part(block, 64 * h));
        // Each byte holds the upper two bits of four codes. The weights in the upper half of a
        // vector come 32 places after those in the lower half, and their bits are the next two.
        let bits = _mm512_broadcast_i64x4(load32(part(block, 128 + 32 * h)));
        let bits = _mm512_mask_srli_epi16::<2>(bits, 0xffff_0000, bits);
        [with(codes, _mm512_slli_epi16::<4>(bits)), with(_mm512_srli_epi16::<4>(codes), bits)]
    };
    let ([a, b], [c, e]) = (half(0), half(1));
    let scales = _mm256_cvtepi8_epi16(load16(part(block, 192)));
    SuperBlock { codes: [a, b, c, e], scales, minimums: scales, d: one_half(part(block, 208)) }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
fn fill(panel: &mut Panel, rows: &Rows<'_>) {
    let rows = rows.whole::<BYTES>().expect("whole blocks");
    rows.fetch_rest(3 * LANES);
    panel.set_signed_scales(&rows, 192, 208);
    let bits = turned(&rows, 128, 0);
    let (low, upper) = (_mm512_set1_epi8(15), _mm512_set1_epi8(48));
    let with = |codes: __m512i, bits: __m512i| {
        _mm512_or_si512(_mm512_and_si512(codes, low), _mm512_and_si512(bits, upper))
    };
    for half in 0..2 {
        let codes = turned(&rows, 64 * half, LANES * (1 + half));
        for i in 0..16 {
            // For the first 32 weights, bits 0 and 1 belong to the codes in low nibbles, and bits 4
            // and 5 to the codes in high nibbles. For the next 32 weights, these positions are two
            // bits higher.
            let bits = bits[8 * half + i % 8];
            let [first, second] = if i < 8 {
                [_mm512_slli_epi16::<4>(bits), bits]
            } else {
                [_mm512_slli_epi16::<2>(bits), _mm512_srli_epi16::<2>(bits)]
            };
            panel.codes[32 * half + i] = with(codes[i], first);
            panel.codes[32 * half + 16 + i] = with(_mm512_srli_epi16::<4>(codes[i]), second);
        }
    }
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    side_by_side::multiply::<Q6_K, { LANES * BYTES }>(
        weight,
        x,
        tile,
        |factors, _, block| {
            factors.set_signed_bytes([0, 1, 2, 3].map(|i| word::<{ LANES * 192 }>(block, i)));
            factors.minimums[8] = halves::<{ LANES * 208 }>(block);
        },
        |block, i| {
            let code = nibble(word::<0>(block, i / 32 * 16 + i % 16), i / 16 % 2);
            // Each byte has the upper two bits of four codes, which are 32 columns apart.
            let bits = word::<{ LANES * 128 }>(block, i / 32 * 8 + i % 8);
            let two = _mm512_srl_epi16(bits, _mm_cvtsi32_si128(2 * (i as i32 / 8 % 4)));
            let two = _mm512_slli_epi16::<4>(two);
            _mm512_or_si512(code, _mm512_and_si512(two, _mm512_set1_epi8(48)))
        },
    );
}
