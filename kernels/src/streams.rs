//! Reads four rows of weights at a time. A core that reads one row after another leaves most of the
//! memory's bandwidth unused: it needs several long streams of addresses.

use crate::{matrix::Matrix, parallel::Tile};

/// Number of rows that are read at the same time.
pub(super) const STREAMS: usize = 4;

/// Fills a tile. `dot(rows, t)` multiplies four rows of weights by row `t` of the activations. The
/// tile's rows of weights are divided into four parts, one for each stream. If a part is shorter
/// than the others, its stream repeats the tile's last row.
///
/// This function is always inlined into its caller, because `dot` uses instructions for which this
/// file is not compiled. Without inlining, `dot` would be a function call for every four rows.
#[inline(always)]
pub(super) fn each_four(
    weight: &Matrix,
    tile: &mut Tile<'_, f32>,
    mut dot: impl FnMut([&[u8]; STREAMS], usize) -> [f32; STREAMS],
) {
    each_stretch(weight, tile, |rows, places, tile| {
        for t in tile.rows() {
            put(tile, t, places, dot(rows, t));
        }
    });
}

/// Like [`each_four`], but `several(rows, t)` multiplies four rows of weights by `N` rows of
/// activations, starting at row `t`, so that weights are unpacked once for all of them. `dot`
/// handles the remaining rows of activations.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn each_four_by<const N: usize>(
    weight: &Matrix,
    tile: &mut Tile<'_, f32>,
    mut several: impl FnMut([&[u8]; STREAMS], usize) -> [[f32; STREAMS]; N],
    mut dot: impl FnMut([&[u8]; STREAMS], usize) -> [f32; STREAMS],
) {
    each_stretch(weight, tile, |rows, places, tile| {
        let (mut t, end) = (tile.rows().start, tile.rows().end);
        while t + N <= end {
            for (i, sums) in several(rows, t).into_iter().enumerate() {
                put(tile, t + i, places, sums);
            }
            t += N;
        }
        for t in t..end {
            put(tile, t, places, dot(rows, t));
        }
    });
}

/// Calls `work` for every four rows of weights, with the columns of the tile that hold their
/// outputs.
#[inline(always)]
fn each_stretch(
    weight: &Matrix,
    tile: &mut Tile<'_, f32>,
    mut work: impl FnMut([&[u8]; STREAMS], [usize; STREAMS], &mut Tile<'_, f32>),
) {
    let (first, count) = (tile.cols().start, tile.cols().len());
    let (bytes, row_bytes) = (weight.bytes(), weight.row_bytes());
    let per_stream = count.div_ceil(STREAMS);
    for i in 0..per_stream {
        let (mut rows, mut places) = ([&bytes[..0]; STREAMS], [0; STREAMS]);
        for s in 0..STREAMS {
            places[s] = (s * per_stream + i).min(count - 1);
            rows[s] = &bytes[(first + places[s]) * row_bytes..][..row_bytes];
        }
        work(rows, places, tile);
    }
}

#[inline(always)]
fn put(tile: &mut Tile<'_, f32>, t: usize, places: [usize; STREAMS], sums: [f32; STREAMS]) {
    let out = tile.row_mut(t);
    for s in 0..STREAMS {
        out[places[s]] = sums[s];
    }
}
