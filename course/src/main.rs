//! The runner behind `cargo course`.
//!
//! It does not link the learner's crate, so it runs while that crate does not compile.

use anyhow::Result;
use clap::{Parser, Subcommand};

mod curriculum;
mod files;
mod learner;
mod source;
mod stubs;
mod template;
#[cfg(test)]
mod testing;

use curriculum::Curriculum;

/// Guides through the course and checks it.
#[derive(Debug, Parser)]
#[command(name = "cargo course", bin_name = "cargo course", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Makes src/ from reference/: every task's body becomes a todo!
    Stubs {
        /// Write nothing; fail if src/ differs from what would be written
        #[arg(long, conflicts_with = "force")]
        check: bool,
        /// Replace files that hold your work too; they are kept in .course/recovery
        #[arg(long)]
        force: bool,
    },
}

fn main() -> std::process::ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<()> {
    let root = files::repository_root()?;
    let curriculum = Curriculum::load(&root)?;
    match arguments.command {
        Command::Stubs { check: true, .. } => {
            let stubs::Checked { equal, yours } = stubs::check(&root, &curriculum)?;
            println!("{equal} files equal what would be generated, {yours} are yours.");
            Ok(())
        }
        Command::Stubs { force, .. } => stubs::write(&root, &curriculum, force),
    }
}
