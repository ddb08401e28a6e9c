//! Week 3, day 7, task 4: always whole.

#[path = "task_4_engine.rs"]
mod engine_tests;

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType},
        kernels::vector::TILE,
    },
    week3::paged::PagedCache,
};

use super::*;

#[test]
pub(super) fn task_4_closing_byte_gives_the_shortest_end() {
    resting_on(&[SCALARS, AUTOMATON], || {
        for (name, grammar) in [("texts", Json::Value), ("objects", Json::Object)] {
            let case = fixtures().case(&format!("task_4_closing/{name}"));
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            for row in rows(&case) {
                let prefix = bytes(&row[0]);
                let (mut state, _) = walk(grammar.start(), &prefix, JsonState::next);
                let line = |text: &[u8]| {
                    format!("{}   ends with {}", prefix.escape_ascii(), text.escape_ascii())
                };
                let mut text = Vec::new();
                let call = format!("closing_byte, byte by byte after {}", prefix.escape_ascii());
                // The limit is far longer than any end. It stops an endless loop.
                while text.len() < 100
                    && let Some(byte) = check::assert_accepts(&call, || closing_byte(&state))
                {
                    text.push(byte);
                    let Some(next) = state.next(byte) else { break };
                    state = next;
                }
                found.push(line(&text));
                expected.push(line(&bytes(&row[1])));
            }
            let what = format!(
                "closing_byte, byte by byte: the shortest end, and among equally short ends the \
                 one with the smallest bytes; {name}"
            );
            check::assert_answer(&what, &Lines(found), &Lines(expected));
        }
    });
}

#[test]
pub(super) fn task_4_fewest_tokens_returns_the_minimum() {
    resting_on(&[TREE], || {
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        for row in rows(&fixtures().case("task_4_fewest/texts")) {
            let (vocabulary, text) = (texts(&row[0]), bytes(&row[1]));
            let trie = TokenTrie::new(&vocabulary);
            let line = |n: Option<usize>| {
                let n = n.map_or_else(|| "none".to_owned(), |n| n.to_string());
                let shown: Vec<String> =
                    vocabulary.iter().map(|text| text.escape_ascii().to_string()).collect();
                format!("{} of {}: {n}", text.escape_ascii(), shown.join(" "))
            };
            let call = line(None);
            found.push(line(check::assert_accepts(&call, || fewest_tokens(&trie, &text))));
            expected.push(line(row[2].as_u64().map(|n| n as usize)));
        }
        let what = "fewest_tokens: the text, the tokens, and the number of tokens needed";
        check::assert_answer(what, &Lines(found), &Lines(expected));
    });
}

/// Finding the fewest tokens must not try all combinations.
#[test]
fn task_4_fewest_tokens_is_fast_for_long_texts() {
    resting_on(&[TREE], || {
        let trie = TokenTrie::new(&own(&["a", "aa", "aaa", "aaaa"]));
        let found = fewest_tokens(&trie, &b"a".repeat(2002));
        assert_eq!(
            found,
            Some(501),
            "fewest_tokens for 2002 times a, with the tokens a, aa, aaa and aaaa"
        );
    });
}

#[test]
fn task_4_prices_of_tokens_after_a_json_prefix() {
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        for name in ["all", "holes"] {
            let case = fixtures().case(&format!("task_4_prices/{name}"));
            let vocabulary = texts(case.value("vocabulary"));
            let trie = TokenTrie::new(&vocabulary);
            let mut prices = Prices::new(100);
            let (mut sums, mut lists) = (Both::default(), Both::default());
            for row in rows(&case) {
                let prefix = bytes(&row[0]);
                let (state, _) = walk(JsonState::value(), &prefix, JsonState::next);
                let call = format!("Prices::of after {}", prefix.escape_ascii());
                let found = check::assert_accepts(&call, || prices.of(&Json::Value, &trie, &state));
                assert_eq!(found.len(), vocabulary.len(), "{call}: number of prices");
                let right = row[1].as_array().expect("prices").iter();
                let right: Vec<u16> = right.map(|price| number(price) as u16).collect();
                let sum = |prices: &[u16]| {
                    let known = || prices.iter().filter(|p| **p != NEVER).map(|p| u64::from(*p));
                    let (n, sum) = (known().count(), known().sum::<u64>());
                    format!("after {}: {n} may follow; {sum}", prefix.escape_ascii())
                };
                let list = |prices: &[u16]| {
                    let tokens = prices.iter().zip(&vocabulary).filter(|(p, _)| **p != NEVER);
                    let tokens: Vec<String> =
                        tokens.map(|(p, text)| format!("{} {p}", text.escape_ascii())).collect();
                    format!("after {}: {}", prefix.escape_ascii(), tokens.join(" | "))
                };
                sums.push(sum(&found), sum(&right));
                lists.push(list(&found), list(&right));
            }
            sums.compare(&format!(
                "Prices::of: number of tokens that may follow, and the sum of their prices; \
                 vocabulary {name}"
            ));
            lists.same();
        }
    });
}

