//! Drafts tokens that are copied from earlier in the text.

use anyhow::Result;

use crate::{
    week1::sampling::{Rng, SamplerOptions},
    week3::{accept::Draft, drafter::Drafter, lookup::draft_from_text},
};

impl<D: Drafter + ?Sized> Drafter for Box<D> {
    fn draft(
        &mut self,
        text: &[u32],
        k: usize,
        sampling: &SamplerOptions,
        rng: &mut Rng,
    ) -> Result<Vec<Draft>> {
        (**self).draft(text, k, sampling, rng)
    }
}

/// Finds an earlier occurrence of the text's suffix, and proposes the tokens that followed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookupDrafter {
    /// The maximum length of the suffix, in tokens.
    pub longest: usize,
    /// `V`, the size of the vocabulary.
    pub vocabulary: usize,
}

impl Drafter for LookupDrafter {
    fn draft(
        &mut self,
        text: &[u32],
        k: usize,
        _sampling: &SamplerOptions,
        _rng: &mut Rng,
    ) -> Result<Vec<Draft>> {
        let tokens = draft_from_text(text, self.longest, k);
        Ok(tokens.iter().map(|&token| Draft::certain(token, self.vocabulary)).collect())
    }
}
