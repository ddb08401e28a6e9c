//! What an engine may be asked to do, and what it counts.

/// Options of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineOptions {
    /// Maximum length of prompt and answer together; limited to what model and cache have room for.
    pub context: usize,
    /// Maximum number of rows in a step, 2 or more. Without a budget, every request gets all its
    /// rows.
    pub budget: Option<usize>,
    /// Days 2 and 6. Limits how much a long prompt may delay the requests that decode: a step that
    /// mixes both takes at most this many times as long as a step of the decoding requests alone,
    /// and at most [`BUSY`] times as long as a step in which every slot decodes. A step may always
    /// have [`FEWEST`] rows.
    pub gap: Option<usize>,
    /// Whether to keep a record of every request, for
    /// [`Engine::take_records`](crate::week3::engine::Engine::take_records).
    pub records: bool,
}

impl Default for EngineOptions {
    /// As much context as model and cache have room for, no budget and no records: nothing from a
    /// later day.
    fn default() -> Self {
        Self { context: usize::MAX, budget: None, gap: None, records: false }
    }
}

/// Minimum rows of a step with a `gap`. With fewer, a step is no faster: it takes the time to read
/// the weights.
pub const FEWEST: usize = 8;

/// Maximum time of a step with a `gap`, in steps in which every slot decodes.
pub const BUSY: usize = 2;

/// What the engine has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Forward passes.
    pub steps: u64,
    /// Rows in all of them.
    pub rows: u64,
    /// The most rows of one pass.
    pub most_rows: usize,
    /// How many times a request was preempted because the cache had no more room.
    pub preempted: u64,
}
