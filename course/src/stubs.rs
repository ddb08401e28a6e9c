//! `cargo course stubs`: makes the learner's `src/weekN` from `reference/src/weekN`.
//!
//! - Every task's body becomes `todo!("week1-day1 task 2: …")`, helpers vanish, all else is the same.
//! - A file that holds a learner's work is refused whole, with the names of the functions. `--force` keeps the old
//!   file under `.course/recovery/<time>/` and then writes the stubs.
//! - Whatever is replaced for another reason is kept there too. All files are written, or none.
//! - A body that `cargo course borrow` put there stays borrowed; `--force` takes it out. One that was edited since is work.
//! - `--check` writes nothing and fails if a file differs from what would be written. A learner's files are named,
//!   not compared.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    borrow::marks::{self, Mark},
    curriculum::{Curriculum, Week},
    learner::{State, function_state, is_course_todo},
    source::normalise,
    template::Template,
    transaction::Transaction,
};

/// A generated file beside what stands there now.
#[derive(Debug)]
pub(crate) struct Generated {
    /// `src/week1/attention.rs`.
    pub(crate) path: String,
    /// Reference and markers.
    pub(crate) template: Template,
    /// What `src/` should hold.
    pub(crate) stub: String,
    /// What it holds, with `\n` line ends.
    pub(crate) current: Option<String>,
    /// What it holds, as it is on disk.
    pub(crate) raw: Option<String>,
}

impl Generated {
    /// The functions of tasks, and the borrowed helpers, that hold a learner's work, in the order of the file.
    pub(crate) fn work(&self) -> Vec<String> {
        if self.current.is_none() {
            return Vec::new();
        }
        let functions = self.template.regions().filter_map(|region| region.function.clone());
        let edited = self.marks().into_iter().filter(|mark| mark.function.is_none() && !mark.intact).map(|mark| mark.name());
        functions.filter(|function| self.state(function).is_work()).chain(edited).collect()
    }

    /// The state of one of its functions.
    pub(crate) fn state(&self, function: &str) -> State {
        let Some(current) = &self.current else { return State::Missing };
        let state = function_state(&self.stub, current, function);
        let borrowed = |mark: &Mark| mark.intact && mark.function.as_deref() == Some(function);
        if self.marks().iter().any(borrowed) {
            let (returned, _) = marks::take_out(&self.template, current, borrowed);
            if !function_state(&self.stub, &returned, function).is_work() {
                return State::Borrowed;
            }
        }
        state
    }

    /// The borrowed parts of the file.
    pub(crate) fn marks(&self) -> Vec<Mark> {
        self.current.as_ref().map_or_else(Vec::new, |current| marks::marks(&self.template, current))
    }

    /// Whether the file is the stub, apart from what is borrowed.
    fn is_stub(&self) -> bool {
        let Some(current) = &self.current else { return false };
        let (returned, taken) = marks::take_out(&self.template, current, |mark| mark.intact);
        returned == self.stub && taken.iter().all(|mark| mark.intact)
    }
}

/// All files that are generated.
///
/// # Errors
/// If a marker is wrong, or a function of the curriculum has no region.
pub(crate) fn generated(root: &Path, curriculum: &Curriculum) -> Result<Vec<Generated>> {
    let mut files = Vec::new();
    for week in &curriculum.weeks {
        for path in files_of(root, "reference/src", week)? {
            let template = Template::parse(&format!("reference/{path}"), &read(&root.join("reference").join(&path))?, curriculum)?;
            let stub = template.stub();
            let raw = if root.join(&path).exists() { Some(read(&root.join(&path))?) } else { None };
            let current = raw.as_deref().map(normalise);
            files.push(Generated { path, template, stub, current, raw });
        }
    }
    for (id, task) in curriculum.tasks() {
        let file = files.iter().find(|file| file.path == task.file);
        let file = file.with_context(|| format!("{id}: reference/{} does not exist", task.file))?;
        for function in &task.functions {
            let there = file.template.regions().any(|region| region.task == id && region.function.as_ref() == Some(function));
            ensure!(there, "reference/{}: no region `// SOLUTION {id}` in {function}, which the curriculum lists", task.file);
        }
    }
    Ok(files)
}

