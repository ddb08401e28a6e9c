//! Day 6. Loads models with experts from a Hugging Face folder or a GGUF file.
//!
//! Matrices are used in place, except for the experts of a gpt-oss folder. In such a folder, the
//! rows of the gate and up projections alternate, and the matrices may also be transposed. These
//! experts are copied once, in the right order.

use std::{collections::HashSet, path::Path};

use anyhow::{Context, Result, bail, ensure};
use tiny_llm_formats::{
    bytes::Bytes,
    checkpoint::{Checkpoint, Dtype},
    config::mixture::{MixtureConfig, MixtureFamily},
    gguf::{TensorType, gguf_name},
};
use tiny_llm_kernels::blocks::mxfp4;

use crate::week4::mixture::{
    layer::{Experts, MixtureLayer, Stack},
    model::MixtureModel,
    route::Routing,
};
use crate::{
    week1::rope::inverse_frequencies,
    week2::{
        gguf::{Gguf, reader::shown},
        kernels::naive::decode_row,
        layer::Linear,
        load::{gguf_matrix, stored_matrix},
        matrix::Matrix,
        rope::{RopeLayout, RopeTable},
        streaming::MAX_HEAD_DIM,
    },
};

/// Loads a model from a Hugging Face folder, whose files are mapped. The model's context is at most
/// `context` positions.
///
/// # Errors
/// - If a file is missing or malformed.
/// - If a tensor is missing, has the wrong shape or type, or has a weight that is NaN or infinite.
/// - If the folder has a tensor that such a model doesn't use.
pub fn load_folder(folder: &Path, context: usize) -> Result<MixtureModel> {
    let config = MixtureConfig::from_folder(folder)?;
    let checkpoint = Checkpoint::open(folder)?;
    checkpoint.check_finite()?;
    let file = folder.display().to_string();
    let mut weights = Weights { file: File::Folder(&checkpoint), used: HashSet::new() };
    let model = build(config, context, &file, &mut weights)?;
    let harmless = |name: &str| name == "lm_head.weight" || name.ends_with("rotary_emb.inv_freq");
    let mut names = checkpoint.tensors().map(|(name, ..)| name);
    refuse(names.find(|name| !weights.used.contains(*name) && !harmless(name)), &file)?;
    Ok(model)
}

/// Returns the model of a GGUF file. Its context is at most `context` positions.
///
/// # Errors
/// The same as for [`load_folder`].
pub fn load_gguf(gguf: &Gguf, context: usize) -> Result<MixtureModel> {
    let config = MixtureConfig::from_gguf(&gguf.metadata, &gguf.tensors)?;
    let file = gguf.metadata.file();
    let mut weights = Weights { file: File::Gguf(gguf), used: HashSet::new() };
    let model = build(config, context, file, &mut weights)?;
    let mut names = gguf.tensors.iter().map(|tensor| &*tensor.name);
    refuse(names.find(|name| !weights.used.contains(*name)), file)?;
    Ok(model)
}

/// Returns an error that names the unused tensor `other`, if there is one. A model with such a
/// tensor computes something that this engine doesn't.
fn refuse(other: Option<&str>, file: &str) -> Result<()> {
    match other {
        None => Ok(()),
        Some(name) => bail!("{file}: tensor {} is not part of a supported model", shown(name)),
    }
}

/// The folder or file that holds the tensors.
enum File<'a> {
    Folder(&'a Checkpoint),
    Gguf(&'a Gguf),
}

/// Gives access to tensors by the names that model folders use. Remembers which names were
/// requested.
struct Weights<'a> {
    file: File<'a>,
    used: HashSet<String>,
}

