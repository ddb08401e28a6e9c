//! Commands of `cargo course` for maintainers and instructors: verification, stubs, the bank of
//! misconceptions, measurements, grading. The learners' commands are in `course/`. The runner there
//! builds and starts this program for the commands here.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
#[cfg(test)]
use course::testing;
use course::{
    cli::{end_with_the_reader, ended},
    curriculum::{self, Curriculum},
    environment, files, hint, libtest, process, processor, progress, source, stubs, template,
};

mod bank;
mod bench;
mod consistency;
mod grade;
mod pristine;
mod proof;
mod verify;

/// Tools for maintainers and instructors
#[derive(Debug, Parser)]
#[command(name = "cargo course", bin_name = "cargo course", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check the course on this machine (--thorough: everything)
    Verify(verify::Options),
    /// Grade learners' folders (writes JUnit, Gradescope's results.json and a table)
    Grade(grade::Options),
    /// Measure speed, memory or quality
    Bench {
        #[command(subcommand)]
        week: bench::Week,
    },
    /// Run the tests with each known mistake in turn, and record the wrong answers
    Matrix(bank::Options),
    /// Generate src/ from reference/, with a todo! for every task
    Stubs {
        /// Write nothing, and fail if src/ is out of date
        #[arg(long, conflicts_with = "force")]
        check: bool,
        /// Also replace files that contain your work (the old files are kept in .course/recovery)
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
                "{equal} files are as generated. {yours} contain your work and were not compared."
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
