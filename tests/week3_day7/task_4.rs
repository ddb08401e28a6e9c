//! Week 3, day 7, task 4: always whole.

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType},
        kernels::{Rung, vector::TILE},
        parallel::Team,
        plan::{AttentionKind, Plan},
    },
    week3::paged::PagedCache,
};

use super::*;

#[test]
pub(super) fn task_4_the_shortest_end() {
    let fixtures = fixtures();
    resting_on(&[SCALARS, AUTOMATON], || {
        for (name, grammar) in [("texts", Json::Value), ("objects", Json::Object)] {
            let case = fixtures.case(&format!("task_4_closing/{name}"));
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            for row in rows(&case) {
                let prefix = bytes(&row[0]);
                let (mut state, _) = walk(grammar.start(), &prefix, JsonState::next);
                let line = |text: &[u8]| {
                    format!("{}   ends with {}", prefix.escape_ascii(), text.escape_ascii())
                };
                let mut text = Vec::new();
                let call = format!("closing_byte, byte by byte behind {}", prefix.escape_ascii());
                // Far longer than any end: whoever gets there goes round in a circle.
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
                "closing_byte, byte by byte: the shortest end, and of equally short ones the one \
                 with the smallest bytes; {name}"
            );
            check::assert_answer(&what, &Lines(found), &Lines(expected));
        }
    });
}

#[test]
pub(super) fn task_4_the_fewest_tokens() {
    let fixtures = fixtures();
    resting_on(&[TREE], || {
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        for row in rows(&fixtures.case("task_4_fewest/texts")) {
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
        let what = "fewest_tokens: a text, the tokens, and how many of them it takes";
        check::assert_answer(what, &Lines(found), &Lines(expected));
    });
}

/// Looking for the fewest is not trying all ways.
#[test]
fn task_4_a_long_text_is_no_work() {
    resting_on(&[TREE], || {
        let trie = TokenTrie::new(&own(&["a", "aa", "aaa", "aaaa"]));
        let found = fewest_tokens(&trie, &b"a".repeat(2002));
        assert_eq!(found, Some(501), "fewest_tokens: 2002 times a, of a, aa, aaa and aaaa");
    });
}

#[test]
fn task_4_what_a_token_costs() {
    let fixtures = fixtures();
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        for name in ["all", "holes"] {
            let case = fixtures.case(&format!("task_4_prices/{name}"));
            let vocabulary = texts(case.value("vocabulary"));
            let trie = TokenTrie::new(&vocabulary);
            let mut prices = Prices::new(100);
            let (mut sums, mut lists) = (Both::default(), Both::default());
            for row in rows(&case) {
                let prefix = bytes(&row[0]);
                let (state, _) = walk(JsonState::value(), &prefix, JsonState::next);
                let call = format!("Prices::of behind {}", prefix.escape_ascii());
                let found = check::assert_accepts(&call, || prices.of(&Json::Value, &trie, &state));
                assert_eq!(found.len(), vocabulary.len(), "{call}: prices of the vocabulary");
                let right = row[1].as_array().expect("prices").iter();
                let right: Vec<u16> = right.map(|price| number(price) as u16).collect();
                let sum = |prices: &[u16]| {
                    let known = || prices.iter().filter(|p| **p != NEVER).map(|p| u64::from(*p));
                    let (n, sum) = (known().count(), known().sum::<u64>());
                    format!("behind {}: {n} may follow; {sum}", prefix.escape_ascii())
                };
                let list = |prices: &[u16]| {
                    let tokens = prices.iter().zip(&vocabulary).filter(|(p, _)| **p != NEVER);
                    let tokens: Vec<String> =
                        tokens.map(|(p, text)| format!("{} {p}", text.escape_ascii())).collect();
                    format!("behind {}: {}", prefix.escape_ascii(), tokens.join(" | "))
                };
                sums.push(sum(&found), sum(&right));
                lists.push(list(&found), list(&right));
            }
            sums.compare(&format!(
                "Prices::of: how many tokens may follow, and their prices all together; \
                 vocabulary {name}"
            ));
            lists.same();
        }
    });
}

