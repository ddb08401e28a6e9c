//! Day 1. The weights of a layer: linear layers, norms, the MLP.

use crate::week2::matrix::Matrix;

/// A linear layer: `x · weightᵀ + bias`.
#[derive(Debug, Clone)]
pub struct Linear {
    /// Weight, `[out, in]`.
    pub weight: Matrix,
    /// Bias, `[out]`.
    pub bias: Option<Vec<f32>>,
}

/// The weights of one layer.
#[derive(Debug, Clone)]
pub struct Layer {
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
    /// Weight of the RMSNorm that is applied to each query head, `[D]` (Qwen3).
    pub q_norm: Option<Vec<f32>>,
    /// Weight of the RMSNorm that is applied to each key head, `[D]` (Qwen3).
    pub k_norm: Option<Vec<f32>>,
    /// Weight of the RMSNorm before the MLP, `[E]`.
    pub mlp_norm: Vec<f32>,
    /// The MLP.
    pub mlp: Mlp,
}

/// The MLP of a layer.
#[derive(Debug, Clone)]
pub enum Mlp {
    /// An MLP that applies the same weights to every row.
    Dense(DenseMlp),
}

/// Week 1's MLP: `down(silu(gate(x)) · up(x))`.
#[derive(Debug, Clone)]
pub struct DenseMlp {
    /// Gate projection, `[I, E]`.
    pub gate_proj: Matrix,
    /// Up projection, `[I, E]`.
    pub up_proj: Matrix,
    /// Down projection, `[E, I]`.
    pub down_proj: Matrix,
}

impl Layer {
    /// Returns every matrix of the layer. A forward pass reads all of them.
    pub fn matrices(&self) -> impl Iterator<Item = &Matrix> {
        let projections = [&self.q_proj, &self.k_proj, &self.v_proj, &self.o_proj];
        let mlp = match &self.mlp {
            Mlp::Dense(mlp) => [&mlp.gate_proj, &mlp.up_proj, &mlp.down_proj],
        };
        projections.map(|linear| &linear.weight).into_iter().chain(mlp)
    }
}
