//! Measures the time that a schema's mask adds per token, for a vocabulary of 49,152 tokens.
//!
//! Run it with `cargo bench --package tiny-llm-schema --bench masks`. With `-- --write FILE` it
//! also writes the answers, so that `python-ref/peers/llguidance_masks.py FILE` can time the same
//! steps of the same answers. `ONLY=tree` restricts it to schemas whose names contain `tree`.
//! `PLAIN=1` computes prices by the walk that week 3's day 7 teaches, as a learner's engine does.

use std::{sync::Arc, time::Instant};

use serde_json::json;
use shaped::Shaped;
use tiny_llm_reference::{
    week1::sampling::Rng,
    week3::{
        constraint::{Constraint, Priced, Rules, Vocabulary},
        token_trie::TokenTrie,
    },
};
use tiny_llm_schema::{
    Shape, State,
    prices::{Prices, Tree},
};

#[path = "../tests/drawn/shaped.rs"]
mod shaped;

/// Size of the vocabulary, as in SmolLM.
const TOKENS: usize = 49_152;
/// Number of answers, and the number of tokens in each.
const ANSWERS: usize = 20;
const LENGTH: usize = 120;

const SCHEMAS: [(&str, &str); 4] = [
    (
        "a person",
        r#"{"type": "object", "properties": {
            "name": {"type": "string"},
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "email": {"type": "string"},
            "role": {"enum": ["admin", "user", "guest"]}
        }, "required": ["name", "age", "email", "role"], "additionalProperties": false}"#,
    ),
    (
        "bounded texts",
        r#"{"type": "object", "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 60},
            "day": {"type": "string", "format": "date"},
            "id": {"type": "string", "format": "uuid"},
            "code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"}
        }, "required": ["title", "day", "id", "code"], "additionalProperties": false}"#,
    ),
    (
        "a list of shapes",
        r#"{"type": "array", "minItems": 1, "maxItems": 20, "items": {"anyOf": [
            {"type": "object", "properties": {
                "kind": {"const": "circle"}, "radius": {"type": "number"},
                "note": {"type": "string"}
            }, "required": ["kind", "radius", "note"], "additionalProperties": false},
            {"type": "object", "properties": {
                "kind": {"const": "box"},
                "sides": {"type": "array", "minItems": 3, "maxItems": 3,
                    "items": {"type": "integer", "minimum": 1, "maximum": 99}}
            }, "required": ["kind", "sides"], "additionalProperties": false}
        ]}}"#,
    ),
    (
        "a tree",
        r##"{"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {
            "text": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}
        }, "required": ["text", "children"], "additionalProperties": false}}}"##,
    ),
];

/// Computes prices as the engine does.
struct Walked(Arc<Tree>, Prices<State>);

impl Priced<Shaped> for Walked {
    fn of(&mut self, grammar: &Shaped, _: &TokenTrie, state: &State) -> Arc<[u16]> {
        self.1.of(&*grammar.0, &self.0, state)
    }
}

/// Creates a vocabulary of bytes, pieces of JSON, and made-up words with and without a space, with
/// typical lengths.
fn texts(rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
    texts.extend((0..=255).map(|byte| vec![byte]));
    for piece in [
        "{\"", "\"}", "\":", "\",", "\": ", "\": \"", "\", \"", "}}", "]}", "},", " {", " [", " \"",
    ] {
        texts.push(piece.as_bytes().to_vec());
    }
    while texts.len() < TOKENS {
        let mut text = if rng.uniform() < 0.6 { b" ".to_vec() } else { Vec::new() };
        let letters = 2 + (rng.next_u64() % 8) as usize;
        text.extend(
            (0..letters).map(|_| b"etaoinshrdlucmfwypvbgk"[(rng.next_u64() % 22) as usize]),
        );
        texts.push(text);
    }
    texts
}

