//! `synth`: a model folder of a true shape with random weights, for measuring load time, speed and memory.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;
use half::bf16;
use serde_json::{Value, json};

use super::{
    files::{Unfinished, cannot_be_written, write_safetensors},
    interrupt::{self, Caught},
    options::seed,
    output::Output,
    weights,
};
use crate::config::ModelConfig;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Whose shape
    #[arg(long, value_name = "MODEL")]
    like: Shape,
    /// Folder to write; it must not exist yet
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Of the random generator
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed, allow_negative_numbers = true)]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shape {
    /// SmolLM2-360M with a context of 2,048 in place of its 8,192
    #[value(name = "smollm2-360m")]
    SmolLm2,
    /// A Llama of two layers at odd sizes, for tests
    Tiny,
}

impl Shape {
    fn config(self) -> Value {
        let mut config = match self {
            Self::SmolLm2 => json!({
                "hidden_size": 960, "num_hidden_layers": 32, "num_attention_heads": 15, "num_key_value_heads": 5, "head_dim": 64,
                "intermediate_size": 2560, "vocab_size": 49152, "max_position_embeddings": 2048,
                "rope_theta": 100_000.0, "rms_norm_eps": 1e-5, "tie_word_embeddings": true,
            }),
            Self::Tiny => json!({
                "hidden_size": 20, "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 8,
                "intermediate_size": 28, "vocab_size": 51, "max_position_embeddings": 24,
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
            config[field] = value;
        }
        config
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let out = &args.out;
    ensure!(!out.exists(), "{}: found something there, expected a folder that does not exist yet", out.display());
    let json = serde_json::to_string_pretty(&args.like.config())? + "\n";
    let config = ModelConfig::from_json(&json, "config.json")?;

    let unfinished = Unfinished::new(out)?;
    fs::create_dir(&unfinished.path).map_err(|e| cannot_be_written(out, &e))?;
    fs::write(unfinished.path.join("config.json"), json).map_err(|e| cannot_be_written(&out.join("config.json"), &e))?;
    let caught = Caught::new();
    let mut random = Random { state: args.seed };
    let entries = weights::tensors(&config);
    let written = write_safetensors(&unfinished.path.join("model.safetensors"), "BF16", 2, &entries, |i, file| {
        let entry = &entries[i];
        // As checkpoints begin: norm weights about 1, all others about 0.
        let mean = if entry.name.ends_with("norm.weight") { 1.0 } else { 0.0 };
        if caught.requested() {
            bail!("interrupted");
        }
        write_random(file, entry.shape.iter().product(), mean, &mut random).map_err(|e| cannot_be_written(out, &e))
    });
    if caught.requested() {
        return Ok(interrupt::exit_code(true));
    }
    written?;
    unfinished.finish()?;
    Output::new().print(&format!(
        "{}: {} parameters in bf16, random with standard deviation 0.02",
        out.display(),
        weights::parameters(&config)
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn write_random(file: &mut BufWriter<File>, count: usize, mean: f32, random: &mut Random) -> std::io::Result<()> {
    let mut bytes = Vec::with_capacity(1 << 16);
    for start in (0..count).step_by(1 << 15) {
        bytes.clear();
        for _ in start..count.min(start + (1 << 15)) {
            bytes.extend(bf16::from_f32(mean + 0.02 * random.normal()).to_le_bytes());
        }
        file.write_all(&bytes)?;
    }
    Ok(())
}

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random {
    state: u64,
}

impl Random {
    /// About normal, mean 0, standard deviation 1: four uniform numbers of 16 bits, summed and scaled. There are hundreds of
    /// millions to make, and a logarithm and a cosine each would take longer than writing them.
    fn normal(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let sum = (z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48);
        // A uniform number from 0 to 65,535 has mean 65,535/2 and, nearly, the variance 65,536²/12; four have four times that.
        (sum as f32 - 2.0 * 65_535.0) / (65_536.0 / 3f32.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn random_numbers_have_mean_0_and_deviation_1() {
        let mut random = Random { state: 3 };
        let n = 1 << 16;
        let values: Vec<f64> = (0..n).map(|_| f64::from(random.normal())).collect();
        let mean = values.iter().sum::<f64>() / f64::from(n);
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        // Five standard errors: 1/√n of the mean, at most √(2/n) of the variance.
        assert!(mean.abs() < 5.0 / 256.0, "mean {mean}");
        assert!((variance - 1.0).abs() < 5.0 * 2f64.sqrt() / 256.0, "variance {variance}");
    }
}
