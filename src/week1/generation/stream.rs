//! Day 6. Text from tokens: a character may span several tokens, and an incomplete character must
//! wait.
//!
//! Tasks here: week1-day6 task 3 (`TextStream::push`, `TextStream::finish`). Everything else is
//! provided.

/// Turns the bytes of successive tokens into text.
///
/// Its methods return the text in pieces. Together, the pieces equal `String::from_utf8_lossy` of
/// all bytes.
#[derive(Debug, Default)]
pub struct TextStream {
    /// The first bytes of a character that is still incomplete.
    pending: Vec<u8>,
}

impl TextStream {
    /// Receives the bytes of the next token and returns all text that is now complete. If the last
    /// character is incomplete, holds it back until its other bytes arrive. Returns U+FFFD for
    /// bytes that cannot become a character.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        todo!("week1-day6 task 3: TextStream::push")
    }

    /// Ends the text after the last token. If bytes are still held back, returns U+FFFD for them,
    /// because their character is incomplete. Otherwise, returns an empty string.
    pub fn finish(&mut self) -> String {
        todo!("week1-day6 task 3: TextStream::finish")
    }
}
