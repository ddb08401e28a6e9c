//! The runner behind `cargo course`: the learner's commands, and functions that it shares with the
//! tools for maintainers and instructors (`tools/`).
//!
//! The runner does not link the learner's crate, so it runs even if that crate does not compile.
//!
//! The runner uses no derive macros and few libraries, because every learner waits for its build.
//! Its state, `.course/progress.json`, holds only test results and the number of hints seen.
//! Borrowed tasks are recognised by their marks in `src/`, not by the state.

pub mod cli;
pub mod curriculum;
pub mod engine;
pub mod environment;
pub mod explain;
pub mod files;
pub mod hint;
pub mod learner;
pub mod libtest;
pub mod marks;
pub mod process;
pub mod processor;
pub mod progress;
pub mod replace;
mod selection;
pub mod source;
pub mod stubs;
pub mod template;

mod borrow;
mod diff;
pub mod estimate;
mod fields;
mod fingerprint;
mod git;
mod ink;
mod json;
mod record;
mod results;
mod start;
mod status;
mod task_list;
mod task_states;
mod test;
mod test_run;
mod tools;
mod trace;
mod update;
mod watch;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
