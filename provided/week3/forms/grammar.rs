//! The interface of a grammar: which bytes may follow, and the shortest way to complete a text.

use std::hash::Hash;

/// A set of texts, described by which bytes may follow each prefix.
pub trait Grammar: Send + Sync + 'static {
    /// Everything about the bytes so far that decides which bytes may follow.
    type State: Clone + Eq + Hash + Send;

    /// Returns the state before the first byte.
    fn start(&self) -> Self::State;

    /// Returns the state after `byte`, or `None` if `byte` may not come next.
    fn next(&self, state: &Self::State, byte: u8) -> Option<Self::State>;

    /// Returns whether the bytes so far are a text of the set.
    fn is_complete(&self, state: &Self::State) -> bool;

    /// Returns whether the bytes so far are a text of the set, and only white space could follow.
    fn is_over(&self, state: &Self::State) -> bool;

    /// Returns the first byte of a shortest text that completes the bytes so far. Returns `None` if
    /// they are complete. A second call, in the state after that byte, returns the next byte of the
    /// same text.
    fn closing_byte(&self, state: &Self::State) -> Option<u8>;

    /// Returns a shortest text that completes the bytes so far.
    fn closing_text(&self, state: &Self::State) -> Vec<u8> {
        let (mut text, mut state) = (Vec::new(), state.clone());
        while let Some(byte) = self.closing_byte(&state) {
            text.push(byte);
            state = self.next(&state, byte).expect("a closing byte may follow");
        }
        text
    }
}
