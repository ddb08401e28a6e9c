//! One day's tests on one submission.
//!
//! All tests run in one program first. If what it says cannot be believed ([`super::verdict`]),
//! every test runs again in a process of its own, so that one task's fault does not hide the other
//! tasks' verdicts.
//!
//! A task whose tests pass is then asked for answers on fresh inputs ([`super::fresh`]). The tests
//! say what is wrong; that a task is right, only those answers can say.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, time::Duration};

use anyhow::Result;

use super::{
    build::{Built, Workshop},
    fresh::{self, Fresh},
    limited::{Ended, Limits},
    verdict::{Test, Verdict, alone, together},
};
use crate::{
    curriculum::Day,
    libtest::{own_name, task_of_test},
};

/// Bytes of a submission's output that are kept.
const LOG_LIMIT: usize = 1 << 20;

/// A day of one submission.
#[derive(Debug, Clone)]
pub(super) struct DayResult {
    /// `week1-day1`.
    pub(super) feature: String,
    /// Why the tests could not be run as usual; the first line is for a table.
    pub(super) reason: Option<String>,
    /// Every expected test, sorted by name.
    pub(super) tests: Vec<Test>,
    /// Of running the tests.
    pub(super) duration: Duration,
}

/// What is expected of a day, and where its output goes.
pub(super) struct Run<'a> {
    pub(super) workshop: &'a Workshop<'a>,
    pub(super) fresh: &'a Fresh,
    pub(super) limits: Limits,
    /// What the submission's programs printed.
    pub(super) log: String,
}

impl Run<'_> {
    /// Runs the tests `expected` of the program `built`.
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
        let arguments = ["--test-threads=4", "--skip", "fresh::"];
        let ended = self.start(feature, program, &arguments, &self.limits.clone())?;
        let mut result = DayResult {
            feature: feature.to_owned(),
            reason: None,
            tests: Vec::new(),
            duration: ended.duration,
        };
        match together(&ended, expected) {
            Some(tests) => result.tests = tests,
            None => {
                let (tests, duration) = self.apart(feature, program, expected)?;
                let reason = match ended.reason(&self.limits) {
                    _ if ended
                        .status
                        .is_some_and(|status| matches!(status.code(), Some(0 | 101))) =>
                    {
                        "the test program's output is not whole".to_owned()
                    }
                    reason => reason,
                };
                result.reason = Some(format!("{reason}; each test was run by itself"));
                result.tests = tests;
                result.duration += duration;
            }
        }
        for (id, _) in day.tasks() {
            let of_task = |test: &&Test| task_of_test(&test.name) == Some(id.task);
            let mut tests = result.tests.iter().filter(of_task);
            if tests.all(|test| test.verdict == Verdict::Passed) {
                let (verdict, duration) = self.ask(feature, id.task, program)?;
                let name = format!("task_{}_on_fresh_inputs", id.task);
                result.tests.push(Test { name, verdict });
                result.duration += duration;
            }
        }
        Ok(result)
    }

    /// Asks a task for answers on fresh inputs.
    fn ask(&mut self, feature: &str, task: usize, program: &Path) -> Result<(Verdict, Duration)> {
        let time = (self.limits.time / 4).max(Duration::from_secs(1));
        let limits = Limits { time, output: fresh::OUTPUT, ..self.limits };
        let arguments = fresh::arguments(task);
        let arguments = arguments.each_ref().map(String::as_str);
        let variables = [(fresh::VARIABLE, self.fresh.seed.as_str())];
        let ended = self.workshop.test(program, &arguments, &variables, &limits)?;
        self.note(&format!("== {feature} {}\n{}", arguments[0], ended.stderr));
        Ok((self.fresh.judge(feature, task, &ended, &limits), ended.duration))
    }

    /// Every test in a process of its own. A task's tests have a quarter of the day's time in all;
    /// when it is used up, the task is lost, and the rest of its tests is not run.
    fn apart(
        &mut self,
        feature: &str,
        program: &Path,
        expected: &[String],
    ) -> Result<(Vec<Test>, Duration)> {
        let budget = (self.limits.time / 4).max(Duration::from_secs(1));
        let (mut tests, mut duration) = (Vec::new(), Duration::ZERO);
        let mut spent: BTreeMap<Option<usize>, Duration> = BTreeMap::new();
        for path in expected {
            let name = own_name(path);
            let spent = spent.entry(task_of_test(name)).or_default();
            let limits = Limits { time: budget.saturating_sub(*spent), ..self.limits };
            let verdict = if limits.time.is_zero() {
                Verdict::NotRun(format!(
                    "not run: the time for this task's tests, {} s, is used up",
                    budget.as_secs()
                ))
            } else {
                let ended = self.start(
                    &format!("{feature} {name}"),
                    program,
                    &[path, "--exact", "--test-threads=2"],
                    &limits,
                )?;
                *spent += ended.duration;
                duration += ended.duration;
                if ended.status.is_none() {
                    *spent = budget;
                }
                alone(&ended, name, &Limits { time: budget, ..limits })
            };
            tests.push(Test { name: name.to_owned(), verdict });
        }
        Ok((tests, duration))
    }

    /// Adds to the log, up to its limit.
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

    fn start(
        &mut self,
        title: &str,
        program: &Path,
        arguments: &[&str],
        limits: &Limits,
    ) -> Result<Ended> {
        let ended = self.workshop.test(program, arguments, &[], limits)?;
        self.note(&format!("== {title}\n{}{}", ended.stdout, ended.stderr));
        Ok(ended)
    }
}

/// A day whose tests cannot run at all.
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
