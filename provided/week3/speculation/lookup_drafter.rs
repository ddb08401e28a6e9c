//! Drafts from the text itself.

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

/// Proposes what followed the end of the text where it occurred before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookupDrafter {
    /// The maximum length of the text's end that is searched for, in tokens.
    pub longest: usize,
    /// `V`
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
