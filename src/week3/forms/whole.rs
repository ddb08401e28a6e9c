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

/// The first byte of a shortest text that makes JSON of the bytes so far; `None` if they are JSON
/// as they stand. Of several that are as short, the one with the smallest bytes; so each byte of
/// that text is the closing byte of the state after the one before.
#[must_use]
pub fn closing_byte(state: &JsonState) -> Option<u8> {
    todo!("week3-day7 task 4: closing_byte")
}

/// The fewest tokens whose texts, one after the other, are `text`; 0 for no text. `None` if there
/// are none. Texts may be long, so the ways to cut one cannot all be tried: each end of the text is
/// looked at once.
#[must_use]
pub fn fewest_tokens(trie: &TokenTrie, text: &[u8]) -> Option<usize> {
    todo!("week3-day7 task 4: fewest_tokens")
}

/// What each token costs, by the state that it would follow, kept for the next time.
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

    /// Of how many states prices are known.
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
    /// Of a state that is known they are not computed again. Once as many are known as there may
    /// be, all are forgotten before another one is added.
    pub fn of<G: Grammar<State = S>>(
        &mut self,
        grammar: &G,
        trie: &TokenTrie,
        state: &S,
    ) -> Arc<[u16]> {
        todo!("week3-day7 task 4: Prices::of")
    }
}

/// Rules out, by a logit of −∞, every token after which the text could not become whole any more.
///
/// `left` is how many tokens may still come, the next one included (1 or more). A token of `stop`
/// ends the text and is no part of it, whatever `prices` says of it: it may come only if the text
/// is `complete` as it stands. The other logits stay as they are.
///
/// # Panics
/// If there are not as many prices as logits `[V]`.
pub fn mask(logits: &mut [f32], prices: &[u16], left: usize, stop: &[u32], complete: bool) {
    todo!("week3-day7 task 4: mask")
}
