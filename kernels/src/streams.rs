//! Four rows of weights at a time. A core that waits for one row after another leaves most of the
//! memory's bandwidth unused: it needs several long streams of addresses.

use crate::{matrix::Matrix, parallel::Tile};

/// Rows that are read at once.
pub(super) const STREAMS: usize = 4;

/// Fills a tile: `dot(rows, t)` multiplies four rows of weights with row `t` of the activations.
/// The tile's rows of weights are cut into four runs, one for each stream.
pub(super) fn each_four(
    weight: &Matrix,
    tile: &mut Tile<'_, f32>,
    mut dot: impl FnMut([&[u8]; STREAMS], usize) -> [f32; STREAMS],
) {
    let (first, count) = (tile.cols.start, tile.cols.len());
    let (bytes, row_bytes) = (weight.bytes(), weight.row_bytes());
    let row = |i: usize| &bytes[(first + i) * row_bytes..][..row_bytes];
    let run = count / STREAMS;
    for i in 0..run {
        let rows = [row(i), row(run + i), row(2 * run + i), row(3 * run + i)];
        for t in tile.rows.clone() {
            let sums = dot(rows, t);
            let out = tile.row_mut(t);
            for s in 0..STREAMS {
                out[s * run + i] = sums[s];
            }
        }
    }
    for i in run * STREAMS..count {
        for t in tile.rows.clone() {
            tile.row_mut(t)[i] = dot([row(i); STREAMS], t)[0];
        }
    }
}
