//! Day 7: the bytes that may follow in JSON.

use super::rust::{json::JsonState, scalar};
use crate::prelude::*;

exports! { fn string, number, follow; }

/// Starts at `start`. Returns the state after the longest allowed prefix of `text`, and its length.
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

/// Returns how many bytes of `text` can follow an opening quote, and whether they end the string.
#[pyfunction]
fn string(text: Octets) -> PyResult<(usize, bool)> {
    let Octets(text) = text;
    call(move || {
        let (state, alive) = walk(scalar::Text::Plain, &text, scalar::Text::next);
        (alive, state == scalar::Text::Closed)
    })
}

/// Returns how many bytes of `text` can begin a number, and whether all of `text` is a number.
#[pyfunction]
fn number(text: Octets) -> PyResult<(usize, bool)> {
    let Octets(text) = text;
    call(move || {
        let (state, alive) = walk(scalar::Number::Start, &text, scalar::Number::next);
        (alive, alive == text.len() && state.is_complete())
    })
}

/// Returns how many bytes of `text` can begin a JSON text, and whether all of `text` is one.
#[pyfunction]
fn follow(text: Octets) -> PyResult<(usize, bool)> {
    let Octets(text) = text;
    call(move || {
        let (state, alive) = walk(JsonState::value(), &text, JsonState::next);
        (alive, alive == text.len() && state.is_complete())
    })
}
