//! `cargo course borrow` and `cargo course return`: replace a `todo!` with the reference's body,
//! and restore the `todo!`.
//!
//! Functions that the learner has begun or written are listed and left unchanged. A borrowed body
//! that was edited also counts as the learner's work: without `--force`, `return` refuses to remove
//! it and changes nothing at all.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::{
    curriculum::{Curriculum, Day, Task, TaskId},
    explain::counted,
    files::Recovery,
    learner::State,
    marks,
    replace::{Replacement, replace},
    selection::{Selection, Words},
    stubs::{Generated, generated},
    task_states::Status,
};

#[cfg(test)]
mod tests;

/// `cargo course borrow PLACE`: borrows every open task of PLACE.
///
/// # Errors
/// If there is nothing to borrow, because every function is the learner's or already borrowed. Also
/// if one of the learner's items has the name of a required helper, or a file cannot be written.
pub(crate) fn borrow(root: &Path, curriculum: &Curriculum, words: &Words) -> Result<()> {
    let asked = asked(root, curriculum, words)?;
    fill_in(root, curriculum, &asked.tasks(), &asked.typed())?;
    println!("To undo this, run `cargo course return {}`.", asked.typed());
    Ok(())
}

/// `cargo course borrow --before DAY`: borrows every open task of the days before DAY.
///
/// # Errors
/// The same as for [`borrow`]. Also if DAY is the first day.
pub(crate) fn borrow_before(root: &Path, curriculum: &Curriculum, words: &Words) -> Result<()> {
    let asked = asked(root, curriculum, words)?;
    let first = asked.tasks().first().map(|(id, _)| id.feature.clone());
    let before: Vec<&Day> =
        curriculum.days().take_while(|day| Some(&day.feature) != first.as_ref()).collect();
    ensure!(
        !before.is_empty(),
        "{} is the first day: there is no earlier day to borrow from",
        asked.typed()
    );
    let tasks: Vec<_> = before.iter().flat_map(|day| day.tasks()).collect();
    fill_in(root, curriculum, &tasks, &format!("the days before {}", asked.typed()))?;
    println!("To undo this for one day, run `cargo course return DAY`.");
    Ok(())
}

/// Borrows the open functions of `tasks`, which messages call `name`.
fn fill_in(
    root: &Path,
    curriculum: &Curriculum,
    tasks: &[(TaskId, &Task)],
    name: &str,
) -> Result<()> {
    let files = generated(root, curriculum)?;
    let (mut changes, mut borrowed, mut left, mut before) = (vec![], vec![], vec![], 0);
    for (id, task) in tasks {
        let file = file_of(&files, task)?;
        for function in &task.functions {
            let why = match file.state(function) {
                State::Untouched | State::Stale => continue,
                State::Borrowed => {
                    before += 1;
                    continue;
                }
                State::Begun => "you have started it",
                State::Written => "you have written it",
                State::Missing => "it is missing, or isn't formatted like rustfmt's output",
            };
            left.push(format!("{id}: {function} was not borrowed, because {why} ({})", task.file));
        }
    }
    for file in &files {
        let Some(raw) = &file.raw else { continue };
        let wanted = |id: &TaskId, function: &str| {
            tasks.iter().any(|(asked, _)| asked == id)
                && matches!(file.state(function), State::Untouched | State::Stale)
        };
        let (text, functions) =
            marks::put_in(&file.template, raw, wanted).context(file.path.clone())?;
        if !functions.is_empty() {
            changes.push(change(file, raw, text));
            borrowed.push(format!("{}: borrowed {}", file.path, functions.join(", ")));
        }
    }
    for line in &left {
        println!("{line}");
    }
    if before > 0 {
        let functions = counted(before, "function");
        println!("{name}: {functions} already borrowed, so left unchanged");
    }
    ensure!(
        !borrowed.is_empty(),
        "no function in {name} is still a stub, so there is nothing to borrow"
    );
    replace(root, &mut Recovery::new(root), &changes)?;
    for line in &borrowed {
        println!("{line}");
    }
    Ok(())
}

fn change(file: &Generated, raw: &str, text: String) -> Replacement {
    let (old, new) = (Some(raw.into()), Some(text.into_bytes()));
    Replacement { path: file.path.clone(), old, new, keep: true }
}

/// `cargo course return PLACE [--force]`: removes the borrowed code of PLACE.
///
/// # Errors
/// If nothing is borrowed, a mark is not closed, or a borrowed body was changed and `force` is not
/// given.
pub(crate) fn give_back(
    root: &Path,
    curriculum: &Curriculum,
    words: &Words,
    force: bool,
) -> Result<()> {
    let asked = asked(root, curriculum, words)?;
    let (tasks, typed) = (asked.tasks(), asked.typed());
    let (mut changes, mut returned, mut edited) = (Vec::new(), Vec::new(), Vec::new());
    for file in generated(root, curriculum)? {
        let Some(raw) = &file.raw else { continue };
        let chosen = |id: &TaskId| tasks.iter().any(|(asked, _)| asked == id);
        let (text, taken) = marks::take_out(&file.template, raw, |mark| chosen(&mark.task));
        // Leave a file unchanged if only helpers of other tasks would be removed from it.
        if !taken.iter().any(|mark| chosen(&mark.task)) {
            continue;
        }
        for mark in &taken {
            if let Some(open) = mark.unclosed() {
                bail!(
                    "{}:{open}: `// BORROWED {}` without `// END BORROWED`; nothing was changed. \
                     Add `// END BORROWED` after the borrowed code",
                    file.path,
                    mark.task
                );
            }
            if !mark.intact {
                edited.push(format!("  {}:{}: {}", file.path, mark.lines.start + 1, mark.name()));
            }
        }
        changes.push(change(&file, raw, text));
        let names: Vec<String> = taken.iter().map(marks::Mark::name).collect();
        returned.push(format!("{}: returned {}", file.path, names.join(", ")));
    }
    ensure!(
        !returned.is_empty(),
        "found no code from `cargo course borrow` in {typed}, so there is nothing to return"
    );
    ensure!(
        edited.is_empty() || force,
        "nothing was returned, because you have changed borrowed code:\n\
         {}\n\
         To keep your changes, remove the comments `// BORROWED …` and `// END BORROWED`. To \
         discard them, run `cargo course return {} --force`, which keeps the old file in \
         .course/recovery",
        edited.join("\n"),
        typed
    );
    let mut recovery = Recovery::new(root);
    replace(root, &mut recovery, &changes)?;
    for line in &returned {
        println!("{line}");
    }
    if !edited.is_empty() {
        recovery.print();
    }
    Ok(())
}

fn asked<'a>(root: &Path, curriculum: &'a Curriculum, words: &Words) -> Result<Selection<'a>> {
    let here = Status::read(root, curriculum)?.day();
    let asked = words.asked(curriculum, here)?;
    asked.context("name a day, or a day and a task, for example week1-day2 3")
}

fn file_of<'a>(files: &'a [Generated], task: &Task) -> Result<&'a Generated> {
    let file = files.iter().find(|file| file.path == task.file && file.raw.is_some());
    file.with_context(|| format!("{} is missing; `cargo course stubs` writes it", task.file))
}
