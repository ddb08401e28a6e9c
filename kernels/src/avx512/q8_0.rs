//! `Q8_0`: codes are signed bytes. `vpdpbusd` wants one operand
//! unsigned: each code is made 128 too high.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    fours::{Pairs, add_lanes, add_pairs, same_for_all, stored},
    lanes::{load32, part, scales_of, transpose, twice, values_at},
    many,
    panel::{LANES, Panel, Row, Rows},
    q6_k,
};
use crate::{
    amx,
    format::Q8_0,
    input::{Input, Int8Group},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// Bytes in a block.
const BYTES: usize = TensorType::Q8_0.block_bytes();

/// For few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    each_four(weight, tile, |rows, t| dot(rows, x.int8_row(t)));
}

/// For many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q8_0>(weight, x, tile, |panel, rows| fill(panel, rows));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot(rows: [&[u8]; STREAMS], x: &[Int8Group]) -> [f32; STREAMS] {
    let ahead = distance();
    let mut sums = _mm_setzero_ps();
    let mut filled = [[0; 16 * BYTES]; STREAMS];
    for (g, x) in x.iter().enumerate() {
        let (start, len) = (g * 8 * BYTES, rows[0].len());
        let mut eights = [&[0; 8 * BYTES]; STREAMS];
        if start + 8 * BYTES > len {
            // The last eight blocks, so many as the compiler knows, and zeros behind them.
            let last = len.min(8 * BYTES);
            for s in 0..STREAMS {
                match rows[s].last_chunk::<{ 8 * BYTES }>() {
                    Some(eight) => filled[s][..8 * BYTES].copy_from_slice(eight),
                    None => filled[s][..len].copy_from_slice(rows[s]),
                }
            }
            let first = start + last - len;
            for s in 0..STREAMS {
                eights[s] = part(&filled[s], first);
            }
        } else {
            for s in 0..STREAMS {
                // So many as the compiler knows: nothing is to be checked in `codes` and `scales`.
                eights[s] = part(rows[s], start);
                prefetch(eights[s], ahead);
            }
        }
        sums = Activations::of(x).times(eights, sums);
    }
    stored(sums)
}

/// A group of activations, and what is the same for all rows of weights.
struct Activations {
    values: [__m512i; 4],
    /// What the offset takes off.
    starts: [__m512i; 4],
    scales: Pairs<__m512>,
}

impl Activations {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vnni")]
    fn of(x: &Int8Group) -> Self {
        let mut values = [_mm512_setzero_si512(); 4];
        let mut starts = values;
        for v in 0..4 {
            values[v] = values_at(x, 64 * v);
            let offset =
                _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(-128), values[v]);
            starts[v] = _mm512_sub_epi32(_mm512_setzero_si512(), offset);
        }
        Self { values, starts, scales: same_for_all(twice(scales_of(x))) }
    }

    /// Adds the products with eight blocks of four rows of weights to `sums`.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
    fn times(&self, rows: [&[u8; 8 * BYTES]; STREAMS], sums: __m128) -> __m128 {
        let mut products = [_mm512_setzero_si512(); 4];
        for v in 0..4 {
            // Two lanes of block 2v, two of block 2v + 1, in each a sum of each row.
            products[v] =
                add_lanes(rows.map(|bytes| {
                    _mm512_dpbusd_epi32(self.starts[v], codes(bytes, v), self.values[v])
                }));
        }
        let [a, b, c, d] = products;
        // Lanes two by two, so that the even ones and the odd ones of them can be added.
        let add = |a, b| {
            _mm512_add_epi32(
                _mm512_shuffle_i32x4::<0b10_00_10_00>(a, b),
                _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b),
            )
        };
        let even = |a, b| _mm512_shuffle_i32x4::<0b01_00_01_00>(a, b);
        let odd = |a, b| _mm512_shuffle_i32x4::<0b11_10_11_10>(a, b);
        let products = [add(even(a, b), even(c, d)), add(odd(a, b), odd(c, d))];
        let scales = |i: usize| {
            let four = |lane: usize| {
                let word = |s: usize| scale(rows[s], 2 * lane + i) << (16 * s);
                (word(0) | word(1) | word(2) | word(3)) as i64
            };
            _mm512_cvtph_ps(_mm256_setr_epi64x(four(0), four(1), four(2), four(3)))
        };
        let scales = [scales(0), scales(1)];
        add_pairs(sums, products, self.scales, scales, None)
    }
}

/// Up to eight blocks out of their bytes.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
fn row(bytes: &[u8]) -> Row {
    let mut row = Row {
        codes: [_mm512_setzero_si512(); 4],
        scales: _mm512_setzero_ps(),
        minimums: _mm512_setzero_si512(),
    };
    for v in 0..4 {
        row.codes[v] = codes(bytes, v);
    }
    row.scales = twice(scales(bytes));
    row
}

/// Row `i` of a panel of tiles.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
pub(crate) fn fill_row(panel: &mut amx::Panel, i: usize, bytes: &[u8]) {
    let blocks = bytes.chunks_exact(BYTES).enumerate();
    for (b, block) in blocks {
        amx::store_block(panel, i, b, load32(part(block, 2)));
    }
    amx::store_scales(panel, i, twice(scales(bytes)));
}

/// The codes of blocks 2v and 2v + 1, or zeros where there are none.
#[inline]
#[target_feature(enable = "avx512bw")]
fn codes(bytes: &[u8], v: usize) -> __m512i {
    let block = |b: usize| match (b + 1) * BYTES <= bytes.len() {
        true => load32(part(bytes, b * BYTES + 2)),
        false => _mm256_setzero_si256(),
    };
    let two = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(block(2 * v)), block(2 * v + 1));
    _mm512_xor_si512(two, _mm512_set1_epi8(-128))
}

/// The scales of eight blocks, or zeros where there are none.
#[inline]
#[target_feature(enable = "avx512vl,f16c")]
fn scales(bytes: &[u8]) -> __m256 {
    let four = |b: usize| {
        let word = |i: usize| scale(bytes, b + i) << (16 * i);
        (word(0) | word(1) | word(2) | word(3)) as i64
    };
    _mm256_cvtph_ps(_mm_set_epi64x(four(4), four(0)))
}

/// The bits of a block's scale, or zeros where there is none.
#[inline(always)]
fn scale(bytes: &[u8], b: usize) -> u64 {
    match (b + 1) * BYTES <= bytes.len() {
        true => u64::from(u16::from_le_bytes(*part(bytes, b * BYTES))),
        false => 0,
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn fill(panel: &mut Panel, rows: &Rows<'_>) {
    if rows.rows[0].len() < 8 * BYTES {
        panel.fill(&q6_k::ORDER.columns, rows, |bytes| row(bytes));
        return;
    }
    panel.set_block_scales::<BYTES>(rows);
    for v in 0..4 {
        let mut bytes = [_mm512_setzero_si512(); LANES];
        for i in 0..LANES {
            let row = &rows.rows[i][..8 * BYTES];
            prefetch(&row[64 * v..64 * (v + 1)], rows.ahead);
            bytes[i] = codes(row, v);
        }
        panel.codes[16 * v..][..LANES].copy_from_slice(&transpose(bytes));
    }
}
