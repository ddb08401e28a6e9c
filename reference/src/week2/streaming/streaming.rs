//! Day 7. Attention in one pass over the cache, without a buffer that grows with the context.
//!
//! Sources: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", and Dao et
//! al. 2022, "FlashAttention".
//!
//! Tasks here: week2-day7 task 1 (`OnlineSoftmax::absorb`), week2-day7 task 2 (`attend_streaming`),
//! week2-day7 task 3 (`attend_block`). Everything else is provided.

use std::ops::Range;

use super::{
    cache::{Run, widen},
    kernels::vector::{TILE, exp_sum, tile_scores, tile_scores_transposed, tile_sum},
};

/// The largest supported head size. The limit exists because tiles of keys and values are kept on
/// the stack, in arrays of fixed size.
pub const MAX_HEAD_DIM: usize = 256;

/// The maximum number of query heads in a call of [`attend_streaming`].
pub const MAX_QUERIES: usize = 16;

/// The state of a softmax whose scores arrive in parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnlineSoftmax {
    /// The largest score so far. Before the first score, it is −∞.
    pub max: f32,
    /// The sum of `e^(score − max)` so far.
    pub total: f32,
}

impl Default for OnlineSoftmax {
    fn default() -> Self {
        Self { max: f32::NEG_INFINITY, total: 0.0 }
    }
}

impl OnlineSoftmax {
    /// Adds `scores` (possibly empty) to the softmax. Replaces each score with its weight
    /// `e^(score − max)`. Here `max` is the largest of all scores so far, including `scores`.
    /// Returns the factor `e^(old max − new max)`. The caller has sums that were computed with the
    /// old maximum, and must multiply them by this factor.
    ///
    /// - A score of −∞ gets weight 0. As long as all scores so far are −∞, the maximum stays −∞ and
    ///   the factor is 1.
    /// - When the first score above −∞ arrives, the factor is `e^−∞`, which is 0. The sums are
    ///   still 0 then.
    pub fn absorb(&mut self, scores: &mut [f32]) -> f32 {
        // SOLUTION week2-day7 task 1
        let max = scores.iter().fold(self.max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            // Nothing is visible yet; −∞ − (−∞) would be NaN.
            scores.fill(0.0);
            return 1.0;
        }
        let factor = (self.max - max).exp();
        self.total = self.total * factor + exp_sum(scores, max);
        self.max = max;
        factor
        // END SOLUTION
    }
}

/// Computes attention in one pass, for the query heads that share one key/value head.
///
/// `q [G, D]` → `out [G, D]`. `runs` are the keys and values of all positions that the queries may
/// see, in order. There is at least one position. A score is `scale · q·k`. Positions are processed
/// [`TILE`] at a time, in buffers of fixed size, so no memory is allocated.
///
/// # Panics
/// If `D` is above [`MAX_HEAD_DIM`], or `G` is above [`MAX_QUERIES`].
pub fn attend_streaming<'a>(
    q: &[f32],
    runs: impl Iterator<Item = Run<'a>>,
    head_dim: usize,
    scale: f32,
    out: &mut [f32],
) {
    // SOLUTION week2-day7 task 2
    let mut tile = [0f32; TILE * MAX_HEAD_DIM];
    let tile = &mut tile[..TILE * head_dim];
    let heads = q.len() / head_dim;
    assert!(
        heads <= MAX_QUERIES,
        "found {heads} query heads for one key head, expected at most {MAX_QUERIES}"
    );
    let mut softmax = [OnlineSoftmax::default(); MAX_QUERIES];
    let mut factors = [0f32; MAX_QUERIES];
    let mut scores = [0f32; MAX_QUERIES * TILE];
    out.fill(0.0);
    for run in runs {
        for from in (0..run.len).step_by(TILE) {
            let n = TILE.min(run.len - from);
            widen(run.keys, from, n, head_dim, tile);
            tile_scores(q, &tile[..n * head_dim], head_dim, scale, &mut scores[..heads * TILE]);
            for (g, softmax) in softmax[..heads].iter_mut().enumerate() {
                factors[g] = softmax.absorb(&mut scores[g * TILE..][..n]);
            }
            widen(run.values, from, n, head_dim, tile);
            tile_sum(
                &scores[..heads * TILE],
                &factors[..heads],
                &tile[..n * head_dim],
                head_dim,
                out,
            );
        }
    }
    for (out, softmax) in out.chunks_exact_mut(head_dim).zip(&softmax) {
        out.iter_mut().for_each(|x| *x /= softmax.total);
    }
    // END SOLUTION
}

