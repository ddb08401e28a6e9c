//! Reads a configuration from a GGUF file's metadata, with the keys that llama.cpp's converter
//! writes.

use anyhow::{Result, bail, ensure};

use super::{Family, MAX_HEAD_DIM, MAX_LAYERS, MAX_POSITIONS, MAX_SIZE, ModelConfig, head_dim};
use crate::gguf::{Metadata, TensorInfo};

impl ModelConfig {
    /// Reads the sizes and constants of a model. Three facts are not in the metadata and come from
    /// `tensors`: the size of the vocabulary, whether there are biases, and whether there is an
    /// output head.
    ///
    /// The result does not include Llama 3's scaling of RoPE. A file with that scaling has the
    /// factors in a tensor, `rope_freqs.weight`.
    ///
    /// # Errors
    /// If the architecture is unsupported, or if a value is missing, has the wrong type, or is one
    /// that this engine cannot run. The message is one line: the file, the key, what was found and
    /// what was expected.
    pub fn from_gguf(metadata: &Metadata, tensors: &[TensorInfo]) -> Result<Self> {
        const ARCHITECTURE: &str = "general.architecture";
        let architecture = metadata.required(ARCHITECTURE, metadata.text(ARCHITECTURE))?;
        let family = match architecture {
            "llama" => Family::Llama,
            "qwen2" => Family::Qwen2,
            "qwen3" => Family::Qwen3,
            _ => return Err(metadata.wrong(ARCHITECTURE, "\"llama\", \"qwen2\" or \"qwen3\"")),
        };
        let keys = Keys { metadata, architecture };
        let config = Self::from_keys(&keys, family, tensors)?;
        keys.refuse_what_only_mixtures_do(config.max_positions)?;
        Ok(config)
    }

    /// Reads the configuration of a model whose attention is that of `family`. Does not check the
    /// keys that [`Keys::refuse_what_only_mixtures_do`] checks.
    pub(super) fn from_keys(
        keys: &Keys<'_>,
        family: Family,
        tensors: &[TensorInfo],
    ) -> Result<Self> {
        let tensor = |name: &str| tensors.iter().find(|tensor| tensor.name == name);

        let hidden_size = keys.size("embedding_length", MAX_SIZE)?;
        let n_heads = keys.size("attention.head_count", MAX_SIZE)?;
        let n_kv_heads = keys.size_or("attention.head_count_kv", MAX_SIZE, n_heads)?;
        const HEAD_DIM: &str = "attention.key_length";
        let head_dim = head_dim(
            [hidden_size, n_heads, n_kv_heads],
            keys.has(HEAD_DIM).then(|| keys.size(HEAD_DIM, MAX_HEAD_DIM)).transpose()?,
            ["embedding_length", "attention.head_count", "attention.head_count_kv", HEAD_DIM],
            |key, expected| keys.wrong(key, expected),
        )?;
        let max_positions = keys.size("context_length", MAX_POSITIONS)?;
        keys.refuse_what_no_decoder_here_does(head_dim)?;

        let vocab_size = keys.vocab_size(tensor("token_embd.weight"), hidden_size)?;
        let mut eos_token_ids = Vec::new();
        for name in ["eos", "eot", "eom"] {
            eos_token_ids
                .extend(keys.token_id(name, vocab_size)?.filter(|id| !eos_token_ids.contains(id)));
        }
        Ok(Self {
            family,
            hidden_size,
            n_layers: keys.size("block_count", MAX_LAYERS)?,
            n_heads,
            n_kv_heads,
            head_dim,
            intermediate_size: keys.intermediate_size()?,
            vocab_size,
            max_positions,
            rope_theta: keys
                .number("rope.freq_base", "a number of at least 1", |x| x >= 1.0)?
                .unwrap_or(10_000.0),
            rope_scaling: None,
            rms_norm_eps: keys.rms_norm_eps()?,
            qkv_bias: tensor("blk.0.attn_q.bias").is_some(),
            o_bias: tensor("blk.0.attn_output.bias").is_some(),
            qk_norm: family == Family::Qwen3,
            tie_word_embeddings: tensor("output.weight").is_none(),
            bos_token_id: keys.token_id("bos", vocab_size)?,
            eos_token_ids,
        })
    }
}

/// The metadata keys of one architecture, such as `llama.block_count`.
pub(super) struct Keys<'a> {
    pub(super) metadata: &'a Metadata,
    pub(super) architecture: &'a str,
}

