//! Reads the configuration of a model with experts (Qwen3-MoE or gpt-oss) from `config.json` or
//! from a GGUF file's metadata.
//!
//! The properties that such a model shares with week 1's decoder are read as [`ModelConfig`].
//! [`MixtureConfig`] adds the others. A value that neither type supports is an error that names the
//! field.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

pub use super::yarn::Yarn;
use super::{Family, Fields, MAX_POSITIONS, MAX_SIZE, ModelConfig, gguf::Keys};
use crate::{
    gguf::{Metadata, TensorInfo},
    json::read_text,
};

/// The architectures with experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MixtureFamily {
    /// `qwen3_moe`, in GGUF files `qwen3moe`.
    Qwen3Moe,
    /// `gpt_oss`, in GGUF files `gpt-oss`.
    GptOss,
}

/// The configuration of a decoder with experts.
#[derive(Debug, Clone, PartialEq)]
pub struct MixtureConfig {
    /// The architecture.
    pub family: MixtureFamily,
    /// Attention, embedding and context. `base.family` is the family of week 1 that is most
    /// similar, and `base.intermediate_size` is the size of an expert.
    pub base: ModelConfig,
    /// Number of experts in a layer.
    pub experts: usize,
    /// Number of experts that are chosen for each token.
    pub per_token: usize,
    /// For Qwen3-MoE, whether the weights of the chosen experts are divided by their sum.
    pub renormalize: bool,
    /// For gpt-oss, the parameters of the gate. `None` for Qwen3-MoE.
    pub clamp: Option<Clamp>,
    /// For each layer, the number of positions that a token attends to, or `None` for all.
    pub windows: Vec<Option<usize>>,
    /// The parameters of YaRN, if the model uses it to scale RoPE.
    pub yarn: Option<Yarn>,
    /// For a gpt-oss model folder, whether its experts are stored as MXFP4 blocks.
    pub blocks: bool,
}

/// Parameters of gpt-oss's gate. First, `g` (from the gate projection) is limited to at most
/// `limit`, and `u` (from the up projection) to between `-limit` and `limit`. The result is then
/// `g · sigmoid(alpha · g) · (u + 1)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clamp {
    /// Steepness of the gate: 1.702 in gpt-oss.
    pub alpha: f32,
    /// Limit of `g` and of `u`: 7 in gpt-oss.
    pub limit: f32,
}

/// Maximum number of experts. Known models have fewer.
const MAX_EXPERTS: u64 = 1 << 12;

impl MixtureConfig {
    /// Returns whether a folder's `config.json` names a supported architecture with experts.
    /// Returns false if the file cannot be read. The next function that reads the file reports the
    /// error.
    #[must_use]
    pub fn is_folder(folder: &Path) -> bool {
        let path = folder.join("config.json");
        read_text(&path).is_ok_and(|json| {
            Fields::parse(&json, "").is_ok_and(|f| Self::family_of(f.get("model_type")).is_some())
        })
    }

    /// Returns whether a GGUF file's architecture is a supported one with experts.
    #[must_use]
    pub fn is_gguf(metadata: &Metadata) -> bool {
        let architecture = metadata.text("general.architecture").ok().flatten();
        architecture.is_some_and(|name| Self::family_of_gguf(name).is_some())
    }

    fn family_of(model_type: Option<&Value>) -> Option<MixtureFamily> {
        match model_type.and_then(Value::as_str) {
            Some("qwen3_moe") => Some(MixtureFamily::Qwen3Moe),
            Some("gpt_oss") => Some(MixtureFamily::GptOss),
            _ => None,
        }
    }

    fn family_of_gguf(architecture: &str) -> Option<MixtureFamily> {
        match architecture {
            "qwen3moe" => Some(MixtureFamily::Qwen3Moe),
            "gpt-oss" => Some(MixtureFamily::GptOss),
            _ => None,
        }
    }

    /// Reads `config.json` and, if it exists, the stop tokens of `generation_config.json`.
    ///
    /// # Errors
    /// If a file cannot be read, or a field is missing or invalid. The message is one line: the
    /// file, the field, what was found and what was expected.
    pub fn from_folder(folder: &Path) -> Result<Self> {
        let path = folder.join("config.json");
        let mut config = Self::from_json(&read_text(&path)?, &path.display().to_string())?;
        config.base.read_stop_tokens(folder)?;
        Ok(config)
    }

