//! The interface between the command line and a solution, which is the learner's engine or the
//! reference's.

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

/// A function that receives each new token as soon as it is generated, except stop tokens. It
/// returns `Break` to end the text.
pub type OnToken<'a> = dyn FnMut(u32) -> ControlFlow<()> + 'a;
/// A function that receives the name and value of each intermediate result once it is computed.
pub type OnActivation<'a> = dyn FnMut(&str, &Tensor) + 'a;

/// A loaded model that computes one text at a time.
pub trait Model {
    /// Returns the model's sizes and constants.
    fn config(&self) -> &ModelConfig;

    /// Describes how the model is run.
    fn about(&self) -> About;

    /// Moves the metadata of a GGUF file out of the model, because it is large. Returns `None` for
    /// a folder.
    fn take_metadata(&mut self) -> Option<Metadata> {
        None
    }

    /// Computes the logits of every position: `tokens [L]` → `[L, V]`.
    ///
    /// # Errors
    /// If a logit is NaN or infinite, or a backend of the graph fails. (Weights are checked when
    /// the model is loaded.)
    fn logits(&mut self, tokens: &[u32]) -> Result<Tensor>;

    /// Continues the prompt of `request`. Ignores its stop texts: `on_token` can end the text.
    ///
    /// # Errors
    /// If the prompt is empty or longer than the context, or if a logit is NaN or infinite. Also if
    /// `form` is given, and the model has experts or no text that obeys `form` fits within the
    /// maximum number of tokens.
    fn generate(
        &mut self,
        request: &Request,
        form: Option<&Form>,
        on_token: &mut OnToken<'_>,
    ) -> Result<FinishReason>;

    /// Drops the cache, so that the next request is computed from the start.
    fn clear_cache(&mut self) {}

