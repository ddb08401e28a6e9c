//! Day 7: from bytes to tokens, and answers that are always whole.

use std::sync::Arc;

use pyo3::prelude::*;

use super::{
    super::rust::week1::sampling::{Rng, SamplerOptions},
    json::walk,
    rust::{
        constraint::{Constraint, Rules, Vocabulary},
        grammar::Grammar,
        json::JsonState,
        json_grammar::Json,
        sampler::Sampler,
        token_trie::TokenTrie,
        whole as rust,
    },
};
use crate::{background::call, convert::Count, shapes::wrong};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(tokens, m)?)?;
    m.add_function(wrap_pyfunction!(closing_text, m)?)?;
    m.add_function(wrap_pyfunction!(fewest_tokens, m)?)?;
    m.add_function(wrap_pyfunction!(prices, m)?)?;
    m.add_function(wrap_pyfunction!(random_answer, m)?)
}

/// The state behind a text that is the beginning of JSON.
fn behind(py: Python<'_>, text: Vec<u8>) -> PyResult<JsonState> {
    let shown = text.escape_ascii().to_string();
    let n = text.len();
    let (state, alive) = call(py, move || walk(JsonState::value(), &text, JsonState::next))?;
    if alive == n { Ok(state) } else { Err(wrong("text", &shown, "the beginning of JSON")) }
}

/// The tokens of `vocabulary` that may follow behind `text`, by a walk of their tree.
#[pyfunction]
fn tokens(py: Python<'_>, vocabulary: Vec<Vec<u8>>, text: Vec<u8>) -> PyResult<Vec<u32>> {
    let state = behind(py, text)?;
    call(py, move || {
        let mut tokens = Vec::new();
        let trie = TokenTrie::new(&vocabulary);
        trie.walk(&Json::Value, &state, &mut |token, _| tokens.push(token));
        tokens.sort_unstable();
        tokens
    })
}

/// The shortest text that makes JSON of `text`.
#[pyfunction]
fn closing_text(py: Python<'_>, text: Vec<u8>) -> PyResult<Vec<u8>> {
    let state = behind(py, text)?;
    call(py, move || Json::Value.closing_text(&state))
}

/// The fewest tokens of `vocabulary` that `text` is made of; `None` if it can't be made of them.
#[pyfunction]
fn fewest_tokens(
    py: Python<'_>,
    vocabulary: Vec<Vec<u8>>,
    text: Vec<u8>,
) -> PyResult<Option<usize>> {
    call(py, move || rust::fewest_tokens(&TokenTrie::new(&vocabulary), &text))
}

/// How many tokens the text needs behind each token that follows `text`; `None` if it may not follow.
#[pyfunction]
fn prices(py: Python<'_>, vocabulary: Vec<Vec<u8>>, text: Vec<u8>) -> PyResult<Vec<Option<u16>>> {
    let state = behind(py, text)?;
    call(py, move || {
        let trie = TokenTrie::new(&vocabulary);
        let prices = rust::Prices::new(1).of(&Json::Value, &trie, &state);
        prices.iter().map(|&price| Some(price).filter(|&p| p != rust::NEVER)).collect()
    })
}

/// What a model of random logits answers in at most `budget` tokens of `vocabulary`, of which the
/// first ends an answer.
#[pyfunction]
fn random_answer(
    py: Python<'_>,
    vocabulary: Vec<Vec<u8>>,
    budget: Count,
    temperature: f32,
    seed: u64,
) -> PyResult<Vec<u8>> {
    if !(temperature >= 0.0 && temperature.is_finite()) {
        return Err(wrong("temperature", &temperature.to_string(), "a number from 0 on"));
    }
    let answer = call(py, move || {
        let rules =
            Arc::new(Rules::new(Json::Value, Arc::new(Vocabulary::new(vocabulary.clone()))));
        let mut constraint = Constraint::new(&rules);
        constraint.fits(budget.0)?;
        let options = SamplerOptions { temperature, ..SamplerOptions::default() };
        let (mut sampler, mut rng) = (Sampler::new(options, seed), Rng::new(seed ^ 1));
        let (mut text, mut seen) = (Vec::new(), Vec::new());
        for left in (1..=budget.0).rev() {
            let mut logits: Vec<f32> =
                vocabulary.iter().map(|_| (20.0 * rng.uniform() - 10.0) as f32).collect();
            let token = constraint.choose_with(&mut logits, (left, &[0]), (&mut sampler, &seen));
            if token == 0 {
                break;
            }
            text.extend(&vocabulary[token as usize]);
            seen.push(token);
            if constraint.accept(token) {
                break;
            }
        }
        Ok::<_, String>(text)
    })?;
    answer.map_err(|why| wrong("budget", &budget.0.to_string(), &why))
}
