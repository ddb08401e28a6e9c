//! What the command line needs of an engine that computes many requests at once.

use anyhow::Result;
use tiny_llm_formats::request::{Chosen, Event, Extras, Request};

use super::{Draft, Form, StepCost};

/// The bytes of a token's text.
pub type TokenBytes = Box<dyn Fn(u32) -> Vec<u8> + Send>;

/// How many at once.
#[derive(Debug, Clone)]
pub struct BatchOptions {
    /// Requests that are computed at once.
    pub max_batch: usize,
    /// At most this many rows a step; 0 is no limit, `None` the engine's own choice.
    pub budget: Option<usize>,
    /// While somebody decodes, a step takes at most so many times as long as one of those that do; 0
    /// is no limit.
    pub gap: usize,
    /// Keys and values lie in so many pages; if none is said, each request has room for the whole
    /// context.
    pub pages: Option<usize>,
    /// Pages are remembered: a request begins with those that hold its prompt's beginning.
    pub share_prefixes: bool,
    /// Who proposes tokens, if anybody does.
    pub draft: Option<Draft>,
}

/// Who has a page of keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageUse {
    /// Nobody.
    Free,
    /// Nobody now; it is remembered for whoever begins alike.
    Remembered,
    /// A request.
    Owned {
        /// The place in the cache, of several the first.
        slot: usize,
        /// Whether others have it as well.
        shared: bool,
    },
}

/// A request that is being computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchRow {
    /// Its place in the cache.
    pub slot: usize,
    /// Its number.
    pub id: u64,
    /// Tokens of its prompt.
    pub prompt: usize,
    /// How many of its tokens have been computed.
    pub computed: usize,
    /// Tokens of its text so far.
    pub new: usize,
}

/// What has been done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchCounts {
    /// Forward passes.
    pub steps: u64,
    /// Rows in all of them.
    pub rows: u64,
    /// Where keys and values lie in pages.
    pub pages: Option<PageCounts>,
    /// What keys and values take.
    pub cache: CacheBytes,
    /// Where tokens are proposed: how many were accepted, and how many proposed.
    pub drafts: Option<(u64, u64)>,
}

/// Bytes of keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheBytes {
    /// Of the positions that the requests have now, those that they share counted for each.
    pub used: u64,
    /// That are set aside for requests now: pages, or a whole context for each place.
    pub held: u64,
    /// Of the whole cache.
    pub all: u64,
}

/// Who has which pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageCounts {
    /// Pages that there are.
    pub pages: usize,
    /// Positions of each.
    pub page_len: usize,
    /// Pages that belong to somebody now.
    pub used: usize,
    /// The most that did after any step.
    pub most_used: usize,
    /// How often a request had to wait again, because there were no more pages.
    pub preempted: u64,
    /// Where pages are remembered: tokens that were found in them, and tokens that were looked for.
    pub found: Option<(u64, u64)>,
}

/// How long requests waited: of all that are over, the median and the 99th percentile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchWaits {
    /// Steps from a request's coming to its first token.
    pub first_token_steps: [u64; 2],
    /// Rows that were computed in that time.
    pub first_token_rows: [u64; 2],
    /// The most rows that were computed between two of its tokens.
    pub longest_gap_rows: [u64; 2],
}

/// An engine that computes many requests at once.
pub trait Batch {
    /// Tells what the tokens mean, before the first request whose text has a form: the bytes of each,
    /// none for one that is no text.
    fn use_vocabulary(&mut self, texts: Vec<Vec<u8>>);

    /// Takes a request and gives it a number.
    ///
    /// # Errors
    /// If it cannot be computed: an empty prompt, one longer than the context, a sampling option out
    /// of range. Nothing else changes.
    fn submit(&mut self, request: Request, form: Option<&Form>, extras: Extras) -> Result<u64>;

    /// One forward pass for all requests that have a place.
    ///
    /// # Errors
    /// If logits came that are no numbers; the message names the weight that they come from.
    fn step(&mut self, on_event: &mut dyn FnMut(Event)) -> Result<()>;

    /// Ends a request whose client has gone: the next step says so, and its place is free. Returns
    /// whether there was such a request.
    fn cancel(&mut self, id: u64) -> bool;

    /// How many requests wait for a place.
    fn waiting(&self) -> usize;

    /// How probable the tokens of the last step were, of the requests that want to know, each as its
    /// [`Event::Token`] came.
    fn take_chosen(&mut self) -> Vec<(u64, Chosen)>;

    /// Who has which page, by its number; empty where there are no pages.
    fn page_map(&self) -> Vec<PageUse>;

    /// Who is being computed.
    fn rows(&self) -> Vec<BatchRow>;

    /// What has been done so far.
    fn counts(&self) -> BatchCounts;

    /// How long requests waited; `None` if the engine keeps no records, or none is over.
    fn waits(&mut self) -> Option<BatchWaits>;
}

/// How large a simulated engine is.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedOptions {
    /// Requests that are computed at once.
    pub max_batch: usize,
    /// At most this many rows a step; 0 is no limit.
    pub budget: usize,
    /// While somebody decodes, a step takes at most so many times as long as one of those that do; 0
    /// is no limit.
    pub gap: usize,
    /// Pages for their keys and values.
    pub pages: usize,
    /// Pages are remembered: a request begins with those that hold its prompt's beginning.
    pub share_prefixes: bool,
    /// Longest sequence, prompt and answer together.
    pub context: usize,
    /// What a step costs.
    pub cost: StepCost,
}

/// What a step has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepWork {
    /// Rows of the forward pass.
    pub rows: u64,
    /// Positions of the cache that they look at, all together.
    pub positions: u64,
}

/// An engine without a model: it decides who is computed when, and computes nothing.
pub trait Simulated {
    /// Takes a request, whose tokens are 0 and 1, and gives it a number.
    ///
    /// # Errors
    /// As [`Batch::submit`].
    fn submit(&mut self, prompt: Vec<u32>, max_new_tokens: usize) -> Result<u64>;

    /// One step, and what it would have cost.
    fn step(&mut self, on_event: &mut dyn FnMut(Event)) -> StepWork;

    /// Whether nothing is left to be done.
    fn is_idle(&self) -> bool;

    /// Who has which pages.
    fn pages(&self) -> PageCounts;
}
