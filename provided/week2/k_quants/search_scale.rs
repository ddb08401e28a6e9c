//! Day 4's search for a scale, for groups without a minimum.

use tiny_llm_kernels::blocks::share::{largest_magnitude, nearest};

use crate::week2::search::{ROUNDS, TRIALS, importance};

/// Returns the best scale for a group `x` without a minimum: weight ≈ `scale · code`, with codes
/// from `−half` to `half − 1`. Runs one trial for each element of [`TRIALS`]. Each trial begins
/// near the scale that gives the weight of largest magnitude the code `−half`. That scale is
/// negative if the weight is positive.
#[must_use]
pub fn search_scale<const N: usize>(x: &[f32; N], half: u8) -> f32 {
    let importance = importance(x);
    let half = f32::from(half);
    let largest = largest_magnitude(x);
    let (mut best_gain, mut best_scale) = (0.0, 0.0);
    if largest == 0.0 {
        return best_scale;
    }
    for quarters in TRIALS {
        let mut scale = -largest / (half + f32::from(quarters) / 4.0);
        let mut gain = 0.0;
        for _ in 0..ROUNDS {
            let inverse = 1.0 / scale;
            let (mut qx, mut qq) = (0.0, 0.0);
            for (x, w) in x.iter().zip(&importance) {
                let q = nearest((x * inverse).clamp(-half, half - 1.0));
                qx += w * q * x;
                qq += w * q * q;
            }
            // Σ w·(scale·q − x)² is smallest at this scale. That smallest sum is Σ w·x² minus the
            // gain.
            scale = qx / qq;
            gain = qx * qx / qq;
        }
        if gain > best_gain {
            (best_gain, best_scale) = (gain, scale);
        }
    }
    best_scale
}
