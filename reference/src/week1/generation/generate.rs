//! Day 6. Generation: score all possible next tokens, choose one, append it, repeat.
//!
//! Tasks here: week1-day6 task 1 (`argmax`, `next_token_logits`), week1-day6 task 2 (`generate`).
//! Everything else is provided.

use std::{collections::HashSet, ops::ControlFlow};

use anyhow::{Result, ensure};
use ndarray::{Array2, s};
pub use tiny_llm_formats::FinishReason;

use super::model::Model;

/// Returns the index of the largest logit in `logits [V]`. If several logits share the largest
/// value, returns the index of the first one.
///
/// # Panics
/// If `logits` is empty.
pub fn argmax(logits: &[f32]) -> u32 {
    // SOLUTION week1-day6 task 1
    assert!(!logits.is_empty(), "argmax needs at least one logit");
    let mut best = 0;
    for (i, &logit) in logits.iter().enumerate() {
        if logit > logits[best] {
            best = i;
        }
    }
    best as u32
    // END SOLUTION
}

/// Returns the logits `[V]` of the token that follows `tokens [L]`. Caches nothing: every call
/// computes all `L` positions again.
///
/// # Panics
/// If `tokens` is empty, or [`Model::forward`] panics.
pub fn next_token_logits(model: &Model, tokens: &[u32]) -> Vec<f32> {
    // SOLUTION week1-day6 task 1
    let batch = Array2::from_shape_vec((1, tokens.len()), tokens.to_vec()).expect("one row");
    let logits = model.forward(&batch);
    logits.slice(s![0, tokens.len() - 1, ..]).to_vec()
    // END SOLUTION
}

/// The limits that end a generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of new tokens.
    pub max_new_tokens: usize,
    /// Maximum number of tokens, including the prompt.
    pub context: usize,
    /// Tokens that end the text but are not part of it. A checkpoint may list several.
    pub stop_tokens: HashSet<u32>,
}

/// Extends `prompt` token by token.
///
/// - `next_logits(tokens)` returns the logits `[V]` of the next token. It runs once per step.
///   `tokens` holds the prompt and all new tokens so far.
/// - `choose(logits, tokens)` picks the next token. It runs once per step, with these logits and
///   the same `tokens`.
/// - `on_token` receives every new token as soon as it is chosen, but never a stop token. If
///   `on_token` returns `Break`, the generation ends with [`FinishReason::Interrupted`].
///
/// Before each step, checks `max_new_tokens` and then `context`. So no forward pass runs once a
/// limit is reached.
///
/// # Errors
/// - If `prompt` is empty.
/// - If `prompt` is longer than `limits.context`. The message names both lengths.
pub fn generate(
    mut next_logits: impl FnMut(&[u32]) -> Vec<f32>,
    prompt: &[u32],
    limits: &Limits,
    mut choose: impl FnMut(&[f32], &[u32]) -> u32,
    mut on_token: impl FnMut(u32) -> ControlFlow<()>,
) -> Result<FinishReason> {
    // SOLUTION week1-day6 task 2
    ensure!(!prompt.is_empty(), "the prompt is empty: there is no token to start from");
    ensure!(
        prompt.len() <= limits.context,
        "the prompt has {} tokens, but the context holds {}",
        prompt.len(),
        limits.context
    );
    let mut tokens = prompt.to_vec();
    loop {
        if tokens.len() - prompt.len() == limits.max_new_tokens {
            return Ok(FinishReason::Length);
        }
        if tokens.len() == limits.context {
            return Ok(FinishReason::ContextFull);
        }
        let token = choose(&next_logits(&tokens), &tokens);
        if limits.stop_tokens.contains(&token) {
            return Ok(FinishReason::Stop);
        }
        tokens.push(token);
        if on_token(token).is_break() {
            return Ok(FinishReason::Interrupted);
        }
    }
    // END SOLUTION
}
