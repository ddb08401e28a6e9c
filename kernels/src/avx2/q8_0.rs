//! `Q8_0`: codes are signed bytes. With few rows of activations they are the course's to multiply.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    lanes::{load, part},
    many,
};
use crate::{format::Q8_0, input::Input, matrix::Matrix, parallel::Tile};

/// Bytes in a block.
const BYTES: usize = TensorType::Q8_0.block_bytes();

/// For many rows of activations. With 128 added the codes have no sign, and in two parts of four
/// bits, multiplied one after the other, several sums fit 16 bits.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::blocks::<Q8_0, BYTES, 2>(weight, x, tile, |block| {
        let four = _mm256_set1_epi8(15);
        let codes = _mm256_xor_si256(load(part(block, 2)), _mm256_set1_epi8(-128));
        [_mm256_and_si256(codes, four), _mm256_and_si256(_mm256_srli_epi16::<4>(codes), four)]
    });
}
