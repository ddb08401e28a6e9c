//! The bank of misconceptions: `tests/wrong` and `tests/alternate`, and what is proved and derived
//! from them.
//!
//! - `tests/wrong/week1_day3/task_2.txt` lists the mistakes of a task, each as what it changes in a
//!   marked region of the reference ([`change`]), with what the learner is told ([`wrong`]). Where
//!   an answer is no tensor and too small to tell mistakes apart, `shows` is a part of the message
//!   of a test that fails by it, and diagnosis is that message.
//! - `tests/alternate/week1_day3/task_2_loop.rs` is a correct body of another shape, and all tests
//!   must pass with it ([`alternate`]).
//!
//! All bodies are compiled into one program ([`crate::proof`]), and an environment variable
//! chooses one, so that trying one costs a run and no build. [`matrix`] runs them;
//! [`data`] keeps the wrong answers for the tests, [`page`] is the book's kill matrix.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};

use crate::{
    curriculum::{Curriculum, Task, TaskId},
    proof::Variant,
    source::normalise,
    stubs::generated,
};

mod alternate;
mod answers;
pub(crate) mod change;
mod command;
mod data;
pub(crate) mod matrix;
mod page;
mod prove;
mod tokens;
mod tree;
mod unseen;
mod wrong;

pub(crate) use command::{Options, run, verify_elsewhere};
pub(crate) use prove::Bodies;
use wrong::Regions;

/// Another body for a function of the reference.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// For messages: `tests/wrong/week1_day3/task_2.txt:14: top_left`
    pub(crate) path: String,
    /// `task_2_top_left`
    pub(crate) name: String,
    pub(crate) task: TaskId,
    pub(crate) function: String,
    pub(crate) kind: Kind,
    pub(crate) body: String,
}

/// What an entry proves.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// The task's tests must fail, and the learner must be told why.
    Wrong(Wrong),
    /// The day's tests must pass.
    Alternate,
}

/// A misconception.
#[derive(Debug, Clone)]
pub(crate) struct Wrong {
    pub(crate) id: String,
    /// One sentence to the learner.
    pub(crate) says: String,
    /// `Day 3, “Task 2: the causal mask” (book/src/week1/day3.md)`
    pub(crate) read: String,
    /// A part of a failing test's message, where the answer is no tensor.
    pub(crate) shows: Option<String>,
    /// What `cargo course trace` says of it, in this order; asked of entries that have it.
    pub(crate) trace: Vec<String>,
    /// Tests in which threads meet the mistake or do not: whether they fail is luck, so that they
    /// are not run.
    pub(crate) by_luck: Vec<String>,
}

/// All entries: the wrong ones by day and name, then the alternates.
///
/// # Errors
/// If a file is malformed or does not fit the curriculum or the reference; all such places are
/// named.
pub(crate) fn load(root: &Path, curriculum: &Curriculum) -> Result<Vec<Entry>> {
    let (mut entries, mut problems) = mistakes(root, curriculum, "tests/wrong")?;
    let (alternates, more) = alternates(root, curriculum)?;
    entries.extend(alternates);
    problems.extend(more);
    ensure!(problems.is_empty(), "{} malformed entries\n{}", problems.len(), problems.join("\n"));
    Ok(entries)
}

/// The correct bodies by day and name, and what is wrong with their files.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn alternates(
    root: &Path,
    curriculum: &Curriculum,
) -> Result<(Vec<Entry>, Vec<String>)> {
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for day in curriculum.days() {
        for path in files(root, &format!("tests/alternate/{}", day.module()), ".rs")? {
            match alternate::entry(&path, &read(root, &path)?, day) {
                Ok(entry) => entries.push(entry),
                Err(error) => problems.push(format!("{path}: {error:#}")),
            }
        }
    }
    Ok((entries, problems))
}

/// The name of the file of wrong answers that an entry's belong to: its day's, or one of its own
/// for tasks of a kind of processor that most machines that run the bank do not have.
fn answers_file(entry: &Entry, curriculum: &Curriculum) -> String {
    let module = entry.task.feature.replace('-', "_");
    let task = curriculum.task(&entry.task);
    match task.ok().and_then(|task| task.architecture.as_deref()) {
        None | Some("x86_64") => module,
        Some(architecture) => format!("{module}_{architecture}"),
    }
}

