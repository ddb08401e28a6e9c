//! `synth`: a model with a real shape and random weights, to measure load time, speed and memory.

mod gguf;
mod shape;

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::{Result, bail, ensure};

use super::{
    Solution,
    files::{Entry, Unfinished, cannot_be_written, write_safetensors},
    interrupt::{self, Caught},
    options::seed,
    output::Output,
    weights,
};
use shape::Shape;
use tiny_llm_formats::{
    config::ModelConfig,
    gguf::{TensorType, random::Random},
};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Model whose shape is used
    #[arg(long, value_name = "MODEL")]
    like: Shape,
    /// Path to write to (must not exist yet)
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Write a GGUF file of this type (see `quantize --help`) instead of a model folder
    #[arg(long, value_name = "TYPE")]
    r#type: Option<String>,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed, allow_negative_numbers = true)]
    seed: u64,
}

pub(super) fn run(solution: &Solution, args: &Args) -> Result<ExitCode> {
    let out = &args.out;
    let what = if args.r#type.is_some() { "file" } else { "folder" };
    ensure!(!out.exists(), "{}: already exists; give the name of a new {what}", out.display());
    let json = serde_json::to_string_pretty(&args.like.config())? + "\n";
    let config = ModelConfig::from_json(&json, "config.json")?;
    let random = Random { state: args.seed };
    let caught = Caught::new();
    let written = match &args.r#type {
        Some(target) => gguf::write(solution, args, &config, target, random, &caught),
        None => write_folder(args, &json, &config, random, &caught),
    };
    if caught.requested() {
        return Ok(interrupt::exit_code(true));
    }
    Output::new().print(&format!("{}: {}", out.display(), written?))?;
    Ok(ExitCode::SUCCESS)
}

fn write_folder(
    args: &Args,
    json: &str,
    config: &ModelConfig,
    mut random: Random,
    caught: &Caught,
) -> Result<String> {
    let out = &args.out;
    let unfinished = Unfinished::new(out)?;
    fs::create_dir(unfinished.path()).map_err(|e| cannot_be_written(out, &e))?;
    fs::write(unfinished.path().join("config.json"), json)
        .map_err(|e| cannot_be_written(&out.join("config.json"), &e))?;
    let entries: Vec<Entry> =
        config.tensors().into_iter().map(|(name, shape)| Entry { name, shape }).collect();
    write_safetensors(
        &unfinished.path().join("model.safetensors"),
        "BF16",
        2,
        &entries,
        |i, file| {
            if caught.requested() {
                bail!("interrupted");
            }
            let count = entries[i].shape.iter().product();
            random
                .write(file, TensorType::BF16, count, mean(&entries[i].name))
                .map_err(|e| cannot_be_written(out, &e))
        },
    )?;
    unfinished.finish()?;
    Ok(format!(
        "{} parameters in bf16, random with standard deviation 0.02",
        weights::parameters(config)
    ))
}

/// Returns the mean of a tensor's weights, as at the start of training: 1 for norms, 0 for others.
fn mean(name: &str) -> f32 {
    if name.ends_with("norm.weight") { 1.0 } else { 0.0 }
}
