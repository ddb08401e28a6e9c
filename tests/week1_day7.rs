//! Week 1, day 7: sampling.

use std::fmt;

use tiny_llm_formats::tensor::tensor;
use tiny_llm_harness::{
    fixtures::{Case, Fixtures},
    panics,
};

#[path = "week1_day7/edges.rs"]
mod edges;
#[path = "week1_day7/task_1.rs"]
mod task_1;
#[path = "week1_day7/task_2.rs"]
mod task_2;
#[path = "week1_day7/task_3.rs"]
mod task_3;
#[path = "week1_day7/task_4.rs"]
mod task_4;
#[path = "week1_day7/task_5.rs"]
mod task_5;
#[path = "week1_day7/task_6.rs"]
mod task_6;

const OFF: f32 = f32::NEG_INFINITY;

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day7")
}

/// Runs `step(logits, value)` for each value of the case's list `name`. Compares the resulting
/// logits, one row for each value.
#[track_caller]
fn check_each(case: &Case, name: &str, step: impl Fn(&mut [f32], f64)) {
    let logits = case.numbers("logits");
    let (mut rows, mut found, mut changed) = (Vec::new(), Vec::new(), false);
    for value in case.read::<Vec<f64>>(name) {
        rows.push(format!("{name} = {value}"));
        let mut after = logits.clone();
        panics::catch(|| step(&mut after, value)).unwrap_or_else(|panic| {
            if !panic.is_todo() {
                println!("{name} = {value}");
            }
            panic.go_on()
        });
        changed |= after != logits;
        found.extend(after);
    }
    if !changed && rows.len() > 1 {
        println!(
            "no logit was changed, whatever the value of {name}: write to `logits` itself, because \
             changes to a copy are lost"
        );
    }
    case.check_rows("output", &rows, &tensor(&[rows.len(), logits.len()], found));
}

/// Compares the logits, or the token, after one step. `property` describes the input.
#[track_caller]
fn check_hand<T: PartialEq + fmt::Debug>(property: &str, found: T, expected: T) {
    assert!(found == expected, "{property}\n  found    {found:?}\n  expected {expected:?}");
}

/// Runs `action`. If it panics, prints `why` it must not panic, before the panic's message.
fn explained<T>(why: &str, action: impl FnOnce() -> T) -> T {
    panics::catch(action).unwrap_or_else(|panic| {
        println!("{why}");
        panic.go_on()
    })
}

/// Returns 1,000 logits: 0, 1, 0, 1 and so on. In a list this long, an unstable sort reorders
/// equal logits.
fn alternating() -> Vec<f32> {
    (0..1000).map(|i| (i % 2) as f32).collect()
}

/// Lists the tokens that are not excluded, shortened if there are many.
fn left(logits: &[f32]) -> String {
    let ids: Vec<usize> = (0..logits.len()).filter(|&i| logits[i] > OFF).collect();
    let shown = |ids: &[usize]| ids.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let n = ids.len();
    if n <= 12 {
        shown(&ids)
    } else {
        format!("{} … {} ({n} tokens)", shown(&ids[..6]), shown(&ids[n - 4..]))
    }
}

/// Compares the logits after a step on unusually long rows or extreme numbers. Names no likely
/// mistake, because many give the same result for such rows.
#[track_caller]
fn check_left(step: &str, found: &[f32], expected: impl Fn(usize) -> f32) {
    for (token, found) in found.iter().enumerate() {
        let expected = expected(token);
        assert!(
            *found == expected,
            "{step}: the logit of token {token} is {found:?}, expected {expected:?}"
        );
    }
}

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week1_day7.rs"]
mod fresh;
