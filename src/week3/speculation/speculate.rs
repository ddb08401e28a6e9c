//! Day 6. Speculative decoding: several tokens for one pass over the weights.
//!
//! Tasks here: week3-day6 task 5 (`Speculation::step`). Everything else is provided.

use std::{fmt, ops::ControlFlow, time::Instant};

use anyhow::{Result, ensure};

use super::{
    accept::{distribution, verify},
    draft_backoff::DraftBackoff,
    draft_length::{DraftLength, best_length},
    drafter::Drafter,
};
use crate::{
    week1::{
        generate::{FinishReason, Limits},
        sampling::{Rng, SamplerOptions},
    },
    week2::{cache::KvCache, generate::Session},
};

/// What speculation has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Forward passes that ended with a new token.
    pub passes: u64,
    /// Tokens that were proposed in them.
    pub drafted: u64,
    /// How many of those became part of the text.
    pub accepted: u64,
    /// Passes in which one was refused.
    pub refused: u64,
}

/// A proposer, and how many tokens it proposes. The number adapts to how many are accepted.
pub struct Speculation<D> {
    /// Who proposes.
    pub drafter: D,
    /// How many tokens it proposes.
    pub length: DraftLength,
    /// Measures what drafts cost, for `length`, if it is there. How many are drafted then depends
    /// on time. At temperature 0 the text does not; with sampling, a seed would no longer give the
    /// same text each time.
    pub backoff: Option<DraftBackoff>,
    counts: Counts,
}

/// Logits that are no numbers: there is no distribution to draw from.
#[derive(Debug)]
pub struct NotFinite;

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the logits are no numbers")
    }
}

impl std::error::Error for NotFinite {}

impl<D: Drafter> Speculation<D> {
    /// Nothing has been proposed yet.
    pub fn new(drafter: D, length: DraftLength) -> Self {
        Self { drafter, length, backoff: None, counts: Counts::default() }
    }

    /// What has been done so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// One pass of the session's model: appends one token to the text at least, and at most `room`
    /// (1 or more). What the session has not computed of the text, and the drafts after it, are
    /// rows of that pass. Afterwards the session holds the text without its last token, and nothing
    /// else.
    ///
    /// `chunk` is the most rows of a prompt in one pass.
    ///
    /// # Errors
    /// If the text is empty or longer than the session's context, or a logit is not a number, in the
    /// row of a draft as well.
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

    /// Provided. [`Session::generate`] with drafts: the same limits, looked at in the same order,
    /// and a text with the same distribution; at temperature 0, the same text.
    ///
    /// # Errors
    /// If the prompt is empty, too long, or holds a token that is not in the vocabulary; if a logit
    /// is no number ([`NotFinite`]).
    pub fn generate<C: KvCache>(
        &mut self,
        session: &mut Session<C>,
        (prompt, chunk): (&[u32], usize),
        limits: &Limits,
        (sampling, rng): (&SamplerOptions, &mut Rng),
        mut on_token: impl FnMut(u32) -> ControlFlow<()>,
    ) -> Result<FinishReason> {
        let context = limits.context;
        ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
        ensure!(
            prompt.len() <= context,
            "the prompt has {} tokens, but the context holds {context}",
            prompt.len()
        );
        let mut text = prompt.to_vec();
        session.keep_prefix(prompt);
        // Whoever drafts has to read the text first, which says little of what a draft costs.
        let mut has_read = false;
        loop {
            let known = text.len();
            let left = limits.max_new_tokens - (known - prompt.len());
            if left == 0 {
                return Ok(FinishReason::Length);
            }
            if known == context {
                return Ok(FinishReason::ContextFull);
            }
            let room = left.min(context - known);
            let measured = self.backoff.filter(|_| session.tokens().len() + 1 == known);
            let none = measured.is_some_and(|backoff| backoff.is_paused());
            let room = if none { 1 } else { room };
            let (drafted, start) = (self.counts.drafted, Instant::now());
            self.step(session, &mut text, (room, chunk), sampling, rng)?;
            let new = text.len() - known;
            assert!(
                (1..=room).contains(&new),
                "`step` appended {new} tokens, where there was room for {room}: drafts and the token \
                 behind them are at most `room` together"
            );
            if let Some(mut backoff) = measured {
                let drafts = self.counts.drafted - drafted;
                if drafts == 0 || has_read {
                    backoff.observe(drafts as usize, start.elapsed().as_secs_f64());
                }
                has_read |= drafts > 0;
                self.length.costs = backoff.costs().unwrap_or(self.length.costs);
                let DraftLength { max, costs, .. } = self.length;
                backoff.record(drafts > 0, best_length(self.length.rate(), costs, max) > 0);
                self.backoff = Some(backoff);
            }
            for (i, &token) in text.iter().enumerate().skip(known) {
                // What was accepted behind the end is no part of the text.
                if limits.stop_tokens.contains(&token) {
                    session.truncate(i);
                    return Ok(FinishReason::Stop);
                }
                if on_token(token).is_break() {
                    session.truncate(i + 1);
                    return Ok(FinishReason::Interrupted);
                }
            }
        }
    }
}
