//! `Q4_0`: two codes in a byte, 8 too high.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks,
    columns::{COLUMNS, Eight},
    many,
    words::Blocks,
};
use crate::{format::Q4_0, input::Input, matrix::Matrix, parallel::Tile};

/// Bytes in a block.
const BYTES: usize = TensorType::Q4_0.block_bytes();

/// For few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<Q4_0, BYTES>(weight, x, tile, |bytes| unpack(bytes));
}

/// For many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q4_0>(weight, x, tile, &COLUMNS, |bytes| unpack(bytes).row());
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn unpack(bytes: &[u8]) -> Eight {
    let blocks = Blocks::<BYTES, 2>(bytes);
    Eight { codes: blocks.nibbles(), scales: blocks.scales(), minimums: _mm512_setzero_ps() }
}
