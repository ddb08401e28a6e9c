//! Formats with blocks of 32 weights of 4 or 5 bits, times a few rows of activations.
//!
//! Eight blocks (256 columns) are multiplied at once. Each lane of a vector of codes holds 16 codes
//! of one block, so all 256 products are added into two vectors of sums. The sums of four rows of
//! weights are then added side by side ([`fours`](super::fours)).

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

/// Size in bytes of eight blocks of the longest format.
const LONGEST: usize = 8 * 24;

/// Computes a tile of the output. See [`Kernel`](crate::Kernel). A block has `BYTES` bytes, and its
/// codes begin at byte `HEAD`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<F: Format, const BYTES: usize, const HEAD: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
) {
    let len = weight.row_bytes();
    // If fewer than eight blocks are left, the row's last eight blocks are used. Those that have
    // already been multiplied are now multiplied by zeros. A row of fewer than eight blocks is
    // padded with zeros.
    let (whole, left) = (len / (8 * BYTES), len % (8 * BYTES) / BYTES);
    let (last, mut filled) = (len.saturating_sub(8 * BYTES), [[0; LONGEST]; STREAMS]);
    let (ahead, mut ready) = (distance(), Ready::new());
    each_four(weight, tile, |rows, t| {
        let (mut from, all) = (rows, x.int8_row(t));
        if whole == 0 {
            for s in 0..STREAMS {
                filled[s][..len].copy_from_slice(rows[s]);
            }
            from = [&filled[0], &filled[1], &filled[2], &filled[3]];
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
            for (g, x) in (first..).zip(x) {
                // This length is known at compile time, so no bounds are checked below.
                let at = if g < whole { g * 8 * BYTES } else { last };
                let eight = |s: usize| &from[s][at..at + 8 * BYTES];
                let eights = [eight(0), eight(1), eight(2), eight(3)];
                for bytes in eights {
                    prefetch(bytes, ahead);
                }
                sums = x.add::<F, BYTES, HEAD>(eights, sums);
            }
        }
        stored(sums)
    });
}