/// The tests that meet an entry's mistake by luck alone.
fn by_luck(entry: &Entry) -> &[String] {
    match &entry.kind {
        Kind::Wrong(wrong) => &wrong.by_luck,
        Kind::Alternate => &[],
    }
}

/// Whether this machine's processor runs an entry.
fn is_for_here(entry: &Entry, curriculum: &Curriculum) -> bool {
    curriculum.task(&entry.task).is_ok_and(Task::is_for_here)
}

/// The mistakes that nothing is learnt from.
///
/// # Errors
/// As [`load`].
fn load_unseen(root: &Path, curriculum: &Curriculum) -> Result<Vec<Entry>> {
    let (entries, problems) = mistakes(root, curriculum, "tests/unseen")?;
    ensure!(problems.is_empty(), "{} malformed entries\n{}", problems.len(), problems.join("\n"));
    Ok(entries)
}

/// The mistakes of a folder by day and name, and what is wrong with its files.
fn mistakes(
    root: &Path,
    curriculum: &Curriculum,
    folder: &str,
) -> Result<(Vec<Entry>, Vec<String>)> {
    let regions = regions(root, curriculum)?;
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for day in curriculum.days() {
        let files = files(root, &format!("{folder}/{}", day.module()), ".txt")?;
        if files.is_empty() {
            continue;
        }
        let chapter = read(root, &day.chapter)?;
        let mut of_day = Vec::new();
        for path in files {
            let text = read(root, &path)?;
            let (found, faults) = wrong::entries(&path, &text, day, &chapter, &regions);
            of_day.extend(found);
            problems.extend(faults);
        }
        // The order of the book's page and of the recorded answers.
        of_day.sort_by(|a, b| a.name.cmp(&b.name));
        entries.extend(of_day);
    }
    Ok((entries, problems))
}

/// The entries' bodies; entry `i` has the number `i + 1`.
///
/// # Errors
/// If a task is not in the curriculum.
pub(crate) fn variants<'a>(
    curriculum: &'a Curriculum,
    entries: &'a [Entry],
) -> Result<Vec<Variant<'a>>> {
    let variant = |(i, entry): (usize, &'a Entry)| {
        Ok(Variant {
            number: i + 1,
            file: &curriculum.task(&entry.task)?.file,
            function: &entry.function,
            place: &entry.path,
            body: &entry.body,
        })
    };
    entries.iter().enumerate().map(variant).collect()
}

/// Every marked body of the reference, without its indentation.
fn regions(root: &Path, curriculum: &Curriculum) -> Result<Regions> {
    let mut regions = Regions::new();
    for file in generated(root, curriculum)? {
        for region in file.template.regions() {
            if let Some(function) = &region.function {
                let body = region.body("").join("\n");
                regions.insert((file.path.clone(), function.clone()), body);
            }
        }
    }
    Ok(regions)
}

/// The files of a folder, sorted; none if there is no folder.
fn files(root: &Path, folder: &str, ending: &str) -> Result<Vec<String>> {
    if !root.join(folder).is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join(folder))? {
        let path = format!("{folder}/{}", entry?.file_name().to_string_lossy());
        ensure!(path.ends_with(ending), "{path}: only files that end in {ending} belong here");
        files.push(path);
    }
    files.sort();
    Ok(files)
}

fn read(root: &Path, path: &str) -> Result<String> {
    let text =
        fs::read_to_string(root.join(path)).with_context(|| format!("{path} cannot be read"))?;
    Ok(normalise(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_fits_the_reference() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let entries =
            load(root, &Curriculum::load(root).unwrap()).unwrap_or_else(|e| panic!("{e:#}"));
        let wrong = entries.iter().filter(|entry| matches!(entry.kind, Kind::Wrong(_))).count();
        assert!(wrong > 1000 && entries.len() > wrong);
    }
}
