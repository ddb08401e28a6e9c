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
        // SOLUTION week1-day6 task 3
        self.pending.extend_from_slice(bytes);
        // Shorten a slice, because removing bytes from the front of a `Vec` after each invalid
        // sequence would take quadratic time.
        let all = std::mem::take(&mut self.pending);
        let (mut text, mut left) = (String::new(), &all[..]);
        loop {
            match str::from_utf8(left) {
                Ok(valid) => {
                    text.push_str(valid);
                    return text;
                }
                Err(error) => {
                    let (valid, rest) = left.split_at(error.valid_up_to());
                    text.push_str(str::from_utf8(valid).expect("valid up to here"));
                    // `None` means that the bytes end within a character, so wait.
                    let Some(invalid) = error.error_len() else {
                        self.pending = rest.to_vec();
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    left = &rest[invalid..];
                }
            }
        }
        // END SOLUTION
    }

    /// Ends the text after the last token. If bytes are still held back, returns U+FFFD for them,
    /// because their character is incomplete. Otherwise, returns an empty string.
    pub fn finish(&mut self) -> String {
        // SOLUTION week1-day6 task 3
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
        // END SOLUTION
    }
}
