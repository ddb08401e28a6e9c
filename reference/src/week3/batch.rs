//! Day 1. The rows of a step: what the model computes of each request.

use super::request::Sequence;
use crate::week2::rows::Row;

/// Appends the rows of a request: `rows` of its tokens that have not been computed, from the first of
/// them on, each at its own position. Only the last row of all its tokens wants logits: what follows a
/// token in the middle of the prompt is known.
///
/// # Panics
/// If the request has no place in the cache, or fewer tokens are left.
pub fn append_rows(sequence: &Sequence, rows: usize, out: &mut Vec<Row>) {
    // SOLUTION week3-day1 task 4
    let slot = sequence.slot.expect("only a request with a place in the cache is computed");
    let start = sequence.num_computed;
    let last = sequence.tokens.len() - 1;
    let tokens = &sequence.tokens[start..start + rows];
    out.extend(tokens.iter().zip(start..).map(|(&token, position)| Row {
        token,
        position,
        sequence: slot,
        logits: position == last,
    }));
    // END SOLUTION
}
