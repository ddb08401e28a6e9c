//! Day 1: texts that end an answer.

use super::rust::stop as rust;
use crate::prelude::*;

exports! { class StopTexts; }

/// Looks for several texts in bytes that come piece by piece.
#[pyclass]
pub(crate) struct StopTexts(Kept<rust::StopTexts>);

#[pymethods]
impl StopTexts {
    #[new]
    fn new(texts: Vec<Octets>) -> Self {
        let texts = texts.into_iter().map(|text| text.0).collect();
        Self(Kept::new(rust::StopTexts::new(texts)))
    }

    /// Takes the next bytes, and says whether one of the texts has now appeared.
    fn push(&self, piece: Octets) -> PyResult<bool> {
        self.0.call(move |stop| stop.push(&piece.0))
    }

    fn __repr__(&self) -> &'static str {
        "StopTexts(...)"
    }
}
