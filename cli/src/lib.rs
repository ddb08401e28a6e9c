//! The command line, `tiny-llm`, for any [`Solution`].
//!
//! Standard output gets only the result: text, a table or JSON. Speeds, notes and errors go to
//! standard error. Exit codes: 0 done, 1 an error, 2 a wrong option, 101 an unwritten task (or a
//! panic in the solution), 130 ended by Ctrl-C. (After Ctrl-C, `serve` shuts down and exits with
//! 0.)

mod batch;
mod bench;
mod chat;
mod experts;
mod fetch;
mod files;
mod form;
mod generate;
mod gpu;
mod graph;
mod input;
mod inspect;
mod interrupt;
mod layout;
mod lines;
mod logits;
mod memory;
mod options;
mod output;
mod panics;
mod perplexity;
mod program;
mod quantize;
mod score;
mod serve;
mod serving;
mod session;
mod simulate;
mod solution;
mod speed;
mod splits;
mod stream;
mod synth;
mod template;
mod trace;
mod weights;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
pub use experts::ExpertsSeen;
pub use graph::Drawn;
pub use inspect::Roofline;
pub use layout::{LayoutRequest, LayoutSeen, Step, WIDTH};
pub use options::{Absent, Draft};
pub use serve::{Opened, Render, Server, Settings, Text, open_for_server};
pub use serving::{
    Batch, BatchCounts, BatchOptions, BatchRow, BatchWaits, CacheBytes, PageCounts, PageUse,
    Simulated, SimulatedOptions, StepWork, TokenBytes,
};
pub use simulate::StepCost;
pub use solution::{
    About, ActivationsRequest, Form, GraphRequest, LoadOptions, Model, OnActivation, OnToken,
    PackRequest, QuantizeRequest, Solution, StreamCounts, StreamRequest, Streamed, WriteRequest,
    WriteTensor, WrongOption,
};
pub use splits::{Divided, Holds, SplitSeen};
pub use tiny_llm_schema::{
    Json, Refused, Shape, State as ShapeState, Style, Tool,
    prices::{Follow, Prices as TokenPrices, Tree as TokenTree},
};

/// An inference engine for Llama, Qwen2 and Qwen3.
#[derive(Parser)]
#[command(
    name = "tiny-llm",
    version,
    disable_help_subcommand = true,
    after_help = "A model is a folder, a GGUF file, or a name: OWNER/NAME[@REVISION][:FILE].\n\
              FILE is the name of a GGUF file or its type, for example Q4_K_M.\n\
              If a path with that name exists, the path is used.\n\
              Names are looked up in Hugging Face's cache (HF_HUB_CACHE, HF_HOME).\n\
              `cargo llm fetch NAME` downloads a model into that cache.\n\n\
              TINY_LLM_MODELS sets the folder of the course's models.\n\
              Default: models/ in the repository."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Continues a prompt (from -p or standard input).
    Generate(generate::Args),
    /// Answers the requests in a file, many at a time. Each line of the file is a JSON object.
    Batch(batch::Args),
    /// Serves an OpenAI-compatible HTTP API. Builds the server on first use.
    Serve(Box<serve::Args>),
    /// Downloads a model from the Hugging Face Hub. Builds the downloader on first use.
    Fetch(fetch::Args),
    /// Chats with a model, one message per line of input.
    Chat(chat::Args),
    /// Writes the logits at every position of a token sequence. Needs no tokenizer.
    Logits(logits::Args),
    /// Measures load time, prefill and decode speed, and memory. Needs no tokenizer.
    Bench(bench::Args),
    /// Simulates the batch scheduler under load, with a cost model for each step.
    Simulate(simulate::Args),
    /// Scores a model on held-out data: perplexity on stories, and exact answers to questions.
    Score(score::Args),
    /// Measures how well a model predicts the tokens of held-out stories, or of a text file.
    Perplexity(perplexity::Args),
    /// Lists the metadata and the tensors of a GGUF file.
    Inspect(inspect::Args),
    /// Draws a model's forward pass as a graph, for Graphviz or a browser.
    Graph(graph::Args),
    /// Describes the GPU, its limits, and the speed of your kernels on it.
    Gpu,
    /// Shows the experts that each token of a text is routed to, and the bytes read per token.
    Experts(experts::Args),
    /// Shows where in memory each element of a tensor or a view is stored.
    Layout(layout::Args),
    /// Writes a model with random weights, for measurements.
    Synth(synth::Args),
    /// Quantizes a model to a GGUF file.
    Quantize(quantize::Args),
    /// Continues a prompt within a memory budget, reading the weights from a file as needed.
    Stream(stream::Args),
    /// Converts a one-layer Llama to a file for `stream` (int8, one scale per row).
    StreamPack(stream::PackArgs),
    /// Writes all activations to a file, or compares them with a file of activations.
    #[command(hide = true)]
    Trace(trace::Args),
}

/// Runs the command line with the functions of a solution. `server` is the program that runs the
/// server.
#[must_use]
pub fn main(solution: &Solution, server: Server) -> ExitCode {
    panics::install();
    interrupt::install();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return options::explain(&error),
    };
    let outcome = match cli.command {
        Command::Generate(args) => generate::run(solution, args),
        Command::Batch(args) => batch::run(solution, args),
        Command::Serve(args) => serve::run(solution, *args, server),
        Command::Fetch(args) => fetch::run(args),
        Command::Simulate(args) => simulate::run(solution, &args),
        Command::Chat(args) => chat::run(solution, args),
        Command::Logits(args) => logits::run(solution, &args),
        Command::Bench(args) => bench::run(solution, &args),
        Command::Score(args) => score::run(solution, &args),
        Command::Perplexity(args) => perplexity::run(solution, &args),
        Command::Inspect(args) => inspect::run(solution, &args),
        Command::Graph(args) => graph::run(solution, args),
        Command::Gpu => gpu::run(solution),
        Command::Experts(args) => experts::run(solution, &args),
        Command::Layout(args) => layout::run(solution, args),
        Command::Synth(args) => synth::run(solution, &args),
        Command::Quantize(args) => quantize::run(solution, &args),
        Command::Stream(args) => stream::run(solution, args),
        Command::StreamPack(args) => stream::pack(solution, &args),
        Command::Trace(args) => trace::run(solution, &args),
    };
    outcome.unwrap_or_else(|error| {
        let text = output::failure(&format!("{error:#}"));
        if error.is::<WrongOption>() {
            output::note(&format!("{text}; see --help"));
            return ExitCode::from(2);
        }
        output::note(&text);
        ExitCode::FAILURE
    })
}
