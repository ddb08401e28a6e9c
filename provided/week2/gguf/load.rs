//! Builds a model from a Hugging Face folder or a GGUF file. Matrices are not copied.

use std::{collections::HashSet, path::Path};

use anyhow::{Context, Result, anyhow, bail, ensure};
use tiny_llm_formats::{
    bytes::Bytes,
    checkpoint::{Checkpoint, Dtype},
    config::{Family, ModelConfig},
    gguf::{TensorType, gguf_name},
};

use crate::week1::rope::inverse_frequencies;
use crate::week2::{
    gguf::{Gguf, reader::shown},
    kernels::naive::decode_row,
    layer::{DenseMlp, Layer, Linear, Mlp},
    matrix::Matrix,
    model::Model,
    rope::{RopeLayout, RopeTable},
    streaming::MAX_HEAD_DIM,
};

/// Returns the model of a Hugging Face folder, with a context of at most `context` positions.
///
/// # Errors
/// - A file is missing or malformed.
/// - A tensor is missing, or does not have the shape and type that the configuration requires.
/// - A weight is NaN or infinite.
pub fn load_folder(folder: &Path, context: usize) -> Result<Model> {
    let config = ModelConfig::from_folder(folder)?;
    check_heads(&config, &folder.join("config.json").display().to_string())?;
    let checkpoint = Checkpoint::open(folder)?;
    checkpoint.check_names(&config)?;
    checkpoint.check_finite()?;
    let mut matrix = |name: &str, shape: &[usize]| stored_matrix(&checkpoint, name, shape);
    let rope = Rope { layout: RopeLayout::HalfSplit, factors: Vec::new() };
    build(config, &rope, context, &mut matrix)
}

/// Returns the model of a GGUF file, with a context of at most `context` positions.
///
/// # Errors
/// If the metadata describes a model that this engine doesn't run, or if the file has a tensor that
/// the model doesn't use. Also returns the errors of [`gguf_matrix`].
pub fn load_gguf(gguf: &Gguf, context: usize) -> Result<Model> {
    let config = ModelConfig::from_gguf(&gguf.metadata, &gguf.tensors)?;
    let file = gguf.metadata.file();
    check_heads(&config, file)?;
    let layout = if config.family == Family::Llama {
        RopeLayout::Interleaved
    } else {
        RopeLayout::HalfSplit
    };
    let rope = Rope { layout, factors: rope_factors(gguf, config.head_dim)? };
    let mut used = HashSet::from([ROPE_FACTORS.to_owned()]);
    let mut matrix = |name: &str, shape: &[usize]| {
        let name = gguf_name(name).expect("every tensor of these models has a name");
        let matrix = gguf_matrix(gguf, &name, shape)?;
        used.insert(name);
        Ok(matrix)
    };
    let model = build(config, &rope, context, &mut matrix)?;
    // An unused tensor means that the model computes something that this engine doesn't.
    if let Some(other) = gguf.tensors.iter().find(|tensor| !used.contains(&tensor.name)) {
        bail!("{file}: tensor {} is not part of a supported model", shown(&other.name));
    }
    Ok(model)
}

/// Checks that attention supports the head size.
fn check_heads(config: &ModelConfig, file: &str) -> Result<()> {
    ensure!(
        config.head_dim <= MAX_HEAD_DIM,
        "{file}: found a head size of {}, expected at most {MAX_HEAD_DIM}",
        config.head_dim
    );
    Ok(())
}

/// Name of the tensor with Llama 3's RoPE factors in a GGUF file.
const ROPE_FACTORS: &str = "rope_freqs.weight";

/// Returns the divisors of the `D/2` RoPE frequencies. Returns an empty list if the file has none.
fn rope_factors(gguf: &Gguf, head_dim: usize) -> Result<Vec<f32>> {
    let Some(info) = gguf.tensor(ROPE_FACTORS) else { return Ok(Vec::new()) };
    let file = gguf.metadata.file();
    let (shape, tensor_type) = (&info.shape, info.tensor_type);
    ensure!(
        *shape == [head_dim / 2] && tensor_type == TensorType::F32,
        "{file}: tensor {ROPE_FACTORS}: found {tensor_type} of shape {shape:?}, expected F32 of \
         shape [{}]",
        head_dim / 2
    );
    let factors = vector(&as_matrix(ROPE_FACTORS, shape, tensor_type, gguf.bytes_of(info))?);
    if let Some(factor) = factors.iter().find(|factor| !(factor.is_normal() && **factor > 0.0)) {
        bail!("{file}: tensor {ROPE_FACTORS}: found a factor of {factor}, expected one above 0");
    }
    Ok(factors)
}

