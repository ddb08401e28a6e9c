//! The bank of misconceptions: everything that is checked with, or derived from, `tests/wrong`,
//! `tests/held-out` and `tests/alternate`.
//!
//! Each folder has one file per day, all in the same format ([`listed`]). The files list bodies for
//! functions of the reference, each as a change to the marked region ([`change`]).
//!
//! - `tests/wrong/week1_day3.txt` lists mistakes, each with its diagnosis. Some answers aren't
//!   tensors and are too small to distinguish mistakes. The learner then sees only the failing
//!   test's message. The entry's `shows` must be a part of it.
//! - `tests/held-out` lists mistakes that the recorded wrong answers do not include ([`unseen`]).
//! - `tests/alternate` lists correct alternative bodies. All tests must pass with them.
//!
//! All bodies are compiled into one program ([`crate::proof`]), and an environment variable selects
//! one, so trying another body needs another run but no build. [`matrix`] runs them, and [`data`]
//! stores the wrong answers for the tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context, Result, ensure};

use crate::{
    curriculum::{Curriculum, Task, TaskId},
    proof::Variant,
    source::normalise,
    stubs::generated,
};

mod answers;
pub(crate) mod change;
mod command;
mod data;
mod listed;
pub(crate) mod matrix;
mod prove;
mod tokens;
mod tree;
mod unseen;

use change::Region;
pub(crate) use command::{Options, run, verify_elsewhere};
pub(crate) use prove::Bodies;

/// Code of the reference's marked regions, by file and function, such as `src/week1/gqa/gqa.rs` and
/// `causal_mask`.
type Regions = BTreeMap<(String, String), Region>;

/// An entry of the bank: another body for a function of the reference.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Location for messages: `tests/wrong/week1_day3.txt:14: top_left`.
    pub(crate) path: String,
    /// Name, such as `task_2_top_left`.
    pub(crate) name: String,
    pub(crate) task: TaskId,
    pub(crate) function: String,
    pub(crate) kind: Kind,
    pub(crate) body: String,
}

/// The purpose of an entry.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// The task's tests must fail, and their message must name the mistake.
    Wrong(Wrong),
    /// The day's tests must pass.
    Alternate,
}

/// A misconception.
#[derive(Debug, Clone)]
pub(crate) struct Wrong {
    /// Diagnosis for the learner, in one sentence.
    pub(crate) says: String,
    /// Where to read about it: `Day 3, “Task 2: the causal mask” (book/src/week1/day3.md)`.
    pub(crate) read: String,
    /// If the wrong answer is not a tensor: a part of the failing test's message. For a held-out
    /// mistake: parts of diagnoses that are true, separated by ` | `.
    pub(crate) shows: Option<String>,
    /// Texts that `cargo course trace` must print about the mistake, in this order. If there are
    /// none, the trace is not checked.
    pub(crate) trace: Vec<String>,
    /// Tests that may or may not detect the mistake, depending on the timing of threads. They are
    /// not run.
    pub(crate) by_luck: Vec<String>,
}

/// Loads all entries of the bank: the mistakes by day and name, then the alternatives.
///
/// # Errors
/// If a file is malformed or does not match the curriculum or the reference. The message names all
/// such places.
pub(crate) fn load(root: &Path, curriculum: &Curriculum) -> Result<Vec<Entry>> {
    let (mut entries, mut problems) = entries(root, curriculum, "tests/wrong")?;
    let (alternates, more) = alternates(root, curriculum)?;
    entries.extend(alternates);
    problems.extend(more);
    ensure!(problems.is_empty(), "malformed entries: {}\n{}", problems.len(), problems.join("\n"));
    Ok(entries)
}

/// Returns the correct alternative bodies, sorted by day and name, and the problems in their files.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn alternates(
    root: &Path,
    curriculum: &Curriculum,
) -> Result<(Vec<Entry>, Vec<String>)> {
    let (mut entries, problems) = entries(root, curriculum, "tests/alternate")?;
    for entry in &mut entries {
        entry.kind = Kind::Alternate;
    }
    Ok((entries, problems))
}

/// Returns the name of the file for an entry's wrong answers: the day's file, or a separate one for
/// tasks that need a processor most machines do not have.
fn answers_file(entry: &Entry, curriculum: &Curriculum) -> String {
    let module = entry.task.feature.replace('-', "_");
    let task = curriculum.task(&entry.task);
    match task.ok().and_then(|task| task.architecture.as_deref()) {
        None | Some("x86_64") => module,
        Some(architecture) => format!("{module}_{architecture}"),
    }
}

/// Returns the tests that detect an entry's mistake only by luck.
fn by_luck(entry: &Entry) -> &[String] {
    match &entry.kind {
        Kind::Wrong(wrong) => &wrong.by_luck,
        Kind::Alternate => &[],
    }
}

/// Returns whether this machine's processor can run an entry.
fn is_for_here(entry: &Entry, curriculum: &Curriculum) -> bool {
    curriculum.task(&entry.task).is_ok_and(Task::is_for_here)
}

/// Loads the held-out mistakes.
///
/// # Errors
/// If a file is malformed or does not match the curriculum or the reference.
fn load_unseen(root: &Path, curriculum: &Curriculum) -> Result<Vec<Entry>> {
    let (entries, problems) = entries(root, curriculum, "tests/held-out")?;
    ensure!(problems.is_empty(), "malformed entries: {}\n{}", problems.len(), problems.join("\n"));
    Ok(entries)
}

/// Returns the entries in `folder`, sorted by day and name, and the problems in its files.
fn entries(
    root: &Path,
    curriculum: &Curriculum,
    folder: &str,
) -> Result<(Vec<Entry>, Vec<String>)> {
    let regions = regions(root, curriculum)?;
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    let mut files = files(root, folder)?;
    for day in curriculum.days() {
        let path = format!("{folder}/{}.txt", day.module());
        if !files.remove(&path) {
            continue;
        }
        let chapter = read(root, &day.chapter)?;
        let (mut of_day, faults) =
            listed::entries(&path, &read(root, &path)?, day, &chapter, &regions);
        problems.extend(faults);
        // The recorded answers are in this order.
        of_day.sort_by(|a, b| a.name.cmp(&b.name));
        entries.extend(of_day);
    }
    problems.extend(files.iter().map(|path| {
        format!("{path}: no day has this name; expected a file such as week1_day3.txt")
    }));
    Ok((entries, problems))
}

/// Returns the bodies of `entries` for the proof program. The body of `entries[i]` gets the number
/// `i + 1`.
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

/// Returns every marked body of the reference, without its indentation.
fn regions(root: &Path, curriculum: &Curriculum) -> Result<Regions> {
    let mut regions = Regions::new();
    for file in generated(root, curriculum)? {
        for region in file.template.regions() {
            if let Some(function) = &region.function {
                let body = region.body("").join("\n");
                regions.insert((file.path.clone(), function.clone()), Region::new(body)?);
            }
        }
    }
    Ok(regions)
}

/// Returns the files of a folder, except its README.
fn files(root: &Path, folder: &str) -> Result<BTreeSet<String>> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(root.join(folder)).with_context(|| format!("no folder {folder}"))? {
        files.insert(format!("{folder}/{}", entry?.file_name().to_string_lossy()));
    }
    files.remove(&format!("{folder}/README.md"));
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
