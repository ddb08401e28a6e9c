//! `cargo course verify`: every promise of this repository, checked, with one closing table.
//!
//! Everything runs in a pristine copy under `target/verify`, whose `src/` is generated anew: so a
//! learner's work neither matters nor is touched. A step passes, fails, or is *not verified* with
//! its reason; what could not run never counts as passed. The exit code is 1 if a step failed.
//! Durations are reported and never asserted.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use clap::Args;

use crate::{
    curriculum::Curriculum,
    process::{self, Finished, run_aloud},
};

mod arm;
mod book;
mod budget;
mod engine;
mod fuzz;
mod grade;
mod latency;
mod memory;
mod mutants;
mod planted;
mod python;
mod replay;
mod rust;
pub(crate) mod tree;

/// What to leave out or to add.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Leave the PyTorch side out; it is then reported as not verified
    #[arg(long)]
    no_python: bool,
    /// Also what takes long: mutants of the taught code, a memory checker, NEON under emulation,
    /// fuzzing for ten minutes a target, and sixteen times as many mutated files for the loaders
    #[arg(long)]
    full: bool,
    /// Only the steps whose name contains this; the others are reported as not verified
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
}

/// How a step ended. The text is a short finding or the reason.
#[derive(Debug)]
enum Outcome {
    Passed(String),
    Failed(String),
    NotVerified(String),
}

/// What the steps share.
struct Verification {
    root: PathBuf,
    /// The pristine copy.
    tree: PathBuf,
    curriculum: Curriculum,
    options: Options,
    /// The environment's interpreter, once there is one; or why there is none.
    python: Result<PathBuf, String>,
    /// `git status` of the repository before the first step.
    status_before: Option<String>,
}

type Step = (&'static str, fn(&mut Verification) -> Result<Outcome>);

/// Every step, in order. Later ones use what earlier ones made: the pristine copy, the Python
/// environment.
const STEPS: [Step; 28] = [
    ("stubs: src/ is generated from reference/", rust::stubs),
    ("curriculum: features, tests, oracle, book agree", rust::curriculum),
    ("pristine copy", tree::copy),
    ("start: environment, story, first task", engine::start),
    ("formatting", rust::formatting),
    ("clippy", rust::clippy),
    ("unit tests of ground floor, runner, book builder", rust::unit_tests),
    ("cargo test alone is green and says how to start", rust::test_alone),
    ("replay: every task red by its own message, then green", replay::replay),
    ("reference: every day green", rust::reference),
    ("misconceptions: every mistake caught and named", rust::misconceptions),
    ("mutants: every small change is noticed", mutants::mutants),
    ("memory: the reference under AddressSanitizer", memory::memory),
    ("Arm: NEON kernels, with and without dot product", arm::neon),
    ("fuzz: no bytes break a reader", fuzz::fuzz),
    ("first day: cold build, edit to verdict", budget::first_day),
    ("runner: cold build, list, save to verdict", latency::runner),
    ("command line: bad input, missing tasks", engine::command_line),
    ("trace: names the task of a planted mistake", planted::trace),
    ("speed and memory", engine::bench),
    ("grade: broken and endless submissions", grade::grade),
    ("book: builds", book::build),
    ("book: every command runs", book::commands),
    ("Python: environment", python::environment),
    ("Python: fixtures are what PyTorch gives today", python::oracle),
    ("Python: bridge, and pytest on the reference", python::bridge),
    ("Python: embedded models, figures", python::models),
    ("no tracked file was modified", tree::unmodified),
];

/// Runs the steps and prints the table.
///
/// # Errors
/// If the terminal is gone; failures of steps are in the exit code.
pub(crate) fn verify(root: &Path, curriculum: Curriculum, options: Options) -> Result<ExitCode> {
    let mut verification = Verification {
        root: root.to_owned(),
        tree: root.join("target/verify/tree"),
        curriculum,
        python: Err("the step that makes its environment did not run".to_owned()),
        status_before: tree::git_status(root),
        options,
    };
    let start = Instant::now();
    let mut rows = Vec::new();
    for (number, (name, step)) in STEPS.iter().enumerate() {
        let chosen =
            verification.options.only.as_ref().is_none_or(|words| name.contains(words.as_str()));
        // The copy is what the others run in.
        let step_start = Instant::now();
        let outcome = if chosen || *name == "pristine copy" {
            println!("\n== {}/{}: {name}", number + 1, STEPS.len());
            step(&mut verification).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
        } else {
            Outcome::NotVerified("left out by --only".to_owned())
        };
        if let Outcome::Failed(reason) = &outcome {
            println!("FAILED: {reason}");
        }
        rows.push((*name, outcome, step_start.elapsed()));
    }
    println!("\n{}", table(&rows, start.elapsed()));
    let failed = rows.iter().any(|(_, outcome, _)| matches!(outcome, Outcome::Failed(_)));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn table(rows: &[(&str, Outcome, Duration)], total: Duration) -> String {
    let mut text = String::from("Verification:\n");
    let (mut passed, mut failed, mut not_verified) = (0, 0, 0);
    for (name, outcome, duration) in rows {
        let (mark, note) = match outcome {
            Outcome::Passed(note) => {
                passed += 1;
                ("passed", note)
            }
            Outcome::Failed(note) => {
                failed += 1;
                ("FAILED", note)
            }
            Outcome::NotVerified(note) => {
                not_verified += 1;
                ("NOT VERIFIED", note)
            }
        };
        let note = note.lines().next().unwrap_or_default();
        let _ =
            writeln!(text, "  {mark:<12}  {:>7.1} s  {name:<55}  {note}", duration.as_secs_f64());
    }
    let _ = write!(
        text,
        "{passed} passed, {failed} failed, {not_verified} NOT VERIFIED, in {:.0} s.",
        total.as_secs_f64()
    );
    text
}

impl Verification {
    /// `cargo ARGUMENTS` in the pristine copy, with a build folder of its own.
    fn cargo(&self, arguments: &str) -> Command {
        let mut command = process::cargo(&self.tree);
        command
            .args(arguments.split_whitespace())
            .env("CARGO_TARGET_DIR", self.root.join("target/verify/build"));
        if self.options.full {
            // Its tests otherwise take 2,000 cases.
            command.env("PROPTEST_CASES", "32000");
        }
        command
    }

    /// Runs [`Verification::cargo`] aloud.
    ///
    /// # Errors
    /// If it fails.
    fn cargo_succeeds(&self, arguments: &str) -> Result<Finished> {
        succeeds(&mut self.cargo(arguments))
    }
}

/// Runs a command aloud.
///
/// # Errors
/// If it fails.
fn succeeds(command: &mut Command) -> Result<Finished> {
    let finished = run_aloud(command)?;
    if !finished.status.success() {
        bail!("`{}` failed ({})", process::shown(command), finished.status);
    }
    Ok(finished)
}

/// `3.2 s`.
fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_never_calls_a_step_passed_that_did_not_run() {
        let second = Duration::from_secs(1);
        let text = table(
            &[
                ("a", Outcome::Passed("3 tests".into()), second),
                ("b", Outcome::NotVerified("--no-python".into()), second),
                ("c", Outcome::Failed("line one\nline two".into()), second),
            ],
            3 * second,
        );
        assert!(
            text.contains("NOT VERIFIED      1.0 s  b") && text.contains("--no-python"),
            "{text}"
        );
        assert!(text.contains("line one") && !text.contains("line two"), "{text}");
        assert!(text.ends_with("1 passed, 1 failed, 1 NOT VERIFIED, in 3 s."), "{text}");
    }
}
