//! `cargo course stubs`: generates the learner's `src/weekN` from `reference/src/weekN`.
//!
//! - Code without tasks is in `provided/`, which both crates share. In `src/` and `reference/src/`,
//!   only a folder's `mod.rs` has no task.
//! - A file's first comment lists its tasks. The list is also written to the reference.
//! - Every task's body becomes `todo!("week1-day1 task 2: …")`, and helpers are removed. Everything
//!   else is unchanged.
//! - If a file contains a learner's work, the command refuses to replace it and names the
//!   functions. `--force` keeps the old file under `.course/recovery/<time>/` and then writes the
//!   stubs.
//! - Any other file that the command replaces is also kept in `.course/recovery/<time>/`.
//! - A body that `cargo course borrow` has inserted stays borrowed. `--force` removes it. If the
//!   learner has edited it, it counts as work.
//! - `--check` writes nothing, and fails if a file differs from the generated one. Files with a
//!   learner's work are only listed, not compared.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    curriculum::Curriculum,
    files::{self, Recovery},
    learner::{State, function_state},
    marks::{self, Mark},
    process::run_quietly,
    replace::{Replacement, replace},
    source::{names, normalise},
    task_list::with_list,
    template::Template,
};

#[cfg(test)]
mod tests;

/// A generated file, and the learner's present version of it.
#[derive(Debug)]
pub struct Generated {
    /// Path, such as `src/week1/attention/attention.rs`.
    pub path: String,
    /// The reference's file with its markers.
    pub template: Template,
    /// The contents that the file should have without a learner's work.
    pub stub: String,
    /// The learner's file with `\n` line ends, or `None` if it does not exist.
    pub current: Option<String>,
    /// The learner's file as on disk.
    pub raw: Option<String>,
}

impl Generated {
    /// Returns the names of the functions that contain a learner's work, then of the borrowed
    /// helpers that the learner has changed.
    pub fn work(&self) -> Vec<String> {
        if self.current.is_none() {
            return Vec::new();
        }
        let functions = self.template.regions().filter_map(|region| region.function.clone());
        let edited = self
            .marks()
            .into_iter()
            .filter(|mark| mark.function.is_none() && !mark.intact)
            .map(|mark| mark.name());
        functions.filter(|function| self.state(function).is_work()).chain(edited).collect()
    }

    /// Returns the state of `function` in the learner's file.
    pub fn state(&self, function: &str) -> State {
        let Some(current) = &self.current else { return State::Missing };
        let state = function_state(&self.stub, current, function);
        let borrowed = |mark: &Mark| mark.intact && mark.function.as_deref() == Some(function);
        if self.marks().iter().any(borrowed) {
            let (returned, _) = marks::take_out_intact(&self.template, current);
            if !function_state(&self.stub, &returned, function).is_work() {
                return State::Borrowed;
            }
        }
        state
    }

    /// Returns the names of the items that the learner's file has but the stub lacks.
    ///
    /// An item that only an older reference had would look like one of the learner's items. So if a
    /// file exactly equals the stub of the last commit's reference, its items don't count as the
    /// learner's.
    fn own_items(&self, root: &Path, curriculum: &Curriculum) -> Vec<String> {
        let Some(current) = &self.current else { return Vec::new() };
        let (returned, _) = marks::take_out_intact(&self.template, current);
        let known = names(&self.stub);
        let own: Vec<String> =
            names(&returned).into_iter().filter(|n| !known.contains(n)).collect();
        if own.is_empty()
            || committed_stub(root, &self.path, curriculum).as_ref() == Some(&returned)
        {
            return Vec::new();
        }
        own.into_iter().map(|name| format!("{name} (not part of a task)")).collect()
    }

    /// Returns the borrowed parts of the file.
    pub fn marks(&self) -> Vec<Mark> {
        self.current.as_ref().map_or_else(Vec::new, |current| marks::marks(&self.template, current))
    }

    /// Returns whether the file equals the stub, apart from borrowed code.
    pub fn is_stub(&self) -> bool {
        self.current
            .as_ref()
            .is_some_and(|current| marks::take_out_intact(&self.template, current).0 == self.stub)
    }
}

