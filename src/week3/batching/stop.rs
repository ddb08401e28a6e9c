//! Day 1. Texts that end an answer, found as the answer's bytes come.
//!
//! Tasks here: week3-day1 task 2 (`StopTexts::push`). Everything else is provided.

/// Looks for several texts in bytes that come piece by piece. A text may begin in one token and end
/// in another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StopTexts {
    texts: Vec<Vec<u8>>,
    /// The last bytes that came: as many as the longest text can still need.
    tail: Vec<u8>,
}

impl StopTexts {
    /// Looks for these. An empty text would end every answer before it begins, and is left out.
    #[must_use]
    pub fn new(mut texts: Vec<Vec<u8>>) -> Self {
        texts.retain(|text| !text.is_empty());
        Self { texts, tail: Vec::new() }
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Takes the next bytes, and says whether one of the texts has now appeared, wherever it began.
    /// Once one has, the answer is over, and nobody asks again.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        todo!("week3-day1 task 2: StopTexts::push")
    }
}
