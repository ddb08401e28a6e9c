//! Compares answers on inputs that are drawn for each grading, in a process that no submission can
//! influence.
//!
//! A day's test program and the submission are one process, so the submission can forge whatever
//! that process reports, such as passed tests. But it cannot know the right answers on inputs that
//! did not exist when it was handed in, unless it computes them. So the tests in `tests/fresh/`
//! print answers. This module compares them with the answers of the reference's program, which ran
//! separately in the same kind of sandbox.

use std::{
    collections::BTreeMap,
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
    path::Path,
    process::Command,
};

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::{
    build::Workshop,
    limited::{Ended, Limits},
    tolerance::Tolerance,
    verdict::Verdict,
};
use crate::{curriculum::Day, libtest::Report, process::run_quietly};

/// Name of the environment variable with the inputs' seed, as in `harness/src/fresh.rs`.
pub(super) const VARIABLE: &str = "TINY_LLM_FRESH";
const ANSWER: &str = "fresh answer: ";

/// Maximum number of bytes of output that are kept. Answers are numbers as text.
pub(super) const OUTPUT: usize = 16 << 20;

/// The answers of a day's test program to the questions of all its tasks on fresh inputs.
pub(crate) struct Answers(Vec<Answer>);

impl Answers {
    /// Runs `program`, which was built with the feature `fresh`, on inputs drawn from `seed`.
    /// Returns its answers.
    ///
    /// # Errors
    /// If it cannot be run, or gives no answers.
    pub(crate) fn of(program: &mut Command, seed: &str) -> Result<Self> {
        program.env(VARIABLE, seed).args(["fresh::", "--test-threads=1"]);
        let finished = run_quietly(program)?;
        let answers = read(&finished.text);
        ensure!(finished.status.success() && !answers.is_empty(), "{}", finished.text);
        Ok(Self(answers))
    }

    /// Returns the first question whose answer differs from the reference's.
    pub(crate) fn difference<'a>(&self, reference: &'a Self) -> Option<&'a str> {
        let mut pairs = self.0.iter().zip(&reference.0);
        let differs = pairs.find(|(found, expected)| !expected.allows(found));
        let missing = || (self.0.len() != reference.0.len()).then_some("the number of answers");
        differs.map(|(_, expected)| expected.what.as_str()).or_else(missing)
    }
}

/// Returns 128 bits that are derived from the system's random generator.
pub(crate) fn seed() -> String {
    // `RandomState` takes its keys from the system's generator.
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// The right answers of one grading.
pub(super) struct Fresh {
    /// The seed of the inputs.
    pub(super) seed: String,
    /// The reference's answers in order, by day and task.
    answers: BTreeMap<(String, usize), Vec<Answer>>,
}

/// The answer to the question `what`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Answer {
    what: String,
    #[serde(flatten)]
    value: Value,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Value {
    Text { text: String },
    Numbers { shape: Vec<usize>, bits: Vec<u32>, relative: bool, tolerance: f32 },
}

impl fmt::Display for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answers: usize = self.answers.values().map(Vec::len).sum();
        write!(f, "{answers} answers for {} tasks", self.answers.len())
    }
}

impl Fresh {
    /// Creates a list without answers, with a new seed.
    pub(super) fn new() -> Self {
        Self { seed: seed(), answers: BTreeMap::new() }
    }

    /// Runs the reference's `program` for `day` on fresh inputs, and stores its answers.
    ///
    /// # Errors
    /// If it gives no answers, or the same answers for every seed.
    pub(super) fn draw(
        &mut self,
        workshop: &Workshop,
        day: &Day,
        program: &Path,
        limits: &Limits,
    ) -> Result<()> {
        let other = seed();
        for (id, _) in day.tasks() {
            let answers = |seed: &str| -> Result<Vec<Answer>> {
                let ended = ask(workshop, day, id.task, program, seed, limits)?;
                let found = read(&ended.stdout);
                let succeeded = ended.status.is_some_and(|status| status.success());
                ensure!(succeeded && !found.is_empty(), "{}", why(&ended, limits));
                Ok(found)
            };
            let (found, again) = (answers(&self.seed)?, answers(&other)?);
            // Answers within tolerance count as equal here: if they passed as different, one list
            // of numbers could be accepted for every seed.
            let same = found.iter().zip(&again).all(|(found, again)| found.allows(again));
            ensure!(
                !(same && found.len() == again.len()),
                "tests/fresh/{}.rs, task {}: the answers do not depend on the random inputs",
                day.module(),
                id.task
            );
            self.answers.insert((day.feature.clone(), id.task), found);
        }
        Ok(())
    }

    /// Compares the answers in a submission's output with the reference's, and returns the verdict.
    pub(super) fn judge(
        &self,
        feature: &str,
        task: usize,
        ended: &Ended,
        limits: &Limits,
    ) -> Verdict {
        let failed = |message: String| Verdict::Failed { output: message.clone(), message };
        let (found, expected) = (read(&ended.stdout), &self.answers[&(feature.to_owned(), task)]);
        let differs = found.iter().zip(expected).find(|(found, expected)| !expected.allows(found));
        if let Some((_, expected)) = differs {
            return failed(format!(
                "{}: on fresh random inputs, the answer differs from the reference's",
                expected.what
            ));
        }
        if found.len() > expected.len() {
            let (found, expected) = (found.len(), expected.len());
            return failed(format!(
                "on fresh random inputs: found {found} answers, expected {expected}"
            ));
        }
        if !ended.status.is_some_and(|status| status.success()) {
            let mut panic = ended.stderr.lines().skip_while(|line| !line.contains("panicked at "));
            let reason = match ended.status.and_then(|status| status.code()) {
                Some(101) => panic.nth(1).unwrap_or("a panic without a message").to_owned(),
                _ => ended.reason(limits),
            };
            return failed(format!("on fresh random inputs: {reason}"));
        }
        if found.len() < expected.len() {
            return failed("no answer on fresh random inputs".to_owned());
        }
        Verdict::Passed
    }
}

