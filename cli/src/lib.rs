//! The command line, `tiny-llm`, for any solution that implements [`Engine`].
//!
//! Standard output holds what was asked for and nothing else: text, a table, JSON. Speeds, notes
//! and errors go to standard error. Exit codes: 0 done, 1 an error, 2 a wrong option, 101 a task
//! that is still a stub (or a panic in the solution), 130 ended by Ctrl-C.

mod batch;
mod bench;
mod chat;
mod experts;
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
mod quantize;
mod score;
mod serve;
mod serving;
mod session;
mod simulate;
mod speed;
mod splits;
mod stream;
mod synth;
mod template;
mod trace;
mod weights;

use std::{
    fmt,
    io::Write,
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::Result;
use clap::{Parser, Subcommand};
pub use experts::ExpertsSeen;
pub use graph::Drawn;
pub use inspect::Roofline;
pub use layout::{LayoutRequest, LayoutSeen, Step, WIDTH};
pub use options::Draft;
pub use serve::{Opened, Render, Server, Settings, Text, open_for_server};
pub use serving::{
    Batch, BatchCounts, BatchOptions, BatchRow, BatchWaits, CacheBytes, PageCounts, PageUse,
    Simulated, SimulatedOptions, StepWork, TokenBytes,
};
pub use simulate::StepCost;
pub use splits::{Divided, Holds, SplitSeen};
pub use tiny_llm_schema::{
    Json, Refused, Shape, State as ShapeState, Style, Tool,
    prices::{Follow, Prices as TokenPrices, Tree as TokenTree},
};

use tiny_llm_formats::{
    FinishReason, Tensor,
    chat::Message,
    config::ModelConfig,
    gguf::{Metadata, Progress, TensorInfo, TensorType},
    request::Request,
};

/// What the command line needs of a solution: the functions of its week, under the names they have
/// there.
pub trait Engine: Sized {
    /// Bytes in, text out; empty at first.
    type TextStream: Default;

    /// Loads a model folder or a GGUF file.
    ///
    /// # Errors
    /// If a file is missing or malformed, or an option is not one that this engine has.
    fn load(path: &Path, options: &LoadOptions) -> Result<Self>;

    /// The metadata of a GGUF file, once: vocabularies are large, and whoever has read them lets
    /// them go. `None` for a folder.
    fn take_metadata(&mut self) -> Option<Metadata> {
        None
    }

    /// Metadata and tensor table of a GGUF file.
    ///
    /// # Errors
    /// If the file cannot be read or is malformed.
    fn inspect(file: &Path) -> Result<(Metadata, Vec<TensorInfo>)>;

    /// How fast such a model can decode here at best, on so many threads or one for each physical
    /// core.
    fn roofline(tensors: &[TensorInfo], threads: Option<usize>) -> Roofline;

    /// What the folder's `config.json` says.
    fn config(&self) -> &ModelConfig;

    /// Bytes of weights that a forward pass of one row reads.
    fn weight_bytes(&self) -> u64;

    /// The rungs of the kernel ladder that this machine can run, slowest first.
    fn rungs() -> Vec<&'static str>;

    /// How it is run, in a few words: kernels, threads, attention, cache.
    fn described(&self) -> String;

    /// Bytes that this machine reads from memory in a second, with the engine's number of threads.
    fn measure_bandwidth(&self) -> f64;

    /// Operations that this machine's matrix units do in a second, with the engine's number of
    /// threads; `None` if it has none, or the engine does not use them.
    fn measure_matrix_units(&self) -> Option<f64>;

    /// Whether the model can run on these tokens.
    ///
    /// # Errors
    /// If there are none, there are more than the context holds, or one of them is not in the
    /// vocabulary.
    fn check(&self, tokens: &[u32]) -> Result<()>;

    /// Logits of every position: `tokens [L]` → `[L, V]`.
    ///
    /// # Errors
    /// If one of them is no number; the message names the weight that it comes from.
    fn logits(&mut self, tokens: &[u32]) -> Result<Tensor>;

    /// Hands every intermediate result of the model on `tokens [L]` to `each` as soon as it is
    /// computed, with its name.
    ///
    /// # Errors
    /// If the engine has no such view of this model.
    fn activations(&self, tokens: &[u32], each: &mut dyn FnMut(&str, &Tensor)) -> Result<()>;

    /// The functions that compute an activation, the likeliest to be wrong first, as
    /// `week1-day1 task 1: linear`.
    fn tasks_of(activation: &str) -> &'static [&'static str];

    /// Forgets what was kept of earlier requests, so that the next one is all work.
    fn forget(&mut self) {}

    /// What the last request had of what makes answers come sooner, if anything was asked for: a word
    /// and what there is to say.
    fn sooner(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Threads that it works with.
    fn threads(&self) -> usize;

    /// Tells what the tokens mean, before the first request whose text has a form: the bytes of each,
    /// none for one that is no text.
    fn use_vocabulary(&mut self, texts: Vec<Vec<u8>>);

    /// Extends the prompt; `on_token` receives each new token at once, and never a stop token. One
    /// text at a time has no stop texts: the caller of `on_token` may end it.
    ///
    /// # Errors
    /// If the prompt is empty or longer than the context; if no text of the form that is asked for
    /// fits into the tokens.
    fn generate(
        &mut self,
        request: &Request,
        form: Option<&Form>,
        on_token: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> Result<FinishReason>;

    /// The same model as an engine that computes many requests at once; `token_bytes` says the text
    /// of a token.
    ///
    /// # Errors
    /// If there is no room for so many, or this week's engine computes one at a time.
    fn into_batch(self, options: BatchOptions, token_bytes: TokenBytes) -> Result<Box<dyn Batch>>;

    /// The scheduler and the pages of the same engine, without a model.
    ///
    /// # Errors
    /// If this solution has none.
    fn simulated(options: SimulatedOptions) -> Result<Box<dyn Simulated>>;

    /// Takes the bytes of the next token and returns the text that is now certain.
    fn push(stream: &mut Self::TextStream, bytes: &[u8]) -> String;

    /// The text that was still held back.
    fn finish(stream: &mut Self::TextStream) -> String;

    /// Writes a model as a GGUF file in other types, and returns its tensor table. `progress` is
    /// told how far it is, and may end it.
    ///
    /// # Errors
    /// If a file cannot be read or written, there is no such type, or `progress` breaks; nothing is
    /// then written.
    fn quantize(
        request: &QuantizeRequest<'_>,
        progress: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Vec<TensorInfo>>;

    /// Writes a GGUF file whose matrices have the types that `quantize` would give them;
    /// `write(tensor, out)` appends the bytes of each in turn. Returns the tensor table.
    ///
    /// # Errors
    /// If there is no such type, the file cannot be written, or `write` returns an error; nothing
    /// is then written.
    fn write_gguf(
        request: &WriteRequest<'_>,
        write: &mut WriteTensor<'_>,
    ) -> Result<Vec<TensorInfo>>;

    /// The graph of a pass of so many rows.
    ///
    /// # Errors
    /// If this week's engine has none.
    fn graph(&self, rows: usize) -> Result<Drawn>;

    /// Bytes that the graph of such a pass needs, planned in several ways.
    ///
    /// # Errors
    /// If this week's engine has none.
    fn graph_memory(&self, rows: usize) -> Result<Vec<(&'static str, usize)>>;

    /// How the backends divide the graph of such a pass among them, once it is ready to run.
    ///
    /// # Errors
    /// If this week's engine has none, or there is something that no backend supports.
    fn graph_splits(&mut self, rows: usize) -> Result<Divided>;

    /// What graphics processor there is, and how fast it is: lines to print.
    ///
    /// # Errors
    /// If there is none, or the program was built without.
    fn gpu() -> Result<Vec<String>>;
    /// Where each token goes in a model with experts.
    ///
    /// # Errors
    /// If the model has none, or a token is not in the vocabulary.
    fn experts(&mut self, tokens: &[u32]) -> Result<ExpertsSeen>;

    /// The layout of a tensor, and after each of the steps.
    ///
    /// # Errors
    /// If there is no such tensor, or a step is none for what it comes to.
    fn layouts(request: &LayoutRequest) -> Result<Vec<LayoutSeen>>;

    /// Extends a prompt by a model whose weights stay in the file; `on_token` receives each new token
    /// at once, and never a stop token.
    ///
    /// # Errors
    /// If the file is none or cannot be read, the budget is too small, or the prompt is too long.
    fn stream(
        request: &StreamRequest<'_>,
        on_token: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> Result<Streamed>;

    /// Writes a model folder as such a file, and returns how many bytes it has.
    ///
    /// # Errors
    /// If the folder is no such model, or the file cannot be written.
    fn stream_pack(request: &PackRequest<'_>) -> Result<u64>;

    /// The messages as one text in ChatML, ending where the assistant's answer begins.
    fn chatml(messages: &[Message]) -> String;
}

/// How a model is run, as far as the command line says; names are the solution's to understand.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// Which week's engine.
    pub week: Option<u8>,
    /// Number of threads.
    pub threads: Option<usize>,
    /// Longest sequence in tokens.
    pub context: Option<usize>,
    /// Rung of the kernel ladder.
    pub kernels: Option<String>,
    /// Kind of attention.
    pub attention: Option<String>,
    /// How keys and values are stored.
    pub cache_type: Option<String>,
    /// Compute every position again for every token.
    pub no_cache: bool,
    /// `graph` or `arena` for week 4's; names are the solution's to understand.
    pub engine: Option<String>,
    /// Who computes the graph; names are the solution's to understand.
    pub backend: Option<String>,
    /// Who proposes tokens.
    pub draft: Option<Draft>,
    /// Where a prompt's keys and values are kept.
    pub cache_file: Option<PathBuf>,
}

/// An error of a command line that names something which the solution does not have; it ends the
/// program as a wrong option does.
#[derive(Debug)]
pub struct WrongOption(pub String);

impl fmt::Display for WrongOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongOption {}

/// A model to be written in other types.
pub struct QuantizeRequest<'a> {
    /// Model folder or GGUF file.
    pub input: &'a Path,
    /// What the file is to say about a model folder; `None` for a GGUF file, which says it itself.
    pub metadata: Option<Metadata>,
    /// The file to write; what is there is replaced.
    pub output: &'a Path,
    /// `q4_k_m`; names are the solution's to understand.
    pub target: &'a str,
    /// The type of a matrix of this name, if it is to be another one than the target's.
    pub override_for: &'a dyn Fn(&str) -> Option<TensorType>,
    /// Number of threads.
    pub threads: Option<usize>,
}

/// A file to be written.
pub struct WriteRequest<'a> {
    /// The file; what is there is replaced.
    pub output: &'a Path,
    /// What it says beside the tensors; what their types determine is added.
    pub metadata: Metadata,
    /// Sizes and constants.
    pub config: &'a ModelConfig,
    /// `q4_k_m`; names are the solution's to understand.
    pub target: &'a str,
    /// Name and shape of each, in the order of the file.
    pub tensors: &'a [(String, Vec<usize>)],
}

/// What a streamed model is to do, and with how much memory.
pub struct StreamRequest<'a> {
    /// The model.
    pub file: &'a Path,
    /// Where to start from.
    pub prompt: Vec<u32>,
    /// At most this many new tokens.
    pub max_new_tokens: usize,
    /// Each of these ends the text.
    pub stop_tokens: Vec<u32>,
    /// Bytes of memory in all.
    pub budget: usize,
    /// Positions of the cache.
    pub positions: usize,
    /// Rows of weights that are in memory at once.
    pub chunk_rows: usize,
    /// 0 is greedy.
    pub temperature: f32,
    /// How many tokens are drawn from.
    pub top_k: usize,
    /// Of the generator that tokens are drawn with.
    pub seed: u64,
}

/// What a streamed model has needed.
pub struct Streamed {
    /// The most bytes that were in use.
    pub peak: usize,
    /// What for, each at its most.
    pub parts: Vec<(&'static str, usize)>,
    /// What the prompt's tokens have cost, but for the last one.
    pub prompt: StreamCounts,
    /// What the new tokens have cost.
    pub new: StreamCounts,
}

/// What some tokens have cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct StreamCounts {
    /// How many tokens.
    pub tokens: u64,
    /// Pieces that were read.
    pub reads: u64,
    /// Those that did not begin where the one before had ended.
    pub seeks: u64,
    /// Bytes of them all.
    pub bytes: u64,
}

/// A model to be written as a file that is streamed.
pub struct PackRequest<'a> {
    /// Model folder.
    pub input: &'a Path,
    /// The file to write; what is there is replaced.
    pub output: &'a Path,
    /// Rows that the vocabulary is filled up to.
    pub vocabulary: Option<usize>,
}

/// Appends a tensor's bytes to a file.
pub type WriteTensor<'a> = dyn FnMut(&TensorInfo, &mut dyn Write) -> Result<()> + 'a;

/// What a text has to be, whatever the model would say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// A JSON object.
    Json,
    /// A value of a schema, or a call of a tool.
    Shape(Arc<Shape>),
}

