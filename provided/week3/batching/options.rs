//! Options and counters of an engine.

/// Options of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineOptions {
    /// Maximum length of prompt and answer together. The limits of model and cache apply too.
    pub context: usize,
    /// Maximum number of rows in a step, at least 2. With `None`, every request gets all its rows.
    pub budget: Option<usize>,
    /// Days 2 and 6. Limits how long a prompt may delay decoding requests. For a step that mixes
    /// prompts with decoding:
    ///
    /// - It takes at most this many times as long as a step of the decoding requests alone.
    /// - It takes at most [`BUSY`] times as long as a step in which every slot decodes.
    /// - It may always have [`FEWEST`] rows, even if that takes longer.
    pub gap: Option<usize>,
    /// Whether to keep a record of every request, for
    /// [`Engine::take_records`](crate::week3::engine::Engine::take_records).
    pub records: bool,
}

impl Default for EngineOptions {
    /// Returns options with the full context of model and cache, no budget and no records. These
    /// options need nothing from a later day.
    fn default() -> Self {
        Self { context: usize::MAX, budget: None, gap: None, records: false }
    }
}

/// Number of rows that a step with a `gap` may always have. A step with fewer rows isn't faster:
/// any step takes at least as long as reading the weights.
pub const FEWEST: usize = 8;

/// Time limit of a step with a `gap`, as a multiple of a step in which every slot decodes.
pub const BUSY: usize = 2;

/// Counters of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Number of forward passes.
    pub steps: u64,
    /// Number of rows in all passes.
    pub rows: u64,
    /// The largest number of rows in one pass.
    pub most_rows: usize,
    /// Number of times that a request was preempted because the cache was full.
    pub preempted: u64,
}