impl Keys<'_> {
    pub(super) fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.architecture)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.metadata.get(&self.key(name)).is_some()
    }

    pub(super) fn wrong<T>(&self, name: &str, expected: &str) -> Result<T> {
        Err(self.metadata.wrong(&self.key(name), expected))
    }

    pub(super) fn size(&self, name: &str, max: u64) -> Result<usize> {
        let size = self.metadata.size(&self.key(name));
        match size? {
            Some(n) if (1..=max).contains(&(n as u64)) => Ok(n),
            _ => self.wrong(name, &format!("a whole number from 1 to {max}")),
        }
    }

    pub(super) fn size_or(&self, name: &str, max: u64, otherwise: usize) -> Result<usize> {
        if self.has(name) { self.size(name, max) } else { Ok(otherwise) }
    }

    pub(super) fn number(
        &self,
        name: &str,
        expected: &str,
        valid: impl Fn(f32) -> bool,
    ) -> Result<Option<f32>> {
        match self.metadata.float(&self.key(name))? {
            None => Ok(None),
            Some(x) if valid(x) && x.is_normal() => Ok(Some(x)),
            Some(_) => self.wrong(name, expected),
        }
    }

    /// Returns the inner size of the MLP, or that of an expert if the file has no other.
    fn intermediate_size(&self) -> Result<usize> {
        let both = ["feed_forward_length", "expert_feed_forward_length"];
        let name = both.into_iter().find(|name| self.has(name)).unwrap_or(both[0]);
        self.size(name, MAX_SIZE)
    }

    fn rms_norm_eps(&self) -> Result<f32> {
        const NAME: &str = "attention.layer_norm_rms_epsilon";
        const EXPECTED: &str = "a number above 0 and below 1";
        match self.number(NAME, EXPECTED, |x| x > 0.0 && x < 1.0)? {
            Some(eps) => Ok(eps),
            None => self.wrong(NAME, EXPECTED),
        }
    }

    fn token_id(&self, name: &str, vocab_size: usize) -> Result<Option<u32>> {
        let key = format!("tokenizer.ggml.{name}_token_id");
        match self.metadata.size(&key)? {
            None => Ok(None),
            Some(id) if id < vocab_size => Ok(Some(id as u32)),
            Some(_) => Err(self
                .metadata
                .wrong(&key, &format!("a token id below the vocabulary's size, {vocab_size}"))),
        }
    }

    /// Returns the number of rows of the embedding. The vocabulary must have the same size.
    fn vocab_size(&self, embedding: Option<&TensorInfo>, hidden_size: usize) -> Result<usize> {
        const TOKENS: &str = "tokenizer.ggml.tokens";
        let file = self.metadata.file();
        let Some(embedding) = embedding else {
            bail!("{file}: tensor token_embd.weight is missing")
        };
        let [vocab_size, _] = *embedding.shape else {
            bail!(
                "{file}: tensor token_embd.weight: found shape {:?}, expected [vocabulary, \
                 {hidden_size}]",
                embedding.shape
            );
        };
        ensure!(
            vocab_size as u64 <= MAX_SIZE,
            "{file}: tensor token_embd.weight: found {vocab_size} rows, expected at most {MAX_SIZE}"
        );
        if let Some(tokens) = self.metadata.array(TOKENS)? {
            let expected = format!("{vocab_size}, the number of rows of token_embd.weight");
            ensure!(tokens.len() == vocab_size, self.metadata.wrong(TOKENS, &expected));
        } else if self.size_or("vocab_size", MAX_SIZE, vocab_size)? != vocab_size {
            return self.wrong(
                "vocab_size",
                &format!("{vocab_size}, the number of rows of token_embd.weight"),
            );
        }
        Ok(vocab_size)
    }

    fn refuse_what_no_decoder_here_does(&self, head_dim: usize) -> Result<()> {
        for name in ["attention.value_length", "rope.dimension_count"] {
            if self.size_or(name, MAX_HEAD_DIM, head_dim)? != head_dim {
                return self.wrong(name, &format!("{head_dim}, the size of a head"));
            }
        }
        Ok(())
    }

    /// Rejects experts, sliding windows and scaled positions. Only
    /// [`super::mixture::MixtureConfig`] supports them.
    fn refuse_what_only_mixtures_do(&self, max_positions: usize) -> Result<()> {
        if self.metadata.size(&self.key("expert_count"))?.is_some_and(|n| n > 0) {
            return self.wrong("expert_count", "0 or nothing: this engine's MLP has no experts");
        }
        if self
            .metadata
            .size(&self.key("attention.sliding_window"))?
            .is_some_and(|n| n > 0 && n < max_positions)
        {
            return self.wrong(
                "attention.sliding_window",
                "nothing: in this engine, every layer attends to all positions",
            );
        }
        const SCALING: &str = "rope.scaling.type";
        if self.metadata.text(&self.key(SCALING))?.is_some_and(|name| name != "none") {
            return self.wrong(
                SCALING,
                "\"none\" or nothing: the only scaling here is the tensor rope_freqs.weight",
            );
        }
        // A file with scaled positions may lack the scaling type.
        for name in ["rope.scaling.factor", "rope.scale_linear"] {
            if self.metadata.float(&self.key(name))?.is_some_and(|x| x != 1.0 && x != 0.0) {
                return self.wrong(name, "1 or nothing: this engine does not scale positions");
            }
        }
        Ok(())
    }
}