    /// Describes what a cache file or drafts saved in the last request: pairs of a label and a
    /// text.
    fn savings(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Sets the bytes of each token. (A token without text has none.) Must be called before the
    /// first constrained request.
    fn use_vocabulary(&mut self, _texts: Vec<Vec<u8>>) {}

    /// Converts the model to an engine that runs batches. `token_bytes` returns the bytes of a
    /// token's text.
    ///
    /// # Errors
    /// If memory is insufficient, or the draft model cannot be opened. Also if the model was loaded
    /// with week 1's engine, which computes only one text at a time.
    fn into_batch(
        self: Box<Self>,
        options: BatchOptions,
        token_bytes: TokenBytes,
    ) -> Result<Box<dyn Batch>>;
}

/// How a model is run.
#[derive(Debug, Clone)]
pub struct About {
    /// Short description of kernels, threads, attention and cache.
    pub described: String,
    /// Number of bytes of weights that a one-row forward pass reads.
    pub weight_bytes: u64,
    /// Number of threads.
    pub threads: usize,
    /// Whether the model uses the processor's matrix units.
    pub matrix_units: bool,
}

/// The functions of a solution.
#[expect(clippy::type_complexity, reason = "a table of signatures: a name for each would say less")]
pub struct Solution {
    /// Loads a model folder or a GGUF file.
    pub load: fn(&Path, &LoadOptions) -> Result<Box<dyn Model>>,
    /// Reads the metadata and the tensor table of a GGUF file.
    pub inspect: fn(&Path) -> Result<(Metadata, Vec<TensorInfo>)>,
    /// Returns the limit that memory bandwidth sets on a model's decode speed on this machine. The
    /// second argument is the number of threads. `None` means one per physical core.
    pub roofline: fn(&[TensorInfo], Option<usize>) -> Roofline,
    /// Returns the names of the rungs (sets of kernels) that this machine supports, slowest first.
    pub rungs: fn() -> Vec<&'static str>,
    /// Measures how many bytes per second the given number of threads reads from memory.
    pub bandwidth: fn(usize) -> f64,
    /// Measures how many operations per second the processor's matrix units perform with the given
    /// number of threads. Returns `None` if there are no matrix units.
    pub matrix_units: fn(usize) -> Option<f64>,
    /// Loads the model, checks the tokens and calls `ready`. Then runs the model, and passes each
    /// activation to the last argument. Returns an error unless week 1's engine can run the model,
    /// because no other engine names its activations.
    pub activations: fn(
        &ActivationsRequest<'_>,
        ready: &mut dyn FnMut() -> Result<()>,
        &mut OnActivation<'_>,
    ) -> Result<()>,
    /// Returns the tasks that compute the activation with this name. The task that most likely
    /// causes a wrong value is first. A task is written as `week1-day1 task 1: linear`.
    pub tasks_of: fn(&str) -> &'static [&'static str],
    /// Creates a decoder from bytes to text.
    pub text: fn() -> Box<dyn Text>,
    /// Formats the messages in ChatML, ending where the assistant's answer begins.
    pub chatml: fn(&[Message]) -> String,
    /// Creates an engine with week 3's scheduler and pages, but without a model.
    pub simulated: fn(SimulatedOptions) -> Box<dyn Simulated>,
    /// Writes a model as a GGUF file with its weights in other types, and returns the file's tensor
    /// table. The callback receives the progress. If it returns `Break`, no file is written.
    pub quantize: fn(
        &QuantizeRequest<'_>,
        &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Vec<TensorInfo>>,
    /// Writes a GGUF file with the types that `quantize` would choose, and returns the file's
    /// tensor table. The callback appends the bytes of each tensor in turn.
    pub write_gguf: fn(&WriteRequest<'_>, &mut WriteTensor<'_>) -> Result<Vec<TensorInfo>>,
    /// Builds and draws the graph of a forward pass.
    pub graph: fn(&GraphRequest<'_>) -> Result<Drawn>,
    /// Returns, for each method of memory planning, its name and the bytes that the graph of a
    /// forward pass needs with it.
    pub graph_memory: fn(&GraphRequest<'_>) -> Result<Vec<(&'static str, usize)>>,
    /// Returns how the graph of a forward pass is divided among the backends.
    pub graph_splits: fn(&GraphRequest<'_>) -> Result<Divided>,
    /// Runs a model on tokens, and returns the experts to which each token was routed.
    pub experts: fn(&Path, &LoadOptions, &[u32]) -> Result<ExpertsSeen>,
    /// Describes the GPU and its speed, as lines to print.
    pub gpu: fn() -> Result<Vec<String>>,
    /// Returns the layout of a tensor, initially and after each step.
    pub layouts: fn(&LayoutRequest) -> Result<Vec<LayoutSeen>>,
    /// Continues a prompt with a model whose weights stay in its file.
    pub stream: fn(&StreamRequest<'_>, &mut OnToken<'_>) -> Result<Streamed>,
    /// Writes a model folder as a file for `stream`, and returns its size in bytes.
    pub stream_pack: fn(&PackRequest<'_>) -> Result<u64>,
}

/// A request for a model's activations.
pub struct ActivationsRequest<'a> {
    /// Model folder.
    pub model: &'a Path,
    /// How to run the model.
    pub options: &'a LoadOptions,
    /// Token ids of the input.
    pub tokens: &'a [u32],
}

/// A request for a model's graph.
pub struct GraphRequest<'a> {
    /// Model folder or GGUF file.
    pub model: &'a Path,
    /// How to run the model.
    pub options: &'a LoadOptions,
    /// Number of rows of the forward pass.
    pub rows: usize,
}

/// How to run a model. If an option is `None`, the solution chooses its value. The solution also
/// parses the options that are strings.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The week whose engine runs the model.
    pub week: Option<u8>,
    /// Number of threads.
    pub threads: Option<usize>,
    /// Maximum sequence length in tokens.
    pub context: Option<usize>,
    /// Name of the rung (the set of kernels).
    pub kernels: Option<String>,
    /// Kind of attention.
    pub attention: Option<String>,
    /// Element type of keys and values.
    pub cache_type: Option<String>,
    /// Whether to use no cache, and recompute all positions for each new token.
    pub no_cache: bool,
    /// Whether to copy the weights into memory, in the layout that the kernels read fastest.
    pub repack: bool,
    /// `direct`, or for week 4's engine `graph` or `arena`.
    pub engine: Option<String>,
    /// Backend of the graph.
    pub backend: Option<String>,
    /// Source of proposed tokens.
    pub draft: Option<Draft>,
    /// File for the keys and values of a prompt.
    pub cache_file: Option<PathBuf>,
}

/// An error for an option whose value the solution does not support. The program ends with exit
/// code 2.
#[derive(Debug)]
pub struct WrongOption(pub String);

impl fmt::Display for WrongOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongOption {}

/// A request to write a model with its weights in other types.
pub struct QuantizeRequest<'a> {
    /// Model folder or GGUF file.
    pub input: &'a Path,
    /// Metadata for a model folder. `None` for a GGUF file, which has its own.
    pub metadata: Option<Metadata>,
    /// Output file. An existing file is replaced.
    pub output: &'a Path,
    /// Name of the target type, such as `q4_k_m`. The solution interprets it.
    pub target: &'a str,
    /// Returns the type to use for the matrix with this name, or `None` for the type that `target`
    /// selects.
    pub override_for: &'a dyn Fn(&str) -> Option<TensorType>,
    /// Number of threads.
    pub threads: Option<usize>,
}

