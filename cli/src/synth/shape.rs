//! Model shapes: configuration files of known models.

use clap::ValueEnum;
use serde_json::{Value, json};

/// A known model shape.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Shape {
    /// SmolLM2-360M, with a context of 2,048 instead of 8,192
    #[value(name = "smollm2-360m")]
    SmolLm2,
    /// TinyLlama-1.1B
    #[value(name = "tinyllama-1.1b")]
    TinyLlama,
    /// Qwen2-0.5B, with a context of 4,096
    #[value(name = "qwen2-0.5b")]
    Qwen2,
    /// Qwen3-0.6B, with a context of 4,096
    #[value(name = "qwen3-0.6b")]
    Qwen3,
    /// A two-layer Llama with uneven sizes, for tests
    Tiny,
    /// A two-layer Llama whose row lengths are multiples of every block size, for tests
    #[value(name = "tiny-256")]
    Tiny256,
}

impl Shape {
    /// Returns the contents of a Hugging Face `config.json`.
    pub(super) fn config(self) -> Value {
        let mut config = match self {
            Self::SmolLm2 => json!({
                "hidden_size": 960, "num_hidden_layers": 32, "num_attention_heads": 15, "num_key_value_heads": 5, "head_dim": 64,
                "intermediate_size": 2560, "vocab_size": 49152, "max_position_embeddings": 2048,
                "rope_theta": 100_000.0, "rms_norm_eps": 1e-5, "tie_word_embeddings": true,
            }),
            Self::TinyLlama => json!({
                "hidden_size": 2048, "num_hidden_layers": 22, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 64,
                "intermediate_size": 5632, "vocab_size": 32000, "max_position_embeddings": 2048,
                "rope_theta": 10_000.0, "rms_norm_eps": 1e-5, "tie_word_embeddings": false,
            }),
            Self::Qwen2 => json!({
                "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"],
                "hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2, "head_dim": 64,
                "intermediate_size": 4864, "vocab_size": 151_936, "max_position_embeddings": 4096,
                "rope_theta": 1e6, "rms_norm_eps": 1e-6, "tie_word_embeddings": true,
            }),
            Self::Qwen3 => json!({
                "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"],
                "hidden_size": 1024, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
                "intermediate_size": 3072, "vocab_size": 151_936, "max_position_embeddings": 4096,
                "rope_theta": 1e6, "rms_norm_eps": 1e-6, "tie_word_embeddings": true,
            }),
            Self::Tiny => json!({
                "hidden_size": 20, "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 8,
                "intermediate_size": 28, "vocab_size": 51, "max_position_embeddings": 24,
                "rope_theta": 10_000.0, "rms_norm_eps": 1e-5, "tie_word_embeddings": false,
            }),
            Self::Tiny256 => json!({
                "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 32,
                "intermediate_size": 512, "vocab_size": 320, "max_position_embeddings": 2048,
                "rope_theta": 10_000.0, "rms_norm_eps": 1e-5, "tie_word_embeddings": false,
            }),
        };
        for (field, value) in [
            ("architectures", json!(["LlamaForCausalLM"])),
            ("model_type", json!("llama")),
            ("hidden_act", json!("silu")),
            ("attention_bias", json!(false)),
            ("mlp_bias", json!(false)),
            ("torch_dtype", json!("bfloat16")),
            ("eos_token_id", json!(0)),
        ] {
            if config.get(field).is_none() {
                config[field] = value;
            }
        }
        config
    }
}
