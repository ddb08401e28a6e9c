//! The sizes of a model's cache.

use tiny_llm_formats::config::ModelConfig;

use crate::week2::cache::CacheShape;

impl CacheShape {
    /// Returns the sizes of a model's cache for `sequences` sequences of at most `capacity`
    /// positions.
    #[must_use]
    pub fn of(config: &ModelConfig, sequences: usize, capacity: usize) -> Self {
        let ModelConfig { n_layers: layers, n_kv_heads: kv_heads, head_dim, .. } = *config;
        Self { layers, sequences, kv_heads, capacity, head_dim }
    }
}
