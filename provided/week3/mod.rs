//! What week 3 gives, in the folders of `src/week3`.

// Day 1: many requests share a forward pass.
#[path = "batching/asked.rs"]
mod asked;
#[path = "batching/choose.rs"]
mod choose;
#[path = "batching/extras.rs"]
pub mod extras;
#[path = "batching/pass.rs"]
pub mod pass;
#[path = "batching/records.rs"]
mod records;
#[path = "batching/room.rs"]
pub mod room;
#[path = "batching/sampler.rs"]
pub mod sampler;
#[path = "batching/submit.rs"]
mod submit;

// Day 2: which rows go into a step.
#[path = "scheduling/shares.rs"]
mod shares;
#[path = "scheduling/step_times.rs"]
pub mod step_times;

// Day 6: several tokens in a pass.
#[path = "speculation/ahead.rs"]
pub mod ahead;
#[path = "speculation/draft_backoff.rs"]
pub mod draft_backoff;
#[path = "speculation/propose.rs"]
pub mod propose;

// Day 7: answers in JSON.
#[path = "forms/constraint.rs"]
pub mod constraint;
#[path = "forms/grammar.rs"]
pub mod grammar;
#[path = "forms/json_grammar.rs"]
pub mod json_grammar;