/// An inference engine for Llama, Qwen2 and Qwen3.
#[derive(Parser)]
#[command(
    name = "tiny-llm",
    version,
    disable_help_subcommand = true,
    after_help = "TINY_LLM_MODELS names the folder of the embedded models, if it is not the \
                  repository's models/."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Continues a prompt; the prompt comes from -p or from standard input.
    Generate(generate::Args),
    /// Answers a file of requests, many of them at once; each line is a JSON object.
    Batch(batch::Args),
    /// Serves clients over the network, under OpenAI's interface; built when first called.
    Serve(Box<serve::Args>),
    /// Talks, with the conversation so far as context; one line of input is one message.
    Chat(chat::Args),
    /// Writes the logits of every position of a sequence of token ids; needs no tokenizer.
    Logits(logits::Args),
    /// Measures load time, prefill and decode speed, and memory; needs no tokenizer.
    Bench(bench::Args),
    /// Plays a load of requests through week 3's scheduler, at what a model's steps cost.
    Simulate(simulate::Args),
    /// Measures a model on held-out stories: exact answers by kind of question, and perplexity.
    Score(score::Args),
    /// Measures how well a model predicts the tokens of held-out stories, or of a text file.
    Perplexity(perplexity::Args),
    /// Lists the metadata and the tensors of a GGUF file.
    Inspect(inspect::Args),
    /// Draws a model's forward pass as a graph, for Graphviz or a browser.
    Graph(graph::Args),
    /// Shows which graphics processor there is, its limits, and how fast your kernels are on it.
    Gpu,
    /// Shows to which experts the tokens of a text go, and what is read for them.
    Experts(experts::Args),
    /// Shows in which bytes the elements of a tensor lie, and of views of it.
    Layout(layout::Args),
    /// Writes a model with random weights, to measure with.
    Synth(synth::Args),
    /// Writes a model as a GGUF file in smaller types
    Quantize(quantize::Args),
    /// Continues a prompt with a model whose weights stay in its file, within a budget of memory
    Stream(stream::Args),
    /// Writes a Llama of one layer as a file that is streamed: int8, a scale for each row
    StreamPack(stream::PackArgs),
    /// Writes every activation to a file, or compares them with one: `cargo course trace`
    #[command(hide = true)]
    Trace(trace::Args),
}

