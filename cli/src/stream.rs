//! `stream`: runs a model within a memory budget. The weights stay in a file, which `stream-pack`
//! writes.

use std::{ops::ControlFlow, path::PathBuf, process::ExitCode};

use anyhow::Result;

use super::{
    PackRequest, Solution, StreamCounts, StreamRequest,
    files::check_output,
    input,
    interrupt::{self, Caught},
    options::{Located, at_least_one, count, embedded, located, seed, within},
    output::{Output, note},
};
use tiny_llm_formats::{request::Limit, text::Tokenizer};

#[derive(clap::Args)]
pub(super) struct Args {
    /// File written by `stream-pack`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Model whose tokenizer is used (folder or name) [default: models/tiny-llm]
    #[arg(long, value_name = "MODEL", value_parser = located())]
    tokenizer: Option<Located>,
    /// Text to continue [default: standard input]
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Maximum new tokens
    #[arg(short = 'n', long, value_name = "N", default_value = "128", value_parser = count, allow_negative_numbers = true)]
    max_new_tokens: usize,
    /// Memory budget in bytes, for the cache, weights in use and activations
    #[arg(long, value_name = "BYTES", default_value = "532480", value_parser = at_least_one)]
    budget: usize,
    /// Number of positions in the cache
    #[arg(short = 'c', long, value_name = "N", default_value = "1024", value_parser = at_least_one)]
    context: usize,
    /// Number of rows of the MLP's weights in memory at a time
    #[arg(long, value_name = "N", default_value = "128", value_parser = at_least_one)]
    rows: usize,
    /// Temperature: divide the logits by T (0: always take the most probable token)
    #[arg(long, value_name = "T", default_value = "0", value_parser = within(Limit::TEMPERATURE), allow_negative_numbers = true)]
    temperature: f32,
    /// Sample from the K most probable tokens
    #[arg(long, value_name = "K", default_value = "40", value_parser = at_least_one)]
    top_k: usize,
    /// Random seed (the same seed gives the same text)
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = seed, allow_negative_numbers = true)]
    seed: u64,
    /// List the memory that the cache, the weights and the activations use
    #[arg(long)]
    parts: bool,
    /// Print only the text
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(solution: &Solution, args: Args) -> Result<ExitCode> {
    let folder = args.tokenizer.map_or_else(|| embedded("tiny-llm"), |model| model.path);
    let tokenizer = Tokenizer::from_folder(&folder)?;
    let prompt = tokenizer.encode_prompt(&input::prompt(args.prompt, false)?)?;
    let mut stop_tokens = Vec::new();
    for end in ["<|endoftext|>", "<|im_end|>", "</s>"] {
        if let [id] = tokenizer.encode(end)?[..] {
            stop_tokens.push(id);
        }
    }
    let request = StreamRequest {
        file: &args.file,
        prompt,
        max_new_tokens: args.max_new_tokens,
        stop_tokens,
        budget: args.budget,
        positions: args.context,
        chunk_rows: args.rows,
        temperature: args.temperature,
        top_k: args.top_k,
        seed: args.seed,
    };
    let caught = Caught::new();
    let mut output = Output::new();
    let mut text = (solution.text)();
    let streamed = (solution.stream)(&request, &mut |token| {
        let piece = text.push(&tokenizer.token_bytes(token));
        if caught.requested() { ControlFlow::Break(()) } else { output.stream(&piece) }
    })?;
    output.write(&text.finish());
    output.end_line();
    if !args.quiet {
        note(&format!("memory   {} of {} bytes", streamed.peak, args.budget));
        if args.parts {
            for (what, bytes) in &streamed.parts {
                note(&format!("         {bytes:>7}  {what}"));
            }
        }
        for (what, counts) in [("prompt", streamed.prompt), ("new", streamed.new)] {
            note(&format!("{what:<8} {}", described(counts)));
        }
    }
    output.result()?;
    Ok(interrupt::exit_code(caught.requested()))
}

/// Formats the file accesses per token, and the tokens per second that they allow on an SD card
/// that reads 10 to 20 MB/s.
fn described(counts: StreamCounts) -> String {
    let StreamCounts { tokens, reads, seeks, bytes } = counts;
    if tokens == 0 {
        return "no tokens".to_owned();
    }
    let per = |n: u64| n as f64 / tokens as f64;
    let speed = |megabytes: f64| megabytes * 1e6 / per(bytes);
    let s = if tokens == 1 { "" } else { "s" };
    format!(
        "{tokens} token{s}, {:.0} bytes per token in {:.1} reads, {:.1} of them seeks; an SD card \
         with 10 to 20 MB/s gives {:.2} to {:.2} tokens/s",
        per(bytes),
        per(reads),
        per(seeks),
        speed(10.0),
        speed(20.0)
    )
}

#[derive(clap::Args)]
pub(super) struct PackArgs {
    /// Folder or name of a one-layer Llama
    #[arg(value_name = "IN", value_parser = located())]
    input: Located,
    /// File to write
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Pad the vocabulary to N rows
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    vocabulary: Option<usize>,
    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
}

pub(super) fn pack(solution: &Solution, args: &PackArgs) -> Result<ExitCode> {
    let output = &args.output;
    check_output(output, args.force)?;
    let PackArgs { input: Located { path: input, .. }, vocabulary, .. } = args;
    let bytes = (solution.stream_pack)(&PackRequest { input, output, vocabulary: *vocabulary })?;
    Output::new().print(&format!("{}: {bytes} bytes", output.display()))?;
    Ok(ExitCode::SUCCESS)
}