impl Weights<'_> {
    fn matrix(&mut self, name: &str, shape: &[usize]) -> Result<Matrix> {
        let name = self.name_of(name);
        let matrix = match &self.file {
            File::Folder(checkpoint) => stored_matrix(checkpoint, &name, shape),
            File::Gguf(gguf) => gguf_matrix(gguf, &name, shape),
        }?;
        self.used.insert(name);
        Ok(matrix)
    }

    /// Returns this file's name for the tensor that model folders call `name`.
    fn name_of(&self, name: &str) -> String {
        if matches!(self.file, File::Folder(_)) {
            return name.to_owned();
        }
        gguf_name(name).unwrap_or_else(|| name.to_owned())
    }

    /// Returns all elements of a small tensor, decoded to f32.
    fn vector(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let matrix = self.matrix(name, shape)?;
        let mut values = vec![0.0; matrix.rows * matrix.cols];
        for (r, row) in values.chunks_exact_mut(matrix.cols).enumerate() {
            decode_row(&matrix, r, row);
        }
        Ok(values)
    }

    fn linear(&mut self, name: &str, [rows, cols]: [usize; 2], bias: bool) -> Result<Linear> {
        let weight = self.matrix(&format!("{name}.weight"), &[rows, cols])?;
        let bias = if bias { Some(self.vector(&format!("{name}.bias"), &[rows])?) } else { None };
        Ok(Linear { weight, bias })
    }

    /// Returns the type and the bytes of a tensor in a folder.
    fn bytes(&mut self, name: &str, shape: &[usize]) -> Result<(Dtype, Bytes)> {
        let File::Folder(checkpoint) = &self.file else { unreachable!("asked of folders alone") };
        let found = checkpoint.bytes(name, shape)?;
        self.used.insert(name.to_owned());
        Ok(found)
    }

    fn has(&self, name: &str) -> bool {
        match &self.file {
            File::Folder(checkpoint) => checkpoint.tensors().any(|(other, ..)| other == name),
            File::Gguf(gguf) => gguf.tensor(name).is_some(),
        }
    }
}

fn build(
    mut config: MixtureConfig,
    context: usize,
    file: &str,
    weights: &mut Weights<'_>,
) -> Result<MixtureModel> {
    config.base.max_positions = config.base.max_positions.min(context);
    let c = &config.base;
    let (e, d) = (c.hidden_size, c.head_dim);
    ensure!(d <= MAX_HEAD_DIM, "{file}: found a head size of {d}, expected at most {MAX_HEAD_DIM}");
    let (q_size, kv_size) = (c.n_heads * d, c.n_kv_heads * d);
    let is_gguf = matches!(weights.file, File::Gguf(_));
    let is_gpt_oss = config.family == MixtureFamily::GptOss;
    let embedding = weights.matrix("model.embed_tokens.weight", &[c.vocab_size, e])?;
    let mut layers = Vec::with_capacity(c.n_layers);
    for (i, &window) in config.windows.iter().enumerate() {
        let name = |part: &str| format!("model.layers.{i}.{part}");
        let mut projection = |part: &str, shape, bias| weights.linear(&name(part), shape, bias);
        let q_proj = projection("self_attn.q_proj", [q_size, e], c.qkv_bias)?;
        let k_proj = projection("self_attn.k_proj", [kv_size, e], c.qkv_bias)?;
        let v_proj = projection("self_attn.v_proj", [kv_size, e], c.qkv_bias)?;
        let o_proj = projection("self_attn.o_proj", [e, q_size], c.o_bias)?;
        let mut vector = |name: String, size: usize, is_there: bool| {
            is_there.then(|| weights.vector(&name, &[size])).transpose()
        };
        let q_norm = vector(name("self_attn.q_norm.weight"), d, c.qk_norm)?;
        let k_norm = vector(name("self_attn.k_norm.weight"), d, c.qk_norm)?;
        let sinks = match is_gguf {
            true => format!("blk.{i}.attn_sinks.weight"),
            false => name("self_attn.sinks"),
        };
        let sinks = vector(sinks, c.n_heads, is_gpt_oss)?;
        let mlp_norm = match is_gguf && is_gpt_oss {
            true => format!("blk.{i}.post_attention_norm.weight"),
            false => name("post_attention_layernorm.weight"),
        };
        layers.push(MixtureLayer {
            attention_norm: weights.vector(&name("input_layernorm.weight"), &[e])?,
            q_proj,
            k_proj,
            v_proj,
            o_proj,
            q_norm,
            k_norm,
            sinks,
            window,
            mlp_norm: weights.vector(&mlp_norm, &[e])?,
            experts: experts(&config, i, weights)?,
        });
    }
    let norm = weights.vector("model.norm.weight", &[e])?;
    let lm_head = match c.tie_word_embeddings {
        true => None,
        false => Some(weights.matrix("lm_head.weight", &[c.vocab_size, e])?),
    };
    let mut frequencies = c.scale_frequencies(inverse_frequencies(d, c.rope_theta));
    if let Some(yarn) = &config.yarn {
        frequencies = yarn.scale_frequencies(c.rope_theta, &frequencies);
    }
    let concentration = config.yarn.map_or(1.0, |yarn| yarn.concentration);
    let rope = RopeTable::new(&frequencies, c.max_positions).scaled(concentration);
    let rope_layout = RopeLayout::HalfSplit;
    Ok(MixtureModel { config, embedding, layers, norm, lm_head, rope, rope_layout })
}

