//! Day 6.

use pyo3::prelude::*;

use super::rust::chat as rust;
use crate::{background::call, kit::to_messages};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(chatml, m)?)
}

/// The messages, pairs of role and content, in ChatML.
#[pyfunction]
#[pyo3(signature = (messages, add_generation_prompt=false))]
fn chatml(
    py: Python<'_>,
    messages: Vec<(String, String)>,
    add_generation_prompt: bool,
) -> PyResult<String> {
    call(py, move || rust::chatml(&to_messages(messages), add_generation_prompt))
}
