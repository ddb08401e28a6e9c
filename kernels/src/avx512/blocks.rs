//! Formats whose blocks have 32 weights of 4 or 5 bits and scales in half precision, times few rows
//! of activations.
//!
//! Eight blocks at a time, 256 columns. Every vector of codes holds eight weights of each block,
//! always in the same place: so all 256 products end up in one vector of sums. Those of four rows
//! of weights are added up side by side ([`fours`](super::fours)).

use std::arch::x86_64::*;

use super::{
    columns::{Activations, Eight},
    fours::stored,
};
use crate::{
    format::Format,
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// Bytes of eight of the longest blocks.
const LONGEST: usize = 8 * 24;

/// A [`Kernel`](crate::Kernel): `unpack` is given the bytes of eight blocks.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<F: Format, const BYTES: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    unpack: impl Fn(&[u8]) -> Eight + Copy,
) {
    each_four(weight, tile, |rows, t| dot::<F, BYTES>(rows, x.int8_row(t), unpack));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot<F: Format, const BYTES: usize>(
    rows: [&[u8]; STREAMS],
    x: &[Int8SuperBlock],
    unpack: impl Fn(&[u8]) -> Eight,
) -> [f32; STREAMS] {
    let ahead = distance();
    let mut sums = _mm_setzero_ps();
    let mut filled = [[0; LONGEST]; STREAMS];
    let len = rows[0].len();
    for (g, x) in x.iter().enumerate() {
        let mut start = g * 8 * BYTES;
        let mut missing = (start + 8 * BYTES).saturating_sub(len) / BYTES;
        let mut eights = rows;
        if len < 8 * BYTES {
            for s in 0..STREAMS {
                filled[s][..len - start].copy_from_slice(&rows[s][start..]);
            }
            eights = [&filled[0], &filled[1], &filled[2], &filled[3]];
            (start, missing) = (0, 0);
        } else {
            // The last eight blocks again; those that were counted before meet zeros.
            start = start.min(len - 8 * BYTES);
        }
        let x = Activations::of::<F>(x, missing);
        let mut products = [_mm512_setzero_si512(); STREAMS];
        let (mut scales, mut minimums) =
            ([_mm512_setzero_ps(); STREAMS], [_mm512_setzero_ps(); STREAMS]);
        for s in 0..STREAMS {
            // So many as the compiler knows: nothing is to be checked in `unpack`.
            let bytes = &eights[s][start..start + 8 * BYTES];
            prefetch(bytes, ahead);
            let eight = unpack(bytes);
            products[s] = x.times(eight.codes);
            (scales[s], minimums[s]) = (eight.scales, eight.minimums);
        }
        sums = x.add::<F>(products, scales, minimums, sums);
    }
    stored(sums)
}
