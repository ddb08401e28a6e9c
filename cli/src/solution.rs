//! What the command line needs of a solution.

use std::{
    fmt,
    io::Write,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Result;
use tiny_llm_formats::{
    FinishReason, Tensor,
    chat::Message,
    config::ModelConfig,
    gguf::{Metadata, Progress, TensorInfo, TensorType},
    request::Request,
};
use tiny_llm_schema::Shape;

use super::{
    Batch, BatchOptions, Divided, Draft, Drawn, ExpertsSeen, LayoutRequest, LayoutSeen, Roofline,
    Simulated, SimulatedOptions, Text, TokenBytes,
};

/// Receives each new token at once, and never a stop token.
pub type OnToken<'a> = dyn FnMut(u32) -> ControlFlow<()> + 'a;
/// Receives each intermediate result as soon as it is computed, with its name.
pub type OnActivation<'a> = dyn FnMut(&str, &Tensor) + 'a;

/// A loaded model that computes one text at a time.
pub trait Model {
    /// Sizes and constants.
    fn config(&self) -> &ModelConfig;

    /// How it is run.
    fn about(&self) -> About;

    /// Takes the metadata of a GGUF file, which is large, so that the caller can drop it. `None` for
    /// a folder.
    fn take_metadata(&mut self) -> Option<Metadata> {
        None
    }

    /// Logits of every position: `tokens [L]` → `[L, V]`.
    ///
    /// # Errors
    /// If one of them is no number; the message names the weight that it comes from.
    fn logits(&mut self, tokens: &[u32]) -> Result<Tensor>;

    /// Extends the prompt. Stop texts are for batches: here, the caller of `on_token` ends a text.
    ///
    /// # Errors
    /// If the prompt is empty or longer than the context; if no text of the form fits into the
    /// tokens.
    fn generate(
        &mut self,
        request: &Request,
        form: Option<&Form>,
        on_token: &mut OnToken<'_>,
    ) -> Result<FinishReason>;

    /// Drops the cache of earlier requests, so that the next one computes everything.
    fn clear_cache(&mut self) {}

    /// What the last request saved with a cache file or drafts: a word, and a text.
    fn savings(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Takes the bytes of each token, none for one that is no text. Needed before the first request
    /// with a form.
    fn use_vocabulary(&mut self, _texts: Vec<Vec<u8>>) {}

    /// The same model as an engine that computes many requests at once; `token_bytes` gives the text
    /// of a token.
    ///
    /// # Errors
    /// If memory does not suffice, or this week's engine computes one text at a time.
    fn into_batch(
        self: Box<Self>,
        options: BatchOptions,
        token_bytes: TokenBytes,
    ) -> Result<Box<dyn Batch>>;
}

/// How a model is run.
#[derive(Debug, Clone)]
pub struct About {
    /// Kernels, threads, attention and cache, in a few words.
    pub described: String,
    /// Bytes of weights that a forward pass of one row reads.
    pub weight_bytes: u64,
    /// Threads that it works with.
    pub threads: usize,
    /// Whether it multiplies with the matrix units.
    pub matrix_units: bool,
}

/// The functions of a solution, each under the name that it has there.
#[expect(clippy::type_complexity, reason = "a table of signatures: a name for each would say less")]
pub struct Solution {
    /// Loads a model folder or a GGUF file.
    pub load: fn(&Path, &LoadOptions) -> Result<Box<dyn Model>>,
    /// Metadata and tensor table of a GGUF file.
    pub inspect: fn(&Path) -> Result<(Metadata, Vec<TensorInfo>)>,
    /// The limit for decoding such a model here, with this many threads or one for each physical
    /// core.
    pub roofline: fn(&[TensorInfo], Option<usize>) -> Roofline,
    /// The rungs of the kernel ladder that this machine can run, slowest first.
    pub rungs: fn() -> Vec<&'static str>,
    /// Bytes that this many threads read from memory in a second.
    pub bandwidth: fn(usize) -> f64,
    /// Operations of the matrix units in a second, with this many threads; `None` without such units.
    pub matrix_units: fn(usize) -> Option<f64>,
    /// Checks the tokens, calls `ready`, and runs the model on them. Fails for a model that has no
    /// such view.
    pub activations: fn(
        &ActivationsRequest<'_>,
        ready: &mut dyn FnMut() -> Result<()>,
        &mut OnActivation<'_>,
    ) -> Result<()>,
    /// The tasks that compute an activation, the likeliest to be wrong first, as
    /// `week1-day1 task 1: linear`.
    pub tasks_of: fn(&str) -> &'static [&'static str],
    /// Bytes in, text out; empty at first.
    pub text: fn() -> Box<dyn Text>,
    /// The messages as one text in ChatML, ending where the assistant's answer begins.
    pub chatml: fn(&[Message]) -> String,
    /// The scheduler and the pages of a batch, without a model.
    pub simulated: fn(SimulatedOptions) -> Box<dyn Simulated>,
    /// Writes a model as a GGUF file in other types, and returns its tensor table. The callback
    /// receives the progress, and may end the work; nothing is then written.
    pub quantize: fn(
        &QuantizeRequest<'_>,
        &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Vec<TensorInfo>>,
    /// Writes a GGUF file with the types that `quantize` would choose, and returns its tensor table.
    /// The callback appends the bytes of each tensor in turn.
    pub write_gguf: fn(&WriteRequest<'_>, &mut WriteTensor<'_>) -> Result<Vec<TensorInfo>>,
    /// The graph of a pass.
    pub graph: fn(&GraphRequest<'_>) -> Result<Drawn>,
    /// Bytes that such a graph needs, planned in several ways.
    pub graph_memory: fn(&GraphRequest<'_>) -> Result<Vec<(&'static str, usize)>>,
    /// How the backends divide such a graph.
    pub graph_splits: fn(&GraphRequest<'_>) -> Result<Divided>,
    /// The experts that each token goes to.
    pub experts: fn(&Path, &LoadOptions, &[u32]) -> Result<ExpertsSeen>,
    /// The graphics processor and its speed: lines to print.
    pub gpu: fn() -> Result<Vec<String>>,
    /// The layout of a tensor, and after each of the steps.
    pub layouts: fn(&LayoutRequest) -> Result<Vec<LayoutSeen>>,
    /// Extends a prompt by a model whose weights stay in the file.
    pub stream: fn(&StreamRequest<'_>, &mut OnToken<'_>) -> Result<Streamed>,
    /// Writes a model folder as such a file, and returns its number of bytes.
    pub stream_pack: fn(&PackRequest<'_>) -> Result<u64>,
}

/// A model whose activations are wanted.
pub struct ActivationsRequest<'a> {
    /// Model folder.
    pub model: &'a Path,
    /// How it is run.
    pub options: &'a LoadOptions,
    /// What it is run on.
    pub tokens: &'a [u32],
}

/// A model whose graph is wanted.
pub struct GraphRequest<'a> {
    /// Model folder or GGUF file.
    pub model: &'a Path,
    /// How it is run.
    pub options: &'a LoadOptions,
    /// Rows of the pass.
    pub rows: usize,
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
