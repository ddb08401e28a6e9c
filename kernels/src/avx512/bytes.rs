//! Blocks of 32 one-byte weights (`Q8_0`), times a few rows of activations. Eight blocks of each of
//! four weight rows are multiplied at once. The sums and scales of the four rows are then put side
//! by side ([`fours`](super::fours)).

use std::arch::x86_64::*;

use super::{
    byte_scales::{BYTES, EIGHT, scales},
    eights::{self, Eights, add_eight, later, same_for_all},
    fours::{add_lanes, stored},
    lanes::{load32, part, values_at},
};
use crate::{
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// Computes a tile of the output. See [`Kernel`](crate::Kernel).
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    if weight.row_bytes() >= EIGHT {
        each_four(weight, tile, |rows, t| dot(rows, x.int8_row(t)));
        return;
    }
    // Pads short rows with zeros.
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
    let len = rows[0].len();
    assert!(rows.iter().all(|row| row.len() == len), "rows of one matrix");
    // If fewer than eight blocks are left, the row's last eight blocks are used. Those that have
    // already been multiplied are now multiplied by zeros.
    let (whole, left) = (len / EIGHT, len % EIGHT / BYTES);
    let last = if left > 0 { Some(later(&x[whole], 8 - left)) } else { None };
    for (g, x) in x.iter().enumerate() {
        let (at, x) = match &last {
            Some(last) if g == whole => (len - EIGHT, last),
            _ => (g * EIGHT, x),
        };
        // These lengths are known at compile time, so no bounds are checked in `codes` and
        // `scales`.
        let eights = [part(rows[0], at), part(rows[1], at), part(rows[2], at), part(rows[3], at)];
        for eight in eights {
            prefetch(eight, ahead);
        }
        sums = Activations::of(x).times(eights, sums);
    }
    stored(sums)
}

/// A super-block of activations, and values that are the same for all rows of weights.
struct Activations {
    values: [__m512i; 4],
    /// The initial value of each sum, which accounts for the offset of the codes.
    starts: [__m512i; 4],
    scales: Eights<__m512>,
}

impl Activations {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    fn of(x: &Int8SuperBlock) -> Self {
        let value = |v: usize| values_at(&x.values, 64 * v);
        let values = [value(0), value(1), value(2), value(3)];
        let mut starts = [_mm512_setzero_si512(); 4];
        for v in 0..4 {
            let offset =
                _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(-128), values[v]);
            starts[v] = _mm512_sub_epi32(_mm512_setzero_si512(), offset);
        }
        Self { values, starts, scales: same_for_all(eights::scales(x)) }
    }

    /// Multiplies the activations by eight blocks of each of four rows of weights. Returns `sums`
    /// plus the scaled products.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
    fn times(&self, rows: [&[u8; EIGHT]; STREAMS], sums: __m128) -> __m128 {
        let mut products = [_mm512_setzero_si512(); 4];
        for v in 0..4 {
            // Each row has two lanes of block 2v, then two of block 2v + 1. After `add_lanes`, each
            // lane has one sum for each row.
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
        add_eight(sums, [add(a, b), add(c, d)], self.scales, scales(rows), None)
    }
}

/// Returns the codes of blocks 2v and 2v + 1, with 128 added to each. In missing blocks, all codes
/// are 0 before the addition.
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