/// Returns all generated files.
///
/// # Errors
/// If a marker is wrong, or a function of the curriculum has no region.
pub fn generated(root: &Path, curriculum: &Curriculum) -> Result<Vec<Generated>> {
    let mut reference = Vec::new();
    for path in files_of(root, "reference/src")?.into_iter().filter(|path| is_generated(path)) {
        let text = read(&root.join("reference").join(&path))?;
        reference.push((path, text));
    }
    let file = |(path, template): (String, Template)| {
        let stub = template.stub();
        let raw = if root.join(&path).exists() { Some(read(&root.join(&path))?) } else { None };
        let current = raw.as_deref().map(normalise);
        Ok(Generated { path, template, stub, current, raw })
    };
    let templates = templates(reference, curriculum).context(
        "reference/ does not match course/curriculum.toml (if an update was interrupted, run \
         `cargo course update` again)",
    )?;
    templates.into_iter().map(file).collect()
}

/// Returns the stub that the reference of the last commit generates for the file at `path`. Returns
/// `None` if git doesn't have that version.
fn committed_stub(root: &Path, path: &str, curriculum: &Curriculum) -> Option<String> {
    let file = format!("reference/{path}");
    let mut git = Command::new("git");
    let show = run_quietly(git.args(["show", &format!("HEAD:./{file}")]).current_dir(root)).ok()?;
    let text = show.status.success().then_some(show.output)?;
    Template::parse(&file, &text, curriculum).ok().map(|template| template.stub())
}

/// Parses the reference's files, pairs such as `(src/week1/attention/attention.rs, text)`.
///
/// # Errors
/// If a marker is wrong, or a function of the curriculum has no region.
pub fn templates(
    reference: Vec<(String, String)>,
    curriculum: &Curriculum,
) -> Result<Vec<(String, Template)>> {
    let parse = |(path, text): (String, String)| {
        let template = Template::parse(&format!("reference/{path}"), &text, curriculum)?;
        Ok((path, template))
    };
    let files = reference.into_iter().map(parse).collect::<Result<Vec<_>>>()?;
    for (id, task) in curriculum.tasks() {
        let file = files.iter().find(|(path, _)| *path == task.file);
        let (_, template) =
            file.with_context(|| format!("{id}: reference/{} does not exist", task.file))?;
        for function in &task.functions {
            let there = template
                .regions()
                .any(|region| region.task == id && region.function.as_ref() == Some(function));
            ensure!(
                there,
                "reference/{}: {function} has no region `// SOLUTION {id}`, but the curriculum \
                 lists it",
                task.file
            );
        }
    }
    Ok(files)
}

/// Writes the stubs and prints what was written.
///
/// # Errors
/// If [`generated`] fails. Also if a file contains a learner's work and `force` is not given, or a
/// write fails.
pub fn write(root: &Path, curriculum: &Curriculum, force: bool) -> Result<()> {
    let (mut files, mut refused) = (Vec::new(), Vec::new());
    for file in generated(root, curriculum)? {
        if let Some((path, text)) = outdated_list(root, &file)? {
            files::write_atomically(&root.join(&path), text)?;
            println!("{path}: updated the list of tasks at the top");
        }
    }
    for file in generated(root, curriculum)? {
        if file.current.as_ref() == Some(&file.stub) || (!force && file.is_stub()) {
            continue;
        }
        let mut work = file.work();
        work.extend(file.own_items(root, curriculum));
        if !work.is_empty() && !force {
            refused.push(format!("  {}: {}", file.path, work.join(", ")));
            continue;
        }
        let borrowed = |function: &str| !force && file.state(function) == State::Borrowed;
        let (text, _) = marks::put_in(&file.template, &file.stub, |_, function| borrowed(function))
            .context(file.path.clone())?;
        files.push(Replacement {
            path: file.path,
            old: file.raw.map(String::into_bytes),
            new: Some(text.into_bytes()),
            keep: true,
        });
    }
    let mut recovery = Recovery::new(root);
    replace(root, &mut recovery, &files)?;
    for file in &files {
        println!("{}: written", file.path);
    }
    recovery.print();
    if files.is_empty() && refused.is_empty() {
        println!("The stubs are up to date.");
    }
    ensure!(
        refused.is_empty(),
        "these files were not written, because they contain functions of yours:\n\
         {}\n\
         `cargo course stubs --force` replaces them and keeps the old files in .course/recovery",
        refused.join("\n")
    );
    Ok(())
}

