//! The runner behind `cargo course`.
//!
//! It does not link the learner's crate, so it runs while that crate does not compile.

use std::{path::Path, process::ExitCode};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

mod bank;
mod bench;
mod borrow;
mod consistency;
mod curriculum;
mod diff;
mod environment;
mod explain;
mod files;
mod fingerprint;
mod grade;
mod hint;
mod ink;
mod judge;
mod learner;
mod libtest;
mod process;
mod progress;
mod record;
mod source;
mod start;
mod status;
mod stubs;
mod template;
mod test;
#[cfg(test)]
mod testing;
mod trace;
mod transaction;
mod trial;
mod update;
mod verify;
mod watch;

use curriculum::Curriculum;

/// Guides through the course and checks it. Without a command: where you stand, and what is next
#[derive(Debug, Parser)]
#[command(name = "cargo course", bin_name = "cargo course", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Look at this machine, build the reference, hear a story from it, and see your first task
    Start,
    /// What is on this machine and in this repository, what is missing, and how to get it; changes
    /// nothing
    Doctor,
    /// Where you stand; as `cargo course` alone
    Status {
        /// For programs; the book's page on the runner has the schema
        #[arg(long)]
        json: bool,
    },
    /// Run the tests of a task, of a day, or of the task that you are at
    Test(test::Options),
    /// Run the tests of the task that you are at whenever you save; keys show hints, the list, the
    /// chapter
    Watch(watch::Options),
    /// The next open task: goal, file, functions, chapter, commands
    Next,
    /// A task's hints, one more with each call; there are three
    Hint(hint::Options),
    /// Find the first intermediate result of your model that differs from the reference's, and the
    /// task that computes it
    Trace(trace::Options),
    /// Check everything that this repository promises
    Verify(verify::Options),
    /// Grade learners' folders: JUnit, Gradescope's results.json, and a table
    Grade(grade::Options),
    /// Build the book and serve it on this machine; options are passed on to the book's builder
    Book {
        /// `--build` only builds it, into book/book
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Measure the reference: tokens per second and memory
    Bench {
        #[command(subcommand)]
        week: bench::Week,
    },
    /// Try every known mistake in tests/wrong, and write the answers and the page that follow from
    /// them
    Matrix(bank::Options),
    /// Put our body where a todo! still stands, so that you can go on; what you have begun stays
    /// yours
    Borrow {
        /// week1-day2
        day: String,
        /// 3; without it, every open task of the day
        task: Option<usize>,
        /// Not this day but all days before it, so that you can begin here
        #[arg(long, conflicts_with = "task")]
        before: bool,
    },
    /// Take out what was borrowed, and put the todo! back
    Return {
        /// week1-day2
        day: String,
        /// 3; without it, the whole day
        task: Option<usize>,
        /// Also what you have changed since; the old file is kept in .course/recovery
        #[arg(long)]
        force: bool,
    },
    /// Show the reference beside your solution of a task, once its tests pass
    Diff {
        /// week1-day2
        day: String,
        /// 3
        task: usize,
        /// Also while they do not
        #[arg(long)]
        spoil: bool,
    },
    /// Bring a newer course under your work: tests, book, reference, runner, and the tasks that you
    /// have not touched
    Update {
        /// A folder with the newer course, or a git ref; without it, the default branch of the
        /// remote upstream, else origin
        from: Option<String>,
        /// Write nothing; list what would change
        #[arg(long)]
        dry_run: bool,
    },
    /// Make src/ from reference/: every task's body becomes a todo!
    Stubs {
        /// Write nothing; fail if src/ differs from what would be written
        #[arg(long, conflicts_with = "force")]
        check: bool,
        /// Replace files that hold your work too; they are kept in .course/recovery
        #[arg(long)]
        force: bool,
    },
}

fn main() -> ExitCode {
    end_with_the_reader();
    match run(Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Lets `cargo course | head` end without a word: a reader that closes the pipe early has seen
/// enough.
fn end_with_the_reader() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload().downcast_ref::<String>().is_some_and(|text| {
            text.starts_with("failed printing to stdout") && text.contains("ipe")
        }) {
            std::process::exit(141);
        }
        usual(panic);
    }));
}

fn run(arguments: Arguments) -> Result<ExitCode> {
    let root = files::repository_root()?;
    // The doctor changes nothing.
    if !matches!(arguments.command, Some(Command::Doctor)) {
        for line in transaction::recover(&root)? {
            eprintln!("{line}");
        }
    }
    let curriculum = Curriculum::load(&root)?;
    match arguments.command {
        None => status::print(&root, &curriculum, false)?,
        Some(Command::Status { json }) => status::print(&root, &curriculum, json)?,
        Some(Command::Test(options)) => return test::test(&root, &curriculum, &options),
        Some(Command::Hint(options)) => hint::print(&root, &curriculum, &options)?,
        Some(Command::Watch(options)) => return watch::watch(&root, &curriculum, &options),
        Some(Command::Next) => status::print_next(&root, &curriculum)?,
        Some(Command::Doctor) => return Ok(environment::doctor(&root, &curriculum)),
        Some(Command::Start) => start::start(&root, &curriculum)?,
        Some(Command::Trace(options)) => return trace::trace(&root, &curriculum, &options),
        Some(Command::Verify(options)) => return verify::verify(&root, curriculum, options),
        Some(Command::Grade(options)) => return grade::grade(&root, &curriculum, &options),
        Some(Command::Book { options }) => {
            let builder = ["run", "--quiet", "--release", "--package", "book-builder", "--"];
            return pass_on(&root, builder.into_iter().chain(options.iter().map(String::as_str)));
        }
        Some(Command::Bench { week }) => bench::run(&root, &week)?,
        Some(Command::Matrix(options)) => bank::run(&root, &curriculum, &options)?,
        Some(Command::Borrow { day, before: true, .. }) => {
            borrow::borrow_before(&root, &curriculum, &day)?;
        }
        Some(Command::Borrow { day, task, .. }) => borrow::borrow(&root, &curriculum, &day, task)?,
        Some(Command::Return { day, task, force }) => {
            borrow::give_back(&root, &curriculum, &day, task, force)?;
        }
        Some(Command::Diff { day, task, spoil }) => {
            diff::diff(&root, &curriculum, &day, task, spoil)?;
        }
        Some(Command::Update { from, dry_run }) => {
            update::update(&root, &curriculum, from.as_deref(), dry_run)?;
        }
        Some(Command::Stubs { check: true, .. }) => {
            let stubs::Checked { equal, yours } = stubs::check(&root, &curriculum)?;
            println!(
                "{equal} files equal what would be generated; {yours} hold your work and were not compared."
            );
        }
        Some(Command::Stubs { force, .. }) => stubs::write(&root, &curriculum, force)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs cargo on this terminal and ends as it does.
fn pass_on<'a>(root: &Path, arguments: impl Iterator<Item = &'a str>) -> Result<ExitCode> {
    let status = process::cargo(root)
        .args(arguments)
        .env_remove("CARGO_TERM_COLOR")
        .status()
        .context("cargo cannot be started")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        <Arguments as clap::CommandFactory>::command().debug_assert();
    }
}
