//! Reads the `config.json` of a Llama, Qwen2 or Qwen3 model.
//!
//! This file has two forms. Most checkpoints have `rope_theta` and `rope_scaling` at the top level,
//! but transformers 5 writes both into `rope_parameters`. A configuration that this engine cannot
//! run is rejected here, before any weight is read. The error names the field.

mod gguf;
pub mod mixture;
mod tensors;
mod yarn;

use std::{f64::consts::TAU, path::Path};

use anyhow::{Result, ensure};
use serde_json::{Map, Value};

use crate::json::{read_text, shortened};

/// The architectures that the course's decoder supports. The field `model_type` of `config.json`
/// names one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `llama`: Llama 2 and 3, SmolLM, TinyLlama. No q/k norm. Has biases only if `attention_bias`
    /// is set.
    Llama,
    /// `qwen2`: q, k and v always have a bias.
    Qwen2,
    /// `qwen3`: each query and key head is normalised. Has biases only if `attention_bias` is set.
    Qwen3,
}

/// Parameters of Llama 3's scaling of RoPE, for contexts longer than that of the original training.
/// RoPE rotates the numbers of a head in pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Llama3Scaling {
    /// The frequency of a pair that rotates too slowly is divided by this.
    pub factor: f32,
    /// A pair that makes fewer turns than this within `original_max_positions` rotates too slowly.
    pub low_freq_factor: f32,
    /// A pair that makes more turns than this within `original_max_positions` is unchanged. Between
    /// `low_freq_factor` and this limit, the change is gradual.
    pub high_freq_factor: f32,
    /// The context length of the original training, in tokens.
    pub original_max_positions: usize,
}

/// The configuration of a decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// The architecture.
    pub family: Family,
    /// `E`, the hidden size.
    pub hidden_size: usize,
    /// Number of transformer blocks.
    pub n_layers: usize,
    /// `H_q`, the number of query heads.
    pub n_heads: usize,
    /// `H`, the number of key and value heads. Defaults to `H_q`.
    pub n_kv_heads: usize,
    /// `D`, the size of a head. In Llama and Qwen2 files, it defaults to `E / H_q`.
    pub head_dim: usize,
    /// `I`, the inner size of the MLP.
    pub intermediate_size: usize,
    /// `V`, the size of the vocabulary.
    pub vocab_size: usize,
    /// Maximum length of a sequence, in tokens.
    pub max_positions: usize,
    /// Base of RoPE's frequencies.
    pub rope_theta: f32,
    /// Llama 3's scaling of RoPE's frequencies, if the model uses it.
    pub rope_scaling: Option<Llama3Scaling>,
    /// Epsilon of every RMSNorm.
    pub rms_norm_eps: f32,
    /// Whether the query, key and value projections have a bias.
    pub qkv_bias: bool,
    /// Whether the output projection has a bias.
    pub o_bias: bool,
    /// Whether query and key heads are normalised.
    pub qk_norm: bool,
    /// Whether the embedding is also the output head.
    pub tie_word_embeddings: bool,
    /// The token that begins a text, if the model has one.
    pub bos_token_id: Option<u32>,
    /// Each of these tokens ends a text. In a model folder, they are from `generation_config.json`
    /// if that file lists any, otherwise from `config.json`.
    pub eos_token_ids: Vec<u32>,
}

/// Maximum value of a size in a configuration. Known models are far below it. A product of two such
/// sizes can't overflow.
const MAX_SIZE: u64 = 1 << 24;
const MAX_LAYERS: u64 = 1 << 12;
/// Maximum head size. It is below [`MAX_SIZE`] because RoPE's tables grow with the head size and
/// are built before any weight is read.
const MAX_HEAD_DIM: u64 = 1 << 12;
const MAX_POSITIONS: u64 = 1 << 30;

impl ModelConfig {
    /// Reads `config.json` and, if it exists, `generation_config.json`.
    ///
    /// # Errors
    /// If a file cannot be read, or a field is missing or invalid. The message is one line: the
    /// file, the field, what was found and what was expected.
    pub fn from_folder(folder: &Path) -> Result<Self> {
        ensure!(
            folder.is_dir(),
            "{}: no such folder, expected a model folder with config.json",
            folder.display()
        );
        let path = folder.join("config.json");
        let mut config = Self::from_json(&read_text(&path)?, &path.display().to_string())?;
        config.read_stop_tokens(folder)?;
        Ok(config)
    }

