//! Creates a GGUF file's metadata from a Hugging Face folder. The keys are those of llama.cpp's
//! converter for Llama, Qwen2 and Qwen3, and some that this project defines. Reads `config.json`,
//! `generation_config.json`, `tokenizer.json`, `tokenizer_config.json` and `chat_template.jinja`.

mod tokenizer;

use std::path::Path;

use anyhow::{Result, anyhow, bail, ensure};
use serde_json::Value as Json;

#[cfg(feature = "vocabulary")]
pub(crate) use self::tokenizer::tokenizer_keys;
use super::{Metadata, Value};
use crate::{
    config::{Family, ModelConfig},
    json::{read_json, read_text},
};

/// Returns the metadata of a model folder. Two keys depend on the weights' types, and the caller
/// must add them: `general.file_type` and `general.quantization_version`.
///
/// # Errors
/// If a file is missing or malformed, or has something that a GGUF file cannot express (an unknown
/// pre-tokenizer, for example).
pub fn metadata_from_folder(folder: &Path) -> Result<Metadata> {
    let config = ModelConfig::from_folder(folder)?;
    let mut metadata = Metadata::new(&folder.display().to_string());
    // `.` and `..` have no file name.
    let absolute = std::path::absolute(folder).map_err(|e| anyhow!("{}: {e}", folder.display()))?;
    if let Some(name) = absolute.file_name() {
        metadata.insert("general.name", Value::String(name.to_string_lossy().into_owned()));
    }
    insert_architecture(&mut metadata, &config)?;
    tokenizer::insert(&mut metadata, &config, folder)?;
    if let Some((template, _)) = template_source(folder)? {
        metadata.insert("tokenizer.chat_template", Value::String(template));
    }
    Ok(metadata)
}

/// Adds a model's architecture, sizes and constants to `metadata`.
///
/// # Errors
/// If one of these values does not fit into 32 bits.
pub fn insert_architecture(metadata: &mut Metadata, config: &ModelConfig) -> Result<()> {
    let architecture = match config.family {
        Family::Llama => "llama",
        Family::Qwen2 => "qwen2",
        Family::Qwen3 => "qwen3",
    };
    metadata.insert("general.architecture", Value::String(architecture.to_owned()));
    metadata.insert("general.type", Value::String("model".to_owned()));
    let mut sizes = vec![
        ("block_count", config.n_layers),
        ("context_length", config.max_positions),
        ("embedding_length", config.hidden_size),
        ("feed_forward_length", config.intermediate_size),
        ("attention.head_count", config.n_heads),
        ("attention.head_count_kv", config.n_kv_heads),
        ("attention.key_length", config.head_dim),
        ("attention.value_length", config.head_dim),
    ];
    if config.family == Family::Llama {
        sizes
            .extend([("vocab_size", config.vocab_size), ("rope.dimension_count", config.head_dim)]);
    }
    for (key, size) in sizes {
        let size = u32::try_from(size)
            .map_err(|_| anyhow!("{key}: found {size}, expected at most {}", u32::MAX))?;
        metadata.insert(&format!("{architecture}.{key}"), Value::U32(size));
    }
    metadata.insert(&format!("{architecture}.rope.freq_base"), Value::F32(config.rope_theta));
    metadata.insert(
        &format!("{architecture}.attention.layer_norm_rms_epsilon"),
        Value::F32(config.rms_norm_eps),
    );
    Ok(())
}

/// Returns the chat template's text, and the name of the file that it comes from. The text is
/// `chat_template.jinja`, or else the field `chat_template` of `tokenizer_config.json`. Returns
/// `None` if there is neither. Of several templates in the field, uses the one named `default`.
///
/// # Errors
/// If a file cannot be read, the field has the wrong type, or a list has no template `default`.
pub fn template_source(folder: &Path) -> Result<Option<(String, String)>> {
    let path = folder.join("chat_template.jinja");
    if path.exists() {
        let file = path.display().to_string();
        return Ok(Some((read_text(&path)?, file)));
    }
    let (config, file) = tokenizer_config(folder)?;
    match &config["chat_template"] {
        Json::Null => Ok(None),
        Json::String(source) => Ok(Some((source.clone(), file))),
        Json::Array(named) => {
            let default = named
                .iter()
                .find(|entry| entry["name"] == "default")
                .and_then(|entry| entry["template"].as_str());
            ensure!(
                default.is_some(),
                "{file}: field \"chat_template\": found no template named \"default\" in the list"
            );
            Ok(default.map(|source| (source.to_owned(), file)))
        }
        _ => {
            bail!("{file}: field \"chat_template\": expected a string or a list of named templates")
        }
    }
}

/// Returns the contents of `tokenizer_config.json`, or null if it is missing. Also returns its
/// path, for error messages.
///
/// # Errors
/// If the file cannot be read, or is not JSON.
pub(crate) fn tokenizer_config(folder: &Path) -> Result<(Json, String)> {
    let path = folder.join("tokenizer_config.json");
    let json = if path.exists() { read_json(&path)? } else { Json::Null };
    Ok((json, path.display().to_string()))
}
