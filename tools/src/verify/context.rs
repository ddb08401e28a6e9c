//! What the steps of verification share.

use std::{path::PathBuf, process::Command, time::Duration};

use anyhow::{Result, bail};
use clap::Args;

use crate::{
    curriculum::Curriculum,
    process::{self, Finished, run_aloud},
};

/// What to leave out or to add.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Leave the PyTorch side out; it is then reported as not verified
    #[arg(long)]
    pub(super) no_python: bool,
    /// Also what takes long: mutants of the taught code, a memory checker, NEON under emulation,
    /// other systems' compilation and tests, fuzzing for ten minutes a target, and sixteen times as
    /// many mutated files for the loaders
    #[arg(long)]
    pub(super) full: bool,
    /// Only the steps whose name contains this; the others are reported as not verified
    #[arg(long, value_name = "WORDS")]
    pub(super) only: Option<String>,
}

/// How a step ended. The text is a short finding or the reason.
#[derive(Debug)]
pub(super) enum Outcome {
    Passed(String),
    /// All is well but for a promise about time or memory, which this machine does not keep.
    Missed(String),
    Failed(String),
    NotVerified(String),
}

/// What the steps share.
pub(super) struct Verification {
    pub(super) root: PathBuf,
    /// The pristine copy.
    pub(super) tree: PathBuf,
    pub(super) curriculum: Curriculum,
    pub(super) options: Options,
    /// The environment's interpreter, once there is one; or why there is none.
    pub(super) python: Result<PathBuf, String>,
    /// `git status` of the repository before the first step.
    pub(super) status_before: Option<String>,
}

impl Verification {
    /// `cargo ARGUMENTS` in the pristine copy, with a build folder of its own.
    pub(super) fn cargo(&self, arguments: &str) -> Command {
        let mut command = process::cargo(&self.tree);
        command
            .args(arguments.split_whitespace())
            .env("CARGO_TARGET_DIR", self.root.join("target/verify/build"));
        if self.options.full {
            // Its tests otherwise take 2,000 cases.
            command.env("PROPTEST_CASES", "32000");
            // And this one kills a program a few times.
            command.env("TINY_LLM_KILLS", "200");
        }
        command
    }

    /// Runs [`Verification::cargo`] aloud.
    ///
    /// # Errors
    /// If it fails.
    pub(super) fn cargo_succeeds(&self, arguments: &str) -> Result<Finished> {
        succeeds(&mut self.cargo(arguments))
    }
}

/// Runs a command aloud.
///
/// # Errors
/// If it fails.
pub(super) fn succeeds(command: &mut Command) -> Result<Finished> {
    let finished = run_aloud(command)?;
    if !finished.status.success() {
        bail!("`{}` failed ({})", process::shown(command), finished.status);
    }
    Ok(finished)
}

/// `3.2 s`.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
