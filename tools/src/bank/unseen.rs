//! `cargo course matrix --unseen`: held-out mistakes, which are not in the bank.
//!
//! `tests/held-out` lists them in the bank's format. Their answers are not recorded, so they show
//! how well the tests handle mistakes that their authors did not anticipate. A test must fail with
//! each of them. Its message is printed and must be true: a diagnosis that is not in the entry's
//! `shows:` counts as wrong.

use std::{fmt::Write as _, path::Path};

use anyhow::{Result, ensure};

use super::{Entry, Kind, matrix, tree::Bank};
use course::{
    curriculum::{Curriculum, Day},
    explain::{self, Failure},
};

/// Tries all held-out mistakes of some days.
///
/// # Errors
/// If an entry is malformed, no test fails with it, or its diagnosis is wrong.
pub(super) fn run(root: &Path, curriculum: &Curriculum, days: &[&Day]) -> Result<()> {
    let mut entries = super::load_unseen(root, curriculum)?;
    entries.retain(|entry| {
        days.is_empty() || days.iter().any(|day| entry.task.feature == day.feature)
    });
    entries.retain(|entry| super::is_for_here(entry, curriculum));
    let bank = Bank::build(root, curriculum, &entries, None)?;
    try_all(&bank, &entries, true).map(drop)
}

/// Tries the held-out mistakes `entries` in the program of `bank`, and prints only problems.
/// Returns the number of mistakes.
///
/// # Errors
/// The same as for [`run`].
pub(super) fn check(bank: &Bank, entries: &[Entry]) -> Result<usize> {
    try_all(bank, entries, false)
}

fn try_all(bank: &Bank, entries: &[Entry], all: bool) -> Result<usize> {
    let told = matrix::each(entries, |i, entry| try_one(bank, i, entry))?;
    let (mut green, mut misnamed) = (0, 0);
    for told in &told {
        green += usize::from(told.green);
        misnamed += usize::from(told.misnamed);
        if all || told.green || told.misnamed {
            println!("{}", told.text);
        }
    }
    println!("{} mistakes: {green} not caught, {misnamed} named wrongly", told.len());
    ensure!(green + misnamed == 0, "{}", explain::counted(green + misnamed, "problem"));
    Ok(told.len())
}

/// The result of one held-out mistake.
struct Told {
    text: String,
    green: bool,
    misnamed: bool,
}

fn try_one(bank: &Bank, place: usize, entry: &Entry) -> Result<Told> {
    let Kind::Wrong(wrong) = &entry.kind else { unreachable!("only mistakes are loaded") };
    let ran = matrix::tests(&mut bank.tests(entry, place)?)?;
    if let Some(reason) = ran.report.not_verified() {
        let text = format!("== {}: NOT VERIFIED: {reason}", entry.path);
        return Ok(Told { text, green: false, misnamed: false });
    }
    let mut red: Vec<&str> = ran.red().collect();
    red.sort_unstable();
    let mut text = format!(
        "== {}: {}\n   {} of {} tests failed",
        entry.path,
        wrong.says,
        red.len(),
        ran.report.passed.len()
    );
    if !ran.ended {
        text += ", and the run never ended";
    }
    let mut misnamed = false;
    for (i, name) in red.iter().enumerate() {
        let message = Failure::of(&ran.report, name).message;
        let named = explain::diagnosis(&message);
        let is_true = |said: &str| {
            wrong.shows.as_ref().is_some_and(|true_names| {
                true_names.split(" | ").any(|true_name| said.contains(true_name))
            })
        };
        if let Some(said) = named.filter(|said| !is_true(said)) {
            misnamed = true;
            let _ = write!(text, "\n   WRONGLY NAMED by {name}: {said}");
        }
        if i == 0 {
            let _ = write!(text, "\n   {name}\n      {}", message.replace('\n', "\n      "));
        } else if named.is_some() {
            let _ = write!(text, "\n   {name}: {}", named.unwrap_or_default());
        }
    }
    if red.is_empty() && ran.ended {
        text += "  NOT CAUGHT";
    }
    Ok(Told { text, green: red.is_empty() && ran.ended, misnamed })
}