/// Writes the stubs and says what was written.
///
/// # Errors
/// As [`generated`]; if a file holds a learner's work and `force` is not given; if a write fails.
pub(crate) fn write(root: &Path, curriculum: &Curriculum, force: bool) -> Result<()> {
    let mut transaction = Transaction::new(root, if force { "stubs --force" } else { "stubs" });
    let (mut written, mut refused) = (Vec::new(), Vec::new());
    for file in generated(root, curriculum)? {
        if file.current.as_ref() == Some(&file.stub) || (!force && file.is_stub()) {
            continue;
        }
        let work = file.work();
        if !work.is_empty() && !force {
            refused.push(format!("  {}: {}", file.path, work.join(", ")));
            continue;
        }
        let borrowed = |function: &str| !force && file.state(function) == State::Borrowed;
        let (text, _) = marks::put_in(&file.template, &file.stub, |_, function| borrowed(function)).context(file.path.clone())?;
        transaction.replace(&file.path, file.raw.as_deref().map(str::as_bytes), Some(text.as_bytes()));
        written.push(file.path);
    }
    let done = transaction.commit()?;
    for path in &written {
        println!("{path}: written");
    }
    done.print();
    if written.is_empty() && refused.is_empty() {
        println!("The stubs are up to date.");
    }
    ensure!(
        refused.is_empty(),
        "not written, because these functions are yours:\n{}\n`cargo course stubs --force` replaces them and keeps the old files in .course/recovery",
        refused.join("\n")
    );
    Ok(())
}

/// What [`check`] found, for a closing line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Checked {
    /// Files that equal what would be generated.
    pub(crate) equal: usize,
    /// Files with a learner's work, not compared.
    pub(crate) yours: usize,
}

/// Compares `src/` with what would be generated.
///
/// # Errors
/// As [`generated`]; and if a file differs, with its first differing line.
pub(crate) fn check(root: &Path, curriculum: &Curriculum) -> Result<Checked> {
    let (mut checked, mut drift) = (Checked { equal: 0, yours: 0 }, Vec::new());
    let files = generated(root, curriculum)?;
    for file in &files {
        let work = file.work();
        match &file.current {
            None => drift.push(format!("{}: missing", file.path)),
            Some(_) if file.is_stub() => checked.equal += 1,
            Some(_) if !work.is_empty() => {
                println!("{}: yours, not compared ({})", file.path, work.join(", "));
                checked.yours += 1;
            }
            Some(current) => drift.push(first_difference(&file.path, current, &file.stub)),
        }
    }
    for week in &curriculum.weeks {
        for path in files_of(root, "src", week)? {
            let known = files.iter().any(|file| file.path == path);
            if !known && read(&root.join(&path))?.lines().any(is_course_todo) {
                drift.push(format!("{path}: holds stubs, but reference/{path} does not exist"));
            }
        }
    }
    if drift.is_empty() {
        return Ok(checked);
    }
    bail!("src/ differs from reference/ (`cargo course stubs` writes it anew):\n{}", drift.join("\n"))
}

fn first_difference(path: &str, found: &str, expected: &str) -> String {
    let (mut found, mut expected) = (found.lines(), expected.lines());
    for number in 1.. {
        let (f, e) = (found.next(), expected.next());
        if f != e || f.is_none() {
            let show = |line: Option<&str>| line.map_or("the end of the file".to_owned(), |line| format!("`{line}`"));
            return format!("{path}:{number}: found {}, expected {}", show(f), show(e));
        }
    }
    unreachable!("every file ends")
}

