//! Day 6.

use super::rust::chat as rust;
use crate::{kit::to_messages, prelude::*};

exports! { fn chatml; }

/// Formats messages, which are pairs of role and content, as ChatML.
#[pyfunction]
#[pyo3(signature = (messages, add_generation_prompt=false))]
fn chatml(messages: Vec<(String, String)>, add_generation_prompt: bool) -> PyResult<String> {
    call(move || rust::chatml(&to_messages(messages), add_generation_prompt))
}
