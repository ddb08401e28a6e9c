//! Day 7. Keeps JSON answers within a token limit. The *closing text* is the shortest text that
//! completes the JSON so far. A token is forbidden if the closing text after it needs more
//! tokens than are then left.
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

/// The price of a token that can't come next. [`Prices::of`] lists the reasons.
pub const NEVER: u16 = u16::MAX;

/// Returns the first byte of the shortest text that completes the JSON so far. If several texts are
/// equally short, uses the first in byte order. Returns `None` if the JSON is already complete. To
/// get the whole text, call this function again in the state after each byte.
#[must_use]
pub fn closing_byte(state: &JsonState) -> Option<u8> {
    todo!("week3-day7 task 4: closing_byte")
}

/// Returns the minimum number of tokens whose texts, joined, equal `text`. Returns 0 for an empty
/// text, and `None` if no tokens spell the text. A text may be long, so don't try all ways to split
/// it. Handle each position in the text only once.
#[must_use]
pub fn fewest_tokens(trie: &TokenTrie, text: &[u8]) -> Option<usize> {
    todo!("week3-day7 task 4: fewest_tokens")
}

/// A store of token prices, by grammar state. [`Prices::of`] defines and computes prices.
#[derive(Debug)]
pub struct Prices<S> {
    known: HashMap<S, Arc<[u16]>>,
    most: usize,
}

impl<S> Prices<S> {
    /// Creates an empty store of prices, for at most `most` states.
    ///
    /// # Panics
    /// If `most` is 0.
    #[must_use]
    pub fn new(most: usize) -> Self {
        assert!(most > 0, "expected room for at least one state");
        Self { known: HashMap::new(), most }
    }

    /// Returns the number of states whose prices are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns whether no prices are stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

impl<S: Clone + Eq + std::hash::Hash + Send> Prices<S> {
    /// Returns the prices `[V]` of all tokens in `state`. A token's *closing text* is the shortest
    /// text that completes the JSON after that token ([`Grammar::closing_text`]). The token's price
    /// is the minimum number of tokens that spell its closing text. The price is [`NEVER`] in these
    /// cases:
    ///
    /// - The grammar does not allow the token next.
    /// - No tokens spell the closing text, or at least [`NEVER`] tokens are needed.
    ///
    /// Does not compute prices that are already stored. If the store is full, removes all stored
    /// prices before it adds the new ones.
    pub fn of<G: Grammar<State = S>>(
        &mut self,
        grammar: &G,
        trie: &TokenTrie,
        state: &S,
    ) -> Arc<[u16]> {
        todo!("week3-day7 task 4: Prices::of")
    }
}

/// Sets the logit of every forbidden token to −∞, and leaves the other logits unchanged. A token is
/// forbidden if the grammar does not allow it next, or if too few tokens would be left after it to
/// complete the text.
///
/// `left` is the number of tokens that may still come, including the next one. It is at least 1.
/// `complete` says whether the text so far is complete. A token in `stop` ends the text and is not
/// part of it. It is allowed only if `complete` is true. Its entry in `prices` is ignored.
///
/// # Panics
/// If `prices` and `logits` differ in length.
pub fn mask(logits: &mut [f32], prices: &[u16], left: usize, stop: &[u32], complete: bool) {
    todo!("week3-day7 task 4: mask")
}
