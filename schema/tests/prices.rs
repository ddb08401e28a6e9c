//! Compares the prices of [`Prices`], whose walk shares states, with those of the walk of week 3,
//! day 7, and with the price of each token computed alone.

use std::{fmt::Debug, sync::Arc};

use drawn::{Shaped, pick, schema, vocabulary};
use tiny_llm_reference::{
    week1::sampling::Rng,
    week3::{
        constraint::Vocabulary,
        grammar::Grammar,
        json_grammar,
        whole::{self, fewest_tokens},
    },
};
use tiny_llm_schema::{
    Json, Shape, Style, Tool,
    prices::{Follow, NEVER, Prices, Tree},
};

mod drawn;

struct Followed<'a, G>(&'a G);

impl<G: Grammar> Follow for Followed<'_, G> {
    type State = G::State;

    fn next(&self, state: &G::State, byte: u8) -> Option<G::State> {
        self.0.next(state, byte)
    }

    fn closing_text(&self, state: &G::State) -> Vec<u8> {
        self.0.closing_text(state)
    }
}

/// Computes the price of one token from its bytes alone.
fn alone<G: Grammar>(grammar: &G, words: &Vocabulary, state: &G::State, token: u32) -> u16 {
    let text = words.text(token);
    let mut bytes = text.iter();
    let end = bytes.try_fold(state.clone(), |state, &byte| grammar.next(&state, byte));
    let Some(end) = end.filter(|_| !text.is_empty()) else { return NEVER };
    let fewest = fewest_tokens(words.trie(), &grammar.closing_text(&end));
    fewest.and_then(|n| u16::try_from(n).ok()).unwrap_or(NEVER)
}

/// Compares prices in the states of a random answer. Returns the number of states.
fn check<G: Grammar<State: Debug>>(
    grammar: &G,
    words: &Vocabulary,
    rng: &mut Rng,
    what: &dyn Debug,
) -> usize {
    let tree = Tree::new(words.texts());
    assert_eq!(tree.vocabulary(), words.trie().vocabulary());
    let (mut ours, mut theirs) = (Prices::new(5), whole::Prices::new(5));
    let (mut state, mut states) = (grammar.start(), 0);
    for _ in 0..40 {
        let found = ours.of(&Followed(grammar), &tree, &state);
        assert_eq!(found, theirs.of(grammar, words.trie(), &state), "{what:?}: {state:?}");
        states += 1;
        let some = pick(rng, found.len());
        let (mut token, mut looked_at) = (None, 0);
        for id in (some..found.len()).chain(0..some) {
            if looked_at < 20 {
                let alone = alone(grammar, words, &state, id as u32);
                assert_eq!(found[id], alone, "{what:?}: {state:?}: {:?}", words.text(id as u32));
                looked_at += 1;
            }
            if found[id] != NEVER && token.is_none() {
                token = Some(id as u32);
            }
        }
        let Some(token) = token else { break };
        for &byte in words.text(token) {
            state = grammar.next(&state, byte).expect("the token may follow");
        }
    }
    states
}

/// Removes some of the single-byte tokens, so that some texts cannot be made of tokens.
fn without_all_bytes(rng: &mut Rng) -> Vocabulary {
    let full = vocabulary(rng);
    let gone = |text: &[u8]| text.len() == 1 && text[0].is_multiple_of(3);
    let kept = |text: &Vec<u8>| if gone(text) { Vec::new() } else { text.clone() };
    Vocabulary::new(full.texts().iter().map(kept).collect())
}

#[test]
fn prices_match_a_plain_walk_for_random_schemas() {
    let (mut rng, mut states) = (Rng::new(20_262), 0);
    for round in 0..120 {
        let schema = schema(&mut rng, 3);
        let shape = Shape::of_text(schema.to_string().as_bytes()).expect("a schema");
        let words = match round % 4 {
            0 => Arc::new(without_all_bytes(&mut rng)),
            _ => vocabulary(&mut rng),
        };
        states += check(&Shaped(Arc::new(shape)), &words, &mut rng, &schema);
    }
    assert!(states > 1500, "{states} states are too few to say anything");
}

#[test]
fn prices_match_a_plain_walk_for_json_and_calls() {
    let mut rng = Rng::new(20_263);
    let parameters = r#"{"type": "object", "properties": {"to": {"type": "string"}}}"#;
    let tool = Tool {
        name: "go".to_owned(),
        description: None,
        parameters: Some(Json::parse(parameters.as_bytes()).expect("JSON")),
    };
    for _ in 0..10 {
        let words = vocabulary(&mut rng);
        for json in [json_grammar::Json::Object, json_grammar::Json::Value] {
            check(&json, &words, &mut rng, &json);
        }
        for (style, free) in [(Style::PLAIN, true), (Style::TAGS, true), (Style::TAGS, false)] {
            let tool =
                || Shape::of_calls(std::slice::from_ref(&tool), style, free).expect("a tool");
            for shape in [tool(), tool().several()] {
                check(&Shaped(Arc::new(shape)), &words, &mut rng, &(style, free));
            }
        }
    }
}
