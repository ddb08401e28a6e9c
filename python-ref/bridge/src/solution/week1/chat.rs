//! Day 6.

use pyo3::prelude::*;

use super::rust::chat as rust;
use crate::{kit::to_messages, panics::catch};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(chatml, m)?)
}

/// `messages` are pairs of role and content.
#[pyfunction]
#[pyo3(signature = (messages, add_generation_prompt=false))]
fn chatml(messages: Vec<(String, String)>, add_generation_prompt: bool) -> PyResult<String> {
    catch(|| rust::chatml(&to_messages(messages), add_generation_prompt))
}