    /// Reads the text of a `config.json`. `file` is the file's name in error messages.
    ///
    /// # Errors
    /// If a field is missing or invalid. The message is one line: the file, the field, what was
    /// found and what was expected.
    pub fn from_json(json: &str, file: &str) -> Result<Self> {
        let mut f = Fields::parse(json, file)?;
        let Some(family) = Self::family_of(f.get("model_type")) else {
            return f.wrong("model_type", "\"qwen3_moe\" or \"gpt_oss\"");
        };
        let experts = f.one_of(&["num_experts", "num_local_experts"])?;
        let per_token = f.one_of(&["num_experts_per_tok", "experts_per_token"])?;
        if per_token > experts {
            return f.wrong(
                "num_experts_per_tok",
                &format!("at most {experts}, the number of experts"),
            );
        }
        let layers = f.size("num_hidden_layers", super::MAX_LAYERS)?;
        let (mut windows, mut yarn) = (vec![None; layers], None);
        let (mut renormalize, mut clamp, mut blocks) = (false, None, false);
        match family {
            MixtureFamily::Qwen3Moe => {
                renormalize = f.flag("norm_topk_prob")?;
                f.every_layer_has_experts()?;
                let size = f.size("moe_intermediate_size", MAX_SIZE)?;
                f.set("intermediate_size", size.into());
                f.set("model_type", "qwen3".into());
            }
            MixtureFamily::GptOss => {
                clamp = Some(Clamp {
                    alpha: f.number_or("swiglu_alpha", 1.702)?,
                    limit: f.number_or("swiglu_limit", 7.0)?,
                });
                windows = f.windows(layers)?;
                let (found, theta) = f.yarn()?;
                yarn = Some(found);
                blocks = f.is_mxfp4()?;
                // The file must contain `head_dim`. As in Llama files, biases depend on
                // `attention_bias`.
                f.size("head_dim", super::MAX_HEAD_DIM)?;
                f.set("model_type", "llama".into());
                for field in
                    ["layer_types", "rope_parameters", "rope_scaling", "quantization_config"]
                {
                    f.object.remove(field);
                }
                f.set("rope_theta", theta.into());
            }
        }
        for field in ["num_experts", "num_local_experts"] {
            f.object.remove(field);
        }
        let base = ModelConfig::from_fields(&f)?;
        Ok(Self { family, base, experts, per_token, renormalize, clamp, windows, yarn, blocks })
    }

    /// Reads the configuration from a GGUF file's metadata.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`ModelConfig::from_gguf`].
    pub fn from_gguf(metadata: &Metadata, tensors: &[TensorInfo]) -> Result<Self> {
        const ARCHITECTURE: &str = "general.architecture";
        let architecture = metadata.required(ARCHITECTURE, metadata.text(ARCHITECTURE))?;
        let Some(family) = Self::family_of_gguf(architecture) else {
            return Err(metadata.wrong(ARCHITECTURE, "\"qwen3moe\" or \"gpt-oss\""));
        };
        let keys = Keys { metadata, architecture };
        let experts = keys.size("expert_count", MAX_EXPERTS)?;
        let per_token = keys.size("expert_used_count", experts as u64)?;
        let of_base = match family {
            MixtureFamily::Qwen3Moe => Family::Qwen3,
            MixtureFamily::GptOss => Family::Llama,
        };
        let mut base = ModelConfig::from_keys(&keys, of_base, tensors)?;
        base.intermediate_size = keys.size("expert_feed_forward_length", MAX_SIZE)?;
        for name in ["expert_shared_count", "leading_dense_block_count"] {
            if metadata.size(&keys.key(name))?.is_some_and(|n| n > 0) {
                return keys.wrong(
                    name,
                    "0 or nothing: shared experts and dense layers are not supported",
                );
            }
        }
        let (mut windows, mut yarn, mut clamp) = (vec![None; base.n_layers], None, None);
        if family == MixtureFamily::GptOss {
            let window = keys.size("attention.sliding_window", MAX_POSITIONS)?;
            // The file doesn't say which layers have a window. llama.cpp derives that from the
            // architecture: every other layer has one, beginning with the first.
            windows.iter_mut().step_by(2).for_each(|layer| *layer = Some(window));
            clamp = Some(Clamp { alpha: 1.702, limit: 7.0 });
            yarn = keys.yarn()?;
        } else {
            keys.refuse_what_only_mixtures_do_but_experts()?;
        }
        let renormalize = family == MixtureFamily::Qwen3Moe;
        let blocks = false;
        Ok(Self { family, base, experts, per_token, renormalize, clamp, windows, yarn, blocks })
    }
}

