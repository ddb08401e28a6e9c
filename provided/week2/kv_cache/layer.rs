//! Day 1. The weights of a layer: linear layers, norms, the MLP.

use crate::week2::matrix::Matrix;

/// A linear layer: `x · weightᵀ + bias`.
#[derive(Debug, Clone)]
pub struct Linear {
    /// `[out, in]`
    pub weight: Matrix,
    /// `[out]`
    pub bias: Option<Vec<f32>>,
}

/// The weights of one layer.
#[derive(Debug, Clone)]
pub struct Layer {
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
    /// `[D]`, each query head's norm (Qwen3).
    pub q_norm: Option<Vec<f32>>,
    /// `[D]`, each key head's norm (Qwen3).
    pub k_norm: Option<Vec<f32>>,
    /// `[E]`, before the MLP.
    pub mlp_norm: Vec<f32>,
    /// What comes after attention.
    pub mlp: Mlp,
}

/// The second half of a layer.
#[derive(Debug, Clone)]
pub enum Mlp {
    /// Every row goes through the same weights.
    Dense(DenseMlp),
}

/// Week 1's MLP: `down(silu(gate(x)) · up(x))`.
#[derive(Debug, Clone)]
pub struct DenseMlp {
    /// `[I, E]`
    pub gate_proj: Matrix,
    /// `[I, E]`
    pub up_proj: Matrix,
    /// `[E, I]`
    pub down_proj: Matrix,
}

impl Layer {
    /// Every matrix of the layer, of which a forward pass reads all.
    pub fn matrices(&self) -> impl Iterator<Item = &Matrix> {
        let projections = [&self.q_proj, &self.k_proj, &self.v_proj, &self.o_proj];
        let mlp = match &self.mlp {
            Mlp::Dense(mlp) => [&mlp.gate_proj, &mlp.up_proj, &mlp.down_proj],
        };
        projections.map(|linear| &linear.weight).into_iter().chain(mlp)
    }
}
