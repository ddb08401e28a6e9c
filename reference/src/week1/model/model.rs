//! Day 5. The model: embedding, transformer blocks, output.
//!
//! One decoder is enough for Llama, Qwen2 and Qwen3; the configuration says which parts a model
//! has.
//!
//! Tasks here: week1-day5 task 1 (`Embedding::forward`, `Embedding::as_output`), week1-day5 task 2
//! (`TransformerBlock::forward`), week1-day5 task 3 (`Model::forward`). Everything else is
//! provided.

use std::sync::Arc;

use anyhow::Result;
use ndarray::{Array2, Axis};
use tiny_llm_formats::{Tensor, config::ModelConfig, request::check_prompt, tensor::reshape};

use super::{
    attention::linear,
    gqa::{GroupedQueryAttention, HeadNorm, Linear, causal_mask},
    mlp::SwiGlu,
    norm::RmsNorm,
    rope::{RopeTables, inverse_frequencies},
};

/// One row per token of the vocabulary. As input the table embeds tokens; as output head it scores
/// them.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// `[V, E]`
    pub weight: Tensor,
}

impl Embedding {
    /// `tokens [B, L]` → `[B, L, E]`: row `tokens[b, l]` of the table.
    ///
    /// # Panics
    /// If a token is not below `V`.
    pub fn forward(&self, tokens: &Array2<u32>) -> Tensor {
        // SOLUTION week1-day5 task 1
        let (b, l) = tokens.dim();
        let rows: Vec<usize> = tokens.iter().map(|&token| token as usize).collect();
        reshape(&self.weight.select(Axis(0), &rows), &[b, l, self.weight.shape()[1]])
        // END SOLUTION
    }

    /// The tied output head: `x [..., E]` → logits `[..., V]`, each the dot product with that
    /// token's row.
    pub fn as_output(&self, x: &Tensor) -> Tensor {
        // SOLUTION week1-day5 task 1
        linear(x, &self.weight, None)
        // END SOLUTION
    }
}

/// One layer: attention and MLP, each with a norm before it and a residual connection around it.
pub struct TransformerBlock {
    /// Before attention.
    pub input_norm: RmsNorm,
    /// Self-attention.
    pub attention: GroupedQueryAttention,
    /// Before the MLP.
    pub post_attention_norm: RmsNorm,
    /// The gated MLP.
    pub mlp: SwiGlu,
}

impl TransformerBlock {
    /// `x [B, L, E]` → `[B, L, E]`. `mask` broadcasts to `[B, H_q, L, L]`.
    pub fn forward(&self, x: &Tensor, mask: Option<&Tensor>) -> Tensor {
        // SOLUTION week1-day5 task 2
        let x = x + &self.attention.forward(&self.input_norm.forward(x), mask);
        let mlp = self.mlp.forward(&self.post_attention_norm.forward(&x));
        x + mlp
        // END SOLUTION
    }
}

/// The longest sequence that week 1 has room for. Every step computes every position, and each
/// layer's scores take `H_q · L · L` numbers, so the 131,072 positions that some checkpoints
/// promise are far out of reach.
pub const MAX_CONTEXT: usize = 8192;

/// A decoder-only transformer.
pub struct Model {
    /// What the checkpoint's `config.json` says; [`Model::build`] limits its `max_positions` to
    /// [`MAX_CONTEXT`].
    pub config: ModelConfig,
    /// Token embedding, and the output head too if the two are tied.
    pub embedding: Embedding,
    /// The layers, first to last.
    pub blocks: Vec<TransformerBlock>,
    /// After the last layer.
    pub norm: RmsNorm,
    /// `[V, E]`, the output head; `None` if it is tied to the embedding.
    pub lm_head: Option<Linear>,
}

impl Model {
    /// Logits of every position: `tokens [B, L]` → `[B, L, V]`. Row `l` scores the token that
    /// follows `tokens[b, ..=l]`.
    ///
    /// # Panics
    /// If a token is not below `V` or `L` exceeds [`Model::context`]; see [`Model::check`].
    pub fn forward(&self, tokens: &Array2<u32>) -> Tensor {
        // SOLUTION week1-day5 task 3
        let length = tokens.ncols();
        let mask = causal_mask(length, length);
        let mut x = self.embedding.forward(tokens);
        for block in &self.blocks {
            x = block.forward(&x, Some(&mask));
        }
        let x = self.norm.forward(&x);
        match &self.lm_head {
            Some(head) => head.forward(&x),
            None => self.embedding.as_output(&x),
        }
        // END SOLUTION
    }