fn experts(config: &MixtureConfig, layer: usize, weights: &mut Weights<'_>) -> Result<Experts> {
    let (n, e, i) = (config.experts, config.base.hidden_size, config.base.intermediate_size);
    let has_bias = config.family == MixtureFamily::GptOss;
    let (router, [gate, up, down]) = match (&weights.file, config.family) {
        (File::Gguf(_), _) => {
            let name = |part: &str| format!("blk.{layer}.{part}");
            let mut stack = |part: &str, rows: usize, cols: usize| -> Result<Stack> {
                let all = weights.matrix(&format!("{}.weight", name(part)), &[n, rows, cols])?;
                let bias = format!("{}.bias", name(part));
                let bias = has_bias.then(|| weights.vector(&bias, &[n, rows])).transpose()?;
                Ok(Stack { matrices: all.split(n)?, bias })
            };
            let all = [
                stack("ffn_gate_exps", i, e)?,
                stack("ffn_up_exps", i, e)?,
                stack("ffn_down_exps", e, i)?,
            ];
            (weights.linear(&name("ffn_gate_inp"), [n, e], has_bias)?, all)
        }
        (File::Folder(_), MixtureFamily::Qwen3Moe) => {
            let name = |part: &str| format!("model.layers.{layer}.mlp.{part}");
            let router = weights.linear(&name("gate"), [n, e], false)?;
            (router, qwen3_experts([n, i, e], &name, weights)?)
        }
        (File::Folder(_), MixtureFamily::GptOss) => {
            let name = |part: &str| format!("model.layers.{layer}.mlp.{part}");
            let router = weights.linear(&name("router"), [n, e], true)?;
            let both = name("experts.gate_up_proj");
            let bias = weights.vector(&format!("{both}_bias"), &[n, 2 * i])?;
            let every_other = |from: usize| bias.iter().skip(from).step_by(2).copied().collect();
            let stack = |matrices, bias| Stack { matrices, bias: Some(bias) };
            let gate = stack(taken(&both, [n, i, e], (0, 2), config, weights)?, every_other(0));
            let up = stack(taken(&both, [n, i, e], (1, 2), config, weights)?, every_other(1));
            let down = name("experts.down_proj");
            let bias = weights.vector(&format!("{down}_bias"), &[n, e])?;
            (router, [gate, up, stack(taken(&down, [n, e, i], (0, 1), config, weights)?, bias)])
        }
    };
    let routing = match config.family {
        MixtureFamily::Qwen3Moe => Routing::SoftmaxFirst { renormalize: config.renormalize },
        MixtureFamily::GptOss => Routing::TopKFirst,
    };
    let (per_token, clamp) = (config.per_token, config.clamp);
    Ok(Experts { router, routing, per_token, gate, up, down, clamp })
}

