//! Records of what happened to a request, and quantiles of them.

use std::collections::BTreeMap;

use tiny_llm::week3::{
    options::EngineOptions,
    timeline::{Moment, Record, quantile},
};
use tiny_llm_harness::{check, fixtures::Fixtures};

use super::serving::{Told, engine, request, run, step};

fn at(steps: u64, rows: u64) -> Moment {
    Moment { steps, rows }
}

#[test]
fn task_3_record_time_to_first_token_and_longest_gap() {
    // The request gets its slot two steps after it was submitted.
    let mut record = Record { admitted: Some(at(12, 530)), ..Record::new(at(10, 500)) };
    check::assert_answer(
        "a record without tokens: time to first token",
        &record.time_to_first_token(),
        &None,
    );
    let mut seen = Vec::new();
    // The first token, a gap of many rows, a gap of many steps, and a short gap.
    for now in [at(13, 540), at(14, 640), at(20, 650), at(21, 652)] {
        record.token(now);
        seen.push(now);
        let call = format!("submitted at step 10, row 500; tokens at {seen:?}");
        check::assert_answer(
            &format!("{call}: time to first token"),
            &record.time_to_first_token(),
            &Some(at(3, 40)),
        );
        let gap = match seen.len() {
            1 => at(0, 0),
            2 => at(1, 100),
            _ => at(6, 100),
        };
        check::assert_answer(
            &format!("{call}: the longest gap, in steps and in rows"),
            &record.longest_gap,
            &gap,
        );
        check::assert_answer(
            &format!("{call}: (first token, last token)"),
            &(record.first_token, record.last_token),
            &(Some(at(13, 540)), Some(now)),
        );
    }
}

/// The request's first token comes in the engine's first step.
#[test]
fn task_3_record_with_first_token_in_the_first_step() {
    let mut record = Record::new(at(0, 0));
    record.token(at(1, 7));
    check::assert_answer(
        "submitted before the first step, first token in that step: time to first token",
        &record.time_to_first_token(),
        &Some(at(1, 7)),
    );
    check::assert_answer("a record with one token: longest gap", &record.longest_gap, &at(0, 0));
}

#[test]
fn task_3_quantile_returns_the_nearest_rank() {
    let hundred: Vec<u64> = (1..=100).rev().collect();
    let cases: [(&str, &[u64], f64, Option<u64>); 12] = [
        ("no values", &[], 0.5, None),
        ("one value, the median", &[7], 0.5, Some(7)),
        ("one value, p99", &[7], 0.99, Some(7)),
        ("one value, the minimum", &[7], 0.0, Some(7)),
        ("the median of three", &[30, 10, 20], 0.5, Some(20)),
        ("the median of four is the second value", &[40, 10, 30, 20], 0.5, Some(20)),
        ("the maximum", &[30, 10, 20], 1.0, Some(30)),
        ("the minimum", &[30, 10, 20], 0.0, Some(10)),
        ("p99 of a hundred", &hundred, 0.99, Some(99)),
        ("p90 of a hundred", &hundred, 0.9, Some(90)),
        ("p99 of ten is the maximum", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.99, Some(10)),
        ("equal values", &[5, 5, 5, 9], 0.5, Some(5)),
    ];
    for (why, values, q, expected) in cases {
        let call = format!("{why}: quantile({values:?}, {q})");
        let mut values = values.to_vec();
        let found = check::assert_accepts(&call, || quantile(&mut values, q));
        check::assert_answer(&call, &found, &expected);
    }
}

/// Checks exactly how long each of three requests waits, with and without a budget. One of them has
/// a long prompt.
#[test]
fn task_3_budget_shortens_the_longest_gap() {
    let case = Fixtures::open("week3_day2").case("task_2_engine/llama");
    let prompts: Vec<Vec<u32>> = case.read("prompts");
    let records = |rows: Option<usize>| {
        let options = EngineOptions { budget: rows, records: true, ..EngineOptions::default() };
        let mut engine = engine(&case, 3, options);
        let mut told = Told::default();
        let when = format!("two short requests, then one of 30 tokens, budget {rows:?}");
        for prompt in [&prompts[1], &prompts[4]] {
            engine.submit(request(prompt, 8)).expect("submit must accept this request");
        }
        step(&mut engine, &mut told, &when);
        engine.submit(request(&prompts[3], 3)).expect("submit must accept this request");
        run(&mut engine, &mut told, &when);
        let records: BTreeMap<_, _> = engine.take_records().into_iter().collect();
        assert!(engine.take_records().is_empty(), "take_records must return each record only once");
        (0..3)
            .map(|id| {
                let record = &records[&id];
                let first = record
                    .time_to_first_token()
                    .expect("time_to_first_token must return a value for a finished request");
                (record.admitted, first, record.longest_gap, record.finished)
            })
            .collect::<Vec<_>>()
    };
    // Step 1: prompts of 1 and 3 tokens. Step 2: 1 + 1 + 30 rows, so the long prompt is complete.
    check::assert_answer(
        "no budget: (admitted, time to first token, longest gap, finished) of each request\n ",
        &records(None),
        &vec![
            (Some(at(0, 0)), at(1, 4), at(1, 32), Some(at(8, 50))),
            (Some(at(0, 0)), at(1, 4), at(1, 32), Some(at(8, 50))),
            (Some(at(1, 4)), at(1, 32), at(1, 3), Some(at(4, 42))),
        ],
    );
    // With 8 rows a step, 6 of them for the long prompt: five steps.
    check::assert_answer(
        "8 rows a step: (admitted, time to first token, longest gap, finished) of each request\n ",
        &records(Some(8)),
        &vec![
            (Some(at(0, 0)), at(1, 4), at(1, 8), Some(at(8, 50))),
            (Some(at(0, 0)), at(1, 4), at(1, 8), Some(at(8, 50))),
            (Some(at(1, 4)), at(5, 40), at(1, 3), Some(at(8, 50))),
        ],
    );
}

/// A cancelled request has a record too. Without a slot, `admitted` is `None`.
#[test]
fn task_3_records_of_cancelled_requests() {
    let case = Fixtures::open("week3_day2").case("task_2_engine/llama");
    let prompts: Vec<Vec<u32>> = case.read("prompts");
    let options = EngineOptions { records: true, ..EngineOptions::default() };
    let mut engine = engine(&case, 1, options);
    let mut told = Told::default();
    let ids = [2, 4]
        .map(|i| engine.submit(request(&prompts[i], 8)).expect("submit must accept this request"));
    step(&mut engine, &mut told, "two requests, one slot");
    assert_eq!(
        ids.map(|id| engine.cancel(id)),
        [true; 2],
        "cancel must return true for both requests"
    );
    run(&mut engine, &mut told, "both cancelled");
    let records = engine.take_records();
    let seen: Vec<_> =
        records.iter().map(|(id, r)| (*id, r.admitted, r.first_token, r.finished)).collect();
    let (first, now) = (Some(at(0, 0)), Some(at(1, 7)));
    check::assert_answer(
        "two requests in one slot, both cancelled after one step: (id, admitted, first token, \
         finished)\n ",
        &seen,
        &vec![(ids[0], first, now, now), (ids[1], None, None, now)],
    );
}
