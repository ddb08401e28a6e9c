//! Week 3, day 1, task 4: one step for all.

use tiny_llm::{
    week1::{generate::FinishReason, sampling::SamplerOptions},
    week2::{
        kernels::Rung,
        parallel::Team,
        plan::{AttentionKind, Plan},
        rows::Row,
    },
    week3::{
        engine::{Engine, append_rows},
        options::{Counts, EngineOptions},
        request::{Request, Sequence},
    },
};
use tiny_llm_harness::{
    allocations::count,
    check,
    fixtures::{Case, Fixtures},
};

use super::{
    drawn::below,
    serving::{self, Told, engine_with, model, random_schedule, request, run, step},
};

fn fixtures() -> Fixtures {
    Fixtures::open("week3_day1")
}

/// Returns an engine with a context of 24.
fn engine(case: &Case, max_batch: usize) -> Engine {
    serving::engine(case, max_batch, EngineOptions { context: 24, ..EngineOptions::default() })
}

#[test]
fn task_4_append_rows_of_one_request() {
    let mut sequence = Sequence::new(3, request(&[5, 6, 7, 8], 4), 16);
    sequence.admit(2);
    sequence.computed(1);
    let row = |token, position, logits| Row { token, position, sequence: 2, logits };
    let first = row(1, 0, true);
    for (rows, expected) in [
        (1, vec![row(6, 1, false)]),
        (2, vec![row(6, 1, false), row(7, 2, false)]),
        (3, vec![row(6, 1, false), row(7, 2, false), row(8, 3, true)]),
        (0, vec![]),
    ] {
        let call = format!(
            "append_rows for a prompt of four tokens in slot 2, one of them computed: {rows} rows, \
             appended to one earlier row"
        );
        let mut out = vec![first];
        check::assert_accepts(&call, || append_rows(&sequence, rows, &mut out));
        check::assert_answer(&call, &out, &[vec![first], expected].concat());
    }
    check::assert_panics("append_rows of four rows with three tokens left", || {
        append_rows(&sequence, 4, &mut Vec::new());
    });
    sequence.computed(3);
    sequence.accept(9, false);
    let mut out = Vec::new();
    check::assert_accepts("append_rows of one row of a decoding request", || {
        append_rows(&sequence, 1, &mut out);
    });
    check::assert_answer(
        "append_rows for a decoding request: the row of the last accepted token",
        &out,
        &vec![row(9, 4, true)],
    );
}

/// Runs six requests one at a time, in pairs, and all at once. The tokens are always the oracle's.
#[test]
fn task_4_answer_is_independent_of_the_batch() {
    for family in ["llama", "qwen3"] {
        let case = fixtures().case(&format!("task_4_engine/{family}"));
        let [prompts, answers] = ["prompts", "greedy"].map(|name| case.read::<Vec<Vec<u32>>>(name));
        for max_batch in [1, 2, 6] {
            let mut engine = engine(&case, max_batch);
            let ids: Vec<_> = prompts
                .iter()
                .map(|prompt| {
                    engine.submit(request(prompt, 7)).expect("submit must accept this request")
                })
                .collect();
            let mut told = Told::default();
            let when = format!("{family}: six requests at once, at most {max_batch} in a step");
            run(&mut engine, &mut told, &when);
            for (i, id) in ids.iter().enumerate() {
                check::assert_answer(
                    &format!("{when}: the answer to prompt {i}, {:?}", prompts[i]),
                    &told.answers.get(id).cloned().unwrap_or_default(),
                    &answers[i],
                );
            }
            let rows: usize = prompts.iter().map(|prompt| prompt.len() + 6).sum();
            check::assert_answer(
                &format!(
                    "{when}: rows in all steps. Each prompt token and each new token but the last \
                     is computed once"
                ),
                &engine.counts().rows,
                &(rows as u64),
            );
        }
    }
}

