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
    // SOLUTION week1-day1 task 1
    let mut out = x.clone();
    for mut row in out.lanes_mut(Axis(x.ndim() - 1)) {
        // Don't test whether the maximum is −inf: that is also true for a row of NaN, and a NaN
        // must stay a NaN.
        if row.iter().all(|&v| v == f32::NEG_INFINITY) {
            row.fill(0.0);
            continue;
        }
        // Subtracting the max doesn't change the ratio, and keeps every exponent at or below 0.
        let max = row.fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row.mapv_inplace(|v| v / sum);
    }
    out
    // END SOLUTION
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
    // SOLUTION week1-day1 task 1
    let y = matmul(x, transpose(weight));
    match bias {
        Some(bias) => y + bias,
        None => y,
    }
    // END SOLUTION
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
    // SOLUTION week1-day1 task 2
    let head_dim = q.shape()[q.ndim() - 1];
    let scale = scale.unwrap_or(1.0 / (head_dim as f32).sqrt());
    // (..., L, D) · (..., D, S) -> (..., L, S)
    let mut scores = matmul(q, transpose(k)) * scale;
    if let Some(mask) = mask {
        scores += mask;
    }
    // (..., L, S) · (..., S, D) -> (..., L, D)
    matmul(&softmax(&scores), v)
    // END SOLUTION
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
        // SOLUTION week1-day1 task 3
        // 1. Project and split: (B, L, E) -> (B, L, H·D) -> (B, H, L, D)
        let q = split_heads(&linear(query, &self.q_proj, None), self.n_heads);
        let k = split_heads(&linear(key, &self.k_proj, None), self.n_heads);
        let v = split_heads(&linear(value, &self.v_proj, None), self.n_heads);
        // 2. Attend in each head separately: (B, H, L, D)
        let out = scaled_dot_product_attention(&q, &k, &v, None, mask);
        // 3. Merge and project: (B, H, L, D) -> (B, L, H·D) -> (B, L, E)
        linear(&merge_heads(&out), &self.o_proj, None)
        // END SOLUTION
    }
}

/// Splits the last axis into `H = n_heads` heads: `[B, L, H·D]` → `[B, H, L, D]`. The attention
/// layer of day 3 also uses this function.
pub fn split_heads(x: &Tensor, n_heads: usize) -> Tensor {
    // SOLUTION week1-day1 task 3
    let [b, l, width] = *x.shape() else {
        panic!("split_heads needs [B, L, H·D], got {:?}", x.shape())
    };
    // A reshape moves no element, so it can only split the last axis. The swap then brings H before
    // L.
    swap_axes(&reshape(x, &[b, l, n_heads, width / n_heads]), 1, 2)
    // END SOLUTION
}

/// Merges heads: `[B, H, L, D]` → `[B, L, H·D]`. This is the inverse of [`split_heads`].
pub fn merge_heads(x: &Tensor) -> Tensor {
    // SOLUTION week1-day1 task 3
    let [b, h, l, d] = *x.shape() else {
        panic!("merge_heads needs [B, H, L, D], got {:?}", x.shape())
    };
    reshape(&swap_axes(x, 1, 2), &[b, l, h * d])
    // END SOLUTION
}
