//! Day 7: from bytes to tokens, and answers that are always complete.

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
use crate::prelude::*;

exports! { fn tokens, closing_text, fewest_tokens, prices, random_answer; }

fn texts(vocabulary: Vec<Octets>) -> Vec<Vec<u8>> {
    vocabulary.into_iter().map(|text| text.0).collect()
}

/// Returns the JSON state after `text`, which must be the beginning of valid JSON.
fn behind(text: Octets) -> PyResult<JsonState> {
    let Octets(text) = text;
    let shown = text.escape_ascii().to_string();
    let n = text.len();
    let (state, alive) = call(move || walk(JsonState::value(), &text, JsonState::next))?;
    if alive == n { Ok(state) } else { Err(wrong("text", shown, "the beginning of JSON")) }
}

/// Returns the tokens of `vocabulary` that may follow `text`, by walking the tree of their texts.
#[pyfunction]
fn tokens(vocabulary: Vec<Octets>, text: Octets) -> PyResult<Vec<u32>> {
    let vocabulary = texts(vocabulary);
    let state = behind(text)?;
    call(move || {
        let mut tokens = Vec::new();
        let trie = TokenTrie::new(&vocabulary);
        trie.walk(&Json::Value, &state, &mut |token, _| tokens.push(token));
        tokens.sort_unstable();
        tokens
    })
}

/// Returns the shortest text that completes `text` to valid JSON.
#[pyfunction]
fn closing_text(text: Octets) -> PyResult<Vec<u8>> {
    let state = behind(text)?;
    call(move || Json::Value.closing_text(&state))
}

/// Returns the minimum number of `vocabulary` tokens whose texts add up to `text`, or None.
#[pyfunction]
fn fewest_tokens(vocabulary: Vec<Octets>, text: Octets) -> PyResult<Option<usize>> {
    let (vocabulary, text) = (texts(vocabulary), text.0);
    call(move || rust::fewest_tokens(&TokenTrie::new(&vocabulary), &text))
}

/// Returns each token's price: the fewest tokens that can complete the JSON after it, or None.
#[pyfunction]
fn prices(vocabulary: Vec<Octets>, text: Octets) -> PyResult<Vec<Option<u16>>> {
    let vocabulary = texts(vocabulary);
    let state = behind(text)?;
    call(move || {
        let trie = TokenTrie::new(&vocabulary);
        let prices = rust::Prices::new(1).of(&Json::Value, &trie, &state);
        prices.iter().map(|&price| Some(price).filter(|&p| p != rust::NEVER)).collect()
    })
}

/// Generates JSON with a model whose logits are random, in at most `budget` tokens. Returns its
/// text. The first token of `vocabulary` ends an answer.
#[pyfunction]
fn random_answer(
    vocabulary: Vec<Octets>,
    budget: Count,
    temperature: Real,
    seed: Long,
) -> PyResult<Vec<u8>> {
    let (vocabulary, temperature, seed) = (texts(vocabulary), temperature.0, seed.0);
    at_least_one("vocabulary", vocabulary.len())?;
    // No logit has a magnitude above 10.
    refuse_if!(temperature != 0.0 && !(temperature > 0.0 && (10.0 / temperature).is_finite());
        "temperature", format_args!("{temperature:e}");
        "0, or a number above 0 that logits of 10 stay finite with");
    let answer = call(move || {
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
    answer.map_err(|why| PyValueError::new_err(format!("budget: {why}")))
}
