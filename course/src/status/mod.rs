//! `cargo course`, `cargo course status` and `cargo course next`: the learner's progress, and the
//! next step.

use std::{path::Path, time::SystemTime};

use anyhow::Result;

use crate::{curriculum::Curriculum, ink::Ink, selection::Words, task_states::Status};

mod json;
pub(crate) mod text;

/// Prints the progress and the next step, as JSON if `as_json`.
///
/// # Errors
/// If [`Status::read`] fails.
pub(crate) fn print(root: &Path, curriculum: &Curriculum, as_json: bool) -> Result<()> {
    let status = Status::read(root, curriculum)?;
    if as_json {
        println!("{}", json::text(curriculum, &status));
    } else {
        print!(
            "{}\n{}",
            text::list(curriculum, &status, Ink::of_stdout(), SystemTime::now()),
            text::next(&status)
        );
    }
    Ok(())
}

/// `cargo course next`: prints the next step of the selected task, day or week.
///
/// # Errors
/// If [`Status::read`] fails. Also if there is no such task, day or week.
pub(crate) fn print_next(root: &Path, curriculum: &Curriculum, words: &Words) -> Result<()> {
    let status = Status::read(root, curriculum)?;
    let named = words.asked(curriculum, status.day())?;
    print!("{}", text::next_in(&status, named.as_ref()));
    Ok(())
}
