//! Day 6. Decides how many tokens to draft: the number that pays off best, which may be 0.
//!
//! Tasks here: week3-day6 task 3 (`expected_tokens`, `best_length`, `DraftLength::observe`,
//! `DraftLength::choose`). Everything else is provided.

/// The costs of drafting and verifying, as multiples of the cost of a pass with a single row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Cost of each additional row in a pass of the target model.
    pub row: f64,
    /// Cost of proposing a token.
    pub draft: f64,
}

/// Counts accepted drafts, and decides how many tokens to draft next.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftLength {
    /// The maximum number of tokens to draft for a pass.
    pub max: usize,
    /// The costs that decide whether drafts pay off.
    pub costs: Costs,
    /// Number of drafts that were tested, weighted so that older drafts count less.
    tested: f64,
    /// Number of drafts that were kept, weighted so that older drafts count less.
    accepted: f64,
    /// Number of consecutive passes for which [`best_length`] was 0. A trial (see [`PROBE`]) resets
    /// this number to 0.
    idle: usize,
}

/// Each observation multiplies the older counts by this factor.
pub const FADES: f64 = 0.875;
/// Interval between trials, in passes. While drafting doesn't pay off, one pass in every interval
/// is a trial: it drafts one token, to find out whether drafting would pay off now.
pub const PROBE: usize = 16;

/// Returns the average number of tokens that a pass with `k` drafts adds to the text. It is
/// `1 + rate + rate² + … + rateᵏ`. Here `rate` is the probability that a draft is accepted, given
/// that all earlier drafts were accepted.
#[must_use]
pub fn expected_tokens(rate: f64, k: usize) -> f64 {
    // SOLUTION week3-day6 task 3
    let mut sum = 1.0;
    for _ in 0..k {
        sum = 1.0 + rate * sum;
    }
    sum
    // END SOLUTION
}

/// Returns the best number of drafts for a pass, from 0 to `max`: the one with the highest ratio of
/// expected tokens to the cost of the pass. Of equally good numbers, returns the smallest.
#[must_use]
pub fn best_length(rate: f64, costs: Costs, max: usize) -> usize {
    // SOLUTION week3-day6 task 3
    let speed = |k: usize| expected_tokens(rate, k) / (1.0 + k as f64 * (costs.row + costs.draft));
    let mut best = 0;
    for k in 1..=max {
        if speed(k) > speed(best) {
            best = k;
        }
    }
    best
    // END SOLUTION
}

impl DraftLength {
    /// Creates a `DraftLength` that begins as if three of four drafts had been accepted.
    #[must_use]
    pub fn new(max: usize, costs: Costs) -> Self {
        Self { max, costs, tested: 4.0, accepted: 3.0, idle: 0 }
    }

    /// Creates a `DraftLength` that begins with an acceptance rate of one half. The initial rate
    /// counts as one tested draft, so a few real drafts soon outweigh it. Use this constructor for
    /// a proposer that may have nothing to propose.
    #[must_use]
    pub fn doubtful(max: usize, costs: Costs) -> Self {
        Self { max, costs, tested: 1.0, accepted: 0.5, idle: 0 }
    }

    /// Returns the fraction of the tested drafts that were kept. Older drafts count less.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.accepted / self.tested
    }

    /// Records a pass with `drafted` drafts, of which `accepted` were accepted. Multiplies the
    /// older counts by [`FADES`] before it adds the new ones. Drafts after a rejected one were
    /// never tested, so they don't count. After a pass without drafts, the counts stay the same.
    pub fn observe(&mut self, drafted: usize, accepted: usize) {
        // SOLUTION week3-day6 task 3
        if drafted == 0 {
            return;
        }
        let tested = drafted.min(accepted + 1);
        self.tested = self.tested * FADES + tested as f64;
        self.accepted = self.accepted * FADES + accepted as f64;
        // END SOLUTION
    }

    /// Returns how many tokens to draft for the next pass. That is the result of [`best_length`].
    /// While this result is 0, every [`PROBE`]th pass still drafts one token (none if `max` is 0).
    pub fn choose(&mut self) -> usize {
        // SOLUTION week3-day6 task 3
        let best = best_length(self.rate(), self.costs, self.max);
        if best > 0 {
            self.idle = 0;
            return best;
        }
        self.idle += 1;
        if self.idle == PROBE {
            self.idle = 0;
            return self.max.min(1);
        }
        0
        // END SOLUTION
    }
}