    /// The longest sequence that [`Model::forward`] takes, in tokens.
    pub fn context(&self) -> usize {
        self.config.max_positions
    }

    /// Whether [`Model::forward`] can run on these tokens.
    ///
    /// # Errors
    /// If there are no tokens, there are more than the context holds, or a token is not below `V`.
    pub fn check(&self, tokens: &[u32]) -> Result<()> {
        check_prompt(tokens, self.context(), self.config.vocab_size)
    }

    /// Builds a model from named weights. `weight(name, shape)` returns the tensor of that name, in
    /// f32, or an error if it is missing or has another shape. Names are those of Hugging Face
    /// checkpoints.
    ///
    /// # Errors
    /// Whatever `weight` returns.
    pub fn build(
        mut config: ModelConfig,
        weight: &mut dyn FnMut(&str, &[usize]) -> Result<Tensor>,
    ) -> Result<Self> {
        config.max_positions = config.max_positions.min(MAX_CONTEXT);
        let c = &config;
        let (e, d) = (c.hidden_size, c.head_dim);
        let (q_size, kv_size) = (c.n_heads * d, c.n_kv_heads * d);
        let inverse_frequencies = c.scale_frequencies(inverse_frequencies(d, c.rope_theta));
        let rope = Arc::new(RopeTables::new(&inverse_frequencies, c.max_positions));

        let embedding =
            Embedding { weight: weight("model.embed_tokens.weight", &[c.vocab_size, e])? };
        let mut blocks = Vec::with_capacity(c.n_layers);
        for layer in 0..c.n_layers {
            let mut get = |name: &str, shape: &[usize]| {
                weight(&format!("model.layers.{layer}.{name}"), shape)
            };
            let mut project =
                |name: &str, out: usize, width: usize, bias: bool| -> Result<Linear> {
                    Ok(Linear {
                        weight: get(&format!("self_attn.{name}.weight"), &[out, width])?,
                        bias: if bias {
                            Some(get(&format!("self_attn.{name}.bias"), &[out])?)
                        } else {
                            None
                        },
                    })
                };
            let q_proj = project("q_proj", q_size, e, c.qkv_bias)?;
            let k_proj = project("k_proj", kv_size, e, c.qkv_bias)?;
            let v_proj = project("v_proj", kv_size, e, c.qkv_bias)?;
            let o_proj = project("o_proj", e, q_size, c.o_bias)?;
            let mut norm = |name: &str, size: usize| -> Result<RmsNorm> {
                Ok(RmsNorm {
                    weight: get(&format!("{name}.weight"), &[size])?,
                    eps: c.rms_norm_eps,
                })
            };
            let (q_norm, k_norm) = if c.qk_norm {
                (
                    Some(head_norm(norm("self_attn.q_norm", d)?)),
                    Some(head_norm(norm("self_attn.k_norm", d)?)),
                )
            } else {
                (None, None)
            };
            let (input_norm, post_attention_norm) =
                (norm("input_layernorm", e)?, norm("post_attention_layernorm", e)?);
            blocks.push(TransformerBlock {
                input_norm,
                attention: GroupedQueryAttention {
                    n_heads: c.n_heads,
                    n_kv_heads: c.n_kv_heads,
                    q_proj,
                    k_proj,
                    v_proj,
                    o_proj,
                    q_norm,
                    k_norm,
                    rope: Arc::clone(&rope),
                },
                post_attention_norm,
                mlp: SwiGlu {
                    gate_proj: get("mlp.gate_proj.weight", &[c.intermediate_size, e])?,
                    up_proj: get("mlp.up_proj.weight", &[c.intermediate_size, e])?,
                    down_proj: get("mlp.down_proj.weight", &[e, c.intermediate_size])?,
                },
            });
        }
        let norm = RmsNorm { weight: weight("model.norm.weight", &[e])?, eps: c.rms_norm_eps };
        let lm_head = if c.tie_word_embeddings {
            None
        } else {
            Some(Linear { weight: weight("lm_head.weight", &[c.vocab_size, e])?, bias: None })
        };
        Ok(Self { config, embedding, blocks, norm, lm_head })
    }
}

fn head_norm(norm: RmsNorm) -> HeadNorm {
    Box::new(move |x| norm.forward(x))
}
