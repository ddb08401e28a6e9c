//! Day 6. The weights of a layer with experts.

use tiny_llm_formats::config::mixture::Clamp;

use crate::week2::{layer::Linear, matrix::Matrix};
use crate::week4::mixture::route::Routing;

/// The weights of one layer.
#[derive(Debug, Clone)]
pub struct MixtureLayer {
    /// Weight of the RMSNorm before attention, `[E]`.
    pub attention_norm: Vec<f32>,
    /// Query projection, `[H_q·D, E]`.
    pub q_proj: Linear,
    /// Key projection, `[H·D, E]`.
    pub k_proj: Linear,
    /// Value projection, `[H·D, E]`.
    pub v_proj: Linear,
    /// Output projection, `[E, H_q·D]`.
    pub o_proj: Linear,
    /// RMSNorm weight that is applied to each query head, `[D]` (Qwen3-MoE only).
    pub q_norm: Option<Vec<f32>>,
    /// RMSNorm weight that is applied to each key head, `[D]` (Qwen3-MoE only).
    pub k_norm: Option<Vec<f32>>,
    /// Attention sink of each query head, `[H_q]` (gpt-oss only).
    pub sinks: Option<Vec<f32>>,
    /// Number of positions that a row of this layer sees, or `None` for all.
    pub window: Option<usize>,
    /// Weight of the RMSNorm before the experts, `[E]`.
    pub mlp_norm: Vec<f32>,
    /// The experts.
    pub experts: Experts,
}

/// One matrix per expert, and a bias if the model has one.
#[derive(Debug, Clone)]
pub struct Stack {
    /// Matrices of equal sizes, `[n]`.
    pub matrices: Vec<Matrix>,
    /// Biases, `[n, rows]`.
    pub bias: Option<Vec<f32>>,
}

/// All experts of a layer, and the router that assigns tokens to them.
#[derive(Debug, Clone)]
pub struct Experts {
    /// Router, `[n, E]`.
    pub router: Linear,
    /// How the router's logits become the experts' weights.
    pub routing: Routing,
    /// `k`, the number of experts per token.
    pub per_token: usize,
    /// Gate projections, `[I, E]` each.
    pub gate: Stack,
    /// Up projections, `[I, E]` each.
    pub up: Stack,
    /// Down projections, `[E, I]` each.
    pub down: Stack,
    /// Constants of gpt-oss's gate, or `None` for a model that uses week 1's gate.
    pub clamp: Option<Clamp>,
}

impl MixtureLayer {
    /// Returns the matrices that every token uses: the projections of attention and the router.
    pub fn shared(&self) -> impl Iterator<Item = &Matrix> {
        let projections = [&self.q_proj, &self.k_proj, &self.v_proj, &self.o_proj];
        projections.into_iter().chain([&self.experts.router]).map(|linear| &linear.weight)
    }

    /// Returns the matrices of all experts.
    pub fn stacked(&self) -> impl Iterator<Item = &Matrix> {
        let Experts { gate, up, down, .. } = &self.experts;
        [gate, up, down].into_iter().flat_map(|stack| &stack.matrices)
    }
}
