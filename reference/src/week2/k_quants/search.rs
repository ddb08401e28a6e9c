//! Day 4. Searches for the scale and the minimum that give a group of weights the smallest error.
//!
//! The obvious scale spreads the codes from the smallest weight to the largest. It is rarely the
//! best, because a single extreme weight determines it. So run several trials, each of which begins
//! with a different scale near the obvious one. Each round of a trial first computes the codes for
//! the current scale. Then it computes the best scale for these codes, by least squares. The trial
//! that ends with the smallest error wins. Errors of large weights count more than errors of small
//! weights, because large weights contribute more to a product.
//!
//! Tasks here: week2-day4 task 3 (`fit_scale_and_min`, `search_scale_and_min`). Everything else is
//! provided.

use std::ops::RangeInclusive;

pub use tiny_llm_kernels::blocks::share::{code, nearest, share, share_signed};

/// The trials of a search. Trial `t` begins with the scale `range / (top + t / 4)`, where `top` is
/// the largest code (see [`search_scale_and_min`]).
pub const TRIALS: RangeInclusive<i8> = -4..=4;
/// Number of rounds of a trial. Each round computes the codes from the scale and the minimum. Then
/// it computes the scale and the minimum from the codes.
pub const ROUNDS: usize = 4;

/// The scale and minimum of a group of weights: weight ≈ `scale · code − min`, with `min ≥ 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaleAndMin {
    /// The difference between the weights of two adjacent codes.
    pub scale: f32,
    /// The amount that is subtracted from `scale · code`, the same for all weights of the group.
    pub min: f32,
}

/// Returns the importance of each weight: its magnitude plus the root mean square of its group. The
/// search multiplies each weight's squared error by its importance.
#[must_use]
pub fn importance<const N: usize>(x: &[f32; N]) -> [f32; N] {
    let mean = x.iter().map(|x| x * x).sum::<f32>() / N as f32;
    x.map(|x| x.abs() + mean.sqrt())
}

/// Returns the scale and the minimum that fit the given `codes` best: they give the smallest
/// `Σ importance · (scale · code − min − x)²`. Sums in f32 are precise enough.
///
/// In two cases, returns a minimum of 0 and the best scale for that minimum:
///
/// - The best minimum would be negative, which cannot be stored.
/// - All codes are equal, so only `scale · code − min` is determined, not `scale` and `min`
///   separately. If all codes are 0, the scale is 0 too.
#[must_use]
pub fn fit_scale_and_min<const N: usize>(
    x: &[f32; N],
    importance: &[f32; N],
    codes: &[f32; N],
) -> ScaleAndMin {
    // SOLUTION week2-day4 task 3
    let [mut w1, mut wx, mut wq, mut wqq, mut wqx] = [0f32; 5];
    for ((x, w), q) in x.iter().zip(importance).zip(codes) {
        w1 += w;
        wx += w * x;
        wq += w * q;
        wqq += w * q * q;
        wqx += w * q * x;
    }
    // Where the error is smallest, both its derivatives are 0:
    // scale·wqq − min·wq = wqx and scale·wq − min·w1 = wx.
    let determinant = w1 * wqq - wq * wq;
    if determinant > 0.0 && codes.iter().any(|&q| q != codes[0]) {
        let min = (wq * wqx - wqq * wx) / determinant;
        if min >= 0.0 {
            return ScaleAndMin { scale: (w1 * wqx - wq * wx) / determinant, min };
        }
    }
    ScaleAndMin { scale: if wqq > 0.0 { wqx / wqq } else { 0.0 }, min: 0.0 }
    // END SOLUTION
}

/// Runs the [`TRIALS`] with codes `0..=top`, and returns the scale and minimum of the trial with
/// the smallest error. Squared errors are weighted by [`importance`].
///
/// All trials begin with the negated lowest weight as the minimum, or with 0 if no weight is
/// negative. The `range` is the highest weight plus this minimum. Trial `t` begins with the scale
/// `range / (top + t / 4)`, where `t / 4` is not rounded. Each of its [`ROUNDS`] rounds first
/// computes the codes, clamped to `0..=top` and rounded. Then [`fit_scale_and_min`] computes the
/// scale and the minimum for these codes. A trial's error is the error of its last codes with its
/// last scale and minimum.
///
/// If the range is 0, all weights are equal and none is positive. The function then returns scale 0
/// and the initial minimum, without any trial.
#[must_use]
pub fn search_scale_and_min<const N: usize>(x: &[f32; N], top: u8) -> ScaleAndMin {
    // SOLUTION week2-day4 task 3
    let importance = importance(x);
    let top = f32::from(top);
    let lowest = x.iter().fold(0f32, |lowest, &x| lowest.min(x));
    let range = x.iter().fold(lowest, |highest, &x| highest.max(x)) - lowest;
    let mut best = ScaleAndMin { scale: 0.0, min: -lowest };
    if range == 0.0 {
        return best;
    }
    let mut best_error = f32::INFINITY;
    for quarters in TRIALS {
        let mut trial =
            ScaleAndMin { scale: range / (top + f32::from(quarters) / 4.0), min: -lowest };
        let mut codes = [0.0; N];
        for _ in 0..ROUNDS {
            let inverse = 1.0 / trial.scale;
            codes = x.map(|x| nearest(((x + trial.min) * inverse).clamp(0.0, top)));
            trial = fit_scale_and_min(x, &importance, &codes);
        }
        let error = x
            .iter()
            .zip(&importance)
            .zip(&codes)
            .map(|((x, w), q)| w * (trial.scale * q - trial.min - x).powi(2))
            .sum();
        if error < best_error {
            (best_error, best) = (error, trial);
        }
    }
    best
    // END SOLUTION
}
