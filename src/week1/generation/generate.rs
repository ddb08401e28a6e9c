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
    todo!("week1-day6 task 1: argmax")
}

/// Returns the logits `[V]` of the token that follows `tokens [L]`. Caches nothing: every call
/// computes all `L` positions again.
///
/// # Panics
/// If `tokens` is empty, or [`Model::forward`] panics.
pub fn next_token_logits(model: &Model, tokens: &[u32]) -> Vec<f32> {
    todo!("week1-day6 task 1: next_token_logits")
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
    todo!("week1-day6 task 2: generate")
}