#[test]
fn task_4_prices_are_cached_per_state() {
    let texts = own(&["a", "b", "ab", "ba", "aab"]);
    resting_on(&[TREE], || {
        let trie = TokenTrie::new(&texts);
        let grammar = NoDoubleB::new(10);
        let mut prices = Prices::new(2);
        let mut log = Vec::new();
        let again =
            [(0, false), (0, false), (0, true), (0, false), (1, true), (1, true), (0, true)];
        for state in again.into_iter().chain([(2, false), (3, false)]) {
            let before = grammar.asked.load(Ordering::Relaxed);
            let of = prices.of(&grammar, &trie, &state);
            let asked = grammar.asked.load(Ordering::Relaxed) > before;
            let fresh = Prices::new(2).of(&grammar, &trie, &state);
            assert_eq!(
                of, fresh,
                "prices in state {state:?}: stored ones must equal newly computed ones"
            );
            log.push(format!("{state:?}: computed {asked}, then {} kept", prices.len()));
        }
        let expected = [
            "(0, false): computed true, then 1 kept",
            "(0, false): computed false, then 1 kept",
            "(0, true): computed true, then 2 kept",
            "(0, false): computed false, then 2 kept",
            "(1, true): computed true, then 1 kept",
            "(1, true): computed false, then 1 kept",
            "(0, true): computed true, then 2 kept",
            "(2, false): computed true, then 1 kept",
            "(3, false): computed true, then 2 kept",
        ];
        check::assert_answer(
            "Prices::new(2), asked for several states in turn: whether the grammar was asked, and \
             how many states are stored",
            &Lines(log),
            &Lines(expected.map(str::to_owned).to_vec()),
        );
    });
}

#[test]
fn task_4_mask_keeps_only_affordable_tokens() {
    const N: u16 = NEVER;
    let prices = [N, 0, 1, 2, 3, N, 0, N];
    let logits: Vec<f32> = (1..=8).map(|x| x as f32 * 0.5 - 2.25).collect();
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for (left, stop, complete, right) in [
        (1, &[0][..], false, &[1, 6][..]),
        (1, &[0], true, &[0, 1, 6]),
        (2, &[0], false, &[1, 2, 6]),
        (3, &[0], false, &[1, 2, 3, 6]),
        (4, &[0], true, &[0, 1, 2, 3, 4, 6]),
        (5, &[], false, &[1, 2, 3, 4, 6]),
        (5, &[], true, &[1, 2, 3, 4, 6]),
        (100_000, &[0, 7], false, &[1, 2, 3, 4, 6]),
        (usize::MAX, &[0, 7], true, &[0, 1, 2, 3, 4, 6, 7]),
        // A stop token whose text the grammar would allow still ends the answer.
        (3, &[1], false, &[2, 3, 6]),
        (3, &[1, 4], true, &[1, 2, 3, 4, 6]),
        (3, &[5, 5], true, &[1, 2, 3, 5, 6]),
    ] {
        let mut masked = logits.clone();
        let call = format!("left {left}, stop tokens {stop:?}, complete {complete}");
        check::assert_accepts(&call, || mask(&mut masked, &prices, left, stop, complete));
        let line = |logits: &[f32]| format!("{call}: {logits:?}");
        found.push(line(&masked));
        let allowed = |i: usize| right.contains(&i);
        let right: Vec<f32> =
            (0..8).map(|i| if allowed(i) { logits[i] } else { f32::NEG_INFINITY }).collect();
        expected.push(line(&right));
    }
    let what = "mask, with prices [never, 0, 1, 2, 3, never, 0, never]: the logits";
    check::assert_answer(what, &Lines(found), &Lines(expected));
    check::assert_panics("mask of 8 logits with 7 prices", || {
        mask(&mut logits.clone(), &prices[..7], 3, &[], true);
    });
}