/// Returns a tensor of a GGUF file as a matrix, without copying its bytes. A tensor of shape
/// `[n, rows, cols]` is returned as one matrix of `n · rows` rows.
///
/// # Errors
/// If no tensor has this name and shape, the tensor is a vector in a block format, or a weight is
/// NaN or infinite.
pub fn gguf_matrix(gguf: &Gguf, name: &str, shape: &[usize]) -> Result<Matrix> {
    let (info, file) = (gguf.required(name)?, gguf.metadata.file());
    ensure!(
        info.shape == shape,
        "{file}: tensor {name}: found shape {:?}, expected {shape:?} from the metadata",
        info.shape
    );
    ensure!(
        shape.len() > 1 || info.tensor_type.block_len() == 1,
        "{file}: tensor {name}: found type {}, expected F32, F16 or BF16",
        info.tensor_type
    );
    let matrix = as_matrix(name, shape, info.tensor_type, gguf.bytes_of(info))
        .map_err(|e| anyhow!("{file}: {e}"))?;
    if let Some([row, col]) = matrix.first_not_finite() {
        let what = if info.tensor_type.block_len() == 1 { "value" } else { "scale of the block" };
        bail!(
            "{file}: tensor {name}: found NaN or infinity in the {what} at [{row}, {col}], expected \
             finite weights"
        );
    }
    Ok(matrix)
}

/// Returns a tensor of a checkpoint as a matrix, without copying its bytes. A tensor of shape
/// `[n, rows, cols]` holds the matrices of `n` experts. It is returned as one matrix of `n · rows`
/// rows, which [`Matrix::split`] can split into the experts.
///
/// # Errors
/// If no tensor has this name and shape, or its type isn't supported.
pub fn stored_matrix(checkpoint: &Checkpoint, name: &str, shape: &[usize]) -> Result<Matrix> {
    let (dtype, bytes) = checkpoint.bytes(name, shape)?;
    let tensor_type = match dtype {
        Dtype::F32 => TensorType::F32,
        Dtype::F16 => TensorType::F16,
        Dtype::BF16 => TensorType::BF16,
        other => bail!("tensor {name}: type {other:?} is not supported; expected F32, F16 or BF16"),
    };
    as_matrix(name, shape, tensor_type, bytes)
}

fn as_matrix(name: &str, shape: &[usize], tensor_type: TensorType, bytes: Bytes) -> Result<Matrix> {
    let (rows, cols) = match *shape {
        [cols] => (1, cols),
        [rows, cols] => (rows, cols),
        // The matrices are stored one after the other, so together they form one matrix with
        // `n · rows` rows.
        [n, rows, cols] => {
            let all = n.checked_mul(rows);
            (
                all.with_context(|| {
                    format!("tensor {name}: found {n} times {rows} rows, too many for this machine")
                })?,
                cols,
            )
        }
        _ => bail!("tensor {name}: found {} axes, expected one, two or three", shape.len()),
    };
    Matrix::new(rows, cols, tensor_type, bytes).map_err(|e| anyhow!("tensor {name}: {e}"))
}

/// How RoPE rotates the queries and keys of a file's model.
#[derive(Debug, Clone)]
pub struct Rope {
    /// Which two elements of a head are rotated together.
    pub layout: RopeLayout,
    /// Divisor of each frequency, `[D/2]`. Empty if the frequencies are not divided.
    pub factors: Vec<f32>,
}

