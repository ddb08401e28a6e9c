//! `config.json` of Llama, Qwen2 and Qwen3.

use std::path::Path;

use anyhow::Result;

/// What a decoder needs to know about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// `E`
    pub hidden_size: usize,
    /// Number of transformer blocks.
    pub n_layers: usize,
    /// `H_q`
    pub n_heads: usize,
    /// `H`
    pub n_kv_heads: usize,
    /// `D`; a field of its own in the file, `E / H_q` where it is absent.
    pub head_dim: usize,
    /// `I`
    pub intermediate_size: usize,
    /// `V`
    pub vocab_size: usize,
    /// The longest sequence.
    pub max_positions: usize,
    /// Base of RoPE's frequencies.
    pub rope_theta: f32,
    /// Epsilon of every RMSNorm.
    pub rms_norm_eps: f32,
    /// Do q, k and v have a bias (Qwen2)?
    pub qkv_bias: bool,
    /// Does o have a bias?
    pub o_bias: bool,
    /// Are query and key heads normalised (Qwen3)?
    pub qk_norm: bool,
    /// Is the embedding the output head too?
    pub tie_word_embeddings: bool,
}

impl ModelConfig {
    /// Reads `config.json`.
    ///
    /// # Errors
    /// Names the field.
    pub fn from_folder(_folder: &Path) -> Result<Self> {
        todo!()
    }

    /// Llama 3's scaling, if any.
    #[must_use]
    pub fn scale_frequencies(&self, inverse_frequencies: Vec<f32>) -> Vec<f32> {
        inverse_frequencies
    }
}
