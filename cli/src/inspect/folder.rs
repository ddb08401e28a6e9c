//! `inspect` for a model folder: `config.json` and the tensors of its safetensors files.

use std::{fmt::Write, path::Path};

use anyhow::{Result, bail};
use safetensors::Dtype;
use tiny_llm_formats::{
    checkpoint::Checkpoint,
    config::ModelConfig,
    gguf::{TensorInfo, TensorType},
};

/// Returns a line for each of the model's sizes and constants. If the book has a symbol for a size
/// or constant, its line begins with that symbol.
pub(super) fn fields(folder: &Path) -> Result<String> {
    let c = ModelConfig::from_folder(folder)?;
    let lines = [
        ("family", format!("{:?}", c.family)),
        ("layers", c.n_layers.to_string()),
        ("E, hidden size", c.hidden_size.to_string()),
        ("H_q, query heads", c.n_heads.to_string()),
        ("H, key and value heads", c.n_kv_heads.to_string()),
        ("D, head size", c.head_dim.to_string()),
        ("I, intermediate size", c.intermediate_size.to_string()),
        ("V, vocabulary", c.vocab_size.to_string()),
        ("context", c.max_positions.to_string()),
        ("RoPE's base", format!("{:?}", c.rope_theta)),
        ("RMSNorm's epsilon", format!("{:?}", c.rms_norm_eps)),
        ("tied embedding", c.tie_word_embeddings.to_string()),
        ("end of text", format!("{:?}", c.eos_token_ids)),
    ];
    Ok(lines.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name:<24}{value}");
        text
    }))
}

/// Returns every tensor, sorted by name.
pub(super) fn tensors(folder: &Path) -> Result<Vec<TensorInfo>> {
    let checkpoint = Checkpoint::open(folder)?;
    let mut all = Vec::new();
    for (name, dtype, shape, size) in checkpoint.tensors() {
        let tensor_type = match dtype {
            Dtype::F32 => TensorType::F32,
            Dtype::F16 => TensorType::F16,
            Dtype::BF16 => TensorType::BF16,
            other => bail!(
                "{}: tensor {name}: found type {other:?}, expected F32, F16 or BF16",
                folder.display()
            ),
        };
        let (name, shape) = (name.to_owned(), shape.to_vec());
        all.push(TensorInfo { name, shape, tensor_type, offset: 0, size });
    }
    Ok(all)
}
