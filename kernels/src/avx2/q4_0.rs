//! Against the integer rung: a register holds the low, or the high, codes of two blocks at once.
//! Four rows of weights are read side by side, so that what is done to the activations is done once
//! for all of them.

use std::arch::x86_64::*;

use super::lanes::{load_half, load_scales, load_signed, load_sums, nibbles, scales, sum};
use crate::{
    input::{Input, Int8Group},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

const BYTES: usize = 18;
/// Blocks that meet a group.
const BLOCKS: usize = 8;

/// Matrix–vector.
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
        let mut blocks: [&[[u8; BYTES]]; STREAMS] = [&[]; STREAMS];
        for s in 0..STREAMS {
            // So many as the compiler knows.
            let bytes = &rows[s][g * BLOCKS * BYTES..(g + 1) * BLOCKS * BYTES];
            prefetch(bytes, ahead);
            blocks[s] = bytes.as_chunks().0;
        }
        add::<true>(blocks, x, &mut acc);
    }
    if let Some(x) = x.get(whole) {
        let mut blocks: [&[[u8; BYTES]]; STREAMS] = [&[]; STREAMS];
        for s in 0..STREAMS {
            blocks[s] = rows[s][whole * BLOCKS * BYTES..][..rest].as_chunks().0;
        }
        add::<false>(blocks, x, &mut acc);
    }
    let mut out = [0.0; STREAMS];
    for s in 0..STREAMS {
        out[s] = sum(acc[s]);
    }
    out
}

/// Adds the products of eight blocks of each row with a group; of fewer, if it is not `WHOLE`.
///
/// Four products of codes and activations are at most 4 · 15 · 127, which fits i16.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn add<const WHOLE: bool>(
    blocks: [&[[u8; BYTES]]; STREAMS],
    x: &Int8Group,
    acc: &mut [__m256; STREAMS],
) {
    let (fifteen, one, x_scales) =
        (_mm256_set1_epi8(15), _mm256_set1_epi16(1), load_scales(&x.scales));
    // All codes are 8 too high. Lane b has what that comes to in block b.
    let offset = _mm256_cvtepi32_ps(_mm256_madd_epi16(load_sums(&x.sums), _mm256_set1_epi16(-8)));
    let mut factors = [_mm256_setzero_ps(); STREAMS];
    for s in 0..STREAMS {
        factors[s] = _mm256_mul_ps(scales(blocks[s]), x_scales);
        acc[s] = _mm256_fmadd_ps(factors[s], offset, acc[s]);
    }
    let values = x.values.as_chunks().0;
    let count = if WHOLE { BLOCKS } else { blocks[0].len() };
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

/// 32 codes of a block, 0…15: the low halves of its bytes, then the high ones.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn codes(block: &[u8; 18]) -> __m256i {
    nibbles(block[2..].try_into().expect("16 bytes"))
}
