//! `cargo course test [PLACE]`: runs tests, reports the results, and records them.

use std::{path::Path, process::ExitCode};

use anyhow::Result;

use crate::{
    curriculum::{Curriculum, Day},
    fingerprint,
    ink::Ink,
    results::Results,
    selection::{Selection, Words},
    status,
    task_states::Status,
    test_run,
};

/// Runs the tests of a task, a day or a week. The exit code is 1 if a test fails.
///
/// # Errors
/// If there is no such task, day or week, or cargo cannot be started.
pub(crate) fn test(root: &Path, curriculum: &Curriculum, words: &Words) -> Result<ExitCode> {
    let status = Status::read(root, curriculum)?;
    let asked = words.asked(curriculum, status.day())?;
    let current =
        || status.current().map(|task| Selection::Task(task.day, task.id.clone(), task.task));
    let runs: Vec<(&Day, Option<usize>)> = match asked.or_else(current) {
        None => {
            print!("{}", status::text::step(None));
            return Ok(ExitCode::SUCCESS);
        }
        Some(Selection::Task(day, id, _)) => vec![(day, Some(id.task))],
        Some(Selection::Day(day)) => vec![(day, None)],
        Some(Selection::Week(week)) => week.days.iter().map(|day| (day, None)).collect(),
    };
    let ink = Ink::of_stdout();
    let mut passed = true;
    for (n, (day, task)) in runs.iter().enumerate() {
        let fingerprints = fingerprint::all(root, curriculum);
        let results = Results::new(root, day, *task, test_run::run(root, day, *task, ink)?);
        results.remember(root, &fingerprints);
        print!("{}{}", if n > 0 { "\n" } else { "" }, results.tell(ink));
        passed &= results.passed();
    }
    if !passed {
        return Ok(ExitCode::FAILURE);
    }
    if let Some((day, _)) = runs.last() {
        let status = Status::read(root, curriculum)?;
        println!("\n{}", status::text::next_after(&status, day).trim_end());
    }
    Ok(ExitCode::SUCCESS)
}
