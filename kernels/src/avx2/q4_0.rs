//! `Q4_0`. In the kernel for a few rows of activations, a register holds the low nibbles (or the
//! high nibbles) of two blocks. Four rows of weights are read side by side, so that the activations
//! are prepared once for all of them.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks::{Scales, add_pairs, in_pairs},
    columns::{self, Columns},
    eights,
    lanes::{load_half, load_signed, nibbles},
};
use crate::{
    format::Q4_0,
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q4_0.block_bytes();
/// Number of blocks per super-block of activations.
const BLOCKS: usize = 8;

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    each_four(weight, tile, |rows, t| dot(rows, x.int8_row(t)));
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn dot(rows: [&[u8]; STREAMS], x: &[Int8SuperBlock]) -> [f32; STREAMS] {
    let ahead = distance();
    let mut sums = [_mm_setzero_ps(); STREAMS];
    let (whole, rest) = (rows[0].len() / (BLOCKS * BYTES), rows[0].len() % (BLOCKS * BYTES));
    for (g, x) in x[..whole].iter().enumerate() {
        let mut blocks = [&[[0; BYTES]; BLOCKS]; STREAMS];
        for s in 0..STREAMS {
            let bytes = &rows[s][g * BLOCKS * BYTES..(g + 1) * BLOCKS * BYTES];
            prefetch(bytes, ahead);
            // Now the length is known at compile time.
            blocks[s] = bytes.as_chunks().0.first_chunk().expect("eight blocks");
        }
        add(blocks, x, &mut sums);
    }
    if let Some(x) = x.get(whole) {
        let mut blocks = [[[0; BYTES]; BLOCKS]; STREAMS];
        for s in 0..STREAMS {
            let bytes = &rows[s][whole * BLOCKS * BYTES..][..rest];
            blocks[s].as_flattened_mut()[..rest].copy_from_slice(bytes);
        }
        add(blocks.each_ref(), x, &mut sums);
    }
    sums.map(|sum| _mm_cvtss_f32(sum))
}

/// Multiplies eight blocks of each row by a super-block of activations, and adds the products to
/// `sums`.
///
/// The sum of four products of codes and activations is at most 4 · 15 · 127, which fits in i16.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn add(
    blocks: [&[[u8; BYTES]; BLOCKS]; STREAMS],
    x: &Int8SuperBlock,
    sums: &mut [__m128; STREAMS],
) {
    let (fifteen, one) = (_mm256_set1_epi8(15), _mm256_set1_epi16(1));
    let values = x.values.as_chunks().0;
    let mut products = [[_mm256_setzero_si256(); BLOCKS / 2]; STREAMS];
    for pair in 0..BLOCKS / 2 {
        let (a, b) = (2 * pair, 2 * pair + 1);
        let (first, second) = (load_signed(&values[a]), load_signed(&values[b]));
        let (low_x, high_x) = (
            _mm256_permute2x128_si256::<0x20>(first, second),
            _mm256_permute2x128_si256::<0x31>(first, second),
        );
        for s in 0..STREAMS {
            let half = |b: usize| load_half(blocks[s][b][2..].try_into().expect("16 bytes"));
            let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(half(a)), half(b));
            let low = _mm256_maddubs_epi16(_mm256_and_si256(both, fifteen), low_x);
            let high = _mm256_maddubs_epi16(
                _mm256_and_si256(_mm256_srli_epi16::<4>(both), fifteen),
                high_x,
            );
            products[s][pair] = _mm256_madd_epi16(_mm256_add_epi16(low, high), one);
        }
    }
    for s in 0..STREAMS {
        let scales = Scales::of::<Q4_0, BYTES>(blocks[s], x);
        sums[s] = add_pairs(sums[s], in_pairs(products[s]), &scales);
    }
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    columns::multiply::<Q4_0, BYTES, 1>(weight, x, tile, |block| codes(block), |codes| [codes]);
}

/// Returns the 32 codes of a block, in 0…15: the low nibbles of its bytes, then the high nibbles.
#[inline]
#[target_feature(enable = "avx2")]
fn codes(block: &[u8; BYTES]) -> __m256i {
    nibbles(block[2..].try_into().expect("16 bytes"))
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    eights::blocks::<Q4_0, { 8 * BYTES }, 1>(weight, x, tile, |block| Columns {
        codes: [eights::nibbles::<16>(block)],
        scales: eights::halves::<0>(block),
        minimums: _mm256_setzero_ps(),
    });
}
