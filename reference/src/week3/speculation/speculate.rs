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
        // SOLUTION week3-day6 task 5
        let most = self.length.choose().min(room - 1);
        let drafts = self.drafter.draft(text, most, sampling, rng)?;
        let mut seen = text.clone();
        seen.extend(drafts.iter().map(|draft| draft.token));
        let cached = session.tokens().len();
        let logits = session.feed_for(&seen[cached..], drafts.len() + 1, chunk)?;
        ensure!(logits.iter().all(|x| x.is_finite()), NotFinite);
        let vocabulary = logits.len() / (drafts.len() + 1);
        let target = |i: usize| {
            let logits = &logits[i * vocabulary..][..vocabulary];
            distribution(sampling, logits, &seen[..text.len() + i])
        };
        let verdict = verify(&drafts, target, rng);
        seen.truncate(text.len() + verdict.accepted);
        session.truncate(seen.len());
        text.clone_from(&seen);
        text.push(verdict.next);
        self.length.observe(drafts.len(), verdict.accepted);
        self.counts.passes += 1;
        self.counts.drafted += drafts.len() as u64;
        self.counts.accepted += verdict.accepted as u64;
        self.counts.refused += u64::from(verdict.accepted < drafts.len());
        Ok(())
        // END SOLUTION
    }
}
