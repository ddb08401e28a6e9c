//! Day 3. Grouped-query attention: several query heads share one key/value head.
//!
//! Notation: `H_q` query heads, `H` key/value heads, `G = H_q / H` query heads per key/value head,
//! `L` query length, `S` key length.
//!
//! Source: Ainslie et al. 2023, "GQA: Training Generalized Multi-Query Transformer Models".
//!
//! Tasks here: week1-day3 task 1 (`grouped_query_attention`), week1-day3 task 2 (`causal_mask`),
//! week1-day3 task 3 (`GroupedQueryAttention::forward`). Everything else is provided.

use std::sync::Arc;

use ndarray::IxDyn;
use tiny_llm_formats::{Tensor, tensor::reshape};

use super::{
    attention::{linear, merge_heads, scaled_dot_product_attention, split_heads},
    rope::{RopeTables, rope_half_split},
};

/// Computes attention without repeating keys or values. Query head `h` reads key/value head
/// `h / G`, with `G = H_q / H`.
///
/// `q [B, H_q, L, D]`, `k [B, H, S, D]`, `v [B, H, S, D]` → `[B, H_q, L, D]`. `scale` defaults to
/// `1/√D`. `mask` broadcasts to `[B, H_q, L, S]` and is added to the scores `q · kᵀ · scale`.
///
/// # Panics
/// If `H_q` is not a multiple of `H`.
pub fn grouped_query_attention(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    scale: Option<f32>,
    mask: Option<&Tensor>,
) -> Tensor {
    // SOLUTION week1-day3 task 1
    let [b, h_q, l, d] = *q.shape() else {
        panic!("q must be [B, H_q, L, D], got {:?}", q.shape())
    };
    let [_, h, s, _] = *k.shape() else { panic!("k must be [B, H, S, D], got {:?}", k.shape()) };
    assert!(h_q % h == 0, "{h_q} query heads cannot share {h} key/value heads evenly");
    let group = h_q / h;

    // 1. Neighbouring query heads form a group: (B, H_q, L, D) -> (B, H, G, L, D)
    let q = reshape(q, &[b, h, group, l, d]);
    // 2. One key/value head for the whole group: (B, H, S, D) -> (B, H, 1, S, D)
    let k = reshape(k, &[b, h, 1, s, d]);
    let v = reshape(v, &[b, h, 1, s, d]);
    // 3. A mask may differ between heads. Broadcast it to all heads first, then group its heads
    // too.
    let mask = mask.map(|mask| {
        let full = mask.broadcast(IxDyn(&[b, h_q, l, s])).unwrap_or_else(|| {
            panic!("mask {:?} does not broadcast to {:?}", mask.shape(), [b, h_q, l, s])
        });
        reshape(&full.to_owned(), &[b, h, group, l, s])
    });
    // 4. The axis of size 1 broadcasts over G. Then reshape back to (B, H_q, L, D).
    reshape(&scaled_dot_product_attention(&q, &k, &v, scale, mask.as_ref()), &[b, h_q, l, d])
    // END SOLUTION
}

/// Returns the additive causal mask `[L, S]`, with `L = length` and `S = keys`. Key `j` is at
/// position `j`. The queries are at the last `L` of the `S` positions: query `i` is at position
/// `S − L + i`. Entry `[i, j]` is `−inf` if key `j` comes after query `i`. Otherwise it is 0.
///
/// # Panics
/// If `length` is greater than `keys`.
pub fn causal_mask(length: usize, keys: usize) -> Tensor {
    // SOLUTION week1-day3 task 2
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::from_shape_fn(IxDyn(&[length, keys]), |at| {
        if at[1] <= keys - length + at[0] { 0.0 } else { f32::NEG_INFINITY }
    })
    // END SOLUTION
}

/// A projection with an optional bias.
#[derive(Debug, Clone)]
pub struct Linear {
    /// Weight, `[out, in]`.
    pub weight: Tensor,
    /// Bias, `[out]`.
    pub bias: Option<Tensor>,
}

impl Linear {
    /// Computes `x · weightᵀ + bias`: `x [..., in]` → `[..., out]`.
    pub fn forward(&self, x: &Tensor) -> Tensor {
        linear(x, &self.weight, self.bias.as_ref())
    }
}

/// A function that normalises each head of `[B, H, L, D]` over `D`. On day 4, you write this norm:
/// RMSNorm. Until then, the tests provide one.
pub type HeadNorm = Box<dyn Fn(&Tensor) -> Tensor + Send + Sync>;

/// The attention layer of Llama, Qwen2 and Qwen3. Qwen2 adds biases to the query, key and value
/// projections. Qwen3 normalises each query and key head. Llama does neither.
pub struct GroupedQueryAttention {
    /// Number of query heads, `H_q`.
    pub n_heads: usize,
    /// Number of key/value heads, `H`.
    pub n_kv_heads: usize,
    /// Query projection, `[H_q·D, E]`.
    pub q_proj: Linear,
    /// Key projection, `[H·D, E]`.
    pub k_proj: Linear,
    /// Value projection, `[H·D, E]`.
    pub v_proj: Linear,
    /// Output projection, `[E, H_q·D]`.
    pub o_proj: Linear,
    /// Norm for every query head, applied before RoPE. `None` if the model has no such norm.
    pub q_norm: Option<HeadNorm>,
    /// Norm for every key head, applied before RoPE. `None` if the model has no such norm.
    pub k_norm: Option<HeadNorm>,
    /// RoPE tables for head size `D`. They cover at least the positions `0..L`. All layers share
    /// the same tables.
    pub rope: Arc<RopeTables>,
}

impl GroupedQueryAttention {
    /// Computes self-attention: `x [B, L, E]` → `[B, L, E]`. Uses the half-split form of RoPE. Row
    /// `l` of each sequence is at position `l`. `mask` broadcasts to `[B, H_q, L, L]`.
    pub fn forward(&self, x: &Tensor, mask: Option<&Tensor>) -> Tensor {
        // SOLUTION week1-day3 task 3
        // 1. Project and split: (B, L, E) -> (B, H_q, L, D) and (B, H, L, D)
        let q = split_heads(&self.q_proj.forward(x), self.n_heads);
        let k = split_heads(&self.k_proj.forward(x), self.n_kv_heads);
        let v = split_heads(&self.v_proj.forward(x), self.n_kv_heads);
        // 2. Norm per head, then rotate. The order matters if the norm's weights are unequal.
        let q = self.q_norm.as_ref().map_or_else(|| q.clone(), |norm| norm(&q));
        let k = self.k_norm.as_ref().map_or_else(|| k.clone(), |norm| norm(&k));
        let q = rope_half_split(&q, &self.rope, 0);
        let k = rope_half_split(&k, &self.rope, 0);
        // 3. Attend: (B, H_q, L, D)
        let out = grouped_query_attention(&q, &k, &v, None, mask);
        // 4. Merge and project: (B, L, H_q·D) -> (B, L, E)
        self.o_proj.forward(&merge_heads(&out))
        // END SOLUTION
    }
}
