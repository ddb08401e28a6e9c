//! Formats whose blocks have 32 weights of 4 or 5 bits and scales in half precision, times few rows
//! of activations.
//!
//! Eight blocks at a time, 256 columns. Every lane of a vector of codes holds sixteen of one block,
//! so all 256 products end up in two vectors of sums. Those of four rows of weights are added up
//! side by side ([`fours`](super::fours)).

use std::arch::x86_64::*;

use super::{
    eights::later,
    fours::stored,
    ready::{Ready, STRETCH},
    sixteens::Activations,
};
use crate::{
    format::Format,
    input::Input,
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
    let len = weight.row_bytes();
    // What is left behind whole eights: the last eight blocks again, of which those that were
    // counted before meet zeros; or zeros behind what there is.
    let (whole, left) = (len / (8 * BYTES), len % (8 * BYTES) / BYTES);
    let mut filled = [[0; LONGEST]; STREAMS];
    let mut ready = Ready::new();
    each_four(weight, tile, |rows, t| {
        let (mut last, all) = (rows, x.int8_row(t));
        if whole == 0 {
            for s in 0..STREAMS {
                filled[s][..len].copy_from_slice(rows[s]);
            }
            last = [&filled[0], &filled[1], &filled[2], &filled[3]];
        } else if left > 0 {
            for s in 0..STREAMS {
                last[s] = &rows[s][len - 8 * BYTES..];
            }
        }
        let mut sums = _mm_setzero_ps();
        for first in (0..all.len()).step_by(STRETCH) {
            let x = ready.of(
                t,
                first,
                (first..all.len()).map(|g| match g < whole || whole == 0 {
                    true => Activations::of::<F>(&all[g]),
                    false => Activations::of::<F>(&later(&all[g], 8 - left)),
                }),
            );
            let there = x.len().min(whole.saturating_sub(first));
            let at = first * 8 * BYTES;
            let from = [&rows[0][at..], &rows[1][at..], &rows[2][at..], &rows[3][at..]];
            sums = add::<F, BYTES, HEAD>(from, &x[..there], sums);
            sums = add::<F, BYTES, HEAD>(last, &x[there..], sums);
        }
        stored(sums)
    });
}

/// Adds the products with so many eights of blocks of each row to `sums`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn add<F: Format, const BYTES: usize, const HEAD: usize>(
    rows: [&[u8]; STREAMS],
    x: &[Activations],
    mut sums: __m128,
) -> __m128 {
    let ahead = distance();
    let len = x.len() * 8 * BYTES;
    let rows = [&rows[0][..len], &rows[1][..len], &rows[2][..len], &rows[3][..len]];
    for (g, x) in x.iter().enumerate() {
        let eight = |s: usize| &rows[s][g * 8 * BYTES..][..8 * BYTES];
        let eights = [eight(0), eight(1), eight(2), eight(3)];
        for bytes in eights {
            prefetch(bytes, ahead);
        }
        sums = x.add::<F, BYTES, HEAD>(eights, sums);
    }
    sums
}
