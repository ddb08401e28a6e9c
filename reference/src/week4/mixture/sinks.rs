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
    // SOLUTION week4-day6 task 3
    let max = scores.iter().fold(sink, |max, &score| max.max(score));
    let mut total = (sink - max).exp();
    for score in &mut *scores {
        *score = (*score - max).exp();
        total += *score;
    }
    scores.iter_mut().for_each(|score| *score /= total);
    // END SOLUTION
}

/// Returns the state of the online softmax before the first score, for a head with this sink.
#[must_use]
pub fn begin(sink: f32) -> OnlineSoftmax {
    // SOLUTION week4-day6 task 3
    OnlineSoftmax { max: sink, total: 1.0 }
    // END SOLUTION
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
    // SOLUTION week4-day6 task 3
    let heads = sinks.len();
    assert!(heads <= MAX_QUERIES, "found {heads} query heads, expected at most {MAX_QUERIES}");
    let mut tile = [0f32; TILE * MAX_HEAD_DIM];
    let tile = &mut tile[..TILE * head_dim];
    let mut softmax = [OnlineSoftmax::default(); MAX_QUERIES];
    softmax.iter_mut().zip(sinks).for_each(|(softmax, &sink)| *softmax = begin(sink));
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
            let scores = &scores[..heads * TILE];
            tile_sum(scores, &factors[..heads], &tile[..n * head_dim], head_dim, out);
        }
    }
    for (out, softmax) in out.chunks_exact_mut(head_dim).zip(&softmax) {
        out.iter_mut().for_each(|x| *x /= softmax.total);
    }
    // END SOLUTION
}
