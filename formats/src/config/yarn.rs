//! YaRN: RoPE beyond the context that a model was first trained on.

use std::f64::consts::TAU;

/// Parameters of YaRN, which changes the angles of RoPE.
///
/// RoPE rotates pairs of numbers. Pairs that turn fast keep their frequency. The frequency of pairs
/// that turn slowly is divided by `factor`. For pairs between these, both frequencies are computed
/// and interpolated linearly by the pair's index in the head. Cosines and sines are multiplied by
/// [`Yarn::concentration`], so attention scores are multiplied by its square. Source: Peng et al.
/// 2023, "YaRN: Efficient Context Window Extension of Large Language Models".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yarn {
    /// Length of the new context divided by that of the original one.
    pub factor: f32,
    /// A pair that makes more turns than this within the original context is unchanged.
    pub beta_fast: f32,
    /// The frequency of a pair that makes fewer turns than this is divided by `factor`.
    pub beta_slow: f32,
    /// The context length of the original training, in tokens.
    pub original_max_positions: usize,
    /// Factor by which cosines and sines are multiplied. If a file does not specify it, it is
    /// `0.1 · ln(factor) + 1`.
    pub concentration: f32,
    /// Whether the limits of the interpolated range are rounded outwards to whole pair indices.
    /// Always true for GGUF files, as in llama.cpp. In a model folder, the field `truncate`
    /// decides.
    pub truncate: bool,
}

impl Yarn {
    /// Returns the concentration that YaRN's authors recommend for this factor.
    #[must_use]
    pub fn usual_concentration(factor: f32) -> f32 {
        if factor <= 1.0 { 1.0 } else { (0.1 * f64::from(factor).ln() + 1.0) as f32 }
    }

    /// Returns the scaled frequencies `[D/2]`. `inverse_frequencies [D/2]` have the base `theta`
    /// and are in radians per position.
    #[must_use]
    pub fn scale_frequencies(&self, theta: f32, inverse_frequencies: &[f32]) -> Vec<f32> {
        let dim = 2.0 * inverse_frequencies.len() as f64;
        // Returns the index of the pair that makes this many turns within the original context.
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
            // `slowed` is 0 up to `low`, where the frequency is unchanged. It is 1 from `high`,
            // where the frequency is divided by the factor.
            let slowed = ((i as f64 - low) / width).clamp(0.0, 1.0);
            (slowed * frequency / f64::from(self.factor) + (1.0 - slowed) * frequency) as f32
        };
        inverse_frequencies.iter().enumerate().map(scale).collect()
    }
}
