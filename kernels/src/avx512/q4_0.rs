//! `Q4_0`: a byte holds two codes, which are stored with 8 added.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks,
    columns::{COLUMNS, Eight},
    many,
    panel::{LANES, Panel, Rows},
    side_by_side,
    sixteen_rows::{halves, nibble, word},
    turn::turned_heads,
    words::Blocks,
};
use crate::{format::Q4_0, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q4_0.block_bytes();
/// Number of bytes before the codes in a block.
const HEAD: usize = 2;

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<Q4_0, BYTES, HEAD>(weight, x, tile);
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q4_0>(weight, x, tile, |panel, rows| fill(panel, rows));
}

#[inline]
#[target_feature(enable = "avx512bw")]
pub(crate) fn unpack(bytes: &[u8]) -> Eight {
    let blocks = Blocks::<BYTES, HEAD>(bytes);
    Eight { codes: blocks.nibbles(), scales: blocks.scales(), minimums: _mm512_setzero_ps() }
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
        panel.set_block_scale(block, &rows, block * BYTES);
        panel.set_block_nibbles(block, turned_heads(&rows, block * BYTES + HEAD));
    }
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    side_by_side::multiply::<Q4_0, { LANES * BYTES }>(
        weight,
        x,
        tile,
        |factors, i, block| factors.scales[2 * i] = halves::<0>(block),
        |block, i| nibble(word::<{ LANES * HEAD }>(block, i % 4), i / 4),
    );
}
