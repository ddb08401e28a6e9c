//! Day 2. Measures how long requests wait. The units are steps and rows, which don't depend on the
//! machine or its load.
//!
//! Tasks here: week3-day2 task 3 (`Record::token`, `Record::time_to_first_token`, `quantile`).
//! Everything else is provided.

/// The steps and rows that were computed up to a moment, or between two moments. Rows are the finer
/// measure: a step of 500 rows takes longer than a step of 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    /// Number of forward passes.
    pub steps: u64,
    /// Number of rows in all passes.
    pub rows: u64,
}

impl Moment {
    /// Returns the steps and rows between an earlier moment and this one.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self { steps: self.steps - earlier.steps, rows: self.rows - earlier.rows }
    }
}

/// When each event of a request happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Record {
    /// When the request arrived.
    pub submitted: Moment,
    /// When the request was admitted, that is, got its first slot.
    pub admitted: Option<Moment>,
    /// When the request's first token was chosen.
    pub first_token: Option<Moment>,
    /// When the request's latest token was chosen.
    pub last_token: Option<Moment>,
    /// When the request ended.
    pub finished: Option<Moment>,
    /// The maximum number of steps and the maximum number of rows between two consecutive tokens.
    pub longest_gap: Moment,
}

impl Record {
    /// Creates the record of a request that arrives at the moment `now`.
    #[must_use]
    pub fn new(now: Moment) -> Self {
        Self { submitted: now, ..Self::default() }
    }

    /// Records that a token was chosen. `now` includes the step in which it was chosen.
    pub fn token(&mut self, now: Moment) {
        // SOLUTION week3-day2 task 3
        if let Some(last) = self.last_token {
            let gap = now.since(last);
            self.longest_gap.steps = self.longest_gap.steps.max(gap.steps);
            self.longest_gap.rows = self.longest_gap.rows.max(gap.rows);
        }
        self.first_token.get_or_insert(now);
        self.last_token = Some(now);
        // END SOLUTION
    }

    /// Returns the steps and rows between the request's arrival and its first token, or `None` if
    /// it has no token.
    #[must_use]
    pub fn time_to_first_token(&self) -> Option<Moment> {
        // SOLUTION week3-day2 task 3
        Some(self.first_token?.since(self.submitted))
        // END SOLUTION
    }
}

/// Returns the `q`-quantile by nearest rank: the smallest value `v` such that at least a fraction
/// `q` of all values is ≤ `v`. `q` is in 0..=1: 0 gives the smallest value, 0.5 the median, 0.99
/// the p99. Returns `None` if there are no values. Sorts `values`.
#[must_use]
pub fn quantile(values: &mut [u64], q: f64) -> Option<u64> {
    // SOLUTION week3-day2 task 3
    values.sort_unstable();
    let rank = (q * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied()
    // END SOLUTION
}
