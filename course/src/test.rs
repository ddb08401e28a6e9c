//! `cargo course test [DAY] [TASK]`: runs tests, says what came of them, and remembers it.

use std::{path::Path, process::ExitCode, time::Duration};

use anyhow::Result;
use clap::Args;

use crate::{
    curriculum::{Curriculum, Day},
    fingerprint,
    ink::Ink,
    judge::{self, Judged},
    process,
    progress::Line,
    status::{self, Status},
    trial::Trial,
};

/// What to test.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// week1-day1; without it, the task that you are at
    day: Option<String>,
    /// 1; without it, the whole day
    #[arg(requires = "day")]
    task: Option<usize>,
}

/// Runs a task's tests or a day's. The exit code is 1 if one is red.
///
/// # Errors
/// If there is no such day or task, or cargo cannot be started.
pub(crate) fn test(root: &Path, curriculum: &Curriculum, options: &Options) -> Result<ExitCode> {
    let Some((day, task)) = chosen(root, curriculum, options)? else {
        println!(
            "Every task has passed or is borrowed. Check a day again: cargo course test week1-day1"
        );
        return Ok(ExitCode::SUCCESS);
    };
    let ink = Ink::of_stdout();
    let fingerprints = fingerprint::all(root, curriculum);
    let trial = Trial::new(root, day, task, run(root, day, task, ink)?);
    trial.remember(root, &fingerprints);
    print!("{}", trial.tell(ink));
    if !trial.passed() {
        return Ok(ExitCode::FAILURE);
    }
    println!("\n{}", status::next_after(&Status::read(root, curriculum)?, day).trim_end());
    Ok(ExitCode::SUCCESS)
}

fn chosen<'a>(
    root: &Path,
    curriculum: &'a Curriculum,
    options: &Options,
) -> Result<Option<(&'a Day, Option<usize>)>> {
    Ok(match (&options.day, options.task) {
        (None, _) => {
            Status::read(root, curriculum)?.current(None).map(|task| (task.day, Some(task.id.task)))
        }
        (Some(day), None) => Some((curriculum.day(day)?, None)),
        (Some(day), Some(task)) => Some((curriculum.named(day, task)?.0, Some(task))),
    })
}

/// Runs to the end; a build of libraries shows how far it has come.
fn run(root: &Path, day: &Day, task: Option<usize>, ink: Ink) -> Result<Judged> {
    let mut command = judge::command(root, day, task);
    if ink.has_colour() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let (mut line, start) = (Line::new(), std::time::Instant::now());
    let finished = process::run(&mut command, |output| {
        if let Some(now) = crate::explain::build_step(output)
            && start.elapsed() > Duration::from_millis(500)
        {
            line.show(&now);
        }
    });
    line.clear();
    Ok(Judged::of(finished?))
}
