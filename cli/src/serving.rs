//! The interface between the command line and an engine that runs batches.

use anyhow::Result;
use tiny_llm_formats::request::{Chosen, Event, Extras, Request};

use super::{Draft, Form, StepCost};

/// A function that returns the bytes of a token's text.
pub type TokenBytes = Box<dyn Fn(u32) -> Vec<u8> + Send>;

/// Sizes and limits of a batch.
#[derive(Debug, Clone)]
pub struct BatchOptions {
    /// Number of batch slots.
    pub max_batch: usize,
    /// Maximum rows per step. 0 means no limit. `None` means the engine's default.
    pub budget: Option<usize>,
    /// A step that mixes prompts with decoding may take at most this many times as long as a step
    /// that only decodes. It may also take at most twice as long as a step in which every slot
    /// decodes. 0 means that neither limit applies.
    pub gap: usize,
    /// Number of pages for keys and values. With `None`, there are no pages, and each slot has room
    /// for a whole context.
    pub pages: Option<usize>,
    /// Whether unused pages are kept, so that a request can reuse those that hold its prefix.
    pub share_prefixes: bool,
    /// Source of proposed tokens, if any.
    pub draft: Option<Draft>,
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