/// With two slots, a finished request makes room for the next request in the very next step.
#[test]
fn task_4_freed_slot_is_reused_in_the_next_step() {
    let case = fixtures().case("task_4_engine/llama");
    let prompts: Vec<Vec<u32>> = case.read("prompts");
    let mut engine = engine(&case, 2);
    let lengths = [7, 2, 3, 1];
    for (prompt, n) in prompts.iter().zip(lengths) {
        engine.submit(request(prompt, n)).expect("submit must accept this request");
    }
    let mut told = Told::default();
    let mut seen = Vec::new();
    while !engine.is_idle() {
        step(&mut engine, &mut told, "four requests of 7, 2, 3 and 1 tokens in two slots");
        seen.push((told.ends.len(), engine.num_waiting(), engine.running().len()));
        assert!(
            seen.len() < 50,
            "the engine must be idle after 50 steps, but is not; (finished, waiting, running) \
             after each step: {seen:?}"
        );
    }
    // Requests 1, 2 and 3 run one after the other, in two, three and one of the seven steps.
    check::assert_answer(
        "four requests of 7, 2, 3 and 1 tokens in two slots: (finished, waiting, running) after \
         each step\n ",
        &seen,
        &vec![(0, 2, 2), (1, 2, 1), (1, 1, 2), (1, 1, 2), (2, 1, 1), (3, 0, 1), (4, 0, 0)],
    );
}

#[test]
fn task_4_random_schedules_give_the_same_answers() {
    let case = fixtures().case("task_4_engine/qwen3");
    for seed in 0..40 {
        let mut below = below(seed);
        let mut engine = engine(&case, 1 + below(4));
        random_schedule(&format!("seed {seed}"), &case, &mut engine, below);
    }
}

/// Each request has its own random generator, stop texts and stop tokens. So its answer is the same
/// as alone.
#[test]
fn task_4_sampled_answer_is_independent_of_the_batch() {
    let case = fixtures().case("task_4_engine/llama");
    let prompts: Vec<Vec<u32>> = case.read("prompts");
    let requests: Vec<Request> = prompts
        .iter()
        .zip([3, 3, 5, 8, 13, 21])
        .map(|(prompt, seed)| Request {
            sampling: SamplerOptions { temperature: 1.5, ..SamplerOptions::default() },
            seed,
            stop_tokens: vec![prompt[0]],
            stop_texts: vec![b"7><".to_vec()],
            ..request(prompt, 12)
        })
        .collect();
    let answers = |max_batch, requests: &[Request]| {
        let mut engine = engine(&case, max_batch);
        for request in requests {
            engine.submit(request.clone()).expect("submit must accept this request");
        }
        let mut told = Told::default();
        run(&mut engine, &mut told, &format!("sampled requests, at most {max_batch} in a step"));
        told
    };
    let together = answers(6, &requests);
    for (id, request) in (0..).zip(&requests) {
        let mut alone = answers(1, std::slice::from_ref(request));
        check::assert_answer(
            &format!(
                "request {id}, {request:?}: (answer, finish reason) in a batch; expected is the \
                 request alone\n "
            ),
            &(together.answers.get(&id), together.ends.get(&id)),
            &(alone.answers.remove(&0).as_ref(), alone.ends.remove(&0).as_ref()),
        );
    }
    let stopped = together.ends.values().filter(|&&end| end == FinishReason::Stop).count();
    assert!(
        (1..6).contains(&stopped),
        "some requests, but not all, must finish with Stop: {:?}",
        together.ends
    );
}

/// A step in which no request starts or ends allocates nothing, because a server runs for months.
#[test]
fn task_4_step_allocates_nothing() {
    let case = fixtures().case("task_4_engine/llama");
    let prompts: Vec<Vec<u32>> = case.read("prompts");
    let plan = Plan {
        kernels: Rung::Fused.into(),
        attention: AttentionKind::Streaming,
        team: Team::new(1),
    };
    let mut engine = engine_with(&case, 4, plan, EngineOptions::default());
    for prompt in &prompts[..4] {
        engine.submit(request(prompt, 12)).expect("submit must accept this request");
    }
    let mut told = Told::default();
    step(&mut engine, &mut told, "four prompts");
    check::assert_answer(
        "four requests, four slots, after one step: (running, waiting)\n ",
        &(engine.running().len(), engine.num_waiting()),
        &(4, 0),
    );
    let (found, ()) = count(|| (0..10).for_each(|_| engine.step(&mut |_| ())));
    assert!(
        found == 0,
        "heap allocations in ten steps of four rows each: found {found}, expected none"
    );
}