    /// Replaces the stop tokens by those of `generation_config.json`, if that file lists any.
    fn read_stop_tokens(&mut self, folder: &Path) -> Result<()> {
        let path = folder.join("generation_config.json");
        if path.exists() {
            let generation = Fields::parse(&read_text(&path)?, &path.display().to_string())?;
            let ids = generation.token_ids("eos_token_id", self.vocab_size)?;
            if !ids.is_empty() {
                self.eos_token_ids = ids;
            }
        }
        Ok(())
    }

    /// Reads the text of a `config.json`. `file` is the file's name in error messages.
    ///
    /// # Errors
    /// If a field is missing or invalid. The message is one line: the file, the field, what was
    /// found and what was expected.
    pub fn from_json(json: &str, file: &str) -> Result<Self> {
        Self::from_fields(&Fields::parse(json, file)?)
    }

    fn from_fields(f: &Fields) -> Result<Self> {
        let family = match f.get("model_type").and_then(Value::as_str) {
            Some("llama") => Family::Llama,
            Some("qwen2") => Family::Qwen2,
            Some("qwen3") => Family::Qwen3,
            _ => return f.wrong("model_type", "\"llama\", \"qwen2\" or \"qwen3\""),
        };
        f.refuse_what_no_decoder_here_does(family)?;

        let hidden_size = f.size("hidden_size", MAX_SIZE)?;
        let n_heads = f.size("num_attention_heads", MAX_SIZE)?;
        let n_kv_heads = if f.get("num_key_value_heads").is_some() {
            f.size("num_key_value_heads", MAX_SIZE)?
        } else {
            n_heads
        };
        let given = f.get("head_dim").is_some() || family == Family::Qwen3;
        let head_dim = head_dim(
            [hidden_size, n_heads, n_kv_heads],
            given.then(|| f.size("head_dim", MAX_HEAD_DIM)).transpose()?,
            ["hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim"],
            |field, expected| f.wrong(field, expected),
        )?;
        let attention_bias = f.flag("attention_bias")?;
        let vocab_size = f.size("vocab_size", MAX_SIZE)?;
        let (rope_theta, rope_scaling) = f.rope()?;
        Ok(Self {
            family,
            hidden_size,
            n_layers: f.size("num_hidden_layers", MAX_LAYERS)?,
            n_heads,
            n_kv_heads,
            head_dim,
            intermediate_size: f.size("intermediate_size", MAX_SIZE)?,
            vocab_size,
            max_positions: f.size("max_position_embeddings", MAX_POSITIONS)?,
            rope_theta,
            rope_scaling,
            rms_norm_eps: f
                .number("rms_norm_eps", "a number above 0 and below 1", |x| x > 0.0 && x < 1.0)?,
            qkv_bias: family == Family::Qwen2 || attention_bias,
            o_bias: family != Family::Qwen2 && attention_bias,
            qk_norm: family == Family::Qwen3,
            tie_word_embeddings: f.flag("tie_word_embeddings")?,
            bos_token_id: f.token_ids("bos_token_id", vocab_size)?.first().copied(),
            eos_token_ids: f.token_ids("eos_token_id", vocab_size)?,
        })
    }

    /// Returns the model's RoPE frequencies: unchanged, or with Llama 3's scaling applied.
    ///
    /// `inverse_frequencies [D/2]` are in radians per position. A pair that makes more than
    /// `high_freq_factor` turns within the original context keeps its frequency. The frequency of a
    /// pair that makes fewer than `low_freq_factor` turns is divided by `factor`. Between these
    /// limits, the two results are interpolated linearly. Source: `rope_scaling` of Meta's Llama
    /// 3.1.
    #[must_use]
    pub fn scale_frequencies(&self, inverse_frequencies: Vec<f32>) -> Vec<f32> {
        let Some(s) = self.rope_scaling else { return inverse_frequencies };
        let (factor, low, high) =
            (f64::from(s.factor), f64::from(s.low_freq_factor), f64::from(s.high_freq_factor));
        let scale = |frequency: f32| {
            let frequency = f64::from(frequency);
            let turns = s.original_max_positions as f64 * frequency / TAU;
            // `kept` is 0 up to `low`, where the frequency is divided by the factor. It is 1 from
            // `high`, where the frequency is unchanged.
            let kept = ((turns - low) / (high - low)).clamp(0.0, 1.0);
            ((1.0 - kept) * frequency / factor + kept * frequency) as f32
        };
        inverse_frequencies.into_iter().map(scale).collect()
    }
}

