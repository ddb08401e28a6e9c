//! Measures the time of a mask per token (week 3, day 7), with a vocabulary of 49,152.
//!
//! `cargo bench --features reference,week3-day7 --bench week3_json`

use std::{sync::Arc, time::Instant};

use tiny_llm::{
    week1::sampling::Rng,
    week3::{
        constraint::{Constraint, Rules, Vocabulary},
        json_grammar::Json,
    },
};

/// The size of SmolLM's vocabulary.
const TOKENS: usize = 49_152;
const ANSWERS: usize = 40;
/// Maximum number of tokens in an answer.
const LENGTH: usize = 120;

/// Returns a vocabulary of bytes, pieces of JSON, and random words, some after a space.
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

fn main() {
    let mut rng = Rng::new(7);
    let vocabulary = Arc::new(Vocabulary::new(texts(&mut rng)));
    let rules = Arc::new(Rules::new(Json::Object, Arc::clone(&vocabulary)));
    println!("{TOKENS} tokens, a tree of {} nodes", vocabulary.trie().num_nodes());
    // The first answers reach states whose token prices have not been computed yet.
    for (what, answers) in [("all answers", ANSWERS), ("the same again", ANSWERS)] {
        let mut rng = Rng::new(8);
        let mut times = Vec::new();
        for _ in 0..answers {
            let mut constraint = Constraint::new(&rules);
            for left in (1..=LENGTH).rev() {
                let logits: Vec<f32> = (0..TOKENS).map(|_| rng.uniform() as f32).collect();
                let mut masked = logits.clone();
                // The time excludes this choice: the first allowed token from a random index on.
                let from = (rng.next_u64() % TOKENS as u64) as usize;
                let start = Instant::now();
                let mut end = start;
                let token = constraint.choose(&mut masked, (left, &[0]), |masked| {
                    end = Instant::now();
                    let ids = (from..TOKENS).chain(0..from);
                    let allowed = |id: &usize| masked[*id] > f32::NEG_INFINITY;
                    ids.into_iter().find(allowed).expect("some token is allowed") as u32
                });
                times.push((end - start).as_secs_f64() * 1e6);
                if token == 0 || constraint.accept(token) {
                    break;
                }
            }
        }
        times.sort_by(f64::total_cmp);
        // Computing the prices of a new state takes far longer than a mask.
        let walked = &times[times.partition_point(|&time| time < 200.0)..];
        let usual = walked.get(walked.len() / 2).map_or(0.0, |time| time / 1000.0);
        println!("{what}: {} states were new, median {usual:.1} ms", walked.len());
        let of = |q: f64| times[((times.len() - 1) as f64 * q) as usize];
        println!(
            "{what}: {} masks, median {:.1} µs, p90 {:.1} µs, p99 {:.0} µs, most {:.0} µs",
            times.len(),
            of(0.5),
            of(0.9),
            of(0.99),
            of(1.0)
        );
    }
}
