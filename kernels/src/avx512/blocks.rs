//! Formats whose blocks have 32 weights of 4 or 5 bits and scales in half precision, times few rows
//! of activations.
//!
//! Eight blocks at a time, 256 columns. Every lane of a vector of codes holds sixteen of one block,
//! so all 256 products end up in two vectors of sums. Those of four rows of weights are added up
//! side by side ([`fours`](super::fours)).

use std::arch::x86_64::*;

use super::{
    fours::stored,
    heads::Heads,
    sixteens::{Activations, codes},
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

/// A [`Kernel`](crate::Kernel) for blocks of `BYTES`, whose codes follow after `HEAD` bytes.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<F: Format, const BYTES: usize, const HEAD: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
) {
    each_four(weight, tile, |rows, t| dot::<F, BYTES, HEAD>(rows, x.int8_row(t)));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot<F: Format, const BYTES: usize, const HEAD: usize>(
    rows: [&[u8]; STREAMS],
    x: &[Int8SuperBlock],
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
        let mut heads = [Heads::<BYTES, HEAD>::none(); STREAMS];
        let mut products = [[_mm512_setzero_si512(); 2]; STREAMS];
        for s in 0..STREAMS {
            // So many as the compiler knows: nothing is to be checked where they are unpacked.
            let bytes = &eights[s][start..start + 8 * BYTES];
            prefetch(bytes, ahead);
            heads[s] = Heads::of(bytes);
            products[s] = x.times(codes(bytes, heads[s]));
        }
        sums = x.add::<F, BYTES, HEAD>(products, heads, sums);
    }
    stored(sums)
}
