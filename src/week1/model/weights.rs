//! Day 5, last task. Loads weights from the memory-mapped safetensors files of a folder.
//!
//! Tasks here: week1-day5 task 4 (`to_f32`, `load_model`). Everything else is provided.

use std::path::Path;

use anyhow::{Result, bail};
use tiny_llm_formats::{
    Tensor,
    checkpoint::{Checkpoint, Dtype, StoredTensor},
    config::ModelConfig,
    tensor::tensor,
};

use super::model::Model;

/// Decodes stored f32, bf16 or f16 values to f32. All three types are little-endian. A bf16 is the
/// upper half of an f32, and an f16 is an IEEE half-precision number.
///
/// # Errors
/// If the type is not f32, bf16 or f16. The message names the tensor, its type and the supported
/// types.
pub fn to_f32(stored: &StoredTensor<'_>) -> Result<Tensor> {
    todo!("week1-day5 task 4: to_f32")
}

/// Loads a model from a Hugging Face folder. Such a folder has a `config.json` and one or more
/// safetensors files.
///
/// # Errors
/// - If the folder or a file is missing or malformed.
/// - If a tensor is missing, or its shape is not the one that the configuration requires.
/// - If [`to_f32`] does not support a tensor's type.
pub fn load_model(folder: &Path) -> Result<Model> {
    todo!("week1-day5 task 4: load_model")
}
