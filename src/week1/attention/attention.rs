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

/// Computes softmax over the last axis: `exp(xᵢ) / Σⱼ exp(xⱼ)`. It must not overflow. The shape
/// stays the same.
///
/// - If a row contains only `−inf`, its result is all zeros.
/// - If a row contains a NaN, its result must contain a NaN, even if all its other elements are
///   `−inf`.
pub fn softmax(x: &Tensor) -> Tensor {
    todo!("week1-day1 task 1: softmax")
}

/// Computes `x · weightᵀ + bias`. Output `o` is the dot product of the input and row `o` of
/// `weight`, plus `bias[o]`.
///
/// `x [..., in]`, `weight [out, in]`, `bias [out]` → `[..., out]`. `x` has at least two axes.
/// Checkpoints store weights as `[out, in]`.
///
/// # Panics
/// If the last axis of `x` does not have size `in`, or `x` has only one axis.
pub fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Tensor {
    todo!("week1-day1 task 1: linear")
}

/// Computes `softmax(q · kᵀ · scale + mask) · v`.
///
/// `q [..., L, D]`, `k [..., S, D]`, `v [..., S, D]` → `[..., L, D]`. The number of leading axes is
/// arbitrary. `scale` defaults to `1/√D`. `mask` broadcasts to `[..., L, S]` and is added to the
/// scores `q · kᵀ · scale`. A mask entry of 0 keeps a key, and `−inf` removes it.
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

/// A multi-head attention layer. It projects queries, keys and values, attends in `n_heads`
/// independent heads of size `D`, and projects the merged heads. No projection has a bias.
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
    /// divided by `H`. It may differ from `E / H`.
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

/// Merges heads: `[B, H, L, D]` → `[B, L, H·D]`. This is the inverse of [`split_heads`].
pub fn merge_heads(x: &Tensor) -> Tensor {
    todo!("week1-day1 task 3: merge_heads")
}
