//! The types and functions that the steps of verification share.

use std::{
    collections::BTreeSet,
    error::Error,
    fmt::{self, Display, Formatter},
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::{
    curriculum::Curriculum,
    environment::Venv,
    process::{self, Finished, run_aloud},
};

/// The size of a verification. Each size includes the steps of the smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Size {
    /// `cargo course verify`: does it work here?
    Quick,
    /// `--thorough`: everything that a change may break.
    Thorough,
    /// `--full`: nightly.
    Full,
}

/// Variable that is set for a verification inside another one. The outer one holds the lock.
pub(super) const INSIDE: &str = "COURSE_VERIFY_INSIDE";

/// How much to check, and how to report it.
#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Run all checks that continuous integration runs
    #[arg(long, conflicts_with = "full")]
    thorough: bool,
    /// Run --thorough and checks that take hours (mutants, sanitizers, fuzzing, a cluster)
    #[arg(long)]
    pub(super) full: bool,
    /// Run only the steps that the changes since REV can affect [default REV: HEAD]
    #[arg(long, value_name = "REV", num_args = 0..=1, default_missing_value = "HEAD")]
    pub(super) changed: Option<String>,
    /// Run only steps that match STEP (name or description), and their dependencies
    #[arg(long, value_name = "STEP", conflicts_with = "changed")]
    pub(super) only: Option<String>,
    /// Skip steps that passed in an interrupted run, if no file has changed since
    #[arg(long)]
    pub(super) resume: bool,
    /// Skip the checks that need PyTorch (they are reported as not verified)
    #[arg(long)]
    pub(super) no_python: bool,
    /// Seed that selects a sample of the known mistakes [default: a new one each day]
    #[arg(long, value_name = "NUMBER")]
    pub(super) seed: Option<u64>,
    /// Print the final table as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Run one step in this process and write its outcome to a file
    #[arg(long, value_name = "STEP", hide = true)]
    pub(super) step: Option<String>,
    /// Also build what the step `matrix` uses
    #[arg(long, hide = true)]
    pub(super) whole: bool,
    /// Restrict replay and mistakes to these tasks: `week1-day1 task 2`
    #[arg(long, value_name = "TASKS", value_delimiter = ',', hide = true)]
    pub(super) tasks: Vec<String>,
}

impl Options {
    /// Returns the requested size. A step that `--only` names runs with any size.
    pub(super) fn size(&self) -> Size {
        if self.full {
            Size::Full
        } else if self.thorough {
            Size::Thorough
        } else {
            Size::Quick
        }
    }
}

/// The number of cores that a step keeps busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    All,
    One,
    /// Almost none, because it mostly waits.
    Little,
    /// It measures time, or holds locks that other steps need, so it runs alone.
    Alone,
}

/// An input of a step. A change to it may change the step's outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// A crate of the workspace, and all its dependencies in the workspace.
    Package(&'static str),
    /// Files whose paths begin like this.
    Path(&'static str),
    /// Every file.
    All,
}

/// How a step ended. The text is a short result or the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "note")]
pub(super) enum Outcome {
    Passed(String),
    /// It passed, but this machine does not meet a promise about time or memory.
    Missed(String),
    Failed(String),
    NotVerified(String),
}

impl Outcome {
    /// Returns the result or the reason.
    pub(super) fn note(&self) -> &str {
        let (Self::Passed(note) | Self::Missed(note)) = self else {
            let (Self::Failed(note) | Self::NotVerified(note)) = self else { unreachable!() };
            return note;
        };
        note
    }
}

/// Why this machine cannot run a step. A step that returns this error is not verified.
#[derive(Debug)]
pub(super) struct NotVerified(pub(super) String);

impl Display for NotVerified {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for NotVerified {}

/// The shared state of the steps.
pub(super) struct Verification {
    pub(super) root: PathBuf,
    /// Folder of the pristine copy.
    pub(super) tree: PathBuf,
    /// Folder of the copy with all bodies, see [`crate::proof`].
    pub(super) proof: PathBuf,
    pub(super) curriculum: Curriculum,
    pub(super) options: Options,
}

impl Verification {
    pub(super) fn new(root: &std::path::Path, curriculum: Curriculum, options: Options) -> Self {
        let [tree, proof] =
            ["target/verify/tree", "target/verify/proof"].map(|folder| root.join(folder));
        Self { root: root.to_owned(), tree, proof, curriculum, options }
    }

    /// Returns the tasks to which `--changed` restricts the run, if it does.
    pub(super) fn tasks(&self) -> Option<BTreeSet<String>> {
        let tasks = &self.options.tasks;
        (!tasks.is_empty()).then(|| tasks.iter().cloned().collect())
    }

    /// Returns the seed for the sample of mistakes. Unless `--seed` sets it, it changes once a day,
    /// so that the sample isn't rebuilt for each run.
    pub(super) fn seed(&self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.options.seed.unwrap_or(now.as_secs() / (24 * 3600))
    }

    /// Returns the Python environment's interpreter.
    ///
    /// # Errors
    /// If there is none: [`NotVerified`].
    pub(super) fn interpreter(&self) -> Result<PathBuf> {
        let lacks = |reason: &str| NotVerified(reason.to_owned());
        ensure!(!self.options.no_python, lacks("--no-python"));
        let venv = Venv::of(&self.root).map_err(|error| lacks(&format!("{error:#}")))?;
        let none = "there is no Python environment; the step `python` says why";
        ensure!(venv.is_current(), lacks(none));
        Ok(venv.python)
    }

    /// Returns the command `cargo ARGUMENTS` in the pristine copy, with the build folder that all
    /// steps share.
    pub(super) fn cargo(&self, arguments: &str) -> Command {
        let mut command = process::cargo(&self.tree);
        command
            .args(arguments.split_whitespace())
            .env("CARGO_TARGET_DIR", self.root.join("target/verify/build"));
        if self.options.full {
            // By default, `formats/tests/malformed.rs` tries only 2,000 cases.
            command.env("PROPTEST_CASES", "32000");
            // By default, `tests/cli/drafts.rs` kills a program only 12 times.
            command.env("TINY_LLM_KILLS", "200");
        }
        command
    }

    /// Runs [`Verification::cargo`] and prints its output.
    ///
    /// # Errors
    /// If it fails.
    pub(super) fn cargo_succeeds(&self, arguments: &str) -> Result<Finished> {
        succeeds(&mut self.cargo(arguments))
    }
}

/// Runs a command and prints its output.
///
/// # Errors
/// If it fails.
pub(super) fn succeeds(command: &mut Command) -> Result<Finished> {
    let finished = run_aloud(command.stdin(Stdio::null()))?;
    if !finished.status.success() {
        bail!("`{}` failed ({})", process::shown(command), finished.status);
    }
    Ok(finished)
}

/// Returns the line in which pytest says how many tests passed.
///
/// # Errors
/// If no test passed, or one was skipped.
pub(super) fn passed(pytest: &Finished) -> Result<&str> {
    let closing = pytest.text.lines().rev().find(|line| line.contains(" passed"));
    let closing = closing.context("pytest ran no test")?;
    ensure!(!closing.contains("skipped"), "pytest skipped tests: {closing}");
    Ok(closing.trim_matches(['=', ' ']))
}

/// Formats a duration: `3.2 s`.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
