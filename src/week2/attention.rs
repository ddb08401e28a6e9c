//! Day 1. Attention of one row over a cache, in three plain steps: scores, softmax, sum.

use half::f16;

use super::cache::{Cells, Run};

/// Attention of the query heads that share one key and value head.
///
/// `q [G, D]`, `out [G, D]`; `runs` are the keys and values of all positions that this row may see, in order. Scores are
/// `scale · q·k`; all of them are kept until their softmax is known, in `scores` (its length does not matter).
pub fn attend_two_pass<'a>(q: &[f32], runs: impl Iterator<Item = Run<'a>> + Clone, head_dim: usize, scale: f32, scores: &mut Vec<f32>, out: &mut [f32]) {
    todo!("week2-day1 task 2: attend_two_pass")
}