/// The Rust files of a week, as paths from the learner's crate: `src/week1/attention.rs`.
fn files_of(root: &Path, tree: &str, week: &Week) -> Result<Vec<String>> {
    let folder = format!("week{}", week.number);
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, String)> = vec![(root.join(tree).join(&folder), format!("src/{folder}"))];
    while let Some((folder, name)) = open.pop() {
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&folder).with_context(|| format!("{} cannot be listed", folder.display()))? {
            let entry = entry?;
            let path = format!("{name}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                open.push((entry.path(), path));
            } else if path.ends_with(".rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    String::from_utf8(bytes).ok().with_context(|| format!("{} is not UTF-8", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{A, curriculum, repository, write as put};

    const STUB_A: &str = "\
pub fn one() -> u32 {
    todo!(\"week1-day1 task 1: one\")
}

pub struct Two;

impl Two {
    pub fn two(&self) -> u32 {
        todo!(\"week1-day1 task 2: Two::two\")
    }
}
";

    fn text(root: &Path, path: &str) -> String {
        fs::read_to_string(root.join(path)).unwrap()
    }

    fn check_error(root: &Path) -> String {
        check(root, &curriculum()).unwrap_err().to_string()
    }

    #[test]
    fn a_fresh_tree_is_written_and_then_up_to_date() {
        let root = repository();
        let root = root.path();
        assert!(check_error(root).contains("src/week1/a.rs: missing"));
        write(root, &curriculum(), false).unwrap();
        assert_eq!(text(root, "src/week1/a.rs"), STUB_A);
        assert_eq!(text(root, "src/week1/mod.rs"), "pub mod a;\npub mod b;\n");
        assert_eq!(check(root, &curriculum()).unwrap(), Checked { equal: 3, yours: 0 });
        write(root, &curriculum(), false).unwrap();
        assert!(!root.join(".course").exists(), "nothing was replaced, so nothing is kept");
    }

    #[test]
    fn a_learners_work_is_never_overwritten() {
        let root = repository();
        let root = root.path();
        write(root, &curriculum(), false).unwrap();
        let mine = STUB_A.replace("todo!(\"week1-day1 task 2: Two::two\")", "1 + 1");
        put(root, "src/week1/a.rs", &mine);
        put(root, "src/week1/b.rs", "out of date\n\npub fn three() -> u32 {\n    todo!(\"week1-day2 task 1: drei\")\n}\n");

        assert!(check_error(root).contains("src/week1/b.rs:1: found `out of date`, expected `pub fn three() -> u32 {`"));
        let error = write(root, &curriculum(), false).unwrap_err().to_string();
        assert!(error.contains("src/week1/a.rs: Two::two\n"), "{error}");
        assert_eq!(text(root, "src/week1/a.rs"), mine);
        assert!(text(root, "src/week1/b.rs").starts_with("pub fn three"), "the other file is written all the same");
        assert_eq!(check(root, &curriculum()).unwrap(), Checked { equal: 2, yours: 1 });

        write(root, &curriculum(), true).unwrap();
        assert_eq!(text(root, "src/week1/a.rs"), STUB_A);
        let kept: Vec<String> = fs::read_dir(root.join(".course/recovery"))
            .unwrap()
            .filter_map(|folder| fs::read_to_string(folder.unwrap().path().join("src/week1/a.rs")).ok())
            .collect();
        assert_eq!(kept, [mine]);
    }

    #[test]
    fn half_a_solution_counts_as_work() {
        let root = repository();
        let root = root.path();
        let begun = STUB_A.replace("    todo!(\"week1-day1 task 1: one\")", "    // count\n    todo!(\"week1-day1 task 1: one\")");
        put(root, "src/week1/a.rs", &begun);
        assert!(write(root, &curriculum(), false).unwrap_err().to_string().contains("a.rs: one\n"));
        assert_eq!(text(root, "src/week1/a.rs"), begun);
    }

    #[test]
    fn drift_is_named_with_its_first_line() {
        let root = repository();
        let root = root.path();
        write(root, &curriculum(), false).unwrap();
        put(root, "reference/src/week1/a.rs", &A.replace("pub struct Two;", "/// Two.\npub struct Two;"));
        assert!(check_error(root).contains("src/week1/a.rs:5: found `pub struct Two;`, expected `/// Two.`"));
        put(root, "reference/src/week1/a.rs", &format!("{A}\npub struct Last;\n"));
        assert!(check_error(root).contains("src/week1/a.rs:12: found the end of the file, expected ``"));
        put(root, "src/week1/c.rs", "fn four() {\n    todo!(\"week1-day1 task 1: four\")\n}\n");
        assert!(check_error(root).contains("src/week1/c.rs: holds stubs, but reference/src/week1/c.rs does not exist"));
    }

    #[test]
    fn windows_line_ends_are_no_drift() {
        let root = repository();
        let root = root.path();
        write(root, &curriculum(), false).unwrap();
        put(root, "src/week1/a.rs", &STUB_A.replace('\n', "\r\n"));
        assert_eq!(check(root, &curriculum()).unwrap(), Checked { equal: 3, yours: 0 });
    }

    #[test]
    fn a_listed_function_needs_a_region() {
        let root = repository();
        let root = root.path();
        put(root, "reference/src/week1/b.rs", "pub fn three() -> u32 {\n    3\n}\n");
        let error = write(root, &curriculum(), false).unwrap_err().to_string();
        assert_eq!(error, "reference/src/week1/b.rs: no region `// SOLUTION week1-day2 task 1` in three, which the curriculum lists");
        assert!(!root.join("src").exists(), "nothing is written");
    }
}