/// Runs the command line on a solution; `server` says who serves.
#[must_use]
pub fn main<E: Engine + 'static>(server: Server) -> ExitCode {
    panics::install();
    interrupt::install();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return options::explain(&error),
    };
    let outcome = match cli.command {
        Command::Generate(args) => generate::run::<E>(args),
        Command::Batch(args) => batch::run::<E>(args),
        Command::Serve(args) => serve::run::<E>(*args, server),
        Command::Simulate(args) => simulate::run::<E>(&args),
        Command::Chat(args) => chat::run::<E>(args),
        Command::Logits(args) => logits::run::<E>(&args),
        Command::Bench(args) => bench::run::<E>(&args),
        Command::Score(args) => score::run::<E>(&args),
        Command::Perplexity(args) => perplexity::run::<E>(&args),
        Command::Inspect(args) => inspect::run::<E>(&args),
        Command::Graph(args) => graph::run::<E>(args),
        Command::Gpu => gpu::run::<E>(),
        Command::Experts(args) => experts::run::<E>(&args),
        Command::Layout(args) => layout::run::<E>(args),
        Command::Synth(args) => synth::run::<E>(&args),
        Command::Quantize(args) => quantize::run::<E>(&args),
        Command::Stream(args) => stream::run::<E>(args),
        Command::StreamPack(args) => stream::pack::<E>(&args),
        Command::Trace(args) => trace::run::<E>(&args),
    };
    outcome.unwrap_or_else(|error| {
        let text = format!("error: {}", output::bounded(&output::one_line(&format!("{error:#}"))));
        if error.is::<WrongOption>() {
            output::note(&format!("{text}; see --help"));
            return ExitCode::from(2);
        }
        output::note(&text);
        ExitCode::FAILURE
    })
}
