//! Generates text with drafts.

use std::{ops::ControlFlow, time::Instant};

use anyhow::{Result, ensure};

use crate::{
    week1::{
        generate::{FinishReason, Limits},
        sampling::{Rng, SamplerOptions},
    },
    week2::{cache::KvCache, generate::Session},
    week3::{
        draft_length::{DraftLength, best_length},
        drafter::Drafter,
        speculate::Speculation,
    },
};

impl<D: Drafter> Speculation<D> {
    /// Generates text like [`Session::generate`], but with drafts. It checks the same limits in the
    /// same order. The text has the same distribution as without drafts. At temperature 0, it is
    /// the same text.
    ///
    /// # Errors
    /// If the prompt is empty, too long, or has a token that isn't in the vocabulary. Also if a
    /// logit is NaN or infinite ([`NotFinite`](crate::week3::speculate::NotFinite)).
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
        // For its first drafts, a drafter also reads the whole text. That time is not recorded,
        // because later drafts are faster.
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
                "`step` appended {new} tokens, expected 1 to {room}: the drafts and the token \
                 after them"
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
                // Drafts that were accepted after the end of the text aren't part of it.
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
