//! Day 2. Decides how many rows each request gets in a step.
//!
//! Nothing in this file knows about models: a scheduler sees only plain numbers, so that the same
//! code can run in a simulation of a million requests.
//!
//! Tasks here: week3-day2 task 1 (`Scheduler::decoding_rows`, `share_prompts`), week3-day2 task 2
//! (`take_turns`). Everything else is provided.

use std::cmp::Reverse;

/// What the scheduler knows about a running request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Number of the request's tokens that have not been computed.
    pub left: usize,
    /// Whether the request is decoding. If so, its next row produces a new token.
    pub decoding: bool,
    /// Number of steps since the last step in which the request had a row.
    pub waited: usize,
}

/// Divides a budget of rows among the requests of a step. First the decoding requests get at most
/// one row each, then the prompts get the remaining rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduler {
    /// Maximum number of rows in a step.
    pub budget: usize,
    /// Number of rows of the budget that are reserved for prompts, however many requests decode.
    pub reserved: usize,
}

impl Scheduler {
    /// Creates a scheduler that reserves an eighth of the budget for prompts, but at least one row.
    ///
    /// # Panics
    /// If the budget is less than 2, because then prompts or answers would never make progress.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        assert!(budget >= 2, "found a budget of {budget} rows a step, expected at least 2");
        Self { budget, reserved: (budget / 8).max(1) }
    }

    /// Computes how many rows each request gets: `loads [n]` → `out [n]`. Both lists are in the
    /// order in which the requests arrived.
    pub fn shares(&self, loads: &[Load], out: &mut Vec<usize>) {
        out.clear();
        out.resize(loads.len(), 0);
        let decoding = self.decoding_rows(loads);
        take_turns(loads, decoding, out);
        share_prompts(loads, self.budget - decoding, out);
    }

    /// Returns the total number of rows that decoding requests get in the step: one row for each
    /// request, but no more than the budget minus the reserved rows. If the prompts need fewer rows
    /// than are reserved, decoding requests may use the unneeded rows.
    #[must_use]
    pub fn decoding_rows(&self, loads: &[Load]) -> usize {
        todo!("week3-day2 task 1: Scheduler::decoding_rows")
    }
}

/// Divides `rows` rows among the requests that are still computing their prompts. The oldest gets
/// all rows that it can use, then the next, and so on. Doesn't change the other requests' shares.
pub fn share_prompts(loads: &[Load], rows: usize, out: &mut [usize]) {
    todo!("week3-day2 task 1: share_prompts")
}

/// Gives one row each to the `rows` decoding requests that have waited longest, or to all decoding
/// requests if there are fewer. Among requests that have waited equally long, the oldest comes
/// first. Doesn't change the shares of other requests.
///
/// After the step, a request that got no row has waited longer than the requests that got a row. So
/// each of `n` decoding requests gets a row at least once in any `⌈n / rows⌉` consecutive steps.
pub fn take_turns(loads: &[Load], rows: usize, out: &mut [usize]) {
    todo!("week3-day2 task 2: take_turns")
}