/// A request to write a GGUF file.
pub struct WriteRequest<'a> {
    /// Output file. An existing file is replaced.
    pub output: &'a Path,
    /// Metadata, without the entries that are derived from the tensor types.
    pub metadata: Metadata,
    /// Sizes and constants of the model.
    pub config: &'a ModelConfig,
    /// Name of the target type, such as `q4_k_m`. The solution interprets it.
    pub target: &'a str,
    /// Name and shape of each tensor, in file order.
    pub tensors: &'a [(String, Vec<usize>)],
}

/// A request to continue a prompt with a model whose weights stay in a file.
pub struct StreamRequest<'a> {
    /// Model file.
    pub file: &'a Path,
    /// Token ids of the prompt.
    pub prompt: Vec<u32>,
    /// Maximum number of new tokens.
    pub max_new_tokens: usize,
    /// Tokens that end the text.
    pub stop_tokens: Vec<u32>,
    /// Memory budget in bytes.
    pub budget: usize,
    /// Number of positions in the cache.
    pub positions: usize,
    /// Number of rows of weights that are in memory at once. Each row has as many weights as the
    /// hidden size.
    pub chunk_rows: usize,
    /// Sampling temperature. 0 is greedy.
    pub temperature: f32,
    /// Number of most probable tokens to sample from.
    pub top_k: usize,
    /// Seed of the random generator.
    pub seed: u64,
}

/// Memory and file accesses of a streamed run.
pub struct Streamed {
    /// Peak memory in bytes.
    pub peak: usize,
    /// Uses of memory. For each use, its name and the largest number of bytes requested for it at
    /// once.
    pub parts: Vec<(&'static str, usize)>,
    /// File accesses for all prompt tokens except the last.
    pub prompt: StreamCounts,
    /// File accesses for the new tokens.
    pub new: StreamCounts,
}

/// File accesses for a number of tokens.
#[derive(Debug, Clone, Copy, Default)]
pub struct StreamCounts {
    /// Number of tokens.
    pub tokens: u64,
    /// Number of reads.
    pub reads: u64,
    /// Number of reads that did not start where the previous one ended.
    pub seeks: u64,
    /// Number of bytes read.
    pub bytes: u64,
}

/// A request to write a model as a file for `stream`.
pub struct PackRequest<'a> {
    /// Model folder.
    pub input: &'a Path,
    /// Output file. An existing file is replaced.
    pub output: &'a Path,
    /// Number of rows to which the vocabulary is padded. `None` means no padding.
    pub vocabulary: Option<usize>,
}

/// Appends a tensor's bytes to the output.
pub type WriteTensor<'a> = dyn FnMut(&TensorInfo, &mut dyn Write) -> Result<()> + 'a;

/// A constraint on the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// A JSON object.
    Json,
    /// A value that matches a schema, or a tool call.
    Shape(Arc<Shape>),
}
