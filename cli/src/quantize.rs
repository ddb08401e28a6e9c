//! `quantize`: converts a model folder or a GGUF file to a GGUF file with smaller types.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{IsTerminal, stderr},
    ops::ControlFlow,
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use regex_lite::Regex;

use super::{
    QuantizeRequest, Solution,
    files::check_output,
    interrupt::{self, Caught},
    options::{Located, located, threads},
    output::Output,
};
use tiny_llm_formats::gguf::{TensorInfo, TensorType, convert::metadata_from_folder};

#[derive(clap::Args)]
#[command(
    after_help = "Types: f32, f16, bf16, q8_0, q6_k, q5_k_m, q5_1, q5_0, q4_k_m, q4_1, q4_0, q3_k_m, q2_k.\n\
              q2_k and the types ending in _m are mixes: more important matrices get more bits.\n\
              The output head is stored as q6_k, except with f32, f16, bf16 and q8_0.\n\
              A matrix whose row length is not a multiple of 256 gets a type with blocks of 32.\n\
              Vectors stay f32."
)]
pub(super) struct Args {
    /// Model folder, GGUF file or name
    #[arg(value_name = "IN", value_parser = located())]
    input: Located,
    /// GGUF file to write
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Type to convert the matrices to (see below)
    #[arg(long, value_name = "TYPE")]
    r#type: String,
    /// Type of the matrices whose whole name matches a regex (repeatable, first match wins)
    #[arg(long, value_name = "PATTERN=TYPE", value_parser = tensor_override)]
    tensor: Vec<Override>,
    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
    /// Number of threads [default: one per physical core]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,
}

/// The type of the matrices whose names match a pattern, for example `blk.[0-3].ffn_.*=q6_k`.
#[derive(Debug, Clone)]
struct Override {
    pattern: Regex,
    tensor_type: TensorType,
}

fn tensor_override(text: &str) -> Result<Override, String> {
    let (pattern, name) = text
        .rsplit_once('=')
        .ok_or("expected PATTERN=TYPE, for example 'blk.[0-3].ffn_.*=q6_k'")?;
    let tensor_type = name.parse()?;
    let pattern = Regex::new(&format!("^(?:{pattern})$"))
        .map_err(|e| format!("not a regular expression: {e}"))?;
    Ok(Override { pattern, tensor_type })
}

pub(super) fn run(solution: &Solution, args: &Args) -> Result<ExitCode> {
    let Args { input: Located { path: input, .. }, output, .. } = args;
    check_output(output, args.force)?;
    let request = QuantizeRequest {
        input,
        metadata: if input.is_dir() { Some(metadata_from_folder(input)?) } else { None },
        output,
        target: &args.r#type,
        override_for: &|name| {
            args.tensor
                .iter()
                .find(|other| other.pattern.is_match(name))
                .map(|other| other.tensor_type)
        },
        threads: args.threads,
    };
    let bar = if stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
    bar.set_style(
        ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}  {eta} left")
            .expect("a template"),
    );
    let caught = Caught::new();
    let written = (solution.quantize)(&request, &mut |progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(format!("{} {}", progress.name, progress.tensor_type));
        if caught.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    if caught.requested() {
        return Ok(interrupt::exit_code(true));
    }
    Output::new().print(&format!("{}: {}", output.display(), summary(&written?)))?;
    Ok(ExitCode::SUCCESS)
}

/// Describes how many tensors have each type, and the total size.
fn summary(tensors: &[TensorInfo]) -> String {
    let mut by_type = BTreeMap::<TensorType, usize>::new();
    let (mut bytes, mut weights) = (0, 0usize);
    for tensor in tensors {
        *by_type.entry(tensor.tensor_type).or_default() += 1;
        bytes += tensor.size;
        weights += tensor.shape.iter().product::<usize>();
    }
    let mut text = format!(
        "{:.1} MB, {:.2} bits per weight;",
        bytes as f64 / 1e6,
        8.0 * bytes as f64 / weights.max(1) as f64
    );
    for (i, (tensor_type, count)) in by_type.iter().enumerate() {
        let _ = write!(text, "{} {count} {tensor_type}", if i == 0 { "" } else { "," });
    }
    text
}
