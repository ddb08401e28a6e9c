//! Day 6. The weights of a layer with experts.

use tiny_llm_formats::config::mixture::Clamp;

use crate::week2::{layer::Linear, matrix::Matrix};
use crate::week4::mixture::route::Routing;

/// The weights of one layer.
#[derive(Debug, Clone)]
pub struct MixtureLayer {
    /// `[E]`, before attention.
    pub attention_norm: Vec<f32>,
    /// `[H_q·D, E]`
    pub q_proj: Linear,
    /// `[H·D, E]`
    pub k_proj: Linear,
    /// `[H·D, E]`
    pub v_proj: Linear,
    /// `[E, H_q·D]`
    pub o_proj: Linear,
    /// `[D]`, each query head's norm (Qwen3-MoE).
    pub q_norm: Option<Vec<f32>>,
    /// `[D]`, each key head's norm (Qwen3-MoE).
    pub k_norm: Option<Vec<f32>>,
    /// `[H_q]`, each query head's sink (gpt-oss).
    pub sinks: Option<Vec<f32>>,
    /// How many positions a row sees; `None` for all.
    pub window: Option<usize>,
    /// `[E]`, before the experts.
    pub mlp_norm: Vec<f32>,
    /// What comes after attention.
    pub experts: Experts,
}

/// One matrix for each expert.
#[derive(Debug, Clone)]
pub struct Stack {
    /// `[n]` of equal sizes.
    pub matrices: Vec<Matrix>,
    /// `[n, rows]`
    pub bias: Option<Vec<f32>>,
}

/// All experts of a layer, and who sends tokens to them.
#[derive(Debug, Clone)]
pub struct Experts {
    /// `[n, E]`
    pub router: Linear,
    /// How logits become weights.
    pub routing: Routing,
    /// `k`, how many experts a token goes to.
    pub per_token: usize,
    /// `[I, E]` each.
    pub gate: Stack,
    /// `[I, E]` each.
    pub up: Stack,
    /// `[E, I]` each.
    pub down: Stack,
    /// gpt-oss's gate; week 1's, if there is none.
    pub clamp: Option<Clamp>,
}

impl MixtureLayer {
    /// Every matrix of which a pass reads all.
    pub fn shared(&self) -> impl Iterator<Item = &Matrix> {
        let projections = [&self.q_proj, &self.k_proj, &self.v_proj, &self.o_proj];
        projections.into_iter().chain([&self.experts.router]).map(|linear| &linear.weight)
    }

    /// Every matrix of an expert.
    pub fn stacked(&self) -> impl Iterator<Item = &Matrix> {
        let Experts { gate, up, down, .. } = &self.experts;
        [gate, up, down].into_iter().flat_map(|stack| &stack.matrices)
    }
}
