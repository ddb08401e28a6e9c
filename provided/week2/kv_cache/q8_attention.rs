//! Day 1. Attention over a q8_0 cache, tile by tile, with day 7's softmax.

use std::ops::Range;

use crate::week2::{
    cache::{Cells, Run},
    kernels::{
        q8_rows::Q8Rows,
        vector::{
            TILE, prefetch, tile_scores_q8, tile_scores_transposed, tile_sum, tile_sum_q8, widen_q8,
        },
    },
    streaming::{MAX_BLOCK_QUERIES, MAX_HEAD_DIM, MAX_QUERIES, OnlineSoftmax, Query},
};

/// Minimum number of queries for which it is faster to convert a tile of keys to f32 and transpose
/// it. With fewer queries, it is faster to read the tile's codes once per query. Both ways give the
/// same scores, bit for bit.
const MANY: usize = 16;

/// Computes attention for several `queries` over the same keys and values. `runs` hold these keys
/// and values as rows of q8_0, in order. `softmax [queries]` holds each query's state before its
/// first score: the default, or the state of an attention sink. A score is `scale · q·k`. The
/// results are written to `out [queries, D]`.
///
/// # Panics
/// If there are more queries than [`MAX_BLOCK_QUERIES`], or `D` is above [`MAX_HEAD_DIM`].
pub fn attend_q8<'a>(
    queries: &[Query<'_>],
    softmax: &mut [OnlineSoftmax],
    runs: impl Iterator<Item = Run<'a>>,
    head_dim: usize,
    scale: f32,
    out: &mut [f32],
) {
    let n_queries = queries.len();
    assert!(
        head_dim <= MAX_HEAD_DIM,
        "found a head size of {head_dim}, expected at most {MAX_HEAD_DIM}"
    );
    let mut rows: [&[f32]; MAX_BLOCK_QUERIES] = [&[]; MAX_BLOCK_QUERIES];
    rows.iter_mut().zip(queries).for_each(|(row, query)| *row = query.q);
    let mut room = (n_queries >= MANY).then(|| vec![0f32; 2 * TILE * head_dim]);
    let mut factors = [0f32; MAX_BLOCK_QUERIES];
    let mut scores = [0f32; MAX_BLOCK_QUERIES * TILE];
    let scores = &mut scores[..n_queries * TILE];
    out.fill(0.0);
    for run in runs {
        for from in (0..run.len).step_by(TILE) {
            let n = TILE.min(run.len - from);
            match &mut room {
                Some(room) => {
                    let (tile, transposed) = room.split_at_mut(TILE * head_dim);
                    widen_rows(run.keys, from, n, head_dim, tile);
                    transpose(tile, head_dim, transposed);
                    tile_scores_transposed(&rows[..n_queries], transposed, scale, scores);
                }
                None => {
                    let keys = quantized(run.keys, head_dim).part(from, n);
                    tile_scores_q8(&rows[..n_queries], keys, scale, scores);
                }
            }
            for (i, query) in queries.iter().enumerate() {
                let scores = &mut scores[i * TILE..][..TILE];
                let place = |position: usize| position.saturating_sub(run.start + from).min(n);
                let (first, end) = (place(query.visible.start), place(query.visible.end));
                scores[..first].fill(0.0);
                scores[end..].fill(0.0);
                factors[i] = softmax[i].absorb(&mut scores[first..end]);
            }
            let factors = &factors[..n_queries];
            if let Some(room) = &mut room {
                widen_rows(run.values, from, n, head_dim, room);
                tile_sum(scores, factors, &room[..n * head_dim], head_dim, out);
            } else {
                let values = quantized(run.values, head_dim).part(from, n);
                tile_sum_q8(scores, factors, values, out);
            }
        }
    }
    for (out, softmax) in out.chunks_exact_mut(head_dim).zip(softmax) {
        out.iter_mut().for_each(|x| *x /= softmax.total);
    }
}

/// Like [`attend_q8`], for `G` query heads of one row. `q [G, D]` holds these heads. All of them
/// see the positions in `visible`.
pub fn attend_q8_row<'a>(
    q: &[f32],
    visible: Range<usize>,
    softmax: &mut [OnlineSoftmax],
    runs: impl Iterator<Item = Run<'a>>,
    (head_dim, scale): (usize, f32),
    out: &mut [f32],
) {
    let mut queries = [const { Query { q: &[], visible: 0..0 } }; MAX_QUERIES];
    let n = q.len() / head_dim;
    for (query, q) in queries[..n].iter_mut().zip(q.chunks_exact(head_dim)) {
        *query = Query { q, visible: visible.clone() };
    }
    attend_q8(&queries[..n], softmax, runs, head_dim, scale, out);
}

/// Transposes a tile of keys: `tile [TILE, D]` → `transposed [D, TILE]`.
fn transpose(tile: &[f32], head_dim: usize, transposed: &mut [f32]) {
    for (j, key) in tile.chunks_exact(head_dim).enumerate() {
        for (d, &x) in key.iter().enumerate() {
            transposed[d * TILE + j] = x;
        }
    }
}

/// Returns the rows of q8_0 that `cells` holds. `cells` must come from a cache for which
/// [`holds_q8`](crate::week2::cache::KvCache::holds_q8) is true.
///
/// # Panics
/// If `cells` belongs to an f16 cache.
#[must_use]
#[track_caller]
pub fn quantized(cells: Cells<'_>, dim: usize) -> Q8Rows<'_> {
    let Cells::F32(words) = cells else { panic!("found numbers in f16, expected rows of q8_0") };
    Q8Rows { words: bytemuck::cast_slice(words), dim }
}

/// Decodes rows `from..from + n` of `cells` to f32: `out [n, dim]`. `cells` must come from a cache
/// for which [`holds_q8`](crate::week2::cache::KvCache::holds_q8) is true.
///
/// # Panics
/// If `cells` has fewer than `from + n` rows, `cells` belongs to an f16 cache, or `out` is too
/// short.
#[track_caller]
pub fn widen_rows(cells: Cells<'_>, from: usize, n: usize, dim: usize, out: &mut [f32]) {
    let rows = quantized(cells, dim);
    prefetch(rows.behind(from + n, n).words, true);
    widen_q8(rows.part(from, n), &mut out[..n * dim]);
}