/// Maximum number of queries (rows × heads) in a call of [`attend_block`].
pub const MAX_BLOCK_QUERIES: usize = 128;

/// One query of a block: the query of one head in one row.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// The query vector, `[D]`.
    pub q: &'a [f32],
    /// The positions that the query may see. There is at least one.
    pub visible: Range<usize>,
}

/// Computes attention for many queries over the same keys and values, such as those of a prompt.
/// Keys and values are processed in tiles of [`TILE`] positions. Each tile is converted to f32 once
/// for all queries. Each tile of keys is also transposed once for all queries.
///
/// `queries` (at most [`MAX_BLOCK_QUERIES`]) → `out [queries, D]`. `runs` hold every position that
/// any query sees, and may hold more. A score is `scale · q·k`.
///
/// # Panics
/// If there are more queries than [`MAX_BLOCK_QUERIES`], or `D` is above [`MAX_HEAD_DIM`].
pub fn attend_block<'a>(
    queries: &[Query<'_>],
    runs: impl Iterator<Item = Run<'a>>,
    head_dim: usize,
    scale: f32,
    out: &mut [f32],
) {
    // SOLUTION week2-day7 task 3
    let n_queries = queries.len();
    let (mut tile, mut transposed) = ([0f32; TILE * MAX_HEAD_DIM], [0f32; TILE * MAX_HEAD_DIM]);
    let (tile, transposed) = (&mut tile[..TILE * head_dim], &mut transposed[..TILE * head_dim]);
    let mut rows: [&[f32]; MAX_BLOCK_QUERIES] = [&[]; MAX_BLOCK_QUERIES];
    for (row, query) in rows.iter_mut().zip(queries) {
        *row = query.q;
    }
    let mut softmax = [OnlineSoftmax::default(); MAX_BLOCK_QUERIES];
    let mut factors = [0f32; MAX_BLOCK_QUERIES];
    let mut scores = [0f32; MAX_BLOCK_QUERIES * TILE];
    let scores = &mut scores[..n_queries * TILE];
    out.fill(0.0);
    for run in runs {
        for from in (0..run.len).step_by(TILE) {
            let n = TILE.min(run.len - from);
            widen(run.keys, from, n, head_dim, tile);
            for (j, key) in tile.chunks_exact(head_dim).enumerate() {
                for (d, &x) in key.iter().enumerate() {
                    transposed[d * TILE + j] = x;
                }
            }
            tile_scores_transposed(&rows[..n_queries], transposed, scale, scores);
            for (i, query) in queries.iter().enumerate() {
                let scores = &mut scores[i * TILE..][..TILE];
                // A query sees a range of positions, which may include all, part or none of the
                // tile.
                let place = |position: usize| position.saturating_sub(run.start + from).min(n);
                let (first, end) = (place(query.visible.start), place(query.visible.end));
                scores[..first].fill(0.0);
                scores[end..].fill(0.0);
                factors[i] = softmax[i].absorb(&mut scores[first..end]);
            }
            widen(run.values, from, n, head_dim, tile);
            tile_sum(scores, &factors[..n_queries], &tile[..n * head_dim], head_dim, out);
        }
    }
    for (out, softmax) in out.chunks_exact_mut(head_dim).zip(&softmax) {
        out.iter_mut().for_each(|x| *x /= softmax.total);
    }
    // END SOLUTION
}
