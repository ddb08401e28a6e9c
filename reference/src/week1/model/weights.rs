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
    // SOLUTION week1-day5 task 4
    let values = match stored.dtype {
        Dtype::F32 => stored
            .bytes
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect(),
        Dtype::BF16 => stored
            .bytes
            .chunks_exact(2)
            .map(|b| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16))
            .collect(),
        Dtype::F16 => stored
            .bytes
            .chunks_exact(2)
            .map(|b| f16_to_f32(u16::from_le_bytes([b[0], b[1]])))
            .collect(),
        other => bail!(
            "tensor {}: type {other:?} is not supported; expected F32, F16 or BF16",
            stored.name
        ),
    };
    Ok(tensor(stored.shape, values))
    // END SOLUTION
}

// SOLUTION week1-day5 task 4 (helper)
/// Decodes an f16: 1 sign bit, 5 exponent bits (bias 15) and 10 fraction bits.
fn f16_to_f32(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (
        if bits >> 15 == 0 { 1.0 } else { -1.0 },
        i32::from(bits >> 10 & 0x1f),
        f32::from(bits & 0x3ff),
    );
    sign * match exponent {
        // Subnormal: no implicit leading 1, and the same exponent as the smallest normal number.
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f32.powi(exponent - 15),
    }
}
// END SOLUTION

/// Loads a model from a Hugging Face folder. Such a folder has a `config.json` and one or more
/// safetensors files.
///
/// # Errors
/// - If the folder or a file is missing or malformed.
/// - If a tensor is missing, or its shape is not the one that the configuration requires.
/// - If [`to_f32`] does not support a tensor's type.
pub fn load_model(folder: &Path) -> Result<Model> {
    // SOLUTION week1-day5 task 4
    let config = ModelConfig::from_folder(folder)?;
    let checkpoint = Checkpoint::open(folder)?;
    Model::build(config, &mut |name, shape| to_f32(&checkpoint.tensor(name, shape)?))
    // END SOLUTION
}