/// Runs the day's test program so that it answers only the questions of `task`, on inputs from
/// `seed`.
///
/// # Errors
/// If it cannot be started.
pub(super) fn ask(
    workshop: &Workshop,
    day: &Day,
    task: usize,
    program: &Path,
    seed: &str,
    limits: &Limits,
) -> Result<Ended> {
    let name = format!("{}::fresh::task_{task}", day.module());
    let arguments = [name.as_str(), "--exact", "--test-threads=1"];
    workshop.test(program, &arguments, &[(VARIABLE, seed)], limits)
}

/// Returns why the reference gave no answers, in one line.
fn why(ended: &Ended, limits: &Limits) -> String {
    let report = Report::parse(&ended.stdout);
    if let Some(lacking) = report.not_verified() {
        return lacking.to_owned();
    }
    let panic = report.passed.keys().find_map(|name| report.first_panic(name));
    panic.map_or_else(|| ended.reason(limits), str::to_owned)
}

fn read(output: &str) -> Vec<Answer> {
    let lines = output.lines().filter_map(|line| line.strip_prefix(ANSWER));
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|_| Answer::unreadable())).collect()
}

impl Answer {
    /// Returns an answer that differs from every right answer, for a line that is malformed.
    fn unreadable() -> Self {
        Self { what: String::new(), value: Value::Text { text: "unreadable".to_owned() } }
    }

    /// Returns whether `found` equals this answer, within the tolerance of this answer.
    fn allows(&self, found: &Self) -> bool {
        let (Self { what, value }, same) = (self, self.what == found.what);
        debug_assert!(!what.is_empty());
        same && match (value, &found.value) {
            (Value::Text { text }, Value::Text { text: found }) => text == found,
            (
                Value::Numbers { shape, bits, relative, tolerance },
                Value::Numbers { shape: found_shape, bits: found, .. },
            ) => {
                let within = if *relative { Tolerance::Relative } else { Tolerance::Absolute };
                let close = |(expected, found): (&u32, &u32)| {
                    within(*tolerance).allows(f32::from_bits(*found), f32::from_bits(*expected))
                };
                shape == found_shape
                    && bits.len() == found.len()
                    && bits.iter().zip(found).all(close)
            }
            _ => false,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use super::*;

    fn line(bits: &[f32], tolerance: f32) -> String {
        line_of(bits, tolerance, false)
    }

    fn line_of(bits: &[f32], tolerance: f32, relative: bool) -> String {
        let bits: Vec<u32> = bits.iter().map(|x| x.to_bits()).collect();
        format!(
            "noise\n{ANSWER}{}\n",
            serde_json::json!({
                "what": "x", "shape": [bits.len()], "bits": bits, "relative": relative,
                "tolerance": tolerance,
            })
        )
    }

    fn judge(found: &str, code: i32) -> Verdict {
        use std::os::unix::process::ExitStatusExt;
        let answers = read(&line(&[1.0, 2.0, f32::INFINITY], 0.5));
        let fresh = Fresh {
            seed: String::new(),
            answers: BTreeMap::from([(("d".to_owned(), 1), answers)]),
        };
        let ended = Ended {
            status: Some(std::process::ExitStatus::from_raw(code << 8)),
            limit: None,
            stdout: found.to_owned(),
            stderr: String::new(),
        };
        let time = Duration::from_secs(1);
        let limits = Limits { time, silence: time, processor: 1, memory: 1, output: 1 };
        fresh.judge("d", 1, &ended, &limits)
    }

    #[test]
    fn judge_requires_all_answers_within_tolerance() {
        let right = line(&[1.25, 2.0, f32::INFINITY], 0.0);
        assert_eq!(judge(&right, 0), Verdict::Passed);
        for (found, code) in [
            // The submission's own tolerance is ignored.
            (line(&[2.0, 2.0, f32::INFINITY], 9.0), 0),
            (line(&[1.0, f32::NAN, f32::INFINITY], 9.0), 0),
            (line(&[1.0, 2.0, f32::NEG_INFINITY], 9.0), 0),
            (line(&[1.0, 2.0], 0.0), 0),
            (right.clone() + &right, 0),
            (right.replace("\"x\"", "\"y\""), 0),
            (format!("{ANSWER}{{\"what\":\"x\",\"text\":\"right\"}}\n"), 0),
            (format!("{ANSWER}nonsense\n"), 0),
            (String::new(), 0),
            (right.clone(), 101),
        ] {
            assert!(matches!(judge(&found, code), Verdict::Failed { .. }), "{found} {code}");
        }
    }

    #[test]
    fn relative_tolerance_rejects_infinity() {
        let answer = |x: f32| read(&line_of(&[x], 0.1, true)).remove(0);
        assert!(answer(2.0).allows(&answer(2.1)));
        assert!(!answer(2.0).allows(&answer(f32::INFINITY)));
        assert!(answer(f32::INFINITY).allows(&answer(f32::INFINITY)));
        assert!(!answer(f32::INFINITY).allows(&answer(2.0)));
    }
}
