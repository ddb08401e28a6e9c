//! `Q4_0`: two codes in a byte, 8 too high.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks,
    columns::{COLUMNS, Eight},
    lanes::transpose,
    many,
    panel::{LANES, Panel, Rows},
    words::Blocks,
};
use crate::{format::Q4_0, input::Input, matrix::Matrix, parallel::Tile, prefetch::prefetch};

/// Bytes in a block.
const BYTES: usize = TensorType::Q4_0.block_bytes();
/// Of these, before the codes.
const HEAD: usize = 2;

/// For few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<Q4_0, BYTES, HEAD>(weight, x, tile);
}

/// For many rows of activations.
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
    if rows.rows[0].len() < 8 * BYTES {
        panel.fill(&COLUMNS, rows, |bytes| unpack(bytes).row());
        return;
    }
    panel.set_block_scales::<BYTES>(rows);
    let mut bytes = [[_mm512_setzero_si512(); LANES]; 2];
    for i in 0..LANES {
        let row = &rows.rows[i][..8 * BYTES];
        prefetch(row, rows.ahead);
        [bytes[0][i], bytes[1][i]] = Blocks::<BYTES, HEAD>(row).codes();
    }
    panel.set_nibbles(&COLUMNS, (0, 2), transpose(bytes[0]));
    panel.set_nibbles(&COLUMNS, (1, 3), transpose(bytes[1]));
}
