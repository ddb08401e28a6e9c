//! Day 6.

use super::rust::stream as rust;
use crate::prelude::*;

exports! { class TextStream; }

/// Turns the bytes of one token after another into text.
#[pyclass]
pub(crate) struct TextStream(Kept<rust::TextStream>);

#[pymethods]
impl TextStream {
    #[new]
    fn new() -> Self {
        Self(Kept::new(rust::TextStream::default()))
    }

    /// Takes the bytes of the next token and returns all text that is now certain.
    fn push(&mut self, bytes: &[u8]) -> PyResult<String> {
        let bytes = bytes.to_vec();
        self.0.call(move |stream| stream.push(&bytes))
    }

    /// The end of the text: what is still held back will not be completed.
    fn finish(&mut self) -> PyResult<String> {
        self.0.call(rust::TextStream::finish)
    }

    fn __repr__(&self) -> &'static str {
        "TextStream()"
    }
}
