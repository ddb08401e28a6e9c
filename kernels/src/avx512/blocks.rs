//! Formats whose blocks have 32 weights of 4 or 5 bits and scales in half precision, times few rows
//! of activations.
//!
//! Eight blocks at a time, 256 columns. Every vector of codes holds eight weights of each block,
//! always in the same place: so all 256 products end up in one vector of sums, which is converted
//! once and meets one vector of scales.

use std::arch::x86_64::*;

use super::{
    columns::{Activations, Eight},
    lanes::add_up,
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
    let mut sums = [_mm512_setzero_ps(); STREAMS];
    let len = rows[0].len();
    for (g, x) in x.iter().enumerate() {
        let mut x = Activations::of::<F>(x);
        let mut start = g * 8 * BYTES;
        if start + 8 * BYTES > len {
            if len < 8 * BYTES {
                for s in 0..STREAMS {
                    sums[s] = x.times::<F>(unpack(rows[s]), sums[s]);
                }
                break;
            }
            // The last eight blocks again; those that were counted before meet zeros.
            x = x.later((start + 8 * BYTES - len) / BYTES);
            start = len - 8 * BYTES;
        }
        for s in 0..STREAMS {
            // So many as the compiler knows: nothing is to be checked in `unpack`.
            let bytes = &rows[s][start..start + 8 * BYTES];
            prefetch(bytes, ahead);
            sums[s] = x.times::<F>(unpack(bytes), sums[s]);
        }
    }
    add_up(sums)
}