/// Builds a model. `matrix(name, shape)` returns a tensor by its name in Hugging Face checkpoints.
/// It returns a vector as a matrix of one row. The model's context is the smaller of `context` and
/// the configuration's maximum.
///
/// # Errors
/// Returns the errors of `matrix`.
pub fn build(
    mut config: ModelConfig,
    rope: &Rope,
    context: usize,
    matrix: &mut dyn FnMut(&str, &[usize]) -> Result<Matrix>,
) -> Result<Model> {
    config.max_positions = config.max_positions.min(context);
    let c = &config;
    let (e, d, i) = (c.hidden_size, c.head_dim, c.intermediate_size);
    let (q_size, kv_size) = (c.n_heads * d, c.n_kv_heads * d);
    let embedding = matrix("model.embed_tokens.weight", &[c.vocab_size, e])?;
    let mut layers = Vec::with_capacity(c.n_layers);
    for layer in 0..c.n_layers {
        let mut get =
            |name: &str, shape: &[usize]| matrix(&format!("model.layers.{layer}.{name}"), shape);
        let mut linear = |name: &str, rows: usize, cols: usize, bias: bool| -> Result<Linear> {
            let weight = get(&format!("self_attn.{name}.weight"), &[rows, cols])?;
            let bias = if bias {
                Some(vector(&get(&format!("self_attn.{name}.bias"), &[rows])?))
            } else {
                None
            };
            Ok(Linear { weight, bias })
        };
        let q_proj = linear("q_proj", q_size, e, c.qkv_bias)?;
        let k_proj = linear("k_proj", kv_size, e, c.qkv_bias)?;
        let v_proj = linear("v_proj", kv_size, e, c.qkv_bias)?;
        let o_proj = linear("o_proj", e, q_size, c.o_bias)?;
        let mut head_norm = |name: &str| -> Result<Option<Vec<f32>>> {
            if c.qk_norm {
                Ok(Some(vector(&get(&format!("self_attn.{name}.weight"), &[d])?)))
            } else {
                Ok(None)
            }
        };
        let (q_norm, k_norm) = (head_norm("q_norm")?, head_norm("k_norm")?);
        layers.push(Layer {
            attention_norm: vector(&get("input_layernorm.weight", &[e])?),
            q_proj,
            k_proj,
            v_proj,
            o_proj,
            q_norm,
            k_norm,
            mlp_norm: vector(&get("post_attention_layernorm.weight", &[e])?),
            mlp: Mlp::Dense(DenseMlp {
                gate_proj: get("mlp.gate_proj.weight", &[i, e])?,
                up_proj: get("mlp.up_proj.weight", &[i, e])?,
                down_proj: get("mlp.down_proj.weight", &[e, i])?,
            }),
        });
    }
    let norm = vector(&matrix("model.norm.weight", &[e])?);
    let lm_head = if c.tie_word_embeddings {
        None
    } else {
        Some(matrix("lm_head.weight", &[c.vocab_size, e])?)
    };
    let mut frequencies = c.scale_frequencies(inverse_frequencies(d, c.rope_theta));
    frequencies.iter_mut().zip(&rope.factors).for_each(|(frequency, factor)| *frequency /= factor);
    let table = RopeTable::new(&frequencies, c.max_positions);
    Ok(Model { config, embedding, layers, norm, lm_head, rope: table, rope_layout: rope.layout })
}

/// Decodes a vector, which is stored as a matrix of one row, to f32.
fn vector(matrix: &Matrix) -> Vec<f32> {
    let mut values = vec![0.0; matrix.cols];
    decode_row(matrix, 0, &mut values);
    values
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use super::*;
    use crate::{
        week1,
        week2::{
            cache::CacheType,
            generate::Session,
            kernels::Rung,
            parallel::Team,
            plan::{AttentionKind, Plan},
        },
    };

    #[test]
    fn every_plan_agrees_with_week_1() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tiny-story");
        let tokens: Vec<u32> = (0..75).map(|i| i * 7919 % 1536).collect();
        let expected = week1::generate::next_token_logits(
            &week1::weights::load_model(&folder).unwrap(),
            &tokens,
        );
        let model = Arc::new(load_folder(&folder, 128).unwrap());
        for attention in [AttentionKind::TwoPass, AttentionKind::Streaming] {
            for (cache_type, tolerance) in [(CacheType::F32, 3e-5), (CacheType::F16, 2e-2)] {
                for (threads, chunk) in [(1, 1), (1, 75), (2, 7), (3, 64)] {
                    // The naive kernels are slow in a test build, so only one chunk size uses them.
                    let rung = if chunk == 75 { Rung::Naive } else { Rung::best() };
                    let plan = Arc::new(Plan {
                        kernels: rung.into(),
                        attention,
                        team: Team::new(threads),
                    });
                    let mut session = Session::new(Arc::clone(&model), plan, 128, cache_type);
                    let found = session.feed(&tokens, chunk).unwrap();
                    let worst =
                        expected.iter().zip(found).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
                    assert!(
                        worst < tolerance,
                        "{attention:?} {cache_type:?} {threads} threads, chunks of {chunk}: {worst}"
                    );
                }
            }
        }
    }
}
