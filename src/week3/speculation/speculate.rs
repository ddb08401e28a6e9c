//! Day 6. Speculative decoding: one pass over the weights can produce several tokens.
//!
//! Tasks here: week3-day6 task 5 (`Speculation::step`). Everything else is provided.

use std::fmt;

use anyhow::{Result, ensure};

use super::{
    accept::{distribution, verify},
    draft_backoff::DraftBackoff,
    draft_length::DraftLength,
    drafter::Drafter,
};
use crate::{
    week1::sampling::{Rng, SamplerOptions},
    week2::{cache::KvCache, generate::Session},
};

/// Counters of speculation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Number of forward passes that ended with a new token.
    pub passes: u64,
    /// Number of tokens that were proposed as drafts in the counted passes.
    pub drafted: u64,
    /// Number of proposed tokens that became part of the text.
    pub accepted: u64,
    /// Number of passes in which a draft was rejected.
    pub refused: u64,
}

/// Speculative decoding with one proposer. The number of proposed tokens adapts to the number
/// accepted.
pub struct Speculation<D> {
    /// The proposer of drafts.
    pub drafter: D,
    /// Decides how many tokens the proposer proposes.
    pub length: DraftLength,
    /// If present, measures the cost of drafts and passes it to `length`. The number of drafts then
    /// depends on timing. With sampling, the same seed may therefore give a different text each
    /// time. At temperature 0, the text is the same for any number of drafts. Only
    /// `Speculation::generate` uses this field.
    pub backoff: Option<DraftBackoff>,
    pub(crate) counts: Counts,
}

/// Error: a logit isn't finite, so there is no distribution to draw from.
#[derive(Debug)]
pub struct NotFinite;

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a logit is NaN or infinite")
    }
}

impl std::error::Error for NotFinite {}

impl<D: Drafter> Speculation<D> {
    /// Creates a `Speculation` that has proposed nothing yet.
    pub fn new(drafter: D, length: DraftLength) -> Self {
        Self { drafter, length, backoff: None, counts: Counts::default() }
    }

    /// Returns the counters.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Runs one pass of the session's model, and appends at least one and at most `room` tokens to
    /// `text`. `room` is at least 1. The pass has a row for each token of the text that the session
    /// has not computed, and a row for each draft. Afterwards, the session holds exactly the text
    /// without its last token.
    ///
    /// `chunk` is the maximum number of prompt rows in one pass. A longer prompt takes several
    /// passes.
    ///
    /// # Errors
    /// If the text is empty or longer than the session's context, or the drafter fails. Also if a
    /// logit in the row of the text's last token or of any draft is NaN or infinite.
    pub fn step<C: KvCache>(
        &mut self,
        session: &mut Session<C>,
        text: &mut Vec<u32>,
        (room, chunk): (usize, usize),
        sampling: &SamplerOptions,
        rng: &mut Rng,
    ) -> Result<()> {
        todo!("week3-day6 task 5: Speculation::step")
    }
}
