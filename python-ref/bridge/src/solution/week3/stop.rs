//! Day 1: texts that end an answer.

use pyo3::prelude::*;

use super::rust::stop as rust;
use crate::background::Kept;

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<StopTexts>()
}

/// Looks for several texts in bytes that come piece by piece.
#[pyclass]
pub(crate) struct StopTexts(Kept<rust::StopTexts>);

#[pymethods]
impl StopTexts {
    #[new]
    fn new(texts: Vec<Vec<u8>>) -> Self {
        Self(Kept::new(rust::StopTexts::new(texts)))
    }

    /// Takes the next bytes, and says whether one of the texts has now appeared.
    fn push(&mut self, py: Python<'_>, piece: Vec<u8>) -> PyResult<bool> {
        self.0.call(py, move |stop| stop.push(&piece))
    }

    fn __repr__(&self) -> &'static str {
        "StopTexts(...)"
    }
}
