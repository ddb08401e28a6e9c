//! Constrained answers from the engine, in batches and over pages.

use super::*;

/// Returns a vocabulary of `n` tokens for the fixture's models: parts of JSON, then empty tokens.
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

/// Returns requests for JSON with small and large token budgets, greedy and sampled.
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

/// A constrained answer is an object. It is the same alone and in a batch with unconstrained
/// requests.
#[test]
fn task_4_constrained_answer_is_independent_of_the_batch() {
    let case = Fixtures::open("week3_day1").case("task_4_engine/llama");
    let texts = small_vocabulary(model(&case).config.vocab_size);
    resting_on(&[SCALARS, AUTOMATON, TREE, ENDS], || {
        let vocabulary = Arc::new(Vocabulary::new(texts.clone()));
        let rules = Arc::new(Rules::new(Json::Object, Arc::clone(&vocabulary)));
        let (mut alone, mut free) = (Vec::new(), Vec::new());
        for constrained in [true, false] {
            for request in requests() {
                let mut engine = engine(&case, 1, EngineOptions::default());
                let constraint = constrained.then(|| Constraint::new(&rules));
                let id = engine
                    .submit_constrained(request, constraint)
                    .expect("submit must accept this request");
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
                "at most {} tokens: found {shown}, expected an object",
                request.max_new_tokens
            );
            let most = request.max_new_tokens;
            assert!(
                answer.len() <= most,
                "an answer of {} tokens, expected at most {most}",
                answer.len()
            );
            // The reason is `Length` if the budget prevented a longer answer.
            assert!(
                matches!(end, FinishReason::Stop | FinishReason::Length),
                "{shown}: found {end:?}, expected Stop or Length. A complete object ends the \
                 answer, even with the last token"
            );
        }
        assert!(alone != free, "unconstrained answers must differ from constrained ones: {free:?}");
        for max_batch in [3, 7] {
            let mut engine = engine(&case, max_batch, EngineOptions::default());
            let mut all = Vec::new();
            for request in requests() {
                let constraint = Some(Constraint::new(&rules));
                let id = engine.submit_constrained(request.clone(), constraint);
                all.push((
                    id.expect("submit must accept this request"),
                    engine.submit(request).expect("submit must accept this request"),
                ));
            }
            let mut told = Told::default();
            run(&mut engine, &mut told, "requests together");
            let of = |id| (told.answers.get(&id).cloned().unwrap_or_default(), told.ends[&id]);
            for (i, (json, any)) in all.into_iter().enumerate() {
                check::assert_answer(
                    &format!(
                        "request {i} as JSON: (answer, finish reason) in a batch; expected is the \
                         request alone"
                    ),
                    &of(json),
                    &alone[i],
                );
                check::assert_answer(
                    &format!(
                        "request {i} unconstrained: (answer, finish reason) in a batch; expected \
                         is the request alone"
                    ),
                    &of(any),
                    &free[i],
                );
            }
        }
    });
}

/// Long prompts are computed in chunks, and requests are preempted when pages run out. The answers
/// are the same, and complete.
#[test]
fn task_4_constrained_answers_survive_preemption() {
    let case = Fixtures::open("week3_day1").case("task_4_engine/llama");
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
                .expect("submit must accept this request");
            let mut told = Told::default();
            run(&mut engine, &mut told, "a request alone");
            alone.push((told.answers.remove(&id).unwrap_or_default(), told.ends[&id]));
        }
        let model = model(&case);
        let shape = CacheShape::of(&model.config, 4, 96);
        let cache = PagedCache::new(shape, TILE, 4, CacheType::F32);
        let options = EngineOptions { budget: Some(9), ..EngineOptions::default() };
        let text = Box::new(serving::token_bytes);
        let mut engine =
            Engine::new(Arc::new(model), Arc::new(serving::models::plan()), cache, options, text);
        for request in &requests {
            engine
                .submit_constrained(request.clone(), Some(Constraint::new(&rules)))
                .expect("submit must accept this request");
        }
        let mut told = Told::default();
        run(&mut engine, &mut told, "four requests over four pages");
        assert!(
            engine.counts().preempted > 0,
            "no request was preempted, but four pages are too few for all four"
        );
        for (id, expected) in (0..).zip(&alone) {
            let found = (told.answers.get(&id).cloned().unwrap_or_default(), told.ends[&id]);
            assert_eq!(
                &found, expected,
                "request {id}: (answer, finish reason) with preemption must be that of the request \
                 alone"
            );
            let text = text_of(&texts, &found.0);
            let whole = std::str::from_utf8(&text).is_ok_and(|text| text.parse::<Value>().is_ok());
            assert!(whole, "request {id}: found {}, which is not JSON", text.escape_ascii());
        }
    });
}

#[test]
fn task_4_submit_constrained_rejects_impossible_requests() {
    let case = Fixtures::open("week3_day1").case("task_4_engine/llama");
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
                "the engine must be idle after a refused request and busy after an accepted one"
            );
            refused.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let stops = Request { stop_texts: vec![b"}".to_vec()], ..request(&[1, 2], 9) };
        let without = texts.iter().map(|text| if text == b"{" { vec![] } else { text.clone() });
        for (why, message, words) in [
            (
                "one token",
                refusal(texts.clone(), 99, request(&[1, 2], 1)),
                &["1", "at least 2"][..],
            ),
            ("no tokens", refusal(texts.clone(), 99, request(&[1, 2], 0)), &["0", "at least 2"]),
            (
                "room for one token",
                refusal(texts.clone(), 3, request(&[1, 2], 9)),
                &["1", "at least 2"],
            ),
            ("room for two tokens", refusal(texts.clone(), 4, request(&[1, 2], 9)), &[]),
            ("a stop text", refusal(texts.clone(), 99, stops), &["stop text"]),
            ("no {", refusal(without.collect(), 99, request(&[1, 2], 9)), &["no tokens"]),
        ] {
            assert!(
                words.iter().all(|word| message.contains(word))
                    && words.is_empty() == message.is_empty(),
                "submit_constrained with {why}: found the message {message:?}, expected it to \
                 contain {words:?}"
            );
        }
    });
}