/// Returns random logits, which are all very large in some calls.
fn random_logits(rng: &mut Rng, vocabulary: usize) -> Vec<f32> {
    let like: Vec<f32> = (0..vocabulary).map(|_| (rng.uniform() * 20.0 - 10.0) as f32).collect();
    let scale = [1.0, 1e-3, 1e30][(rng.next_u64() % 3) as usize];
    like.into_iter().map(|x| x * scale).collect()
}

/// Returns vocabularies for random models: the fixture's tokens with all bytes, all bytes alone,
/// and two small vocabularies.
fn vocabularies(case: &Case) -> Vec<Vec<Vec<u8>>> {
    let nasty = texts(case.value("vocabulary"));
    let single: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let few = own(&["", "{", "}", "\"", ":", "0", "a", ",", "[", "]", " ", "\\", "n", "\\\"", "é"]);
    let mut split = few.clone();
    split.extend([vec![0xc3], vec![0xa9, b'"'], vec![0xe2, 0x82], vec![0xf0]]);
    vec![[nasty, single.clone()].concat(), single, few, split]
}

/// With any logits, any sampling options and any sufficient budget, the answer is valid JSON.
#[test]
fn task_4_answer_is_always_valid_json() {
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        let mut rng = Rng::new(3707);
        let mut ends = [0usize; 2];
        for (v, texts) in vocabularies(&fixtures().case("task_3_walk/tokens")).iter().enumerate() {
            let vocabulary = Arc::new(Vocabulary::new(texts.clone()));
            for grammar in [Json::Value, Json::Object] {
                let rules = Arc::new(Rules::new(grammar, Arc::clone(&vocabulary)));
                for round in 0..120 {
                    let constraint = Constraint::new(&rules);
                    let needed = constraint
                        .needed()
                        .expect("needed must return a number: every state has an end");
                    let budget = needed + (rng.next_u64() % [3, 12, 60][round % 3]) as usize;
                    let sampling = SamplerOptions {
                        temperature: [0.0, 1.0, 1e-40, 3.0][round % 4],
                        top_k: [0, 1, 5][round % 3],
                        top_p: [1.0, 0.3][round % 2],
                        repetition_penalty: [1.0, 2.0, 0.5][round % 3],
                        ..SamplerOptions::default()
                    };
                    let (text, tokens) =
                        random_answer(constraint, texts, budget, sampling.clone(), &mut rng);
                    let shown = text.escape_ascii();
                    let whole =
                        std::str::from_utf8(&text).is_ok_and(|text| text.parse::<Value>().is_ok());
                    assert!(
                        whole && tokens <= budget,
                        "vocabulary {v}, {grammar:?}, at most {budget} tokens ({needed} are \
                         needed), {sampling:?}: found {shown} in {tokens} tokens, expected JSON in \
                         at most {budget} tokens"
                    );
                    ends[usize::from(tokens == budget)] += 1;
                }
            }
        }
        assert!(
            ends[0] > 50 && ends[1] > 50,
            "some answers must end before the budget and some exactly at it"
        );
    });
}

/// Generates an answer with a constraint and random logits. Returns its text and number of tokens.
pub(super) fn random_answer(
    mut constraint: Constraint,
    texts: &[Vec<u8>],
    budget: usize,
    sampling: SamplerOptions,
    rng: &mut Rng,
) -> (Vec<u8>, usize) {
    let mut sampler = Sampler::new(sampling, rng.next_u64());
    let (mut text, mut seen) = (Vec::new(), Vec::new());
    for n in 0..budget {
        let mut logits = random_logits(rng, texts.len());
        let token = constraint.choose_with(&mut logits, (budget - n, &[0]), (&mut sampler, &seen));
        // Token 0 ends an answer.
        if token == 0 {
            break;
        }
        assert!(
            logits[token as usize] > f32::NEG_INFINITY,
            "after {}, with {} tokens left, no token is allowed, but at least one must be",
            text.escape_ascii(),
            budget - n
        );
        seen.push(token);
        text.extend(&texts[token as usize]);
        if constraint.accept(token) {
            break;
        }
    }
    (text, seen.len())
}
