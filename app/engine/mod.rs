//! Adapts the engine of each week to the command line.

mod choose;
mod drafts;
mod finite;
mod forms;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;
mod graph;
pub(crate) mod mixture;
pub(crate) mod model;
mod plan;
mod prompt_file;
pub(crate) mod simulated;
pub(crate) mod streamed;
pub(crate) mod week1;
pub(crate) mod week2;
pub(crate) mod week3;
pub(crate) mod week4;
mod written;

use std::collections::HashSet;

use tiny_llm::week1::generate::Limits;
use tiny_llm_formats::request::Request;

/// Returns the limits and stop tokens that end the answer to `request`. The model's context has
/// room for `context` tokens.
fn limits(request: &Request, context: usize) -> Limits {
    Limits {
        max_new_tokens: request.max_new_tokens,
        context,
        stop_tokens: HashSet::from_iter(request.stop_tokens.iter().copied()),
    }
}
