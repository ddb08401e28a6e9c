//! Day 7: which bytes may follow in JSON.

use super::rust::{json::JsonState, scalar};
use crate::prelude::*;

exports! { fn string, number, follow; }

/// The states behind each byte, as long as there is one.
pub(super) fn walk<S: Copy>(
    start: S,
    text: &[u8],
    next: impl Fn(S, u8) -> Option<S>,
) -> (S, usize) {
    let (mut state, mut alive) = (start, 0);
    for &byte in text {
        let Some(after) = next(state, byte) else { break };
        (state, alive) = (after, alive + 1);
    }
    (state, alive)
}

/// How many of the bytes behind a quotation mark may follow, and whether they end the string.
#[pyfunction]
fn string(text: Octets) -> PyResult<(usize, bool)> {
    let Octets(text) = text;
    call(move || {
        let (state, alive) = walk(scalar::Text::Plain, &text, scalar::Text::next);
        (alive, state == scalar::Text::Closed)
    })
}

/// How many bytes may follow as parts of one number, and whether all of them are one.
#[pyfunction]
fn number(text: Octets) -> PyResult<(usize, bool)> {
    let Octets(text) = text;
    call(move || {
        let (state, alive) = walk(scalar::Number::Start, &text, scalar::Number::next);
        (alive, alive == text.len() && state.is_complete())
    })
}

/// How many bytes of a text of JSON may follow, and whether all of them are one.
#[pyfunction]
fn follow(text: Octets) -> PyResult<(usize, bool)> {
    let Octets(text) = text;
    call(move || {
        let (state, alive) = walk(JsonState::value(), &text, JsonState::next);
        (alive, alive == text.len() && state.is_complete())
    })
}
