//! Day 5. Builds a model from named weights.

use std::sync::Arc;

use anyhow::Result;
use tiny_llm_formats::{Tensor, config::ModelConfig};

use crate::week1::{
    gqa::{GroupedQueryAttention, HeadNorm, Linear},
    mlp::SwiGlu,
    model::{Embedding, MAX_CONTEXT, Model, TransformerBlock},
    norm::RmsNorm,
    rope::{RopeTables, inverse_frequencies},
};

impl Model {
    /// Builds a model from named weights. The names are those of Hugging Face checkpoints.
    ///
    /// `weight(name, shape)` returns a tensor in f32. It returns an error if the tensor is missing
    /// or its shape differs from `shape`.
    ///
    /// # Errors
    /// Returns the first error of `weight`.
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
