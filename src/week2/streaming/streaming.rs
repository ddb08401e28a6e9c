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
        todo!("week2-day7 task 1: OnlineSoftmax::absorb")
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
    todo!("week2-day7 task 2: attend_streaming")
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
    todo!("week2-day7 task 3: attend_block")
}
