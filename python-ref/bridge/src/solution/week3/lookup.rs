//! Day 6: drafts from the text so far.

use pyo3::prelude::*;

use super::rust::lookup as rust;
use crate::{
    background::call,
    convert::{Count, Ids},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(draft_from_text, m)?)
}

/// What followed the end of `tokens [L]` where it occurred before: at most `k` tokens.
#[pyfunction]
fn draft_from_text(py: Python<'_>, tokens: Ids<1>, longest: Count, k: Count) -> PyResult<Vec<u32>> {
    let tokens = tokens.to_vec();
    call(py, move || rust::draft_from_text(&tokens, longest.0, k.0).to_vec())
}
