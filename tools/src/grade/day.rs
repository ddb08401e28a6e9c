//! Runs one day's tests on one submission.
//!
//! Each task's tests run in their own process, so that a fault in one task does not affect the
//! others. A task whose tests pass must then answer questions on fresh inputs ([`super::fresh`]).
//! The tests show what is wrong, but only those answers prove that a task is right.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Result;

use super::{
    build::{Built, Workshop},
    fresh::{self, Fresh},
    limited::{Ended, Limits},
    verdict::{Test, Verdict, verdicts},
};
use crate::{
    curriculum::Day,
    libtest::{own_name, task_of_test},
};

/// Maximum number of bytes of a submission's output that are kept.
const LOG_LIMIT: usize = 1 << 20;
/// Maximum total time of tasks that time out, as a multiple of the time limit for one test. After
/// that, the rest of the submission is skipped. Otherwise, an endless loop in a function that all
/// days use would take the limit for every task, or the day's limit if the loop prints something.
const LATE: u32 = 6;

/// The results of one day of a submission.
#[derive(Debug, Clone)]
pub(super) struct DayResult {
    /// The day's feature, such as `week1-day1`.
    pub(super) feature: String,
    /// Why the tests could not run normally. The first line is for the table.
    pub(super) reason: Option<String>,
    /// Every expected test, sorted by task and name. A task whose tests pass has one more test, on
    /// fresh inputs.
    pub(super) tests: Vec<Test>,
    /// Time for running the tests.
    pub(super) duration: Duration,
}

/// Limits for the tests of a submission.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowance {
    /// Time limit for one test.
    pub(super) test: Duration,
    /// Time limit for a day's tests.
    pub(super) day: Duration,
    /// Time limit for building and testing.
    pub(super) submission: Duration,
    /// Limit for the address space of a test program, in MiB.
    pub(super) memory: u64,
    /// Number of tests that run concurrently.
    pub(super) threads: usize,
}

/// Runs the tests of one submission.
pub(super) struct Run<'a> {
    workshop: &'a Workshop<'a>,
    fresh: &'a Fresh,
    allowance: Allowance,
    /// When the submission's time limit is reached.
    end: Instant,
    /// Total time of tasks that timed out.
    late: Duration,
    /// Output of the submission's programs.
    pub(super) log: String,
}

impl<'a> Run<'a> {
    pub(super) fn new(workshop: &'a Workshop<'a>, fresh: &'a Fresh, allowance: Allowance) -> Self {
        let end = Instant::now() + allowance.submission;
        Self { workshop, fresh, allowance, end, late: Duration::ZERO, log: String::new() }
    }

    /// Returns when the submission's time limit is reached.
    pub(super) fn end(&self) -> Instant {
        self.end
    }

    /// Runs the tests `expected` of the program `built`. A task that passes them must also give the
    /// right answers on fresh inputs.
    ///
    /// # Errors
    /// If a program cannot be started.
    pub(super) fn day(
        &mut self,
        day: &Day,
        expected: &[String],
        built: &Built,
    ) -> Result<DayResult> {
        let feature = day.feature.as_str();
        let program = match built {
            Ok(program) => program,
            Err(reason) => {
                self.note(&format!("== {feature}: {reason}"));
                return Ok(not_run(feature, expected, reason));
            }
        };
        let start = Instant::now();
        let end = (start + self.allowance.day).min(self.end);
        let mut by_task: BTreeMap<Option<usize>, Vec<String>> = BTreeMap::new();
        for path in expected {
            by_task.entry(task_of_test(own_name(path))).or_default().push(path.clone());
        }
        let mut result = not_run(feature, &[], "");
        result.reason = None;
        for (task, tests) in by_task {
            let left = end.saturating_duration_since(Instant::now());
            let skipped = if self.late >= LATE * self.allowance.test {
                let lost = self.late.as_secs();
                Some(format!("not run: earlier tasks timed out and took {lost} s"))
            } else if left.is_zero() {
                Some("not run: the time for the day or the submission is used up".to_owned())
            } else {
                None
            };
            if let Some(reason) = skipped {
                result.tests.extend(not_run(feature, &tests, &reason).tests);
                result.reason.get_or_insert(reason);
                continue;
            }
            let limits = self.limits(left);
            let ended = self.tests(feature, task, program, &tests, &limits)?;
            let (verdicts, reason) = verdicts(&ended, &tests, &limits);
            self.late += ended.limit.unwrap_or_default();
            result.reason = result.reason.or(reason);
            let passed = verdicts.iter().all(|test| test.verdict == Verdict::Passed);
            result.tests.extend(verdicts);
            if let (true, Some(task)) = (passed, task) {
                let name = format!("task_{task}_on_fresh_inputs");
                let left = end.saturating_duration_since(Instant::now());
                let verdict = self.ask(day, task, program, &self.limits(left))?;
                result.tests.push(Test { name, verdict });
            }
        }
        result.duration = start.elapsed();
        Ok(result)
    }

    pub(super) fn limits(&self, left: Duration) -> Limits {
        Limits {
            time: left,
            silence: self.allowance.test.min(left),
            processor: left.as_secs() * self.allowance.threads as u64 + 10,
            memory: self.allowance.memory,
            output: LOG_LIMIT,
        }
    }

    fn tests(
        &mut self,
        feature: &str,
        task: Option<usize>,
        program: &Path,
        tests: &[String],
        limits: &Limits,
    ) -> Result<Ended> {
        let threads = format!("--test-threads={}", self.allowance.threads);
        let mut arguments = vec!["--exact", threads.as_str()];
        arguments.extend(tests.iter().map(String::as_str));
        let ended = self.workshop.test(program, &arguments, &[], limits)?;
        let task = task.map_or(String::new(), |task| format!(" task {task}"));
        self.note(&format!("== {feature}{task}\n{}{}", ended.stdout, ended.stderr));
        Ok(ended)
    }

    /// Runs a task on fresh inputs and checks its answers.
    fn ask(&mut self, day: &Day, task: usize, program: &Path, limits: &Limits) -> Result<Verdict> {
        let limits = Limits { output: fresh::OUTPUT, ..*limits };
        let ended = fresh::ask(self.workshop, day, task, program, &self.fresh.seed, &limits)?;
        self.note(&format!("== {} task {task} on fresh inputs\n{}", day.feature, ended.stderr));
        self.late += ended.limit.unwrap_or_default();
        Ok(self.fresh.judge(&day.feature, task, &ended, &limits))
    }

    /// Appends to the log, up to its limit.
    fn note(&mut self, text: &str) {
        const FULL: &str = "[… the rest is left out: the limit is 1 MiB …]\n";
        if self.log.len() < LOG_LIMIT {
            let end = (0..=text.len().min(LOG_LIMIT - self.log.len()))
                .rev()
                .find(|&end| text.is_char_boundary(end))
                .unwrap_or(0);
            let _ = writeln!(self.log, "{}", &text[..end]);
            self.log += if end < text.len() { FULL } else { "" };
        }
    }
}

/// Returns the results of a day whose tests cannot run.
pub(super) fn not_run(feature: &str, expected: &[String], reason: &str) -> DayResult {
    let first = reason.lines().next().unwrap_or_default();
    let test = |path: &String| Test {
        name: own_name(path).to_owned(),
        verdict: Verdict::NotRun(first.to_owned()),
    };
    DayResult {
        feature: feature.to_owned(),
        reason: Some(reason.to_owned()),
        tests: expected.iter().map(test).collect(),
        duration: Duration::ZERO,
    }
}
