//! The interface between the command line and an engine that runs batches.

use anyhow::Result;
use tiny_llm_formats::request::{Chosen, Event, Extras, Request};

use super::{
    Draft, Form, StepCost,
    options::{at_least_one, count, up_to},
};

/// A function that returns the bytes of a token's text.
pub type TokenBytes = Box<dyn Fn(u32) -> Vec<u8> + Send>;

/// Maximum number of batch slots. No supported machine can use more.
const MAX_BATCH: usize = 256;

/// Sizes and limits of a batch.
#[derive(Debug, Clone, clap::Args)]
pub struct BatchOptions {
    /// Number of batch slots (requests decoded at the same time)
    #[arg(long, value_name = "N", default_value = "16", value_parser = up_to::<MAX_BATCH>)]
    pub max_batch: usize,
    /// Maximum tokens per step (0: no limit) [default: 512, or 0 until week 3, day 2 is solved]
    #[arg(long, value_name = "N", value_parser = budget, allow_negative_numbers = true)]
    pub budget: Option<usize>,
    /// Time limit for a step with prompts: N × a decode-only step (0: no limit)
    // Such a step may also take at most twice as long as a step in which every slot decodes. 0
    // means that neither limit applies.
    #[arg(long, value_name = "N", default_value = "0", value_parser = count, allow_negative_numbers = true)]
    pub gap: usize,
    /// Number of KV cache pages, 32 positions each [default: enough for all slots]
    // With `None`, there are no pages, and each slot has room for a whole context.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub pages: Option<usize>,
    /// Reuse the pages of earlier prompts with the same prefix (needs --pages)
    #[arg(long, requires = "pages")]
    pub share_prefixes: bool,
    /// Draft model (folder, GGUF file or name), or `lookup` (copies from earlier text)
    #[arg(long, value_name = "MODEL")]
    pub draft: Option<Draft>,
}

fn budget(text: &str) -> Result<usize, String> {
    count(text)
        .ok()
        .filter(|&n| n != 1)
        .ok_or_else(|| "expected a whole number of at least 2, or 0 for no limit".to_owned())
}

/// How a page of keys and values is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageUse {
    /// Unused.
    Free,
    /// Unused, but kept for requests with the same prefix.
    Remembered,
    /// In use by a request.
    Owned {
        /// Batch slot of the request that uses the page. If several requests share the page, it is
        /// the slot of the first of them in [`Batch::rows`].
        slot: usize,
        /// Whether several requests use the page.
        shared: bool,
    },
}

/// A request that is being computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchRow {
    /// Batch slot of the request.
    pub slot: usize,
    /// The request's number.
    pub id: u64,
    /// Number of tokens in the prompt.
    pub prompt: usize,
    /// Number of tokens computed so far, of the prompt and of the answer.
    pub computed: usize,
    /// Number of new tokens so far.
    pub new: usize,
}

/// Counts of a batch since its start, and the current use of its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchCounts {
    /// Number of forward passes.
    pub steps: u64,
    /// Number of rows of all forward passes.
    pub rows: u64,
    /// Page counts, if the cache has pages.
    pub pages: Option<PageCounts>,
    /// Memory used by keys and values.
    pub cache: CacheBytes,
    /// How many proposed tokens were accepted, and how many there were. `None` without drafts.
    pub drafts: Option<(u64, u64)>,
}

/// Bytes of keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheBytes {
    /// Number of bytes for all current positions. Shared positions count once per request.
    pub used: u64,
    /// Number of bytes reserved: by the pages that are not free, or by a whole context per slot.
    pub held: u64,
    /// Size of the whole cache in bytes.
    pub all: u64,
}

/// Counts of the cache's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageCounts {
    /// Number of pages.
    pub pages: usize,
    /// Positions per page.
    pub page_len: usize,
    /// Number of pages that are not free now: those in use, and those kept for later requests.
    pub used: usize,
    /// The largest value of `used` after any step.
    pub most_used: usize,
    /// Number of preemptions, which occur when no page is free.
    pub preempted: u64,
    /// How many prompt tokens were found in pages of earlier requests, and how many were looked up.
    /// `None` if pages are not shared.
    pub found: Option<(u64, u64)>,
}

