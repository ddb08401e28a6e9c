//! Day 1. Finds stop texts in an answer, whose bytes arrive one token at a time. A stop text ends
//! the answer.
//!
//! Tasks here: week3-day1 task 2 (`StopTexts::push`). Everything else is provided.

/// Searches an answer for several stop texts. The answer's bytes arrive token by token. A stop text
/// may begin in one token and end in another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StopTexts {
    texts: Vec<Vec<u8>>,
    /// The most recent bytes, which may contain the start of a stop text.
    tail: Vec<u8>,
}

impl StopTexts {
    /// Creates a search for the stop texts `texts`. Ignores empty texts, because an empty stop text
    /// would end every answer before its first byte.
    #[must_use]
    pub fn new(mut texts: Vec<Vec<u8>>) -> Self {
        texts.retain(|text| !text.is_empty());
        Self { texts, tail: Vec::new() }
    }

    /// Returns whether there are no texts to search for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Searches `bytes`, the next bytes of the answer. Returns whether they complete a stop text,
    /// which may have begun in an earlier call. Once `push` has returned true, the answer is over,
    /// and `push` is not called again.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        todo!("week3-day1 task 2: StopTexts::push")
    }
}
