//! One task's tests, run on the learner's code.

use std::{path::Path, time::Duration};

use anyhow::Result;

use crate::{
    curriculum::{Day, TaskId},
    libtest::Report,
    process::{cargo, run_quietly},
};

/// How a task's tests ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// At least one test ran, and all passed.
    Passed,
    /// Some test failed.
    Failed,
    /// There was nothing to run, because the crate does not compile.
    DoesNotCompile,
}

/// A run of one task's tests.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    /// Test by test.
    pub(crate) report: Report,
    /// All that cargo and the tests printed.
    pub(crate) text: String,
    /// Build and run together.
    pub(crate) duration: Duration,
}

/// Builds and runs the tests of one task, as `cargo test --features week1-day1 task_1_` does.
///
/// # Errors
/// If cargo cannot be started.
pub(crate) fn task(root: &Path, day: &Day, id: &TaskId) -> Result<Judged> {
    let filter = format!("task_{}_", id.task);
    let mut command = cargo(root);
    command.args(["test", "--no-fail-fast", "--test", &day.module(), "--features", &day.feature, "--", &filter]);
    let finished = run_quietly(&mut command)?;
    let report = Report::parse(&finished.text);
    let verdict = match (report.closing.is_empty(), finished.status.success() && !report.passed.is_empty()) {
        (true, _) => Verdict::DoesNotCompile,
        (false, true) => Verdict::Passed,
        (false, false) => Verdict::Failed,
    };
    Ok(Judged { verdict, report, text: finished.text, duration: finished.duration })
}
