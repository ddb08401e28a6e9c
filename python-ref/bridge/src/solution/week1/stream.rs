//! Day 6.

use super::rust::stream as rust;
use crate::prelude::*;

exports! { class TextStream; }

/// Turns the bytes of successive tokens into text.
#[pyclass]
pub(crate) struct TextStream(Kept<rust::TextStream>);

#[pymethods]
impl TextStream {
    #[new]
    fn new() -> Self {
        Self(Kept::new(rust::TextStream::default()))
    }

    /// Appends the bytes of the next token, and returns all text that is now complete.
    fn push(&mut self, bytes: &[u8]) -> PyResult<String> {
        let bytes = bytes.to_vec();
        self.0.call(move |stream| stream.push(&bytes))
    }

    /// Ends the text and returns the rest of it. An incomplete character becomes U+FFFD.
    fn finish(&mut self) -> PyResult<String> {
        self.0.call(rust::TextStream::finish)
    }

    fn __repr__(&self) -> &'static str {
        "TextStream()"
    }
}
