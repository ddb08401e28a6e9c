//! Day 6. Text from tokens: a character may span several tokens, and an incomplete character must
//! wait.
//!
//! Tasks here: week1-day6 task 3 (`TextStream::push`, `TextStream::finish`). Everything else is
//! provided.

/// Turns the bytes of successive tokens into text.
///
/// All returned text, concatenated, equals `String::from_utf8_lossy` of all bytes.
#[derive(Debug, Default)]
pub struct TextStream {
    /// The beginning of a character whose end hasn't arrived yet.
    pending: Vec<u8>,
}

impl TextStream {
    /// Takes the bytes of the next token and returns all text that is now complete. Holds back
    /// bytes that may still become a character. Puts U+FFFD in place of bytes that can no longer
    /// become a character.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        todo!("week1-day6 task 3: TextStream::push")
    }

    /// Ends the text and returns the rest of it. Bytes that are still held back are replaced by
    /// U+FFFD, because their character is incomplete.
    pub fn finish(&mut self) -> String {
        todo!("week1-day6 task 3: TextStream::finish")
    }
}
