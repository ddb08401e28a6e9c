//! YaRN: RoPE beyond the context that a model was first trained on.

use std::f64::consts::TAU;

/// How YaRN changes the angles.
///
/// Pairs that turn fast keep their frequency, pairs that turn slowly are slowed down by `factor`,
/// and those in between are mixed, by their place in the head. Cosines and sines are multiplied by
/// [`Yarn::concentration`], so scores grow by its square. Source: Peng et al. 2023, "YaRN:
/// Efficient Context Window Extension of Large Language Models".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yarn {
    /// How many times longer the context has become.
    pub factor: f32,
    /// A pair that makes more turns than this within the original context is left alone.
    pub beta_fast: f32,
    /// One that makes fewer is slowed down.
    pub beta_slow: f32,
    /// The context of the first training, in tokens.
    pub original_max_positions: usize,
    /// What cosines and sines are multiplied by: `0.1 · ln(factor) + 1` where a file does not say.
    pub concentration: f32,
    /// Whether the limits of what is mixed are brought to whole pairs: llama.cpp does so for all
    /// files, a folder says it.
    pub truncate: bool,
}

impl Yarn {
    /// What YaRN's authors recommend for this factor.
    #[must_use]
    pub fn usual_concentration(factor: f32) -> f32 {
        if factor <= 1.0 { 1.0 } else { (0.1 * f64::from(factor).ln() + 1.0) as f32 }
    }

    /// `inverse_frequencies [D/2]` in radians per position, of base `theta`.
    #[must_use]
    pub fn scale_frequencies(&self, theta: f32, inverse_frequencies: &[f32]) -> Vec<f32> {
        let dim = 2.0 * inverse_frequencies.len() as f64;
        // The pair that makes so many turns within the original context.
        let pair_of = |turns: f32| {
            let positions_a_turn = self.original_max_positions as f64 / (f64::from(turns) * TAU);
            dim * positions_a_turn.ln() / (2.0 * f64::from(theta).ln())
        };
        let (low, high) = (pair_of(self.beta_fast), pair_of(self.beta_slow));
        let (low, high) = if self.truncate { (low.floor(), high.ceil()) } else { (low, high) };
        let (low, high) = (low.max(0.0), high.min(dim - 1.0));
        let width = if high - low < 0.001 { 0.001 } else { high - low };
        let scale = |(i, &frequency): (usize, &f32)| {
            let frequency = f64::from(frequency);
            // 0 up to `low`: kept; 1 from `high` on: slowed down.
            let slowed = ((i as f64 - low) / width).clamp(0.0, 1.0);
            (slowed * frequency / f64::from(self.factor) + (1.0 - slowed) * frequency) as f32
        };
        inverse_frequencies.iter().enumerate().map(scale).collect()
    }
}