#[test]
fn task_4_prices_are_kept() {
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
            assert_eq!(of, fresh, "prices in the state {state:?}, kept and computed anew");
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
            "Prices::new(2), asked for one state after the other: whether the grammar is asked, \
             and how many states are known",
            &Lines(log),
            &Lines(expected.map(str::to_owned).to_vec()),
        );
    });
}

#[test]
fn task_4_what_the_mask_leaves() {
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
        // A token that is text, too, for the grammar: it ends the answer all the same.
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
    check::assert_panics("8 logits and 7 prices", || {
        mask(&mut logits.clone(), &prices[..7], 3, &[], true);
    });
}

/// A model that says anything: logits of no meaning, some of them very large.
fn random_logits(rng: &mut Rng, vocabulary: usize) -> Vec<f32> {
    let like: Vec<f32> = (0..vocabulary).map(|_| (rng.uniform() * 20.0 - 10.0) as f32).collect();
    let scale = [1.0, 1e-3, 1e30][(rng.next_u64() % 3) as usize];
    like.into_iter().map(|x| x * scale).collect()
}

/// The vocabularies that random models speak: the fixture's with all bytes, with some bytes alone,
/// and pieces of text as a model's are.
fn vocabularies(case: &Case) -> Vec<Vec<Vec<u8>>> {
    let nasty = texts(case.value("vocabulary"));
    let single: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let few = own(&["", "{", "}", "\"", ":", "0", "a", ",", "[", "]", " ", "\\", "n", "\\\"", "é"]);
    let mut split = few.clone();
    split.extend([vec![0xc3], vec![0xa9, b'"'], vec![0xe2, 0x82], vec![0xf0]]);
    vec![[nasty, single.clone()].concat(), single, few, split]
}

/// The whole promise: whatever the model says, however its tokens are chosen, and however few may
/// come, the answer is JSON.
#[test]
fn task_4_always_json() {
    let fixtures = fixtures();
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        let mut rng = Rng::new(3707);
        let mut ends = [0usize; 2];
        for (v, texts) in vocabularies(&fixtures.case("task_3_walk/tokens")).iter().enumerate() {
            let vocabulary = Arc::new(Vocabulary::new(texts.clone()));
            for grammar in [Json::Value, Json::Object] {
                let rules = Arc::new(Rules::new(grammar, Arc::clone(&vocabulary)));
                for round in 0..120 {
                    let constraint = Constraint::new(&rules);
                    let needed = constraint.needed().expect("there is a way to the end");
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
                         needed), {sampling:?}: found {shown} in {tokens} tokens, which is no JSON"
                    );
                    ends[usize::from(tokens == budget)] += 1;
                }
            }
        }
        assert!(ends[0] > 50 && ends[1] > 50, "answers that ended before the budget, and with it");
    });
}

/// An answer of a model of no meaning.
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
            "behind {}, with {} tokens left, nothing is allowed",
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

/// A vocabulary for the fixture's models: bytes of JSON, and tokens that mean nothing.
fn small_vocabulary(n: usize) -> Vec<Vec<u8>> {
    let mut texts = own(&[
        "", "{", "}", "\"", ":", "0", "a", ",", "[", "]", " ", "\":", "{\"", "\"}", "1", "-", ".",
        "e", "true", "b", "é", "\\n", "}}", "],", "null", "\n", "abc", "12",
    ]);
    texts.resize(n, Vec::new());
    texts
}

fn engine(case: &Case, max_batch: usize, options: EngineOptions) -> Engine {
    serving::engine(case, max_batch, options)
}

