//! Runs the tests of a task or a day on the learner's code.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::Result;

use crate::{
    curriculum::{Day, Task},
    explain::build_step,
    ink::Ink,
    libtest::{Report, task_of_test},
    process::{self, Finished, cargo},
    processor::Emulation,
    progress::Line,
};

/// The result of a task's tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// At least one test ran, and all passed.
    Passed,
    /// A test failed, the test program stopped, or no test ran.
    Failed,
    /// The crate does not compile, so nothing ran.
    DoesNotCompile,
}

impl Verdict {
    const ALL: [Self; 3] = [Self::Passed, Self::Failed, Self::DoesNotCompile];

    /// Returns the name used in files: `does-not-compile`.
    pub(crate) fn name(self) -> String {
        self.words().replace(' ', "-")
    }

    /// Parses the result of [`Verdict::name`].
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }

    /// Returns the text shown to the learner.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::DoesNotCompile => "does not compile",
        }
    }
}

/// A run of the tests of one task or of a day.
#[derive(Debug)]
pub(crate) struct TestRun {
    pub(crate) verdict: Verdict,
    /// Results by test.
    pub(crate) report: Report,
    /// All output of cargo and the tests.
    pub(crate) text: String,
    /// Time of build and run together.
    pub(crate) duration: Duration,
}

/// Builds and runs the tests of one task, as `cargo test --features week1-day1 task_1_` does, or of
/// the whole day. Shows the progress of a long build.
///
/// # Errors
/// If cargo cannot be started.
pub(crate) fn run(root: &Path, day: &Day, task: Option<usize>, ink: Ink) -> Result<TestRun> {
    let mut command = command(root, day, task)?;
    if ink.has_colour() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let (mut line, start) = (Line::default(), Instant::now());
    let finished = process::run(&mut command, |output| {
        if let Some(now) = build_step(output)
            && start.elapsed() > Duration::from_millis(500)
        {
            line.show(&now);
        }
    });
    line.clear();
    TestRun::settled(root, day, task, finished?)
}

/// Returns the command that builds and runs the tests of one task, or of a whole day. A task for
/// another kind of processor runs under emulation.
///
/// # Errors
/// If this machine lacks the programs for emulation.
pub(crate) fn command(root: &Path, day: &Day, task: Option<usize>) -> Result<Command> {
    let named = task.and_then(|number| day.tasks.iter().find(|task| task.number == number));
    let other = named.and_then(Task::processor).filter(|processor| !processor.is_here());
    let mut command = match other {
        Some(processor) => Emulation::of(processor).cargo(root, "test", "max")?,
        None => {
            let mut command = cargo(root);
            command.arg("test");
            command
        }
    };
    // A backtrace would separate a message from its notes.
    command.env("RUST_BACKTRACE", "0");
    command.args(["--no-fail-fast", "--test", &day.module(), "--features", &day.feature, "--"]);
    if let Some(number) = task {
        command.arg(format!("task_{number}_"));
    }
    Ok(command)
}

impl TestRun {
    /// Interprets `finished`, the result of [`command`]. If a test stopped the test program, and
    /// the output doesn't name the test, runs the program again with one thread, which shows its
    /// name.
    ///
    /// # Errors
    /// If cargo cannot be started.
    pub(crate) fn settled(
        root: &Path,
        day: &Day,
        task: Option<usize>,
        finished: Finished,
    ) -> Result<Self> {
        let first = Self::of(finished);
        if !first.report.closing.is_empty()
            || first.report.stopped_by.is_some()
            || first.verdict != Verdict::Failed
        {
            return Ok(first);
        }
        let mut command = command(root, day, task)?;
        command.arg("--test-threads=1");
        let again = Self::of(process::run_quietly(&mut command)?);
        Ok(Self { duration: first.duration + again.duration, ..again })
    }

    pub(crate) fn of(finished: Finished) -> Self {
        let Finished { status, text, output, duration } = finished;
        let mut report = Report::parse(&output);
        if report.closing.is_empty() {
            report.add_stopped(&text);
        }
        // A test program that is killed, for example by a stack overflow, prints its first line but
        // no closing line.
        let began = !report.closing.is_empty()
            || output.lines().any(|line| line.starts_with("running ") && line.contains(" test"));
        let verdict = match (began, status.success() && !report.passed.is_empty()) {
            (false, _) => Verdict::DoesNotCompile,
            (true, true) => Verdict::Passed,
            (true, false) => Verdict::Failed,
        };
        Self { verdict, report, text, duration }
    }

    /// Returns the verdict on the task with this number, which must have run.
    pub(crate) fn of_task(&self, number: usize) -> Verdict {
        if self.verdict == Verdict::DoesNotCompile {
            return self.verdict;
        }
        let mut tests = self
            .report
            .passed
            .iter()
            .filter(|(name, _)| task_of_test(name) == Some(number))
            .map(|(_, passed)| *passed)
            .peekable();
        let ran = tests.peek().is_some() && !self.report.closing.is_empty();
        if ran && tests.all(|passed| passed) { Verdict::Passed } else { Verdict::Failed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::run_quietly;

    fn test_run(text: &str, succeeds: bool) -> TestRun {
        let mut command = cargo(Path::new("."));
        command.arg(if succeeds { "--version" } else { "--no-such-option" });
        let status = run_quietly(&mut command).unwrap().status;
        TestRun::of(Finished {
            status,
            text: text.to_owned(),
            output: text.to_owned(),
            duration: Duration::ZERO,
        })
    }

    #[test]
    fn returns_a_verdict_for_each_task_of_a_day() {
        let run = test_run(
            "running 2 tests\n\
             test task_1_a ... ok\n\
             test task_2_a ... FAILED\n\
             test result: FAILED. 1 passed\n",
            false,
        );
        assert_eq!(run.verdict, Verdict::Failed);
        assert_eq!(
            [1, 2, 3].map(|task| run.of_task(task)),
            [Verdict::Passed, Verdict::Failed, Verdict::Failed]
        );
    }

    #[test]
    fn a_stopped_test_program_counts_as_failed() {
        let run = test_run(
            "running 2 tests\ntest task_1_a ... ok\n\nthread 'task_2_a' has overflowed its stack\n",
            false,
        );
        assert_eq!((run.verdict, run.of_task(1)), (Verdict::Failed, Verdict::Failed));
        let run = test_run("error[E0425]: cannot find value `x`\n", false);
        assert_eq!(
            (run.verdict, run.of_task(1)),
            (Verdict::DoesNotCompile, Verdict::DoesNotCompile)
        );
        assert_eq!(
            test_run("running 0 tests\ntest result: ok. 0 passed\n", true).verdict,
            Verdict::Failed,
            "nothing ran"
        );
    }
}