/// The waits of finished requests. Each field contains the median and the 99th percentile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchWaits {
    /// Number of steps from submission to the first token.
    pub first_token_steps: [u64; 2],
    /// Number of rows computed from submission to the first token.
    pub first_token_rows: [u64; 2],
    /// Maximum number of rows computed between two consecutive tokens of a request.
    pub longest_gap_rows: [u64; 2],
}

/// An engine that computes several requests at once.
pub trait Batch {
    /// Sets the bytes of each token. (A token without text has none.) Must be called before the
    /// first constrained request.
    fn use_vocabulary(&mut self, texts: Vec<Vec<u8>>);

    /// Submits a request and returns its number.
    ///
    /// # Errors
    /// If the prompt is empty, is longer than the context, or has a token that isn't in the
    /// vocabulary. Also if a sampling option is out of range, if no answer that obeys `form` fits,
    /// or if a constrained request has stop texts. An error leaves the engine unchanged.
    fn submit(&mut self, request: Request, form: Option<&Form>, extras: Extras) -> Result<u64>;

    /// Runs one forward pass for all requests with a batch slot.
    ///
    /// # Errors
    /// If the engine fails. (If a request's logits are NaN or infinite, only that request ends,
    /// with `FinishReason::NotFinite`.)
    fn step(&mut self, on_event: &mut dyn FnMut(Event)) -> Result<()>;

    /// Cancels a request. The next step reports it and frees its batch slot. Returns whether the
    /// request existed.
    fn cancel(&mut self, id: u64) -> bool;

    /// Returns the number of requests waiting for a batch slot.
    fn waiting(&self) -> usize;

    /// Returns the log-probabilities of the last step's tokens, each with its request's number.
    /// Only requests that ask for them are included. The order is that of the [`Event::Token`]s.
    fn take_chosen(&mut self) -> Vec<(u64, Chosen)>;

    /// For each request whose first rows ran in the last step, returns its number, and how many of
    /// its tokens were already in the cache.
    fn take_found(&mut self) -> Vec<(u64, usize)>;

    /// Returns the use of each page, by page number. If the cache has no pages, the list is empty.
    fn page_map(&self) -> Vec<PageUse>;

    /// Returns the requests that have a batch slot.
    fn rows(&self) -> Vec<BatchRow>;

    /// Returns the totals since the start.
    fn counts(&self) -> BatchCounts;

    /// Returns the waits of all finished requests. Returns `None` if the engine keeps no records of
    /// requests, or none has finished.
    fn waits(&mut self) -> Option<BatchWaits>;
}

/// Sizes and limits of a simulated engine.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedOptions {
    /// Number of batch slots.
    pub max_batch: usize,
    /// Maximum rows per step. 0 means no limit.
    pub budget: usize,
    /// A step that mixes prompts with decoding may take at most this many times as long as a step
    /// that only decodes. It may also take at most twice as long as a step in which every slot
    /// decodes. 0 means that neither limit applies.
    pub gap: usize,
    /// Number of pages for keys and values.
    pub pages: usize,
    /// Whether unused pages are kept, so that a request can reuse those that hold its prefix.
    pub share_prefixes: bool,
    /// Maximum tokens of prompt and answer together.
    pub context: usize,
    /// Cost of a step.
    pub cost: StepCost,
}

/// The work of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepWork {
    /// Number of rows of the forward pass.
    pub rows: u64,
    /// Number of cache positions that these rows attend to, in total.
    pub positions: u64,
}

/// An engine without a model, which schedules requests but computes nothing.
pub trait Simulated {
    /// Submits a request and returns its number. All tokens of the prompt must be 0 or 1.
    ///
    /// # Errors
    /// In the same cases as [`Batch::submit`].
    fn submit(&mut self, prompt: Vec<u32>, max_new_tokens: usize) -> Result<u64>;

    /// Runs one step. Returns the work of the step.
    fn step(&mut self, on_event: &mut dyn FnMut(Event)) -> StepWork;

    /// Returns whether all requests have finished.
    fn is_idle(&self) -> bool;

    /// Returns the totals of the pages.
    fn pages(&self) -> PageCounts;
}
