//! Day 1. Computes attention for each row of a pass (one row per token), with the keys and values
//! in a cache. Attention for a row takes three steps: scores, softmax, weighted sum.
//!
//! Tasks here: week2-day1 task 2 (`visible`, `attend_two_pass`). Everything else is provided.

use std::{iter, ops::Range};

use half::f16;

use super::{
    cache::{Cells, KvCache, Run},
    kernels::vector::TILE,
    plan::{AttentionKind, Plan},
    q8_attention::{attend_q8, attend_q8_row, widen_rows},
    rows::{Queries, Row},
    streaming::{
        MAX_BLOCK_QUERIES, MAX_HEAD_DIM, MAX_QUERIES, OnlineSoftmax, Query, attend_block,
        attend_streaming,
    },
};

/// Computes attention for all rows of a pass in layer `layer`, on all threads. Writes the result to
/// `out [T, H_q·D]`. A row is one token. It attends to its sequence's positions up to and
/// including the row's.
pub fn attend(
    plan: &Plan,
    cache: &impl KvCache,
    layer: usize,
    queries: Queries<'_>,
    out: &mut [f32],
) {
    if cache.attend(plan, layer, queries, out) {
        return;
    }
    let Queries { rows, q, group, head_dim: d } = queries;
    let width = q.len() / rows.len();
    let scale = 1.0 / (d as f32).sqrt();
    // Number of query heads that a thread processes together: the whole group that shares a key
    // head, or an equal part of the group.
    let together = (1..=group.min(MAX_QUERIES)).rev().find(|n| group % n == 0).unwrap_or(1);
    // `block` is the number of rows that a thread computes at once. In a prompt, these rows share
    // the work on a tile of keys. If the pass has fewer than four rows, `block` is 1. Otherwise,
    // `block` is chosen so that each thread gets about four blocks, and is then limited to the
    // range from 16 to `most`. If `most` is below 16, `block` is `most`.
    let fair = (rows.len() * (width / (together * d))).div_ceil(4 * plan.team.threads());
    let most = MAX_BLOCK_QUERIES / together;
    let block = if rows.len() < 4 { 1 } else { fair.clamp(most.min(16), most) };
    plan.team.parallel_tiles(out, width, (block, together * d), |tile| {
        let (cols, head) = (tile.cols(), tile.cols().start / (group * d));
        let mine = &rows[tile.rows()];
        let sequence = mine[0].sequence;
        if plan.attention == AttentionKind::Streaming
            && mine.len() > 1
            && mine.iter().all(|row| row.sequence == sequence)
        {
            let mut queries = [const { Query { q: &[], visible: 0..0 } }; MAX_BLOCK_QUERIES];
            let n = mine.len() * together;
            for (i, query) in queries[..n].iter_mut().enumerate() {
                let (t, head) = (tile.rows().start + i / together, i % together);
                let at = t * width + cols.start + head * d;
                *query = Query { q: &q[at..at + d], visible: visible(rows, t) };
            }
            // The first row's visible range has the earliest start, and the last row's has the
            // latest end.
            let (first, last) =
                (visible(rows, tile.rows().start), visible(rows, tile.rows().end - 1));
            let whole_tiles = first.start / TILE * TILE..last.end;
            let runs = cache.runs(layer, sequence, head, whole_tiles);
            let mut block = [0f32; MAX_BLOCK_QUERIES * MAX_HEAD_DIM];
            let block = &mut block[..n * d];
            if cache.holds_q8() {
                let mut softmax = [OnlineSoftmax::default(); MAX_BLOCK_QUERIES];
                attend_q8(&queries[..n], &mut softmax[..n], runs, d, scale, block);
            } else {
                attend_block(&queries[..n], runs, d, scale, block);
            }
            for (t, out) in tile.rows().zip(block.chunks_exact(together * d)) {
                tile.row_mut(t).copy_from_slice(out);
            }
            return;
        }
        for t in tile.rows() {
            let q = &q[t * width..][cols.clone()];
            let runs = || tiled_runs(cache, layer, rows[t].sequence, head, visible(rows, t));
            let out = tile.row_mut(t);
            match (plan.attention, cache.holds_q8()) {
                (AttentionKind::TwoPass, false) => attend_two_pass(q, runs, d, scale, out),
                (AttentionKind::Streaming, false) => attend_streaming(q, runs(), d, scale, out),
                (AttentionKind::TwoPass, true) => {
                    let [keys, values] = widened(runs(), d);
                    let (keys, values) = (Cells::F32(&keys), Cells::F32(&values));
                    let run = Run { start: 0, len: rows[t].position + 1, keys, values };
                    attend_two_pass(q, || iter::once(run), d, scale, out);
                }
                (AttentionKind::Streaming, true) => {
                    let mut softmax = [OnlineSoftmax::default(); MAX_QUERIES];
                    let visible = visible(rows, t);
                    attend_q8_row(q, visible, &mut softmax[..together], runs(), (d, scale), out);
                }
            }
        }
    });
}

/// Converts the runs of a q8_0 cache to f32. Returns all keys and all values, each `[n, D]`.
fn widened<'a>(runs: impl Iterator<Item = Run<'a>>, head_dim: usize) -> [Vec<f32>; 2] {
    let mut all = [const { Vec::new() }; 2];
    for run in runs {
        for (all, cells) in all.iter_mut().zip([run.keys, run.values]) {
            let at = all.len();
            all.resize(at + run.len * head_dim, 0.0);
            widen_rows(cells, 0, run.len, head_dim, &mut all[at..]);
        }
    }
    all
}

/// Returns the keys and values at `positions` as runs. Streaming attention processes each run in
/// tiles of [`TILE`] positions. The runs are cut so that every tile except the first begins at a
/// multiple of [`TILE`]. So the boundaries between tiles don't depend on the cache's page size or
/// on where a sliding window begins.
pub(crate) fn tiled_runs(
    cache: &impl KvCache,
    layer: usize,
    sequence: usize,
    head: usize,
    positions: Range<usize>,
) -> impl Iterator<Item = Run<'_>> + Clone {
    let edge = positions.start.next_multiple_of(TILE).min(positions.end);
    let [first, rest] = [positions.start..edge, edge..positions.end];
    cache.runs(layer, sequence, head, first).chain(cache.runs(layer, sequence, head, rest))
}

/// Returns the positions that row `t` sees in its own sequence. The keys and values of all `rows`
/// are already in the cache, including those of later rows of the same sequence.
pub(crate) fn visible(rows: &[Row], t: usize) -> Range<usize> {
    todo!("week2-day1 task 2: visible")
}

/// Computes attention for the query heads that share one key/value head.
///
/// `q [G, D]` → `out [G, D]`. `runs()` returns the keys and values of all positions that the
/// queries may see, in order. There is at least one position. A score is `scale · q·k`. All scores
/// of a head are stored before their softmax is computed.
pub fn attend_two_pass<'a, R: Iterator<Item = Run<'a>>>(
    q: &[f32],
    runs: impl Fn() -> R,
    head_dim: usize,
    scale: f32,
    out: &mut [f32],
) {
    todo!("week2-day1 task 2: attend_two_pass")
}
