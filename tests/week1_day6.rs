//! Week 1, day 6: generating.

use std::{collections::HashSet, ops::ControlFlow, path::PathBuf};

use tiny_llm::week1::generate::{FinishReason, Limits, generate};
use tiny_llm_harness::{check::Lines, fixtures::Fixtures};

#[path = "week1_day6/edges.rs"]
mod edges;
#[path = "week1_day6/task_1.rs"]
mod task_1;
#[path = "week1_day6/task_2.rs"]
mod task_2;
#[path = "week1_day6/task_3.rs"]
mod task_3;
#[path = "week1_day6/task_4.rs"]
mod task_4;

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day6")
}

fn embedded_model() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-story"))
}

fn line(input: &str, written: &[u32], passes: usize, returned: &str) -> String {
    let times = if passes == 1 { "time" } else { "times" };
    format!(
        "{input}: on_token got {written:?}, the model ran {passes} {times}, returned {returned}"
    )
}

fn limits(max_new_tokens: usize, context: usize, stop_tokens: &[u32]) -> Limits {
    Limits { max_new_tokens, context, stop_tokens: HashSet::from_iter(stop_tokens.iter().copied()) }
}

/// Returns the tokens that `generate` writes and its finish reason, if `choose` returns the tokens
/// of `script` in turn.
fn written(prompt: &[u32], script: &[u32], limits: &Limits) -> (Vec<u32>, FinishReason) {
    let (mut wants, mut found) = (script.iter(), Vec::new());
    let returned = generate(
        |_| vec![0.0; 2],
        prompt,
        limits,
        |_, _| *wants.next().expect("`choose` must not be called more often than the limits allow"),
        |token| {
            found.push(token);
            ControlFlow::Continue(())
        },
    );
    (found, returned.expect("generate must accept this prompt"))
}

/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week1_day6.rs"]
mod fresh;
