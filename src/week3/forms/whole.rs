//! Day 7. Always whole: what a text still needs to be JSON, and which tokens leave room for that.
//!
//! Tasks here: week3-day7 task 4 (`closing_byte`, `fewest_tokens`, `Prices::of`, `mask`).
//! Everything else is provided.

use std::{collections::HashMap, sync::Arc};

use super::{
    grammar::Grammar,
    json::{Container, JsonState, Place},
    scalar::Text,
    token_trie::TokenTrie,
};

/// The price of a token that may not follow.
pub const NEVER: u16 = u16::MAX;

/// Returns the first byte of the shortest text that completes the JSON so far, or `None` if it is
/// complete. If several texts are equally short, it's the one with the smallest bytes. So each byte
/// of that text is the closing byte of the state after the previous byte.
#[must_use]
pub fn closing_byte(state: &JsonState) -> Option<u8> {
    todo!("week3-day7 task 4: closing_byte")
}

/// Returns the minimum number of tokens that spell `text`: 0 for an empty text. `None` if there are
/// none. Texts may be long, so the ways to cut one cannot all be tried: each end of the text is
/// looked at once.
#[must_use]
pub fn fewest_tokens(trie: &TokenTrie, text: &[u8]) -> Option<usize> {
    todo!("week3-day7 task 4: fewest_tokens")
}

/// The price of each token, for each state that it could follow. Prices are kept for the next time.
#[derive(Debug)]
pub struct Prices<S> {
    known: HashMap<S, Arc<[u16]>>,
    most: usize,
}

impl<S> Prices<S> {
    /// Nothing is known yet; prices of at most this many states will be kept.
    ///
    /// # Panics
    /// If that is none.
    #[must_use]
    pub fn new(most: usize) -> Self {
        assert!(most > 0, "prices are kept of one state at least");
        Self { known: HashMap::new(), most }
    }

    /// How many states have known prices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

impl<S: Clone + Eq + std::hash::Hash + Send> Prices<S> {
    /// The prices `[V]` in this state: how many tokens the text still needs after each token (the
    /// fewest of the closing text there), and [`NEVER`] if the token may not follow, or if the
    /// closing text there cannot be made of tokens.
    ///
    /// Prices of a known state are not computed again. When the maximum number of states is known,
    /// all are forgotten before another one is added.
    pub fn of<G: Grammar<State = S>>(
        &mut self,
        grammar: &G,
        trie: &TokenTrie,
        state: &S,
    ) -> Arc<[u16]> {
        todo!("week3-day7 task 4: Prices::of")
    }
}

/// Rules out, with a logit of −∞, every token after which the text could no longer be completed.
///
/// `left` is how many tokens may still come, the next one included (1 or more). A token of `stop`
/// ends the text and is not part of it, whatever its entry in `prices`: it is allowed only if the
/// text is `complete`. The other logits don't change.
///
/// # Panics
/// If there aren't as many prices as logits `[V]`.
pub fn mask(logits: &mut [f32], prices: &[u16], left: usize, stop: &[u32], complete: bool) {
    todo!("week3-day7 task 4: mask")
}
