//! The programs beside the runner: the tools of maintainers and instructors, and the book's
//! builder. Each is built when it is first called.

use std::{ffi::OsString, path::Path, process::ExitCode};

use anyhow::{Context, Result, bail};

use crate::{process, progress};

/// The commands of `tools/`, and what each does.
pub(crate) const TOOLS: [(&str, &str); 5] = [
    ("verify", "Check everything that this repository promises"),
    ("stubs", "Make src/ from reference/: every task's body becomes a todo!"),
    ("matrix", "Try every known mistake, and write what follows from them"),
    ("bench", "Measure the engine: tokens per second, memory, quality"),
    ("grade", "Grade learners' folders: JUnit, Gradescope's results.json, and a table"),
];

/// How the tools are built: as the runner is, in its folder.
const TOOLS_BUILD: [&str; 4] = ["--profile", "course", "--package", "course-tools"];

/// How the book's builder is built.
const BOOK_BUILD: [&str; 3] = ["--release", "--package", "book-builder"];

/// The tools' part of the runner's help.
pub(crate) fn help() -> String {
    let lines = TOOLS.map(|(name, about)| format!("\n  {name:<7} {about}")).concat();
    format!("For maintainers and instructors (built when first called):{lines}")
}

/// Builds the tools if need be, and becomes `cargo course NAME ARGUMENTS`.
///
/// # Errors
/// If there is no such command, or the tools do not build.
pub(crate) fn run(root: &Path, name: &str, arguments: &[OsString]) -> Result<ExitCode> {
    if !TOOLS.iter().any(|(tool, _)| *tool == name) {
        bail!("there is no command {name:?}; `cargo course --help` lists what there is");
    }
    let words: Vec<OsString> = [name.into()].into_iter().chain(arguments.iter().cloned()).collect();
    become_program(root, "the tools", &TOOLS_BUILD, &words)
}

/// Builds the book's builder if need be, and becomes it.
///
/// # Errors
/// If it does not build.
pub(crate) fn book(root: &Path, arguments: &[OsString]) -> Result<ExitCode> {
    become_program(root, "the book's builder", &BOOK_BUILD, arguments)
}

fn become_program(
    root: &Path,
    what: &str,
    build: &[&str],
    arguments: &[OsString],
) -> Result<ExitCode> {
    progress::build(root, what, build)?;
    let mut command = process::cargo(root);
    command.args(["run", "--quiet"]).args(build).arg("--").args(arguments);
    // The program has this terminal to itself, colours included.
    command.env_remove("CARGO_TERM_COLOR");
    // Its paths are those of the folder that the learner is in.
    command.current_dir(".");
    // On Unix it takes this one's place, so that Ctrl-C and signals reach it alone.
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(command.exec()).context("cargo cannot be started")
    }
    #[cfg(not(unix))]
    {
        let status = command.status().context("cargo cannot be started")?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