/// If the list of tasks in the reference's file is out of date, returns the file's path and its new
/// text.
fn outdated_list(root: &Path, file: &Generated) -> Result<Option<(String, String)>> {
    let path = format!("reference/{}", file.path);
    let text = normalise(&read(&root.join(&path))?);
    let listed = with_list(&file.template, &text);
    Ok((listed != text).then_some((path, listed)))
}

/// The numbers of files that [`check`] counted, for its summary line.
#[derive(Debug, PartialEq, Eq)]
pub struct Checked {
    /// Number of files that equal the generated ones.
    pub equal: usize,
    /// Number of files with a learner's work, which were not compared.
    pub yours: usize,
}

/// Compares `src/` with the generated files.
///
/// # Errors
/// If [`generated`] fails. Also if a file differs. The message shows its first differing line.
pub fn check(root: &Path, curriculum: &Curriculum) -> Result<Checked> {
    let (mut checked, mut drift) = (Checked { equal: 0, yours: 0 }, Vec::new());
    let files = generated(root, curriculum)?;
    for file in &files {
        let work = file.work();
        match &file.current {
            None => drift.push(format!("{}: missing", file.path)),
            Some(_) if file.is_stub() => checked.equal += 1,
            Some(_) if !work.is_empty() => {
                println!(
                    "{}: contains your work, so it was not compared ({})",
                    file.path,
                    work.join(", ")
                );
                checked.yours += 1;
            }
            Some(current) => drift.push(first_difference(&file.path, current, &file.stub)),
        }
        if let Some((path, _)) = outdated_list(root, file)? {
            drift.push(format!("{path}: its list of tasks is out of date"));
        }
        if file.template.regions().next().is_none() && !file.path.ends_with("/mod.rs") {
            drift.push(format!("{}: it contains no task; move it to provided/", file.path));
        }
    }
    for path in files_of(root, "src")? {
        if !files.iter().any(|file| file.path == path) {
            drift.push(format!(
                "{path}: reference/src has no such file, so this file is never built"
            ));
        }
    }
    if drift.is_empty() {
        return Ok(checked);
    }
    bail!(
        "src/ differs from reference/. To regenerate src/, run `cargo course stubs`.\n{}",
        drift.join("\n")
    )
}

fn first_difference(path: &str, found: &str, expected: &str) -> String {
    let (mut found, mut expected) = (found.lines(), expected.lines());
    for number in 1.. {
        let (f, e) = (found.next(), expected.next());
        if f != e || f.is_none() {
            let show = |line: Option<&str>| {
                line.map_or("the end of the file".to_owned(), |line| format!("`{line}`"))
            };
            return format!("{path}:{number}: found {}, expected {}", show(f), show(e));
        }
    }
    unreachable!("every file ends")
}

/// Returns the paths of the files of all weeks in the folder `tree`, without the prefix
/// `reference/`: `src/week1/attention/attention.rs`.
fn files_of(root: &Path, tree: &str) -> Result<Vec<String>> {
    let mut found = BTreeSet::new();
    if root.join(tree).is_dir() {
        files::list(root, Path::new(tree), &mut found)?;
    }
    let names = found.iter().map(|path| files::slashed(path)).collect::<Result<Vec<_>>>()?;
    let from_crate = |path: String| match path.strip_prefix("reference/") {
        Some(path) => path.to_owned(),
        None => path,
    };
    Ok(names.into_iter().map(from_crate).filter(|path| is_a_weeks(path)).collect())
}

/// Returns whether `cargo course stubs` generates a file at this path, such as
/// `src/week1/attention/attention.rs`.
pub(crate) fn is_generated(path: &str) -> bool {
    is_a_weeks(path) && path.ends_with(".rs")
}

fn is_a_weeks(path: &str) -> bool {
    let week = path.strip_prefix("src/week").and_then(|rest| rest.split_once('/'));
    week.is_some_and(|(number, _)| number.parse::<usize>().is_ok())
}

fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    String::from_utf8(bytes).ok().with_context(|| format!("{} is not UTF-8", path.display()))
}
