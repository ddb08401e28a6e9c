//! Week 3, day 1, task 4: rows of an answer that is computed anew, and the order of those that run.

use std::collections::BTreeSet;

use tiny_llm::week3::{engine::append_rows, options::EngineOptions, request::Sequence};
use tiny_llm_harness::{check::assert_accepts, fixtures::Fixtures};

use super::{
    drawn::below,
    serving::{Told, engine, lists, request, step},
};

/// What was given up for want of room has an answer already; it is computed with the prompt, in as
/// many pieces as may be, and the last of all tokens alone wants logits.
#[test]
fn task_4_rows_of_an_answer_that_is_computed_anew() {
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
        let what = format!(
            "append_rows of {rows} rows: a prompt of {prompt} tokens and {answer} of the answer, \
             {start} of all computed"
        );
        assert_accepts(&what, || append_rows(&sequence, rows, &mut out));
        let found: Vec<_> =
            out.iter().map(|row| (row.token, row.position, row.sequence, row.logits)).collect();
        let expected: Vec<_> =
            (start..start + rows).map(|i| (tokens[i], i, slot, i + 1 == n)).collect();
        assert_eq!(found, expected, "{what}: token, position, sequence, whether logits are wanted");
    }
}

/// Whoever leaves, those that stay keep the order in which they came.
#[test]
fn task_4_those_that_run_keep_their_order() {
    let fixtures = Fixtures::open("week3_day1");
    let case = fixtures.case("task_4_engine/llama");
    let prompts = lists(&case, "prompts");
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
            engine.submit(asked).expect("a good request");
        }
        while !engine.is_idle() {
            let what = format!("nine requests of {lengths:?} tokens, some of them cancelled");
            if below(4) == 0 {
                engine.cancel(below(9) as u64);
            }
            step(&mut engine, &mut told, &what);
            let found: Vec<u64> = engine.running().iter().map(|sequence| sequence.id).collect();
            assert!(
                found.is_sorted(),
                "{what}: {found:?} run; `running` keeps the order in which they came"
            );
            orders.insert(found);
        }
    }
    assert!(orders.len() > 20, "many crowds were seen: {orders:?}");
}
