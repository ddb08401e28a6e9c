//! Day 7. Finds the best tokens of a vocabulary without holding all logits in memory at once.
//!
//! Tasks here: week4-day7 task 5 (`TopK::offer`, `best_tokens`). Everything else is provided.

use super::{
    arena::Arena, error::Error, int8::Activations, layer::OUTPUTS, shape::Component,
    storage::Storage, store::Store,
};

/// The best tokens so far, at most `k` of them.
#[derive(Debug)]
pub struct TopK<'a> {
    /// `[k]`, the logits, largest first.
    logits: &'a mut [f32],
    /// `[k]`, the tokens of these logits.
    tokens: &'a mut [u32],
    len: usize,
}

impl<'a> TopK<'a> {
    /// Provided. Creates a list for the `k` best tokens.
    ///
    /// # Errors
    /// If the budget is too small.
    pub fn new(arena: &mut Arena<'a>, k: usize) -> Result<Self, Error> {
        let logits = arena.take("head: the best logits", k)?;
        Ok(Self { logits, tokens: arena.take("head: the best tokens", k)?, len: 0 })
    }

    /// Provided. Returns the best tokens with their logits, largest first.
    pub fn best(&self) -> impl Iterator<Item = (u32, f32)> + Clone + '_ {
        self.tokens[..self.len].iter().copied().zip(self.logits[..self.len].iter().copied())
    }

    /// Provided. Removes all tokens.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Offers a token and its logit. The token is kept if its logit is one of the `k` largest so
    /// far. Of equal logits, those offered first are kept. NaN is never kept.
    pub fn offer(&mut self, token: u32, logit: f32) {
        todo!("week4-day7 task 5: TopK::offer")
    }
}

/// Offers every token's logit to `top`, which must be empty. All rows of the vocabulary are read
/// from front to back. At most [`OUTPUTS`] logits are in memory at once, and each takes 4 bytes of
/// `scratch`. Padding rows, which are not tokens, are never offered.
///
/// # Errors
/// If a read fails, or `scratch` is too small.
pub fn best_tokens<S: Storage>(
    store: &mut Store<S>,
    x: Activations<'_>,
    chunk: &mut [u8],
    mut scratch: Arena<'_>,
    top: &mut TopK<'_>,
) -> Result<(), Error> {
    todo!("week4-day7 task 5: best_tokens")
}
