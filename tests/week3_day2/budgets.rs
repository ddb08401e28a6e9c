//! Week 3, day 2, task 2: the engine with a budget of rows.

use tiny_llm::{
    week1::sampling::Rng,
    week3::{options::EngineOptions, request::RequestId},
};
use tiny_llm_harness::{check, fixtures::Fixtures};

use super::{
    below,
    serving::{Told, engine, random_schedule, request, run, step},
};

fn budget(rows: usize) -> EngineOptions {
    EngineOptions { budget: Some(rows), ..EngineOptions::default() }
}

/// However the budget splits the prompts, each answer is the one of its request alone.
#[test]
fn task_2_answers_are_independent_of_the_budget() {
    let fixtures = Fixtures::open("week3_day2");
    for family in ["llama", "qwen2"] {
        let case = fixtures.case(&format!("task_2_engine/{family}"));
        let [prompts, answers] = ["prompts", "greedy"].map(|name| case.read::<Vec<Vec<u32>>>(name));
        for rows in [2, 3, 5, 8, 16, 64] {
            let when = format!("{family}: five requests, at most {rows} rows a step");
            let mut engine = engine(&case, 4, budget(rows));
            for prompt in &prompts {
                engine.submit(request(prompt, 8)).expect("submit must accept this request");
            }
            let mut told = Told::default();
            run(&mut engine, &mut told, &when);
            for (id, answer) in (0..).zip(&answers) {
                check::assert_answer(
                    &format!("{when}: answer {id}"),
                    &told.answers.remove(&id).unwrap_or_default(),
                    answer,
                );
            }
            let counts = engine.counts();
            assert!(
                counts.most_rows <= rows,
                "{when}: a step had {} rows, more than the budget",
                counts.most_rows
            );
            let all: usize = prompts.iter().map(|prompt| prompt.len() + 7).sum();
            check::assert_answer(&format!("{when}: total rows"), &counts.rows, &(all as u64));
        }
    }
}

/// A decoding request gets a token in every step while a long prompt is computed.
#[test]
fn task_2_long_prompt_does_not_stall_decoding() {
    let case = Fixtures::open("week3_day2").case("task_2_engine/llama");
    let [prompts, answers] = ["prompts", "greedy"].map(|name| case.read::<Vec<Vec<u32>>>(name));
    let mut engine = engine(&case, 2, budget(6));
    let short = engine.submit(request(&prompts[1], 8)).expect("submit must accept this request");
    let mut told = Told::default();
    step(&mut engine, &mut told, "a prompt of one token");
    let long = engine.submit(request(&prompts[3], 8)).expect("submit must accept this request");
    let mut tokens = Vec::new();
    for _ in 0..7 {
        step(
            &mut engine,
            &mut told,
            "a decoding request and a prompt of 30 tokens, at most 6 rows a step",
        );
        let of = |id: RequestId| told.answers.get(&id).map_or(0, Vec::len);
        tokens.push((of(short), of(long)));
    }
    // The prompt gets five rows a step, so it takes six steps.
    check::assert_answer(
        "at most 6 rows a step, one decoding request, one with a prompt of 30 tokens: new tokens \
         of both after each step\n ",
        &tokens,
        &vec![(2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 1), (8, 2)],
    );
    run(&mut engine, &mut told, "the same two requests, run to the end");
    let found = [short, long].map(|id| told.answers[&id].clone());
    check::assert_answer(
        "a decoding request and a prompt of 30 tokens: the answers to both",
        &found,
        &[answers[1].clone(), answers[3].clone()],
    );
}

#[test]
fn task_2_random_schedules_give_the_same_answers() {
    let case = Fixtures::open("week3_day2").case("task_2_engine/qwen2");
    for seed in 0..24 {
        let mut below = below(seed);
        let (places, rows) = (1 + below(5), 2 + below(12));
        let mut engine = engine(&case, places, budget(rows));
        let what = format!("seed {seed}, {places} slots, {rows} rows a step");
        random_schedule(&what, &case, &mut engine, below);
        assert!(
            engine.counts().most_rows <= rows,
            "seed {seed}: a step had more rows than the budget: {:?}",
            engine.counts()
        );
    }
}

/// Sampled answers stay the same, because a request without a row draws no random number.
#[test]
fn task_2_sampled_answers_are_independent_of_the_budget() {
    let case = Fixtures::open("week3_day2").case("task_2_engine/qwen2");
    let prompts: Vec<Vec<u32>> = case.read("prompts");
    let mut seeds = Rng::new(5);
    let requests: Vec<_> = prompts
        .iter()
        .map(|prompt| {
            let mut request = request(prompt, 6);
            (request.sampling.temperature, request.seed) = (1.5, seeds.next_u64());
            request
        })
        .collect();
    let answers = |places, rows| {
        let options = EngineOptions { budget: rows, ..EngineOptions::default() };
        let mut engine = engine(&case, places, options);
        for request in &requests {
            engine.submit(request.clone()).expect("submit must accept this request");
        }
        let mut told = Told::default();
        run(&mut engine, &mut told, &format!("sampled requests, budget {rows:?}"));
        told.answers
    };
    let alone = answers(1, None);
    for rows in [2, 3, 9] {
        check::assert_answer(
            &format!(
                "sampled requests in five slots, {rows} rows a step; expected is one request at a \
                 time"
            ),
            &answers(5, Some(rows)),
            &alone,
        );
    }
}
