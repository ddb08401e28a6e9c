//! Day 6. How many tokens to draft: as many as pay, none where drafting does not.
//!
//! Tasks here: week3-day6 task 3 (`expected_tokens`, `best_length`, `DraftLength::observe`,
//! `DraftLength::choose`). Everything else is provided.

/// What a pass costs, in passes of a single row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Each further row of the target.
    pub row: f64,
    /// Proposing a token.
    pub draft: f64,
}

/// Keeps count of what was accepted, and says how many tokens to draft next.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftLength {
    /// Never more than this.
    pub max: usize,
    /// What drafting and verifying cost.
    pub costs: Costs,
    /// How many drafts were looked at, older ones counting less.
    tested: f64,
    /// How many of them were kept, older ones counting less.
    accepted: f64,
    /// Passes without a draft, since the last one with drafts.
    idle: usize,
}

/// What an observation counts after another one.
pub const FADES: f64 = 0.875;
/// Where drafting does not pay, one token is drafted in one of this many passes, to see whether it
/// still does not.
pub const PROBE: usize = 16;

/// How many tokens a pass with `k` drafts gives on average, if each draft is accepted with
/// probability `rate` as long as those before it are: `1 + rate + rate² + … + rateᵏ`.
#[must_use]
pub fn expected_tokens(rate: f64, k: usize) -> f64 {
    todo!("week3-day6 task 3: expected_tokens")
}

/// The number of drafts, from 0 to `max`, with the most tokens for what a pass costs; of equally
/// good ones the smallest.
#[must_use]
pub fn best_length(rate: f64, costs: Costs, max: usize) -> usize {
    todo!("week3-day6 task 3: best_length")
}

impl DraftLength {
    /// Begins as if three of four drafts had been accepted.
    #[must_use]
    pub fn new(max: usize, costs: Costs) -> Self {
        Self { max, costs, tested: 4.0, accepted: 3.0, idle: 0 }
    }

    /// Begins as if half of a single draft had been accepted, so that the first real one decides:
    /// for a proposer that may have nothing to say.
    #[must_use]
    pub fn doubtful(max: usize, costs: Costs) -> Self {
        Self { max, costs, tested: 1.0, accepted: 0.5, idle: 0 }
    }

    /// The share of the drafts looked at that was kept.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.accepted / self.tested
    }

    /// Takes what became of the drafts of a pass. Older counts are multiplied by [`FADES`] before
    /// the new ones are added. A draft after one that was refused was never looked at, so it counts
    /// neither way; a pass without drafts says nothing.
    pub fn observe(&mut self, drafted: usize, accepted: usize) {
        todo!("week3-day6 task 3: DraftLength::observe")
    }

    /// How many tokens to draft for the next pass: [`best_length`]. Where that is 0, still one in
    /// every [`PROBE`]th pass (and none if `max` is 0).
    pub fn choose(&mut self) -> usize {
        todo!("week3-day6 task 3: DraftLength::choose")
    }
}
