//! Against the integer rung: a register holds the low, or the high, codes of two blocks at once.
//! Four rows of weights are read side by side, so that what is done to the activations is done once
//! for all of them.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    lanes::{halves_at, load_half, load_scales, load_signed, load_sums, nibbles, sum},
    many,
};
use crate::{
    format::Q4_0,
    input::{Input, Int8Group},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// Bytes in a block.
const BYTES: usize = TensorType::Q4_0.block_bytes();
/// Blocks that meet a group.
const BLOCKS: usize = 8;

/// For few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    each_four(weight, tile, |rows, t| dot(rows, x.int8_row(t)));
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn dot(rows: [&[u8]; STREAMS], x: &[Int8Group]) -> [f32; STREAMS] {
    let ahead = distance();
    let mut acc = [_mm256_setzero_ps(); STREAMS];
    let (whole, rest) = (rows[0].len() / (BLOCKS * BYTES), rows[0].len() % (BLOCKS * BYTES));
    for (g, x) in x[..whole].iter().enumerate() {
        let mut blocks = [&[[0; BYTES]; BLOCKS]; STREAMS];
        for s in 0..STREAMS {
            let bytes = &rows[s][g * BLOCKS * BYTES..(g + 1) * BLOCKS * BYTES];
            prefetch(bytes, ahead);
            // So many as the compiler knows.
            blocks[s] = bytes.as_chunks().0.first_chunk().expect("eight blocks");
        }
        add(blocks, x, &mut acc);
    }
    if let Some(x) = x.get(whole) {
        let blocks = rows.map(|row| row[whole * BLOCKS * BYTES..][..rest].as_chunks().0);
        add(blocks, x, &mut acc);
    }
    let mut out = [0.0; STREAMS];
    for s in 0..STREAMS {
        out[s] = sum(acc[s]);
    }
    out
}

/// Adds the products of up to eight blocks of each row with a group.
///
/// Four products of codes and activations are at most 4 · 15 · 127, which fits i16.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn add<B: AsRef<[[u8; BYTES]]> + ?Sized>(
    blocks: [&B; STREAMS],
    x: &Int8Group,
    acc: &mut [__m256; STREAMS],
) {
    let [a, b, c, d] = blocks;
    let blocks = [a.as_ref(), b.as_ref(), c.as_ref(), d.as_ref()];
    let (fifteen, one, x_scales) =
        (_mm256_set1_epi8(15), _mm256_set1_epi16(1), load_scales(&x.scales));
    // All codes are 8 too high. Lane b has what that comes to in block b.
    let offset = _mm256_cvtepi32_ps(_mm256_madd_epi16(load_sums(&x.sums), _mm256_set1_epi16(-8)));
    let mut factors = [_mm256_setzero_ps(); STREAMS];
    for s in 0..STREAMS {
        factors[s] = _mm256_mul_ps(halves_at::<0, BYTES>(blocks[s]), x_scales);
        acc[s] = _mm256_fmadd_ps(factors[s], offset, acc[s]);
    }
    let values = x.values.as_chunks().0;
    let count = blocks[0].len();
    for a in (0..count).step_by(2) {
        let b = a + 1;
        let (first, second) = (load_signed(&values[a]), load_signed(&values[b]));
        let (low_x, high_x) = (
            _mm256_permute2x128_si256::<0x20>(first, second),
            _mm256_permute2x128_si256::<0x31>(first, second),
        );
        let (i, j) = (a as i32, b as i32);
        let lanes = _mm256_setr_epi32(i, i, i, i, j, j, j, j);
        for s in 0..STREAMS {
            // Where a row ends with the first of two blocks, it is taken again; the second's factor
            // is 0.
            let half = |b: usize| load_half(blocks[s][b][2..].try_into().expect("16 bytes"));
            let both = _mm256_inserti128_si256::<1>(
                _mm256_castsi128_si256(half(a)),
                half(b.min(count - 1)),
            );
            let low = _mm256_maddubs_epi16(_mm256_and_si256(both, fifteen), low_x);
            let high = _mm256_maddubs_epi16(
                _mm256_and_si256(_mm256_srli_epi16::<4>(both), fifteen),
                high_x,
            );
            let fours = _mm256_madd_epi16(_mm256_add_epi16(low, high), one);
            acc[s] = _mm256_fmadd_ps(
                _mm256_cvtepi32_ps(fours),
                _mm256_permutevar8x32_ps(factors[s], lanes),
                acc[s],
            );
        }
    }
}

/// For many rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::blocks::<Q4_0, BYTES, 1>(weight, x, tile, |block| [codes(block)]);
}

/// 32 codes of a block, 0…15: the low halves of its bytes, then the high ones.
#[inline]
#[target_feature(enable = "avx2")]
fn codes(block: &[u8; BYTES]) -> __m256i {
    nibbles(block[2..].try_into().expect("16 bytes"))
}