/// Returns the gate, up and down projections of all experts. The folder has either separate tensors
/// for each expert, or two tensors that hold all experts. The first of these two tensors holds each
/// expert's gate rows, followed by the expert's up rows. The second holds the down projections.
fn qwen3_experts(
    [n, i, e]: [usize; 3],
    name: &dyn Fn(&str) -> String,
    weights: &mut Weights<'_>,
) -> Result<[Stack; 3]> {
    let stack = |matrices| Stack { matrices, bias: None };
    let both = name("experts.gate_up_proj");
    if weights.has(&both) {
        let (mut gate, mut up) = (Vec::new(), Vec::new());
        for pair in weights.matrix(&both, &[n, 2 * i, e])?.split(n)? {
            let mut halves = pair.split(2)?.into_iter();
            gate.extend(halves.next());
            up.extend(halves.next());
        }
        let down = weights.matrix(&name("experts.down_proj"), &[n, e, i])?.split(n)?;
        return Ok([stack(gate), stack(up), stack(down)]);
    }
    let mut each = |part: &str, shape: [usize; 2]| -> Result<Stack> {
        let one =
            |expert| weights.matrix(&name(&format!("experts.{expert}.{part}.weight")), &shape);
        Ok(stack((0..n).map(one).collect::<Result<_>>()?))
    };
    Ok([each("gate_proj", [i, e])?, each("up_proj", [i, e])?, each("down_proj", [e, i])?])
}

/// Returns the matrices `[rows, cols]` of a gpt-oss folder's experts. The tensor has `step · rows`
/// rows for each expert. Row `r` of an expert's matrix is row `from + step · r` of that expert's
/// rows.
fn taken(
    name: &str,
    [n, rows, cols]: [usize; 3],
    (from, step): (usize, usize),
    config: &MixtureConfig,
    weights: &mut Weights<'_>,
) -> Result<Vec<Matrix>> {
    let all = step * rows;
    if !config.blocks {
        // The tensor is transposed: `[n, cols, step · rows]`.
        let (dtype, bytes) = weights.bytes(name, &[n, cols, all])?;
        let (tensor_type, size) = match dtype {
            Dtype::F32 => (TensorType::F32, 4),
            Dtype::F16 => (TensorType::F16, 2),
            Dtype::BF16 => (TensorType::BF16, 2),
            other => bail!("tensor {name}: found {other:?}, expected F32, F16 or BF16"),
        };
        let matrix = |expert: usize| {
            let mut out = Vec::with_capacity(rows * cols * size);
            for r in 0..rows {
                for c in 0..cols {
                    let at = ((expert * cols + c) * all + from + step * r) * size;
                    out.extend_from_slice(&bytes[at..at + size]);
                }
            }
            Matrix::new(rows, cols, tensor_type, out.into())
        };
        return (0..n).map(matrix).collect();
    }
    ensure!(
        cols.is_multiple_of(32),
        "tensor {name}_blocks: found rows of {cols} weights, expected a multiple of 32"
    );
    let blocks = cols / 32;
    let (codes_type, codes) = weights.bytes(&format!("{name}_blocks"), &[n, all, blocks, 16])?;
    let (scales_type, scales) = weights.bytes(&format!("{name}_scales"), &[n, all, blocks])?;
    ensure!(
        codes_type == Dtype::U8 && scales_type == Dtype::U8,
        "tensor {name}_blocks: found {codes_type:?} with scales of {scales_type:?}, expected U8"
    );
    let matrix = |expert: usize| {
        let mut out = Vec::with_capacity(rows * blocks * mxfp4::BYTES);
        for r in 0..rows {
            let first = (expert * all + from + step * r) * blocks;
            for block in first..first + blocks {
                let codes = codes[block * 16..].first_chunk().context("as many codes as scales")?;
                out.extend_from_slice(&mxfp4::from_neighbours(scales[block], codes));
            }
        }
        Matrix::new(rows, cols, TensorType::MXFP4, out.into())
    };
    (0..n).map(matrix).collect()
}
