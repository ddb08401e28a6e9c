//! What is asked of a grammar: which bytes may follow, and the shortest way to an end.

use std::hash::Hash;

/// A set of texts, known by what may follow a part of one.
pub trait Grammar: Send + Sync + 'static {
    /// All that matters of the bytes so far.
    type State: Clone + Eq + Hash + Send;

    /// Before the first byte.
    fn start(&self) -> Self::State;

    /// After one more byte; `None` if no text of the set goes on like this.
    fn next(&self, state: &Self::State, byte: u8) -> Option<Self::State>;

    /// Whether the bytes so far are a text of the set.
    fn is_complete(&self, state: &Self::State) -> bool;

    /// Whether they are one, and what may still follow would add nothing to it but space.
    fn is_over(&self, state: &Self::State) -> bool;

    /// The first byte of a shortest text that makes a whole of the bytes so far; `None` if they are
    /// one. After that byte, what is asked for next is the rest of the same text.
    fn closing_byte(&self, state: &Self::State) -> Option<u8>;

    /// A shortest text that makes a whole of the bytes so far.
    fn closing_text(&self, state: &Self::State) -> Vec<u8> {
        let (mut text, mut state) = (Vec::new(), state.clone());
        while let Some(byte) = self.closing_byte(&state) {
            text.push(byte);
            state = self.next(&state, byte).expect("a closing byte may follow");
        }
        text
    }
}
