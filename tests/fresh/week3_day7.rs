//! Week 3, day 7, on fresh inputs.

use std::sync::Arc;

use tiny_llm::{
    week1::sampling::Rng,
    week3::{
        constraint::{Constraint, Rules, Vocabulary},
        json::JsonState,
        json_grammar::Json,
        scalar::{Number, Text},
        token_trie::TokenTrie,
        whole::{Prices, closing_byte, fewest_tokens, mask},
    },
};
use tiny_llm_harness::fresh::Fresh;

use super::{NoDoubleB, task_3::found, task_4::random_answer, walk};
use tiny_llm::week1::sampling::SamplerOptions;

/// Bytes that often continue a JSON text.
const BYTES: &[u8] = b"\"\\ud8cE019-+.eentrfalsu{}[]:, \xc3\xa9\xe2\x82\xf0\x9f\x98\x80\xed\xa0";

fn bytes(fresh: &Fresh, n: usize) -> Vec<u8> {
    (0..n).map(|_| BYTES[fresh.below(BYTES.len())]).collect()
}

#[test]
fn task_1() {
    let fresh = Fresh::new("week3-day7 task 1");
    for _ in 0..300 {
        let text = bytes(&fresh, fresh.from_to(1, 9));
        fresh.says("string", &walk(Text::Plain, &text, Text::next).1);
        let (state, alive) = walk(Number::Start, &text, Number::next);
        fresh.says("number", &(alive, state.is_complete()));
    }
}

/// Returns the beginning of a JSON text, made of random allowed bytes, and its state.
fn beginning(fresh: &Fresh, n: usize) -> (Vec<u8>, JsonState) {
    let (mut text, mut state) = (Vec::new(), JsonState::value());
    for _ in 0..20 * n {
        let byte = BYTES[fresh.below(BYTES.len())];
        if let Some(next) = state.next(byte).filter(|_| text.len() < n) {
            text.push(byte);
            state = next;
        }
    }
    (text, state)
}

#[test]
fn task_2() {
    let fresh = Fresh::new("week3-day7 task 2");
    for _ in 0..60 {
        let (text, state) = beginning(&fresh, fresh.from_to(1, 30));
        let follow: Vec<u8> = (0..=255).filter(|&byte| state.next(byte).is_some()).collect();
        fresh.says("state", &(text, follow, state.is_complete()));
    }
}

#[test]
fn task_3() {
    let fresh = Fresh::new("week3-day7 task 3");
    for _ in 0..20 {
        let texts: Vec<Vec<u8>> = (0..fresh.from_to(1, 40))
            .map(|_| (0..fresh.below(6)).map(|_| b"aabbc"[fresh.below(5)]).collect())
            .collect();
        let trie = TokenTrie::new(&texts);
        let grammar = NoDoubleB::new(fresh.from_to(1, 6));
        fresh.says("tokens", &(trie.num_nodes(), found(&trie, &grammar, &(0, false))));
    }
}

#[test]
fn task_4() {
    let fresh = Fresh::new("week3-day7 task 4");
    let mut texts: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    texts[0] = Vec::new();
    texts.extend((0..60).map(|_| bytes(&fresh, fresh.from_to(2, 4))));
    let trie = TokenTrie::new(&texts);
    let mut prices = Prices::new(3);
    for _ in 0..20 {
        let (text, state) = beginning(&fresh, fresh.from_to(1, 12));
        let closing = closing_byte(&state);
        let fewest = fewest_tokens(&trie, &bytes(&fresh, 9));
        fresh.says("closing", &(text, closing, fewest));
        let prices = prices.of(&Json::Value, &trie, &state);
        fresh.says("prices", &prices);
        let mut logits = fresh.f32s(texts.len());
        mask(&mut logits, &prices, fresh.from_to(1, 9), &[0], state.is_complete());
        fresh.says("mask", &logits);
    }
    let rules = Arc::new(Rules::new(Json::Object, Arc::new(Vocabulary::new(texts.clone()))));
    for _ in 0..10 {
        let (constraint, budget) = (Constraint::new(&rules), fresh.from_to(2, 30));
        let mut rng = Rng::new(fresh.u64());
        let sampling = SamplerOptions::default();
        fresh.says("answer", &random_answer(constraint, &texts, budget, sampling, &mut rng));
    }
}
