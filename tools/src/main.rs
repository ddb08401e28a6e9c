//! What maintainers and instructors run through `cargo course`: verification, stubs, the bank of
//! misconceptions, measurements, grading. Learners' commands are in `course/`, which builds and
//! starts this program when one of these is asked for.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
#[cfg(test)]
use course::testing;
use course::{
    cli::{end_with_the_reader, ended},
    curriculum::{self, Curriculum},
    engine, environment, files, hint, libtest, process, processor, progress, source, stubs,
    template,
};

mod bank;
mod bench;
mod consistency;
mod grade;
mod pristine;
mod proof;
mod verify;

/// Keeps the course, and its learners' results, in order
#[derive(Debug, Parser)]
#[command(name = "cargo course", bin_name = "cargo course", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check that everything works on this machine
    Verify(verify::Options),
    /// Grade learners' folders: JUnit, Gradescope's results.json, and a table
    Grade(grade::Options),
    /// Measure the reference: tokens per second and memory
    Bench {
        #[command(subcommand)]
        week: bench::Week,
    },
    /// Try every known mistake in tests/wrong, and write the wrong answers to tests/fixtures/wrong
    Matrix(bank::Options),
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
    if let Some(code) = grade::reader::run() {
        return code;
    }
    end_with_the_reader();
    ended(run(Arguments::parse()))
}

fn run(arguments: Arguments) -> Result<ExitCode> {
    let root = files::repository_root()?;
    let curriculum = Curriculum::load(&root)?;
    match arguments.command {
        Command::Verify(options) => return verify::verify(&root, curriculum, options),
        Command::Grade(options) => return grade::grade(&root, &curriculum, &options),
        Command::Bench { week } => bench::run(&root, &week)?,
        Command::Matrix(options) => bank::run(&root, &curriculum, &options)?,
        Command::Stubs { check: true, .. } => {
            let stubs::Checked { equal, yours } = stubs::check(&root, &curriculum)?;
            println!(
                "{equal} files equal what would be generated; {yours} hold your work and were not \
                 compared."
            );
        }
        Command::Stubs { force, .. } => stubs::write(&root, &curriculum, force)?,
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        <Arguments as clap::CommandFactory>::command().debug_assert();
    }
}
