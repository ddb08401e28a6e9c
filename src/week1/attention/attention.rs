//! Day 1. Attention: softmax, linear layers, scaled dot-product attention, multi-head attention.
//!
//! Notation: `B` batch, `L` query length, `S` key length, `E` hidden size, `H` heads, `D` head
//! size.
//!
//! Tasks here: week1-day1 task 1 (`softmax`, `linear`), week1-day1 task 2
//! (`scaled_dot_product_attention`), week1-day1 task 3 (`MultiHeadAttention::forward`,
//! `split_heads`, `merge_heads`). Everything else is provided.

use ndarray::Axis;
use tiny_llm_formats::{
    Tensor, matmul,
    tensor::{reshape, swap_axes, transpose},
};

/// Computes softmax over the last axis: `exp(xᵢ) / Σⱼ exp(xⱼ)`, without overflow. The shape stays
/// the same.
///
/// If a row is all `−inf`, its result is all zeros. If a row contains a NaN, its result must also
/// contain a NaN, even if all other elements are `−inf`.
pub fn softmax(x: &Tensor) -> Tensor {
    todo!("week1-day1 task 1: softmax")
}

/// Computes `x · weightᵀ + bias`: output `o` is the dot product of the input and row `o` of the
/// weight, plus `bias[o]`.
///
/// `x [..., in]` with at least two axes, `weight [out, in]`, `bias [out]` → `[..., out]`.
/// Checkpoints store weights as `[out, in]`.
///
/// # Panics
/// If the last axis of `x` is not `in`, or `x` has only one axis.
pub fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Tensor {
    todo!("week1-day1 task 1: linear")
}

/// Computes `softmax(q · kᵀ · scale + mask) · v`.
///
/// `q [..., L, D]`, `k [..., S, D]`, `v [..., S, D]` → `[..., L, D]`, with any number of leading
/// axes. `scale` defaults to `1/√D`. `mask` is added to the scores `q · kᵀ · scale` and broadcasts
/// to `[..., L, S]`: 0 keeps a key, `−inf` removes it.
///
/// Source: Vaswani et al. 2017, "Attention Is All You Need", equation 1.
pub fn scaled_dot_product_attention(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    scale: Option<f32>,
    mask: Option<&Tensor>,
) -> Tensor {
    todo!("week1-day1 task 2: scaled_dot_product_attention")
}

/// Multi-head attention: query, key and value projections, attention in `n_heads` independent heads
/// of size `D`, and an output projection. No projection has a bias.
pub struct MultiHeadAttention {
    /// Number of heads, `H`.
    pub n_heads: usize,
    /// Weight of the query projection, `[H·D, E]`.
    pub q_proj: Tensor,
    /// Weight of the key projection, `[H·D, E]`.
    pub k_proj: Tensor,
    /// Weight of the value projection, `[H·D, E]`.
    pub v_proj: Tensor,
    /// Weight of the output projection, `[E, H·D]`.
    pub o_proj: Tensor,
}

impl MultiHeadAttention {
    /// Computes attention: `query [B, L, E]`, `key [B, S, E]`, `value [B, S, E]` → `[B, L, E]`.
    /// `mask` broadcasts to `[B, H, L, S]`. The head size `D` is the number of rows of `q_proj`
    /// divided by `n_heads`. It may differ from `E / H`.
    pub fn forward(
        &self,
        query: &Tensor,
        key: &Tensor,
        value: &Tensor,
        mask: Option<&Tensor>,
    ) -> Tensor {
        todo!("week1-day1 task 3: MultiHeadAttention::forward")
    }
}

/// Splits the last axis into `H = n_heads` heads: `[B, L, H·D]` → `[B, H, L, D]`. The attention
/// layer of day 3 also uses this function.
pub fn split_heads(x: &Tensor, n_heads: usize) -> Tensor {
    todo!("week1-day1 task 3: split_heads")
}

/// Merges heads: `[B, H, L, D]` → `[B, L, H·D]`, the inverse of [`split_heads`].
pub fn merge_heads(x: &Tensor) -> Tensor {
    todo!("week1-day1 task 3: merge_heads")
}