/// Returns answers, and the time of each mask in microseconds.
fn answers(rules: &Arc<Rules<Shaped>>) -> (Vec<Vec<u32>>, Vec<f64>) {
    let mut rng = Rng::new(8);
    let (mut answers, mut times) = (Vec::new(), Vec::new());
    for _ in 0..ANSWERS {
        let mut constraint = Constraint::new(rules);
        let mut answer = Vec::new();
        for left in (1..=LENGTH).rev() {
            let logits: Vec<f32> = (0..TOKENS).map(|_| rng.uniform() as f32).collect();
            let mut masked = logits.clone();
            // Choosing a token is not measured. The choice is the first allowed token from a random
            // position on. One time in five, the position is 0, because the byte tokens, which
            // can end strings, come first.
            let from =
                if rng.uniform() < 0.2 { 0 } else { (rng.next_u64() % TOKENS as u64) as usize };
            let start = Instant::now();
            let mut end = start;
            let token = constraint.choose(&mut masked, (left, &[0]), |masked| {
                end = Instant::now();
                let ids = (from..TOKENS).chain(0..from);
                let allowed = |id: &usize| masked[*id] > f32::NEG_INFINITY;
                ids.into_iter().find(allowed).expect("some token is allowed") as u32
            });
            times.push((end - start).as_secs_f64() * 1e6);
            if token == 0 {
                break;
            }
            answer.push(token);
            if constraint.accept(token) {
                break;
            }
        }
        answers.push(answer);
    }
    (answers, times)
}

fn main() {
    let mut rng = Rng::new(7);
    let texts = texts(&mut rng);
    let vocabulary = Arc::new(Vocabulary::new(texts.clone()));
    println!("{TOKENS} tokens, a tree of {} nodes", vocabulary.trie().num_nodes());
    let mut written = Vec::new();
    let only = std::env::var("ONLY").unwrap_or_default();
    let plain = std::env::var_os("PLAIN").is_some();
    let start = Instant::now();
    let tree = Arc::new(Tree::new(&texts));
    println!("the tree of the walk: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    for (name, schema) in SCHEMAS.into_iter().filter(|(name, _)| name.contains(&only)) {
        let start = Instant::now();
        let shape = Shape::of_text(schema.as_bytes()).expect("a schema");
        let (compiled, places) = (start.elapsed(), shape.places());
        println!("{name}: compiled in {:.2} ms, {places} places", compiled.as_secs_f64() * 1e3);
        let (shape, words) = (Shaped(Arc::new(shape)), Arc::clone(&vocabulary));
        let rules = Arc::new(if plain {
            Rules::new(shape, words)
        } else {
            Rules::priced(shape, words, Box::new(Walked(Arc::clone(&tree), Prices::new(512))))
        });
        for what in ["at first", "the same again"] {
            let (answers, mut times) = answers(&rules);
            times.sort_by(f64::total_cmp);
            let of = |q: f64| times[((times.len() - 1) as f64 * q) as usize];
            // The first mask of a state includes a walk, which takes far longer than a cached mask.
            let walked = &times[times.partition_point(|&time| time < 200.0)..];
            let longest = walked.last().map_or(0.0, |time| time / 1e3);
            println!(
                "{name}, {what}: {} masks, {} of them walked ({:.2} ms, {longest:.2} at most); \
                 median {:.1} µs, p90 {:.1} µs, p99 {:.0} µs, mean {:.0} µs",
                times.len(),
                walked.len(),
                walked.get(walked.len() / 2).map_or(0.0, |time| time / 1e3),
                of(0.5),
                of(0.9),
                of(0.99),
                times.iter().sum::<f64>() / times.len() as f64
            );
            if what == "at first" {
                written.push(json!({"name": name, "schema": schema, "answers": answers}));
            }
        }
    }
    let mut arguments = std::env::args().skip_while(|argument| argument != "--write").skip(1);
    if let Some(path) = arguments.next() {
        let all = json!({"vocabulary": texts, "schemas": written});
        std::fs::write(path, all.to_string()).expect("the file can be written");
    }
}
