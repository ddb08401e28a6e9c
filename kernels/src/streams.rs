//! Four rows of weights at a time. A core that waits for one row after another leaves most of the
//! memory's bandwidth unused: it needs several long streams of addresses.

use crate::{matrix::Matrix, parallel::Tile};

/// Rows that are read at once.
pub(super) const STREAMS: usize = 4;

/// Fills a tile: `dot(rows, t)` multiplies four rows of weights with row `t` of the activations.
/// The tile's rows of weights are cut into four parts, one for each stream. Where a part is shorter
/// than the others, the last row takes the place of those that it lacks.
pub(super) fn each_four(
    weight: &Matrix,
    tile: &mut Tile<'_, f32>,
    mut dot: impl FnMut([&[u8]; STREAMS], usize) -> [f32; STREAMS],
) {
    let (first, count) = (tile.cols().start, tile.cols().len());
    let (bytes, row_bytes) = (weight.bytes(), weight.row_bytes());
    let per_stream = count.div_ceil(STREAMS);
    for i in 0..per_stream {
        let row = |s: usize| (s * per_stream + i).min(count - 1);
        let rows = std::array::from_fn(|s| &bytes[(first + row(s)) * row_bytes..][..row_bytes]);
        for t in tile.rows() {
            let sums = dot(rows, t);
            let out = tile.row_mut(t);
            for s in 0..STREAMS {
                out[row(s)] = sums[s];
            }
        }
    }
}
