//! Day 6. Text from tokens: a character may span several tokens, and an incomplete character must
//! wait.
//!
//! Tasks here: week1-day6 task 3 (`TextStream::push`, `TextStream::finish`). Everything else is
//! provided.

/// Turns the bytes of successive tokens into text.
///
/// All texts that its methods return, concatenated, equal `String::from_utf8_lossy` of all bytes.
#[derive(Debug, Default)]
pub struct TextStream {
    /// The first bytes of a character whose other bytes haven't arrived yet.
    pending: Vec<u8>,
}

impl TextStream {
    /// Receives the bytes of the next token and returns all text that is now complete. Holds back
    /// an incomplete character at the end until its other bytes arrive. Returns U+FFFD in place of
    /// bytes that cannot become a character.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        todo!("week1-day6 task 3: TextStream::push")
    }

    /// Returns the rest of the text after the last token. Bytes that are still held back are
    /// replaced by U+FFFD, because their character is incomplete.
    pub fn finish(&mut self) -> String {
        todo!("week1-day6 task 3: TextStream::finish")
    }
}
