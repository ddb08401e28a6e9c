//! `Q8_0`: codes are signed bytes. `vpdpbusd` wants one operand
//! unsigned: each code is made 128 too high.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    lanes::{add_up, load32, part, scales_of, twice, values_at},
    many,
    panel::Row,
    q6_k,
};
use crate::{
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
    many::multiply::<Q8_0>(weight, x, tile, &q6_k::ORDER.columns, |bytes| row(bytes));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot(rows: [&[u8]; STREAMS], x: &[Int8Group]) -> [f32; STREAMS] {
    let ahead = distance();
    let mut sums = [_mm512_setzero_ps(); STREAMS];
    let (whole, rest) = (rows[0].len() / (8 * BYTES), rows[0].len() % (8 * BYTES));
    for (g, x) in x[..whole].iter().enumerate() {
        let x = Activations::of(x);
        for s in 0..STREAMS {
            // So many as the compiler knows: nothing is to be checked in `codes` and `scales`.
            let bytes = &rows[s][g * 8 * BYTES..(g + 1) * 8 * BYTES];
            prefetch(bytes, ahead);
            sums[s] = x.times(bytes, sums[s]);
        }
    }
    if let Some(x) = x.get(whole) {
        let x = Activations::of(x);
        for s in 0..STREAMS {
            sums[s] = x.times(&rows[s][whole * 8 * BYTES..][..rest], sums[s]);
        }
    }
    add_up(sums)
}

/// A group of activations, and what is the same for all rows of weights.
struct Activations {
    values: [__m512i; 4],
    /// What the offset takes off.
    starts: [__m512i; 4],
    scales: __m256,
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
        Self { values, starts, scales: scales_of(x) }
    }

    /// Adds the products with up to eight blocks to `sum`.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
    fn times(&self, bytes: &[u8], mut sum: __m512) -> __m512 {
        let scales = _mm512_castps256_ps512(_mm256_mul_ps(scales(bytes), self.scales));
        for v in 0..4 {
            let products = _mm512_dpbusd_epi32(self.starts[v], codes(bytes, v), self.values[v]);
            let (a, b) = (2 * v as i32, 2 * v as i32 + 1);
            let blocks = _mm512_setr_epi32(a, a, a, a, a, a, a, a, b, b, b, b, b, b, b, b);
            sum = _mm512_fmadd_ps(
                _mm512_cvtepi32_ps(products),
                _mm512_permutexvar_ps(blocks, scales),
                sum,
            );
        }
        sum
    }
}

/// Up to eight blocks out of their bytes.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
fn row(bytes: &[u8]) -> Row {
    let mut row = Row {
        codes: [_mm512_setzero_si512(); 4],
        scales: _mm512_setzero_ps(),
        minimums: _mm512_setzero_ps(),
    };
    for v in 0..4 {
        row.codes[v] = codes(bytes, v);
    }
    row.scales = twice(scales(bytes));
    row
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
    let scale = |b: usize| match (b + 1) * BYTES <= bytes.len() {
        true => u64::from(u16::from_le_bytes(*part(bytes, b * BYTES))),
        false => 0,
    };
    let four =
        |b: usize| (scale(b) | scale(b + 1) << 16 | scale(b + 2) << 32 | scale(b + 3) << 48) as i64;
    _mm256_cvtph_ps(_mm_set_epi64x(four(4), four(0)))
}