/// Requests for JSON with few and with many tokens, greedy and sampled.
fn requests() -> Vec<Request> {
    (0..10u32)
        .map(|i| Request {
            stop_tokens: vec![0],
            seed: u64::from(i),
            sampling: SamplerOptions {
                temperature: if i % 3 == 0 { 0.0 } else { 2.5 },
                ..SamplerOptions::default()
            },
            ..request(&[1 + i, 7, 3], 2 + 2 * i as usize)
        })
        .collect()
}

fn text_of(texts: &[Vec<u8>], tokens: &[u32]) -> Vec<u8> {
    tokens.iter().flat_map(|&token| texts[token as usize].clone()).collect()
}

/// In the engine: an answer is an object, and the same alone and among others, some of which are
/// free to say what they like.
#[test]
fn task_4_batches_of_json() {
    let fixtures = Fixtures::open("week3_day1");
    let case = fixtures.case("task_4_engine/llama");
    let texts = small_vocabulary(model(&case).config.vocab_size);
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        let vocabulary = Arc::new(Vocabulary::new(texts.clone()));
        let rules = Arc::new(Rules::new(Json::Object, Arc::clone(&vocabulary)));
        let (mut alone, mut free) = (Vec::new(), Vec::new());
        for constrained in [true, false] {
            for request in requests() {
                let mut engine = engine(&case, 1, EngineOptions::default());
                let constraint = constrained.then(|| Constraint::new(&rules));
                let id = engine.submit_constrained(request, constraint).expect("a good request");
                let mut told = Told::default();
                run(&mut engine, &mut told, "a request alone");
                let answer = told.answers.remove(&id).unwrap_or_default();
                let end = told.ends[&id];
                if constrained { &mut alone } else { &mut free }.push((answer, end));
            }
        }
        for ((answer, end), request) in alone.iter().zip(requests()) {
            let text = text_of(&texts, answer);
            let shown = text.escape_ascii();
            let value = std::str::from_utf8(&text).ok().and_then(|text| text.parse::<Value>().ok());
            assert!(
                value.is_some_and(|value| value.is_object()),
                "{} tokens at most: found {shown}, expected an object",
                request.max_new_tokens
            );
            let most = request.max_new_tokens;
            assert!(answer.len() <= most, "{} tokens, expected at most {most}", answer.len());
            check::assert_answer(
                &format!(
                    "{shown}: an object that is whole ends the answer, also with the last token"
                ),
                end,
                &FinishReason::Stop,
            );
        }
        assert!(alone != free, "free answers are objects by themselves: {free:?}");
        for max_batch in [3, 7] {
            let mut engine = engine(&case, max_batch, EngineOptions::default());
            let mut all = Vec::new();
            for request in requests() {
                let constraint = Some(Constraint::new(&rules));
                let id = engine.submit_constrained(request.clone(), constraint);
                all.push((id.expect("a good request"), engine.submit(request).expect("the same")));
            }
            let mut told = Told::default();
            run(&mut engine, &mut told, "requests together");
            let of = |id| (told.answers.get(&id).cloned().unwrap_or_default(), told.ends[&id]);
            for (i, (json, any)) in all.into_iter().enumerate() {
                check::assert_answer(
                    &format!("request {i} as JSON, among others and alone"),
                    &of(json),
                    &alone[i],
                );
                check::assert_answer(
                    &format!("request {i} without a form, among others and alone"),
                    &of(any),
                    &free[i],
                );
            }
        }
    });
}

