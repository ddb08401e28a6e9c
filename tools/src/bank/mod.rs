//! The bank of misconceptions: `tests/wrong` and `tests/alternate`, and what is proved and derived
//! from them.
//!
//! A file holds another body for one marked region of the reference. Its first lines say which and
//! why:
//!
//! ```text
//! //! id: causal-top-left
//! //! function: causal_mask
//! //! says: The diagonal of your mask starts at key 0; it belongs at S − L, …
//! ```
//!
//! - `tests/wrong/week1_day3/task_2_top_left.rs`: a mistake. `says` is what the learner is told,
//!   `id` the misconception, which several files may share. Where an answer is no tensor and too
//!   small to tell mistakes apart, `shows` is a part of the message of a test that fails by it, and
//!   diagnosis is that message.
//! - `tests/alternate/…`: a correct body of another shape; `how` says which, and all tests must
//!   pass.
//!
//! All bodies are compiled into one copy of the reference ([`tree`]), of which an environment
//! variable chooses one, so that trying one costs a run and no build. [`matrix`] runs them;
//! [`data`] keeps the wrong answers for the tests, [`page`] is the book's kill matrix.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail, ensure};

use crate::curriculum::{Curriculum, Day, TaskId};

mod answers;
mod command;
mod data;
mod matrix;
mod page;
mod tree;

pub(crate) use command::{Options, run, verify};

/// Another body for a function of the reference.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// `tests/wrong/week1_day3/task_2_top_left.rs`
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
}

/// All entries, by day and name.
///
/// # Errors
/// If a file is malformed or does not fit the curriculum; all such files are named.
pub(crate) fn load(root: &Path, curriculum: &Curriculum) -> Result<Vec<Entry>> {
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for kind in ["wrong", "alternate"] {
        for day in curriculum.days() {
            let folder = format!("tests/{kind}/{}", day.module());
            let names = names(&root.join(&folder))?;
            if names.is_empty() {
                continue;
            }
            let chapter = fs::read_to_string(root.join(&day.chapter))
                .with_context(|| format!("{} cannot be read", day.chapter))?;
            for name in names {
                let path = format!("{folder}/{name}");
                let text = fs::read_to_string(root.join(&path))
                    .with_context(|| format!("{path} cannot be read"))?;
                match parse(&path, &text, day, kind == "wrong", &chapter) {
                    Ok(entry) => entries.push(entry),
                    Err(error) => problems.push(format!("{path}: {error:#}")),
                }
            }
        }
    }
    ensure!(problems.is_empty(), "{} malformed entries\n{}", problems.len(), problems.join("\n"));
    Ok(entries)
}

/// The Rust files of a folder, sorted; none if there is no folder.
fn names(folder: &Path) -> Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        ensure!(name.ends_with(".rs"), "{}: {name} is no Rust file", folder.display());
        names.push(name);
    }
    names.sort();
    Ok(names)
}

fn parse(path: &str, text: &str, day: &Day, wrong: bool, chapter: &str) -> Result<Entry> {
    let text = crate::source::normalise(text);
    let lines: Vec<&str> = text.lines().collect();
    let header = lines.iter().take_while(|line| line.starts_with("//! ")).count();
    let mut fields: Vec<(&str, &str)> = Vec::new();
    for line in &lines[..header] {
        let (field, value) = line[4..]
            .split_once(": ")
            .with_context(|| format!("expected `//! field: value`, found `{line}`"))?;
        ensure!(fields.iter().all(|(other, _)| *other != field), "`{field}` stands twice");
        fields.push((field, value.trim()));
    }
    let allowed: &[&str] =
        if wrong { &["id", "function", "says", "shows"] } else { &["function", "how"] };
    if let Some((field, _)) = fields.iter().find(|(field, _)| !allowed.contains(field)) {
        bail!("unknown field `{field}`; there are {}", allowed.join(", "));
    }
    let optional = |name: &str| {
        fields.iter().find(|(field, _)| *field == name).map(|(_, value)| (*value).to_owned())
    };
    let field = |name: &str| {
        let value = optional(name).with_context(|| format!("no line `//! {name}: …`"))?;
        ensure!(!value.is_empty() && value != "TODO", "`{name}` is not written");
        Ok(value)
    };

    let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned();
    let number =
        crate::consistency::task_of_test(&name).context("the name must begin with task_K_")?;
    let function = field("function")?;
    let (task, listed) = day
        .tasks()
        .find(|(id, _)| id.task == number)
        .with_context(|| format!("{} has no task {number}", day.feature))?;
    ensure!(
        listed.functions.contains(&function),
        "{task} has no function {function}; it has {}",
        listed.functions.join(", ")
    );
    let kind = if wrong {
        let start = format!("## Task {number}: ");
        let heading = chapter
            .lines()
            .find(|line| line.starts_with(&start))
            .with_context(|| format!("{} has no section `{start}…`", day.chapter))?;
        let of_week = day.feature.rsplit("day").next().unwrap_or_default();
        let read = format!("Day {of_week}, “{}” ({})", &heading[3..], day.chapter);
        Kind::Wrong(Wrong {
            id: field("id")?,
            says: field("says")?,
            read,
            shows: optional("shows"),
        })
    } else {
        field("how")?;
        Kind::Alternate
    };
    Ok(Entry {
        path: path.to_owned(),
        name,
        task,
        function,
        kind,
        body: lines[header..].join("\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curriculum;

    const TEXT: &str = "//! id: counts-twice\n//! function: one\n//! says: You count twice.\n2\n";

    fn parsed(path: &str, text: &str) -> Result<Entry> {
        parse(
            path,
            text,
            &curriculum().weeks[0].days[0],
            path.contains("wrong"),
            "# Day 1\n\n## Task 1: counting\n",
        )
    }

    fn error(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from));
        format!(
            "{:#}",
            parsed("tests/wrong/week1_day1/task_1_twice.rs", &TEXT.replace(from, to)).unwrap_err()
        )
    }

    #[test]
    fn an_entry_is_read() {
        let entry = parsed("tests/wrong/week1_day1/task_1_twice.rs", TEXT).unwrap();
        assert_eq!(
            (entry.name.as_str(), entry.task.to_string().as_str(), entry.body.as_str()),
            ("task_1_twice", "week1-day1 task 1", "2")
        );
        let Kind::Wrong(wrong) = entry.kind else { panic!("it is wrong") };
        assert_eq!((wrong.id.as_str(), wrong.says.as_str()), ("counts-twice", "You count twice."));
        assert_eq!(wrong.read, "Day 1, “Task 1: counting” (book/src/week1/day1.md)");
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(error("//! id: counts-twice\n", ""), "no line `//! id: …`");
        assert_eq!(error("You count twice.", "TODO"), "`says` is not written");
        assert_eq!(
            error("function: one", "function: two"),
            "week1-day1 task 1 has no function two; it has one"
        );
        assert_eq!(
            error("id: ", "name: "),
            "unknown field `name`; there are id, function, says, shows"
        );
        assert!(parsed("tests/wrong/week1_day1/twice.rs", TEXT).is_err());
        assert!(parsed("tests/wrong/week1_day1/task_7_twice.rs", TEXT).is_err());
    }
}
