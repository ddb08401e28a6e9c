//! Provided code of week 3. Its folders have the same names as those of `src/week3`.
//!
//! # Design
//!
//! - `Engine` is generic over an `EngineCache` (dense, paged or shared) and a `Pass` (a model, or a
//!   simulation that only adds up costs).
//! - A batch's matrix products use kernels that add in the same order for any number of rows
//!   (`Choice::alike`). Its attention reads the cache in parts of fixed size (`InParts`). So a
//!   request's logits do not depend on the other requests. On Arm, this requires that even a
//!   prompt's rows are multiplied one after the other.
//! - While any request decodes, a step takes at most `EngineOptions::gap` times as long as a step
//!   without prompts (the server's default is 3). `StepTimes` estimates a step's time from its
//!   number of rows.
//! - Each drafted token takes up a row in a step. These rows count against the step's budget. The
//!   engine keeps a draft only if it equals the token that the engine would choose anyway.
//! - A `Constraint` knows which bytes may come next in an answer, and how many tokens the answer's
//!   shortest completion needs. The engine masks logits before the sampler sees them, and rejects a
//!   request if no valid answer fits within the request's token limit.

// Day 1: many requests share a forward pass.
#[path = "batching/asked.rs"]
mod asked;
#[path = "batching/choose.rs"]
mod choose;
#[path = "batching/extras.rs"]
pub mod extras;
#[path = "batching/new.rs"]
mod new;
#[path = "batching/options.rs"]
pub mod options;
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

// Day 4: attention over pages.
#[path = "paged_attention/in_parts.rs"]
pub mod in_parts;

// Day 5: keys and values are kept for later requests.
#[path = "prefixes/from_words.rs"]
pub mod from_words;

// Day 6: several tokens in a pass.
#[path = "speculation/ahead.rs"]
pub mod ahead;
#[path = "speculation/draft_backoff.rs"]
pub mod draft_backoff;
#[path = "speculation/feed_for.rs"]
mod feed_for;
#[path = "speculation/generate.rs"]
mod generate;
#[path = "speculation/lookup_drafter.rs"]
pub mod lookup_drafter;
#[path = "speculation/propose.rs"]
pub mod propose;

// Day 7: answers in JSON.
#[path = "forms/constraint.rs"]
pub mod constraint;
#[path = "forms/grammar.rs"]
pub mod grammar;
#[path = "forms/json_grammar.rs"]
pub mod json_grammar;
