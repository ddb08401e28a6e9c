//! Day 1: stop texts.

use super::rust::stop as rust;
use crate::prelude::*;

exports! { class StopTexts; }

/// Searches for several texts in bytes that arrive in parts.
#[pyclass]
pub(crate) struct StopTexts(Kept<rust::StopTexts>);

#[pymethods]
impl StopTexts {
    #[new]
    fn new(texts: Vec<Octets>) -> Self {
        let texts = texts.into_iter().map(|text| text.0).collect();
        Self(Kept::new(rust::StopTexts::new(texts)))
    }

    /// Searches the next bytes, and returns whether one of the texts is now complete.
    fn push(&self, piece: Octets) -> PyResult<bool> {
        self.0.call(move |stop| stop.push(&piece.0))
    }

    fn __repr__(&self) -> &'static str {
        "StopTexts(...)"
    }
}