/// Returns the size of a head: `given`, or `E / H_q` if that is `None`. `E`, `H_q` and `H` are the
/// sizes, and `names` has the names of these three and of the head size.
///
/// # Errors
/// Returns the result of `wrong` if the sizes do not fit together. The arguments of `wrong` are a
/// name and what was expected.
fn head_dim(
    [e, h_q, h]: [usize; 3],
    given: Option<usize>,
    names: [&str; 4],
    wrong: impl Fn(&str, &str) -> Result<usize>,
) -> Result<usize> {
    let [name_e, name_h_q, name_h, name_d] = names;
    if h_q % h != 0 {
        return wrong(name_h, &format!("a divisor of {name_h_q}, {h_q}"));
    }
    let d = match given {
        Some(d) => d,
        None if e % h_q == 0 && e / h_q <= MAX_HEAD_DIM as usize => e / h_q,
        None => {
            let why = format!("{name_e} / {name_h_q} ({e} / {h_q}) isn't a valid head size");
            return wrong(name_d, &format!("a number, because {why}"));
        }
    };
    if d % 2 != 0 {
        let why = format!("because RoPE rotates pairs; the head size is {d}");
        return wrong(name_d, &format!("an even head size, {why}"));
    }
    if h_q.saturating_mul(d) > MAX_SIZE as usize {
        return wrong(name_h_q, &format!("at most {MAX_SIZE} divided by the head size {d}"));
    }
    Ok(d)
}

/// The fields of one JSON object, with the file name and path that error messages need.
struct Fields {
    file: String,
    /// `""`, or the path of the object inside the file, ending in a dot.
    prefix: String,
    object: Map<String, Value>,
}

impl Fields {
    fn parse(json: &str, file: &str) -> Result<Self> {
        match serde_json::from_str(json) {
            Ok(Value::Object(object)) => {
                Ok(Self { file: file.to_owned(), prefix: String::new(), object })
            }
            Ok(other) => anyhow::bail!(
                "{file}: found {}, expected a JSON object",
                shortened(other.to_string(), 80)
            ),
            Err(error) => anyhow::bail!("{file}: not JSON: {error}"),
        }
    }

    /// Returns the value of a field, or `None` if it is absent or `null`. transformers writes
    /// `null` for fields that are not set.
    fn get(&self, field: &str) -> Option<&Value> {
        self.object.get(field).filter(|value| !value.is_null())
    }

    fn wrong<T>(&self, field: &str, expected: &str) -> Result<T> {
        let found =
            self.get(field).map_or("nothing".to_owned(), |value| shortened(value.to_string(), 80));
        anyhow::bail!(
            "{}: field \"{}{field}\": found {found}, expected {expected}",
            self.file,
            self.prefix
        )
    }

    fn size(&self, field: &str, max: u64) -> Result<usize> {
        match self.get(field).and_then(Value::as_u64) {
            Some(n) if (1..=max).contains(&n) => Ok(n as usize),
            _ => self.wrong(field, &format!("a whole number from 1 to {max}")),
        }
    }

    fn number(&self, field: &str, expected: &str, valid: impl Fn(f64) -> bool) -> Result<f32> {
        match self.get(field).and_then(Value::as_f64) {
            Some(x) if valid(x) && (x as f32).is_normal() => Ok(x as f32),
            _ => self.wrong(field, expected),
        }
    }

    /// Returns the value of a boolean field, or false if the field is absent.
    fn flag(&self, field: &str) -> Result<bool> {
        match self.get(field) {
            None => Ok(false),
            Some(Value::Bool(on)) => Ok(*on),
            Some(_) => self.wrong(field, "true or false"),
        }
    }

