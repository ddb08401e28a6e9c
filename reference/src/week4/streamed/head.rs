//! Day 7. Finds the best tokens of a vocabulary without holding all logits in memory at once.
//!
//! Tasks here: week4-day7 task 5 (`TopK::offer`, `best_tokens`). Everything else is provided.

use super::{
    arena::Arena, error::Error, int8::Activations, layer::OUTPUTS, shape::Component,
    storage::Storage, store::Store,
};

/// The tokens with the largest logits so far, at most `k` of them.
#[derive(Debug)]
pub struct TopK<'a> {
    /// `[k]`, the logits of the best tokens, largest first.
    logits: &'a mut [f32],
    /// `[k]`, the token of each logit in `logits`.
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

    /// Provided. Returns the best tokens with their logits, the token with the largest logit first.
    pub fn best(&self) -> impl Iterator<Item = (u32, f32)> + Clone + '_ {
        self.tokens[..self.len].iter().copied().zip(self.logits[..self.len].iter().copied())
    }

    /// Provided. Removes all tokens.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Offers a token and its logit to the list. Keeps the token if its logit is one of the `k`
    /// largest so far. Of equal logits, keeps those offered first. Never keeps NaN.
    pub fn offer(&mut self, token: u32, logit: f32) {
        // SOLUTION week4-day7 task 5
        if logit.is_nan() {
            return;
        }
        let at = self.logits[..self.len].iter().take_while(|kept| **kept >= logit).count();
        if at == self.logits.len() {
            return;
        }
        self.len = (self.len + 1).min(self.logits.len());
        self.logits[at..self.len].rotate_right(1);
        self.tokens[at..self.len].rotate_right(1);
        self.logits[at] = logit;
        self.tokens[at] = token;
        // END SOLUTION
    }
}

/// Offers every token and its logit to `top`, which the caller has cleared. Reads all rows of the
/// output head from front to back, and multiplies each by `x`. Holds at most [`OUTPUTS`] logits in
/// memory at once. Each logit needs 4 bytes of `scratch`. Never offers padding rows, which are not
/// tokens.
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
    // SOLUTION week4-day7 task 5
    let (vocabulary, tokens) = (store.shape().vocabulary, store.shape().tokens);
    let logits = scratch.take::<f32>("head: some logits", OUTPUTS)?;
    for first in (0..vocabulary).step_by(OUTPUTS) {
        let rows = first..vocabulary.min(first + OUTPUTS);
        let logits = &mut logits[..rows.len()];
        store.product(Component::Head, rows.clone(), x, chunk, logits)?;
        for (token, logit) in rows.zip(logits) {
            if token < tokens {
                top.offer(token as u32, *logit);
            }
        }
    }
    Ok(())
    // END SOLUTION
}