impl Keys<'_> {
    fn yarn(&self) -> Result<Option<Yarn>> {
        let metadata = self.metadata;
        match metadata.text(&self.key("rope.scaling.type"))? {
            None | Some("none") => return Ok(None),
            Some("yarn") => {}
            Some(_) => return self.wrong("rope.scaling.type", "\"yarn\", \"none\" or nothing"),
        }
        const FACTOR: &str = "a number of at least 1";
        let Some(factor) = self.number("rope.scaling.factor", FACTOR, |x| x >= 1.0)? else {
            return self.wrong("rope.scaling.factor", FACTOR);
        };
        Ok(Some(Yarn {
            factor,
            beta_fast: 32.0,
            beta_slow: 1.0,
            original_max_positions: self
                .size("rope.scaling.original_context_length", MAX_POSITIONS)?,
            concentration: Yarn::usual_concentration(factor),
            truncate: true,
        }))
    }

    fn refuse_what_only_mixtures_do_but_experts(&self) -> Result<()> {
        for name in ["attention.sliding_window", "rope.scaling.type"] {
            let window = self.metadata.size(&self.key(name)).ok().flatten();
            let text = self.metadata.text(&self.key(name)).ok().flatten();
            if window.is_some_and(|n| n > 0) || text.is_some_and(|name| name != "none") {
                return self
                    .wrong(name, "nothing: in this engine, Qwen3-MoE attends to all positions");
            }
        }
        Ok(())
    }
}

impl Fields {
    fn set(&mut self, field: &str, value: Value) {
        self.object.insert(field.to_owned(), value);
    }

    /// Reads a count of experts from one of the two fields `names`, whichever the file has.
    fn one_of(&self, names: &[&str; 2]) -> Result<usize> {
        let name = names.iter().find(|name| self.get(name).is_some()).unwrap_or(&names[0]);
        self.size(name, MAX_EXPERTS)
    }

    fn number_or(&self, field: &str, otherwise: f32) -> Result<f32> {
        match self.get(field) {
            None => Ok(otherwise),
            Some(_) => self.number(field, "a number above 0", |x| x > 0.0),
        }
    }

    fn every_layer_has_experts(&self) -> Result<()> {
        if self.get("decoder_sparse_step").is_some_and(|n| n.as_u64() != Some(1)) {
            return self.wrong("decoder_sparse_step", "1: in this engine, every layer has experts");
        }
        let none = |list: &Value| list.as_array().is_some_and(Vec::is_empty);
        if self.get("mlp_only_layers").is_some_and(|list| !none(list)) {
            return self.wrong("mlp_only_layers", "[]: in this engine, every layer has experts");
        }
        Ok(())
    }

    /// Returns the size of each layer's attention window, or `None` for a layer without one.
    fn windows(&self, layers: usize) -> Result<Vec<Option<usize>>> {
        const TYPES: &str = "\"sliding_attention\" or \"full_attention\" for each layer";
        let Some(types) = self.get("layer_types").and_then(Value::as_array) else {
            return self.wrong("layer_types", TYPES);
        };
        if types.len() != layers {
            return self.wrong("layer_types", TYPES);
        }
        let of = |name: &Value| match name.as_str() {
            Some("full_attention") => Ok(None),
            Some("sliding_attention") => self.size("sliding_window", MAX_POSITIONS).map(Some),
            _ => self.wrong("layer_types", TYPES),
        };
        types.iter().map(of).collect()
    }

    /// Returns YaRN's parameters and the base of RoPE's frequencies.
    fn yarn(&self) -> Result<(Yarn, f32)> {
        let p = match self.object("rope_parameters")? {
            Some(new) => new,
            None => match self.object("rope_scaling")? {
                Some(old) => old,
                None => return self.wrong("rope_parameters", "YaRN's parameters"),
            },
        };
        let holder = if p.get("rope_theta").is_some() { &p } else { self };
        let theta = holder.number("rope_theta", "a number of at least 1", |x| x >= 1.0)?;
        if p.get("rope_type").and_then(Value::as_str) != Some("yarn") {
            return p.wrong("rope_type", "\"yarn\"");
        }
        for field in ["mscale", "mscale_all_dim"] {
            if p.get(field).is_some() {
                return p.wrong(field, "nothing: YaRN with mscale is not supported");
            }
        }
        let factor = p.number("factor", "a number of at least 1", |x| x >= 1.0)?;
        let (beta_fast, beta_slow) =
            (p.number_or("beta_fast", 32.0)?, p.number_or("beta_slow", 1.0)?);
        if beta_slow >= beta_fast {
            return p.wrong("beta_slow", &format!("a number below beta_fast, {beta_fast}"));
        }
        let yarn = Yarn {
            factor,
            beta_fast,
            beta_slow,
            original_max_positions: p.size("original_max_position_embeddings", MAX_POSITIONS)?,
            concentration: p.number_or("attention_factor", Yarn::usual_concentration(factor))?,
            truncate: p.get("truncate").is_none() || p.flag("truncate")?,
        };
        Ok((yarn, theta))
    }

    fn is_mxfp4(&self) -> Result<bool> {
        let Some(how) = self.object("quantization_config")? else { return Ok(false) };
        if how.get("quant_method").and_then(Value::as_str) != Some("mxfp4") {
            return how.wrong("quant_method", "\"mxfp4\", or no quantization_config");
        }
        Ok(true)
    }
}
