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
    input::{Input, Int8Group},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// A [`Kernel`](crate::Kernel): `unpack` is given the bytes of eight blocks, or of
/// fewer at the end of a row.
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
    x: &[Int8Group],
    unpack: impl Fn(&[u8]) -> Eight,
) -> [f32; STREAMS] {
    let ahead = distance();
    let mut sums = _mm_setzero_ps();
    let len = rows[0].len();
    for (g, x) in x.iter().enumerate() {
        let mut start = g * 8 * BYTES;
        let missing = (start + 8 * BYTES).saturating_sub(len) / BYTES;
        if missing > 0 {
            // Where the last blocks are an even number, so that each meets the same neighbour, the
            // last eight are taken again; those that were counted before meet zeros.
            if missing % 2 == 1 || len < 8 * BYTES {
                let x = Activations::of::<F>(x, 0);
                sums = x.times::<F>(rows.map(|row| unpack(&row[start..])), sums);
                break;
            }
            start = len - 8 * BYTES;
        }
        let x = Activations::of::<F>(x, missing);
        // So many as the compiler knows: nothing is to be checked in `unpack`.
        let bytes = rows.map(|row| &row[start..start + 8 * BYTES]);
        for bytes in bytes {
            prefetch(bytes, ahead);
        }
        sums = x.times::<F>(bytes.map(|bytes| unpack(bytes)), sums);
    }
    stored(sums)
}
