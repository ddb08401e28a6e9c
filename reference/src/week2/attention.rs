//! Day 1. Attention of one row over a cache, in three plain steps: scores, softmax, sum.

use half::f16;

use super::cache::{Cells, Run};

/// Attention of the query heads that share one key and value head.
///
/// `q [G, D]`, `out [G, D]`; `runs` are the keys and values of all positions that this row may see, in order. Scores are
/// `scale · q·k`; all of them are kept until their softmax is known, in `scores` (its length does not matter).
pub fn attend_two_pass<'a>(q: &[f32], runs: impl Iterator<Item = Run<'a>> + Clone, head_dim: usize, scale: f32, scores: &mut Vec<f32>, out: &mut [f32]) {
    // SOLUTION week2-day1 task 2
    out.fill(0.0);
    for (q, out) in q.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim)) {
        scores.clear();
        for run in runs.clone() {
            scores.extend((0..run.len).map(|i| scale * dot(q, run.keys, i)));
        }
        let max = scores.iter().fold(f32::NEG_INFINITY, |m, &s| m.max(s));
        let mut total = 0.0;
        for score in scores.iter_mut() {
            *score = (*score - max).exp();
            total += *score;
        }
        let mut weights = scores.iter();
        for run in runs.clone() {
            for (i, weight) in (0..run.len).zip(&mut weights) {
                add_scaled(out, weight / total, run.values, i);
            }
        }
    }
    // END SOLUTION
}

// SOLUTION week2-day1 task 2 (helper)
/// The dot product of `q [D]` and row `i` of `cells`.
fn dot(q: &[f32], cells: Cells<'_>, i: usize) -> f32 {
    match cells {
        Cells::F32(k) => q.iter().zip(&k[i * q.len()..]).map(|(q, k)| q * k).sum(),
        Cells::F16(k) => q.iter().zip(&k[i * q.len()..]).map(|(q, k)| q * f16::to_f32(*k)).sum(),
    }
}
// END SOLUTION

// SOLUTION week2-day1 task 2 (helper)
/// Adds `weight` times row `i` of `cells` to `out [D]`.
fn add_scaled(out: &mut [f32], weight: f32, cells: Cells<'_>, i: usize) {
    let at = i * out.len();
    match cells {
        Cells::F32(v) => out.iter_mut().zip(&v[at..]).for_each(|(o, v)| *o += weight * v),
        Cells::F16(v) => out.iter_mut().zip(&v[at..]).for_each(|(o, v)| *o += weight * f16::to_f32(*v)),
    }
}
// END SOLUTION