#[test]
fn task_4_cancelled_requests_free_their_slots() {
    let case = fixtures().case("task_4_engine/llama");
    let prompts: Vec<Vec<u32>> = case.read("prompts");
    let mut engine = engine(&case, 1);
    let ids: Vec<_> = prompts[..3]
        .iter()
        .map(|prompt| engine.submit(request(prompt, 7)).expect("submit must accept this request"))
        .collect();
    let mut told = Told::default();
    step(&mut engine, &mut told, "three requests in one slot");
    assert!(engine.cancel(ids[0]), "request {} is running: cancel must return true", ids[0]);
    assert!(engine.cancel(ids[1]), "request {} is waiting: cancel must return true", ids[1]);
    assert!(!engine.cancel(99), "cancel(99) must return false: there is no request 99");
    step(&mut engine, &mut told, "three requests, the first two cancelled");
    let interrupted = Some(&FinishReason::Interrupted);
    check::assert_answer(
        "three requests in one slot, the first two cancelled after one step. After the next step: \
         (finish reason of each, running requests)\n ",
        &(
            ids.iter().map(|id| told.ends.get(id)).collect::<Vec<_>>(),
            engine.running().iter().map(|sequence| sequence.id).collect::<Vec<_>>(),
        ),
        &(vec![interrupted, interrupted, None], vec![ids[2]]),
    );
}

#[test]
fn task_4_counts_steps_and_rows() {
    let case = fixtures().case("task_4_engine/llama");
    let prompts: Vec<Vec<u32>> = case.read("prompts");
    let mut engine = engine(&case, 6);
    for prompt in &prompts {
        engine.submit(request(prompt, 3)).expect("submit must accept this request");
    }
    let mut told = Told::default();
    run(&mut engine, &mut told, "six requests for three tokens each");
    let prompt_rows: usize = prompts.iter().map(Vec::len).sum();
    check::assert_answer(
        "six requests for three tokens each, all at once: counts",
        &engine.counts(),
        &Counts { steps: 3, rows: prompt_rows as u64 + 12, most_rows: prompt_rows, preempted: 0 },
    );
}

#[test]
fn task_4_submit_rejects_only_invalid_requests() {
    let case = fixtures().case("task_4_engine/llama");
    let [prompts, answers] = ["prompts", "greedy"].map(|name| case.read::<Vec<Vec<u32>>>(name));
    let mut engine = engine(&case, 2);
    let good = engine.submit(request(&prompts[0], 7)).expect("submit must accept this request");
    let vocabulary = model(&case).config.vocab_size as u32;
    let sampling = |change: fn(&mut SamplerOptions)| {
        let mut bad = request(&[1], 3);
        change(&mut bad.sampling);
        bad
    };
    for (why, bad, words) in [
        ("an empty prompt", request(&[], 3), vec!["empty"]),
        ("a prompt of 25 tokens in a context of 24", request(&[1; 25], 3), vec!["25", "24"]),
        ("a token out of range", request(&[1, vocabulary], 3), vec!["position 1", "vocabulary"]),
        (
            "a temperature of NaN",
            sampling(|s| s.temperature = f32::NAN),
            vec!["temperature", "NaN"],
        ),
        ("a top_p of 0", sampling(|s| s.top_p = 0.0), vec!["top_p", "0"]),
        ("a min_p of 2", sampling(|s| s.min_p = 2.0), vec!["min_p", "2"]),
    ] {
        let error = match engine.submit(bad) {
            Ok(id) => panic!("submit with {why}: accepted as request {id}, expected an error"),
            Err(error) => error.to_string(),
        };
        for word in words {
            assert!(
                error.contains(word),
                "submit with {why}: the error {error:?} does not contain {word:?}"
            );
        }
    }
    let mut told = Told::default();
    run(&mut engine, &mut told, "one valid request among invalid ones");
    check::assert_answer(
        "the answer to the valid request",
        &told.answers.remove(&good).unwrap_or_default(),
        &answers[0],
    );
}

/// A request for no tokens, or with a prompt that fills the context, takes no forward pass.
#[test]
fn task_4_empty_answers_take_no_steps() {
    let case = fixtures().case("task_4_engine/llama");
    let mut engine = engine(&case, 1);
    let none = engine.submit(request(&[1, 2], 0)).expect("submit must accept this request");
    let full = engine
        .submit(request(&[1; 24], 5))
        .expect("submit must accept a prompt that fills the context exactly");
    let mut told = Told::default();
    run(&mut engine, &mut told, "a request for no tokens, and one that fills the context");
    check::assert_answer(
        "a request for no tokens, and one that fills the context: (finish reasons, steps)",
        &(told.ends.get(&none), told.ends.get(&full), engine.counts().steps),
        &(Some(&FinishReason::Length), Some(&FinishReason::ContextFull), 0),
    );
}
