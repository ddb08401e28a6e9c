//! Day 6. Drafters, which propose tokens from the text so far or from a smaller model.
//!
//! Tasks here: week3-day6 task 4 (`DraftModel::draft`). Everything else is provided.

use anyhow::{Result, ensure};

use super::accept::{Draft, distribution, draw_weighted};
use crate::{
    week1::sampling::{Rng, SamplerOptions},
    week2::{
        cache::{DenseCache, KvCache},
        generate::Session,
    },
};

/// Proposes tokens that may follow a text.
pub trait Drafter {
    /// Returns at most `k` tokens that may follow the text, each with the distribution that it was
    /// drawn from. Returns fewer, or none, if the drafter has no more to propose.
    ///
    /// # Errors
    /// If the drafter's model cannot run on the text.
    fn draft(
        &mut self,
        text: &[u32],
        k: usize,
        sampling: &SamplerOptions,
        rng: &mut Rng,
    ) -> Result<Vec<Draft>>;
}

/// Proposes the tokens that a smaller model would write.
pub struct DraftModel<C = DenseCache> {
    session: Session<C>,
}

/// Maximum number of prompt rows that the draft model computes in one pass.
const CHUNK: usize = 128;

impl<C: KvCache> DraftModel<C> {
    /// Creates a drafter that uses the session's model. `vocabulary` is the number of tokens in the
    /// target model's vocabulary.
    ///
    /// # Errors
    /// If the draft model's vocabulary has a different size, because its ids would then mean other
    /// tokens.
    pub fn new(session: Session<C>, vocabulary: usize) -> Result<Self> {
        let found = session.model.config.vocab_size;
        ensure!(
            found == vocabulary,
            "found a draft model with a vocabulary of {found} tokens, expected {vocabulary}, as \
             in the target model"
        );
        Ok(Self { session })
    }

    /// Returns the draft model's session, with its cache.
    #[must_use]
    pub fn session(&self) -> &Session<C> {
        &self.session
    }
}

impl<C: KvCache> Drafter for DraftModel<C> {
    /// Truncates the draft model's cache to the prefix that it shares with `text`, so that this
    /// prefix is not computed again. Then draws the drafts one by one, each from the draft model's
    /// distribution after `text` and the earlier drafts. `sampling` holds the sampling options.
    /// Stops at the end of the draft model's context.
    fn draft(
        &mut self,
        text: &[u32],
        k: usize,
        sampling: &SamplerOptions,
        rng: &mut Rng,
    ) -> Result<Vec<Draft>> {
        todo!("week3-day6 task 4: DraftModel::draft")
    }
}
