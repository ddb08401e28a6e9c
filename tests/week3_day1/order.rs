//! Week 3, day 1, task 4: rows of an answer that is computed again, and the order of running
//! requests.

use std::collections::BTreeSet;

use tiny_llm::week3::{engine::append_rows, options::EngineOptions, request::Sequence};
use tiny_llm_harness::{check::assert_accepts, fixtures::Fixtures};

use super::{
    drawn::below,
    serving::{Told, engine, request, step},
};

/// A preempted request already has part of its answer. That part is computed again with the prompt,
/// in any number of pieces. Only the very last token needs logits.
#[test]
fn task_4_append_rows_of_preempted_request() {
    for seed in 0..500 {
        let mut below = below(seed);
        let (prompt, answer, slot) = (1 + below(8), below(8), below(5));
        let n = prompt + answer;
        let tokens: Vec<u32> = (0..n).map(|_| below(1 << 20) as u32).collect();
        let mut sequence = Sequence::new(0, request(&tokens[..prompt], 20), 100);
        sequence.admit(slot);
        sequence.tokens.clone_from(&tokens);
        sequence.num_computed = below(n);
        let start = sequence.num_computed;
        let rows = below(n - start + 1);
        let mut out = Vec::new();
        append_rows(&sequence, below(n - start + 1), &mut out);
        let before = out.clone();
        let what = format!(
            "append_rows: {prompt} prompt tokens, {answer} answer tokens, {start} of all computed, \
             {rows} rows appended to {}",
            before.len()
        );
        assert_accepts(&what, || append_rows(&sequence, rows, &mut out));
        assert_eq!(out[..before.len()], before, "{what}: earlier rows must not change");
        let found: Vec<_> = out[before.len()..]
            .iter()
            .map(|row| (row.token, row.position, row.sequence, row.logits))
            .collect();
        let expected: Vec<_> =
            (start..start + rows).map(|i| (tokens[i], i, slot, i + 1 == n)).collect();
        assert_eq!(found, expected, "{what}: (token, position, sequence, logits) of each new row");
    }
}

/// The running requests stay in the order of their arrival, whichever of them finish.
#[test]
fn task_4_running_requests_keep_arrival_order() {
    let case = Fixtures::open("week3_day1").case("task_4_engine/llama");
    let prompts: Vec<Vec<u32>> = case.read("prompts");
    let mut orders = BTreeSet::new();
    for seed in 0..12 {
        let mut below = below(seed);
        let options = EngineOptions { context: 24, ..EngineOptions::default() };
        let mut engine = engine(&case, 2 + below(4), options);
        let mut told = Told::default();
        let mut lengths = Vec::new();
        for _ in 0..9 {
            lengths.push(1 + below(6));
            let asked = request(&prompts[below(prompts.len())], lengths[lengths.len() - 1]);
            engine.submit(asked).expect("submit must accept this request");
        }
        while !engine.is_idle() {
            let what = format!("nine requests of {lengths:?} tokens, some cancelled");
            if below(4) == 0 {
                engine.cancel(below(9) as u64);
            }
            step(&mut engine, &mut told, &what);
            let found: Vec<u64> = engine.running().iter().map(|sequence| sequence.id).collect();
            assert!(
                found.is_sorted(),
                "{what}: the running requests are {found:?}; `running` must keep the order of \
                 arrival"
            );
            orders.insert(found);
        }
    }
    assert!(orders.len() > 20, "too few different sets of running requests: {orders:?}");
}
