//! Day 7. Attention in one pass over the cache: no buffer of scores, whatever the context's length.
//!
//! Source: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"; Dao et al. 2022, "FlashAttention".

use super::{
    cache::Run,
    kernels::vector::{TILE, exp_sum, tile_scores, tile_scores_transposed, tile_sum, widen},
};

/// The largest head that is taken: a tile of keys and one of values lie on the stack.
pub const MAX_HEAD_DIM: usize = 256;

/// The most query heads that [`attend_streaming`] takes at once.
pub const MAX_QUERIES: usize = 16;

/// A softmax whose scores come in pieces: what has been seen so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnlineSoftmax {
    /// The largest score; −∞ before the first.
    pub max: f32,
    /// The sum of `e^(score − max)`.
    pub total: f32,
}

impl Default for OnlineSoftmax {
    fn default() -> Self {
        Self { max: f32::NEG_INFINITY, total: 0.0 }
    }
}

impl OnlineSoftmax {
    /// Takes in more scores. Each becomes its weight `e^(score − max)` by the new maximum; returns the factor by which sums that were
    /// weighted by the old maximum must be multiplied. A score of −∞ gets weight 0, also where there has been no other.
    pub fn absorb(&mut self, scores: &mut [f32]) -> f32 {
        todo!("week2-day7 task 1: OnlineSoftmax::absorb")
    }
}

/// Attention of the query heads that share one key and value head, in one pass.
///
/// `q [G, D]`, `out [G, D]`; `runs` are the keys and values of all positions that this row may see, in order.
///
/// # Panics
/// If `D` is above [`MAX_HEAD_DIM`].
pub fn attend_streaming<'a>(q: &[f32], runs: impl Iterator<Item = Run<'a>>, head_dim: usize, scale: f32, out: &mut [f32]) {
    todo!("week2-day7 task 2: attend_streaming")
}

/// Rows and heads whose attention [`attend_block`] computes together.
pub const BLOCK: usize = 128;

/// One query of a block: a row and a head.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// `[D]`
    pub q: &'a [f32],
    /// How many positions it may see.
    pub visible: usize,
}

/// Attention of many queries over the same keys and values, for prompts: each tile is widened and transposed once for all of them.
///
/// `queries` at most [`BLOCK`], `out [queries, D]`; `runs` reach as far as the query that sees most.
///
/// # Panics
/// If there are more queries than [`BLOCK`], or `D` is above [`MAX_HEAD_DIM`].
pub fn attend_block<'a>(queries: &[Query<'_>], runs: impl Iterator<Item = Run<'a>>, head_dim: usize, scale: f32, out: &mut [f32]) {
    let n_queries = queries.len();
    let (mut tile, mut transposed) = ([0f32; TILE * MAX_HEAD_DIM], [0f32; TILE * MAX_HEAD_DIM]);
    let (tile, transposed) = (&mut tile[..TILE * head_dim], &mut transposed[..TILE * head_dim]);
    let mut rows: [&[f32]; BLOCK] = [&[]; BLOCK];
    for (row, query) in rows.iter_mut().zip(queries) {
        *row = query.q;
    }
    let mut softmax = [OnlineSoftmax::default(); BLOCK];
    let mut factors = [0f32; BLOCK];
    let mut scores = [0f32; BLOCK * TILE];
    let scores = &mut scores[..n_queries * TILE];
    out.fill(0.0);
    let mut start = 0;
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
                // A query sees the positions up to its own; of a tile, all, some or none.
                let visible = query.visible.saturating_sub(start + from).min(n);
                let (seen, unseen) = scores.split_at_mut(visible);
                unseen.fill(0.0);
                factors[i] = softmax[i].absorb(seen);
            }
            widen(run.values, from, n, head_dim, tile);
            tile_sum(scores, &factors[..n_queries], &tile[..n * head_dim], head_dim, out);
        }
        start += run.len;
    }
    for (out, softmax) in out.chunks_exact_mut(head_dim).zip(&softmax) {
        out.iter_mut().for_each(|x| *x /= softmax.total);
    }
}