    /// Returns the token ids in a field, which may hold one id, a list of ids, or nothing.
    fn token_ids(&self, field: &str, vocab_size: usize) -> Result<Vec<u32>> {
        let one =
            |value: &Value| value.as_u64().filter(|id| *id < vocab_size as u64).map(|id| id as u32);
        let ids = match self.get(field) {
            None => Some(Vec::new()),
            Some(Value::Array(values)) => values.iter().map(one).collect(),
            Some(value) => one(value).map(|id| vec![id]),
        };
        ids.map_or_else(
            || self.wrong(field, &format!("token ids below the vocabulary's size, {vocab_size}")),
            Ok,
        )
    }

    fn object(&self, field: &str) -> Result<Option<Self>> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(Self {
                file: self.file.clone(),
                prefix: format!("{}{field}.", self.prefix),
                object: object.clone(),
            })),
            Some(_) => self.wrong(field, "a JSON object"),
        }
    }

    /// Returns RoPE's base, and its scaling if there is any, from either form of the file.
    fn rope(&self) -> Result<(f32, Option<Llama3Scaling>)> {
        const THETA: &str = "a number of at least 1";
        let old = self.object("rope_scaling")?;
        let parameters = match self.object("rope_parameters")? {
            Some(new) => Some(new),
            None => old,
        };
        let holder = parameters.as_ref().filter(|p| p.get("rope_theta").is_some()).unwrap_or(self);
        // The base of the original Llama, whose files do not contain the field.
        let theta = if holder.get("rope_theta").is_none() {
            10_000.0
        } else {
            holder.number("rope_theta", THETA, |x| x >= 1.0)?
        };

        let Some(p) = parameters else { return Ok((theta, None)) };
        if p.get("partial_rotary_factor").is_some_and(|x| x.as_f64() != Some(1.0)) {
            return p.wrong("partial_rotary_factor", "1 or nothing");
        }
        // `rope_type` used to be called `type`.
        let field = if p.get("rope_type").is_some() { "rope_type" } else { "type" };
        match p.get(field).map(|value| value.as_str().unwrap_or_default()) {
            None | Some("default") => Ok((theta, None)),
            Some("llama3") => {
                let at_least_1 = |field| p.number(field, "a number of at least 1", |x| x >= 1.0);
                let scaling = Llama3Scaling {
                    factor: at_least_1("factor")?,
                    low_freq_factor: p
                        .number("low_freq_factor", "a number above 0", |x| x > 0.0)?,
                    high_freq_factor: at_least_1("high_freq_factor")?,
                    original_max_positions: p
                        .size("original_max_position_embeddings", MAX_POSITIONS)?,
                };
                if scaling.low_freq_factor >= scaling.high_freq_factor {
                    return p.wrong(
                        "low_freq_factor",
                        &format!("a number below high_freq_factor, {}", scaling.high_freq_factor),
                    );
                }
                Ok((theta, Some(scaling)))
            }
            Some(_) => p.wrong(field, "\"default\" or \"llama3\""),
        }
    }

    fn refuse_what_no_decoder_here_does(&self, family: Family) -> Result<()> {
        if self.get("hidden_act").and_then(Value::as_str) != Some("silu") {
            return self.wrong("hidden_act", "\"silu\"");
        }
        if self.flag("mlp_bias")? {
            return self.wrong("mlp_bias", "false: this engine's MLP has no bias");
        }
        // Llama files may also have the fields of a sliding window, but the architecture ignores
        // them.
        if family != Family::Llama && self.flag("use_sliding_window")? {
            return self.wrong(
                "use_sliding_window",
                "false: in this engine, every layer attends to all positions",
            );
        }
        let all_full = |types: &Value| {
            types.as_array().is_some_and(|types| types.iter().all(|t| t == "full_attention"))
        };
        if self.get("layer_types").is_some_and(|types| !all_full(types)) {
            return self.wrong("layer_types", "\"full_attention\" for every layer");
        }
        if self.get("partial_rotary_factor").is_some_and(|x| x.as_f64() != Some(1.0)) {
            return self.wrong("partial_rotary_factor", "1 or nothing");
        }
        for field in ["num_experts", "num_local_experts", "n_routed_experts"] {
            if self.get(field).is_some_and(|n| n.as_u64() != Some(0)) {
                return self.wrong(field, "0 or nothing: this engine's MLP has no experts");
            }
        }
        if self.get("quantization_config").is_some() {
            return self
                .wrong("quantization_config", "nothing: this engine reads F32, F16 and BF16");
        }
        Ok(())
    }
}