/// Long prompts in chunks, in pages that run out, so that requests have to begin anew: the answers
/// are the same, and whole.
#[test]
fn task_4_over_pages_that_run_out() {
    let fixtures = Fixtures::open("week3_day1");
    let case = fixtures.case("task_4_engine/llama");
    let texts = small_vocabulary(model(&case).config.vocab_size);
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        let rules = Arc::new(Rules::new(Json::Object, Arc::new(Vocabulary::new(texts.clone()))));
        let requests: Vec<Request> = (0..4u32)
            .map(|i| Request {
                stop_tokens: vec![0],
                seed: u64::from(i),
                sampling: SamplerOptions { temperature: 2.5, ..SamplerOptions::default() },
                ..request(&(0..27 + i).map(|p| (7 * p + i) % 37).collect::<Vec<_>>(), 40)
            })
            .collect();
        let mut alone = Vec::new();
        for request in &requests {
            let mut engine = engine(&case, 1, EngineOptions::default());
            let id = engine
                .submit_constrained(request.clone(), Some(Constraint::new(&rules)))
                .expect("a good request");
            let mut told = Told::default();
            run(&mut engine, &mut told, "a request alone");
            alone.push((told.answers.remove(&id).unwrap_or_default(), told.ends[&id]));
        }
        let model = model(&case);
        let c = &model.config;
        let shape = CacheShape {
            layers: c.n_layers,
            sequences: 4,
            kv_heads: c.n_kv_heads,
            capacity: 96,
            head_dim: c.head_dim,
        };
        let plan = Plan {
            kernels: Rung::Naive.into(),
            attention: AttentionKind::TwoPass,
            team: Team::new(1),
        };
        let cache = PagedCache::new(shape, TILE, 4, CacheType::F32);
        let options = EngineOptions { budget: Some(9), ..EngineOptions::default() };
        let text = Box::new(serving::token_bytes);
        let mut engine = Engine::new(Arc::new(model), Arc::new(plan), cache, options, text);
        for request in &requests {
            engine
                .submit_constrained(request.clone(), Some(Constraint::new(&rules)))
                .expect("a good request");
        }
        let mut told = Told::default();
        run(&mut engine, &mut told, "four requests over four pages");
        assert!(engine.counts().preempted > 0, "nobody had to wait again");
        for (id, expected) in (0..).zip(&alone) {
            let found = (told.answers.get(&id).cloned().unwrap_or_default(), told.ends[&id]);
            assert_eq!(&found, expected, "request {id}, over pages that run out and alone");
            let text = text_of(&texts, &found.0);
            let whole = std::str::from_utf8(&text).is_ok_and(|text| text.parse::<Value>().is_ok());
            assert!(whole, "request {id}: found {}, which is no JSON", text.escape_ascii());
        }
    });
}

#[test]
fn task_4_what_cannot_be_is_refused() {
    let fixtures = Fixtures::open("week3_day1");
    let case = fixtures.case("task_4_engine/llama");
    let texts = small_vocabulary(model(&case).config.vocab_size);
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        let refusal = |texts: Vec<Vec<u8>>, context: usize, request: Request| {
            let options = EngineOptions { context, ..EngineOptions::default() };
            let mut engine = engine(&case, 1, options);
            let rules = Rules::new(Json::Object, Arc::new(Vocabulary::new(texts)));
            let constraint = Constraint::new(&Arc::new(rules));
            let refused = engine.submit_constrained(request, Some(constraint));
            assert!(
                engine.is_idle() == refused.is_err(),
                "a refused request leaves nothing behind"
            );
            refused.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let stops = Request { stop_texts: vec![b"}".to_vec()], ..request(&[1, 2], 9) };
        let without = texts.iter().map(|text| if text == b"{" { vec![] } else { text.clone() });
        for (why, message, words) in [
            ("one token", refusal(texts.clone(), 99, request(&[1, 2], 1)), &["1", "takes 2"][..]),
            ("no tokens", refusal(texts.clone(), 99, request(&[1, 2], 0)), &["0", "takes 2"]),
            ("room for one", refusal(texts.clone(), 3, request(&[1, 2], 9)), &["1", "takes 2"]),
            ("room for two", refusal(texts.clone(), 4, request(&[1, 2], 9)), &[]),
            ("a stop text", refusal(texts.clone(), 99, stops), &["stop text"]),
            ("no {", refusal(without.collect(), 99, request(&[1, 2], 9)), &["no tokens"]),
        ] {
            assert!(
                words.iter().all(|word| message.contains(word))
                    && words.is_empty() == message.is_empty(),
                "{why}: found the message {message:?}, expected one with {words:?}"
            );
        }
    });
}
