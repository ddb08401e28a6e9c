//! Options and counters of an engine.

/// Options of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineOptions {
    /// Maximum number of tokens of prompt and answer together. The limits of model and cache also
    /// apply.
    pub context: usize,
    /// Maximum number of rows in a step, at least 2. `None` allows all rows of every request.
    pub budget: Option<usize>,
    /// Days 2 and 6. Limits how long prompts may delay decoding requests. These rules apply to a
    /// step that mixes prompts with decoding:
    ///
    /// - The step takes at most this many times as long as a step of the decoding requests alone.
    /// - It takes at most [`BUSY`] times as long as a step in which every slot decodes.
    /// - It may always have [`FEWEST`] rows, even if it then takes longer.
    pub gap: Option<usize>,
    /// Whether to keep a record of every request, for
    /// [`Engine::take_records`](crate::week3::engine::Engine::take_records).
    pub records: bool,
}

impl Default for EngineOptions {
    /// Returns options with the full context of model and cache, no budget and no records. An
    /// engine with these options needs no code from a later day.
    fn default() -> Self {
        Self { context: usize::MAX, budget: None, gap: None, records: false }
    }
}

/// When [`EngineOptions::gap`] is set, a step may always have this many rows. A step with fewer
/// rows isn't faster: any step takes at least as long as reading the weights.
pub const FEWEST: usize = 8;

/// When [`EngineOptions::gap`] is set, a step may take at most this many times as long as a step in
/// which every slot decodes.
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
    /// Number of preemptions of requests that already had positions in the cache. A request is
    /// preempted when the cache is full.
    pub preempted: u64,
}
