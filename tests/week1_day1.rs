//! Week 1, day 1: softmax and linear, scaled dot-product attention, multi-head attention.

use tiny_llm_harness::fixtures::Fixtures;

#[path = "week1_day1/edges.rs"]
mod edges;
/// Random inputs for each grading. `cargo course grade` compares the answers in another process.
#[cfg(feature = "fresh")]
#[path = "fresh/week1_day1.rs"]
mod fresh;
mod parts;
#[path = "week1_day1/task_1.rs"]
mod task_1;
#[path = "week1_day1/task_2.rs"]
mod task_2;
#[path = "week1_day1/task_3.rs"]
mod task_3;

const OFF: f32 = f32::NEG_INFINITY;

fn fixtures() -> Fixtures {
    Fixtures::open("week1_day1")
}
