//! Day 6. Attention with a sink: each head has an extra logit that takes part in the softmax but
//! has no value vector.
//!
//! Source: Xiao et al. 2023, "Efficient Streaming Language Models with Attention Sinks". In
//! gpt-oss, the sink is a learned number.
//!
//! Tasks here: week4-day6 task 3 (`softmax_with_sink`, `begin`, `attend_with_sinks`). Everything
//! else is provided.

use crate::week2::{
    cache::{Run, widen},
    kernels::vector::{TILE, tile_scores, tile_sum},
    streaming::{MAX_HEAD_DIM, MAX_QUERIES, OnlineSoftmax},
};

/// Replaces scores with attention weights: divides each `e^score` by the sum of `e^sink` and all
/// `e^score`. So the weights add up to less than 1. Scores may be −∞ or any finite floats, and
/// `sink` may be any finite float.
pub fn softmax_with_sink(scores: &mut [f32], sink: f32) {
    todo!("week4-day6 task 3: softmax_with_sink")
}

/// Returns the state of the online softmax before the first score, for a head with this sink.
#[must_use]
pub fn begin(sink: f32) -> OnlineSoftmax {
    todo!("week4-day6 task 3: begin")
}

/// Computes attention in one pass, like week 2's `attend_streaming`, for the query heads that share
/// one key and value head. Head `g` has the sink `sinks[g]`.
///
/// `q [G, D]`, `sinks [G]` → `out [G, D]`. `runs` are the keys and values of all positions that the
/// queries may see, in order. A score is `scale · q·k`. The sink is not scaled.
///
/// # Panics
/// If `D` is above [`MAX_HEAD_DIM`] or `G` above [`MAX_QUERIES`].
pub fn attend_with_sinks<'a>(
    q: &[f32],
    runs: impl Iterator<Item = Run<'a>>,
    head_dim: usize,
    scale: f32,
    sinks: &[f32],
    out: &mut [f32],
) {
    todo!("week4-day6 task 3: attend_with_sinks")
}
