//! Day 5. The model: embedding, transformer blocks, output.
//!
//! One decoder implements Llama, Qwen2 and Qwen3. The configuration says which optional parts a
//! model has.
//!
//! Tasks here: week1-day5 task 1 (`Embedding::forward`, `Embedding::as_output`), week1-day5 task 2
//! (`TransformerBlock::forward`), week1-day5 task 3 (`Model::forward`). Everything else is
//! provided.

use anyhow::Result;
use ndarray::{Array2, Axis};
use tiny_llm_formats::{Tensor, config::ModelConfig, request::check_prompt, tensor::reshape};

use super::{
    attention::linear,
    gqa::{GroupedQueryAttention, Linear, causal_mask},
    mlp::SwiGlu,
    norm::RmsNorm,
};

/// A table with one row per token of the vocabulary. At the model's input, it turns tokens into
/// vectors. As the output head, it turns vectors into logits.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// The table, `[V, E]`.
    pub weight: Tensor,
}

impl Embedding {
    /// Embeds tokens: `tokens [B, L]` → `[B, L, E]`. Vector `[b, l]` of the result is row
    /// `tokens[b, l]` of the table.
    ///
    /// # Panics
    /// If a token is `V` or greater.
    pub fn forward(&self, tokens: &Array2<u32>) -> Tensor {
        todo!("week1-day5 task 1: Embedding::forward")
    }

    /// Applies the table as a tied output head: `x [..., E]` → logits `[..., V]`. A token's logit
    /// is the dot product of a vector in `x` and the token's row in the table.
    pub fn as_output(&self, x: &Tensor) -> Tensor {
        todo!("week1-day5 task 1: Embedding::as_output")
    }
}

/// One layer: attention and MLP, each with a norm before it and a residual connection around it.
pub struct TransformerBlock {
    /// Norm before attention.
    pub input_norm: RmsNorm,
    /// Self-attention.
    pub attention: GroupedQueryAttention,
    /// Norm before the MLP.
    pub post_attention_norm: RmsNorm,
    /// The gated MLP.
    pub mlp: SwiGlu,
}

impl TransformerBlock {
    /// Computes the block: `x [B, L, E]` → `[B, L, E]`. `mask` broadcasts to `[B, H_q, L, L]`.
    pub fn forward(&self, x: &Tensor, mask: Option<&Tensor>) -> Tensor {
        todo!("week1-day5 task 2: TransformerBlock::forward")
    }
}

/// Length of the longest sequence that week 1 supports, in tokens. For each new token, the model
/// computes all `L` positions again. Each layer's attention scores have `H_q · L · L` elements. So
/// the maximum context of some checkpoints, 131,072 tokens, is far out of reach.
pub const MAX_CONTEXT: usize = 8192;

/// A decoder-only transformer.
pub struct Model {
    /// The settings in the checkpoint's `config.json`. Only `max_positions` may differ:
    /// [`Model::build`] limits it to [`MAX_CONTEXT`].
    pub config: ModelConfig,
    /// Token embedding. It is also the output head if `lm_head` is `None`.
    pub embedding: Embedding,
    /// The layers, first to last.
    pub blocks: Vec<TransformerBlock>,
    /// Norm after the last layer.
    pub norm: RmsNorm,
    /// Output head, `[V, E]`. `None` if the embedding is also the output head.
    pub lm_head: Option<Linear>,
}

impl Model {
    /// Computes the logits of every position: `tokens [B, L]` → `[B, L, V]`. Row `[b, l]` holds
    /// the logits of the token that follows `tokens[b, ..=l]`.
    ///
    /// # Panics
    /// If a token is `V` or greater, or `L` exceeds [`Model::context`]. In these cases,
    /// [`Model::check`] returns an error instead.
    pub fn forward(&self, tokens: &Array2<u32>) -> Tensor {
        todo!("week1-day5 task 3: Model::forward")
    }

    /// Returns the length of the longest sequence that [`Model::forward`] supports, in tokens.
    pub fn context(&self) -> usize {
        self.config.max_positions
    }

    /// Checks that [`Model::forward`] can run on `tokens`.
    ///
    /// # Errors
    /// - If `tokens` is empty or longer than [`Model::context`].
    /// - If a token is `V` or greater.
    pub fn check(&self, tokens: &[u32]) -> Result<()> {
        check_prompt(tokens, self.context(), self.config.vocab_size)
    }
}
