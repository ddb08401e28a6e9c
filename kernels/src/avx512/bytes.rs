//! Blocks of 32 whole bytes (`Q8_0`), times few rows of activations: eight blocks of
//! four rows of weights at a time, whose sums and scales are brought side by side
//! ([`fours`](super::fours)).

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    eights::{Eights, add_in_order, floats, same_for_all, scales_later, values_later},
    fours::{add_lanes, stored},
    lanes::{load32, load64, part, sixteen_bits},
};
use crate::{
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// Bytes in a block.
pub(super) const BYTES: usize = TensorType::Q8_0.block_bytes();
/// Bytes of eight blocks.
const EIGHT: usize = 8 * BYTES;

/// A [`Kernel`](crate::Kernel).
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    if weight.row_bytes() >= EIGHT {
        each_four(weight, tile, |rows, t| dot(rows, x.int8_row(t)));
        return;
    }
    // Zeros behind what there is.
    let mut filled = [[0; EIGHT]; STREAMS];
    each_four(weight, tile, |rows, t| {
        for s in 0..STREAMS {
            filled[s][..rows[s].len()].copy_from_slice(rows[s]);
        }
        dot(filled.each_ref().map(|row| &row[..]), x.int8_row(t))
    });
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot(rows: [&[u8]; STREAMS], x: &[Int8SuperBlock]) -> [f32; STREAMS] {
    let ahead = distance();
    let mut sums = _mm_setzero_ps();
    for (g, x) in x.iter().enumerate() {
        // The last eight blocks again; those that were counted before meet zeros.
        let missing = ((g + 1) * EIGHT).saturating_sub(rows[0].len()) / BYTES;
        let x = Activations::of(x, missing);
        // So many as the compiler knows: nothing is to be checked in `codes` and `scales`.
        let eights = rows.map(|row| part(row, g * EIGHT - missing * BYTES));
        for eight in eights {
            prefetch(eight, ahead);
        }
        sums = x.times(eights, sums);
    }
    stored(sums)
}

/// A super-block of activations, and what is the same for all rows of weights.
struct Activations {
    values: [__m512i; 4],
    /// What the offset takes off.
    starts: [__m512i; 4],
    scales: Eights<__m512>,
}

impl Activations {
    /// For blocks that stand so many places later; zeros for those before them.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    fn of(x: &Int8SuperBlock, places: usize) -> Self {
        let (values, mut starts) = (values_later(x, places), [_mm512_setzero_si512(); 4]);
        for v in 0..4 {
            let offset =
                _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(-128), values[v]);
            starts[v] = _mm512_sub_epi32(_mm512_setzero_si512(), offset);
        }
        Self { values, starts, scales: same_for_all(scales_later(x, places)) }
    }

    /// Adds the products with eight blocks of four rows of weights to `sums`.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
    fn times(&self, rows: [&[u8; EIGHT]; STREAMS], sums: __m128) -> __m128 {
        let mut products = [_mm512_setzero_si512(); 4];
        for v in 0..4 {
            // Two lanes of block 2v, two of block 2v + 1, in each a sum of each row.
            let mut of_rows = [_mm512_setzero_si512(); STREAMS];
            for s in 0..STREAMS {
                of_rows[s] = _mm512_dpbusd_epi32(self.starts[v], codes(rows[s], v), self.values[v]);
            }
            products[v] = add_lanes(of_rows);
        }
        let [a, b, c, d] = products;
        let add = |a, b| {
            _mm512_add_epi32(
                _mm512_shuffle_i32x4::<0b10_00_10_00>(a, b),
                _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b),
            )
        };
        add_in_order(sums, [add(a, b), add(c, d)], self.scales, scales(rows), None)
    }
}

/// Which words of both are the scales, block after block, four rows of each: see [`scales`].
const SCALES: [i16; 32] = {
    let (mut words, mut i) = ([0; 32], 0);
    while i < 32 {
        let (block, row) = (i / STREAMS, i % STREAMS);
        let number = 4 * (block / 2) + 2 * (block % 2) + row % 2;
        words[i] = (32 * (row / 2) + 2 * number + block % 2) as i16;
        i += 1;
    }
    words
};

/// The scales of eight blocks of each row.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
fn scales(rows: [&[u8; EIGHT]; STREAMS]) -> Eights<__m512> {
    // In the 64 bytes from an even block on, its own scale is in the lower half of 32-bit number 0,
    // that of the next in the upper half of number 8.
    let two = |s: usize, v: usize| load64(part(rows[s], 2 * v * BYTES));
    let index = _mm512_setr_epi32(0, 16, 8, 24, 0, 16, 8, 24, 0, 16, 8, 24, 0, 16, 8, 24);
    let of_both = |s: usize, v: usize| _mm512_permutex2var_epi32(two(s, v), index, two(s + 1, v));
    // Two blocks in each lane: first of rows s and s + 1 the even one, then the odd one.
    let of_all = |s: usize| {
        let first = _mm512_mask_blend_epi32(0x00f0, of_both(s, 0), of_both(s, 1));
        let second = _mm512_mask_blend_epi32(0xf000, of_both(s, 2), of_both(s, 3));
        _mm512_mask_blend_epi32(0xff00, first, second)
    };
    floats(_mm512_permutex2var_epi16(of_all(0), sixteen_bits(&SCALES), of_all(2)))
}

/// The codes of blocks 2v and 2v + 1, or zeros where there are none.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn codes(bytes: &[u8], v: usize) -> __m512i {
    let block = |b: usize| match (b + 1) * BYTES <= bytes.len() {
        true => load32(part(bytes, b * BYTES + 2)),
        false => _mm256_setzero_si256(),
    };
    let two = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(block(2 * v)), block(2 * v + 1));
    _mm512_xor_si512(two, _mm512_set1_epi8(-128))
}
