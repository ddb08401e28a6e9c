//! The mistakes of one task, as `tests/wrong/week1_day3/task_2.txt` lists them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};

use super::{Entry, Kind, Wrong, change::Change};
use crate::curriculum::Day;

/// Region by file and function: `src/week1/gqa.rs`, `causal_mask`.
pub(super) type Regions = BTreeMap<(String, String), String>;

/// A mistake as it is listed, before anyone has looked whether it fits.
#[derive(Debug, Default)]
struct Listed<'a> {
    /// From 1.
    line: usize,
    function: &'a str,
    name: &'a str,
    id: &'a str,
    says: String,
    shows: Option<String>,
    trace: Vec<String>,
    by_luck: Vec<String>,
    code: Vec<&'a str>,
}

/// The entries of a file whose name is `task_2.txt`; what is wrong with the others.
pub(super) fn entries(
    path: &str,
    text: &str,
    day: &Day,
    chapter: &str,
    regions: &Regions,
) -> (Vec<Entry>, Vec<String>) {
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    match listed(text) {
        Ok(all) => {
            let mut names = BTreeSet::new();
            for one in all {
                let place = format!("{path}:{}: {}", one.line, one.name);
                match entry(path, &one, day, chapter, regions) {
                    Ok(_) if !names.insert(one.name) => {
                        problems.push(format!("{place}: the name stands twice"));
                    }
                    Ok(entry) => entries.push(entry),
                    Err(error) => problems.push(format!("{place}: {error:#}")),
                }
            }
        }
        Err(error) => problems.push(format!("{path}:{error:#}")),
    }
    (entries, problems)
}

/// Takes a file apart. Errors begin with the line's number.
fn listed(text: &str) -> Result<Vec<Listed<'_>>> {
    let (mut all, mut function): (Vec<Listed>, Option<&str>) = (Vec::new(), None);
    for (i, line) in text.lines().enumerate() {
        let place = || (i + 1).to_string();
        ensure!(line.chars().count() <= 100, "{}: the line has more than 100 characters", place());
        let indentation = line.len() - line.trim_start_matches(' ').len();
        match (indentation, all.last_mut()) {
            _ if line.is_empty() || line.starts_with('#') => {}
            (0, _) => match line.strip_prefix("fn ") {
                Some(name) => function = Some(name.trim()),
                None => {
                    let function = function
                        .with_context(|| format!("{}: no `fn NAME` stands above", place()))?;
                    all.push(opened(line, i + 1, function).with_context(place)?);
                }
            },
            (2, Some(one)) if one.code.is_empty() => {
                let text = line.trim();
                if let Some(part) = text.strip_prefix("shows: ") {
                    one.shows = Some(part.to_owned());
                } else if let Some(part) = text.strip_prefix("trace: ") {
                    one.trace.push(part.to_owned());
                } else if let Some(part) = text.strip_prefix("by luck: ") {
                    one.by_luck.push(part.to_owned());
                } else {
                    one.says = format!("{} {text}", one.says);
                }
            }
            (3.., Some(one)) => one.code.push(line),
            _ => bail!(
                "{}: expected an entry at the margin, its text two columns from it, or its code \
                 four; found `{line}`",
                place()
            ),
        }
    }
    Ok(all)
}

/// `top_left (causal-top-left): The diagonal of your mask …`
fn opened<'a>(line: &'a str, number: usize, function: &'a str) -> Result<Listed<'a>> {
    let split = line.split_once(": ").and_then(|(names, says)| {
        let (name, id) = names.strip_suffix(')')?.split_once(" (")?;
        Some((name, id, says))
    });
    let (name, id, says) = split.with_context(|| {
        format!("expected `name (misconception): what the learner is told`, found `{line}`")
    })?;
    Ok(Listed { line: number, function, name, id, says: says.to_owned(), ..Listed::default() })
}

fn entry(path: &str, one: &Listed, day: &Day, chapter: &str, regions: &Regions) -> Result<Entry> {
    let file = path.rsplit('/').next().unwrap_or_default();
    let number =
        file.strip_prefix("task_").and_then(|rest| rest.strip_suffix(".txt")?.parse().ok());
    let number: usize = number.context("the file's name must be task_K.txt")?;
    let (task, listed) = day
        .tasks()
        .find(|(id, _)| id.task == number)
        .with_context(|| format!("{} has no task {number}", day.feature))?;
    ensure!(
        listed.functions.iter().any(|known| known == one.function),
        "{task} has no function {}; it has {}",
        one.function,
        listed.functions.join(", ")
    );
    ensure!(one.says != "TODO", "what the learner is told is not written");
    let region = regions
        .get(&(listed.file.clone(), one.function.to_owned()))
        .with_context(|| format!("reference/{} has no region in {}", listed.file, one.function))?;
    let body = Change::parse(&one.code)?.apply(region)?;

    let start = format!("## Task {number}: ");
    let heading = chapter
        .lines()
        .find(|line| line.starts_with(&start))
        .with_context(|| format!("{} has no section `{start}…`", day.chapter))?;
    let of_week = day.feature.rsplit("day").next().unwrap_or_default();
    let wrong = Wrong {
        id: one.id.to_owned(),
        says: one.says.clone(),
        read: format!("Day {of_week}, “{}” ({})", &heading[3..], day.chapter),
        shows: one.shows.clone(),
        trace: one.trace.clone(),
        by_luck: one.by_luck.clone(),
    };
    Ok(Entry {
        path: format!("{path}:{}: {}", one.line, one.name),
        name: format!("task_{number}_{}", one.name),
        task,
        function: one.function.to_owned(),
        kind: Kind::Wrong(wrong),
        body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curriculum;

    const PATH: &str = "tests/wrong/week1_day1/task_1.txt";
    const TEXT: &str = "\
fn one

twice (counts-twice): You count
  twice.
    x + 1 → x + 2
never (counts-never): You do not count.
  shows: found 0
  trace: attention
  trace: Look at one
  by luck: task_1_two_threads
   +0
";

    fn read(path: &str, text: &str) -> (Vec<Entry>, Vec<String>) {
        let regions = [(("src/week1/a.rs".to_owned(), "one".to_owned()), "x +\n    1".to_owned())];
        let chapter = "# Day 1\n\n## Task 1: counting\n";
        entries(path, text, &curriculum().weeks[0].days[0], chapter, &regions.into())
    }

    fn problem(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from));
        let (_, problems) = read(PATH, &TEXT.replacen(from, to, 1));
        problems[0].strip_prefix(PATH).unwrap().to_owned()
    }

    #[test]
    fn entries_are_read() {
        let (entries, problems) = read(PATH, TEXT);
        assert_eq!(problems, Vec::<String>::new());
        let names: Vec<_> =
            entries.iter().map(|entry| (entry.name.as_str(), entry.body.trim())).collect();
        assert_eq!(names, [("task_1_twice", "x + 2"), ("task_1_never", "0")]);
        assert_eq!(entries[0].path, "tests/wrong/week1_day1/task_1.txt:3: twice");
        let wrong = |entry: &Entry| match &entry.kind {
            Kind::Wrong(wrong) => wrong.clone(),
            Kind::Alternate => panic!("it is wrong"),
        };
        let (twice, never) = (wrong(&entries[0]), wrong(&entries[1]));
        assert_eq!((twice.id.as_str(), twice.says.as_str()), ("counts-twice", "You count twice."));
        assert_eq!(twice.read, "Day 1, “Task 1: counting” (book/src/week1/day1.md)");
        assert_eq!((twice.shows, never.shows.as_deref()), (None, Some("found 0")));
        assert_eq!(never.trace, ["attention", "Look at one"]);
        assert_eq!((twice.by_luck.len(), never.by_luck), (0, vec!["task_1_two_threads".into()]));
    }

    #[test]
    fn faults_are_named_with_their_line() {
        let starts = |from: &str, to: &str, start: &str| {
            let problem = problem(from, to);
            assert!(problem.starts_with(start), "{problem}");
        };
        starts("fn one\n", "\n", ":3: no `fn NAME` stands above");
        starts("fn one", "fn two", ":3: twice: week1-day1 task 1 has no function two; it has one");
        starts("You count\n  twice.", "TODO", ":3: twice: what the learner is told is not written");
        starts("twice (counts-twice)", "twice", ":3: expected `name (misconception): ");
        starts("  twice.", " twice.", ":4: expected an entry at the margin");
        starts("never (", "twice (", ":6: twice: the name stands twice");
        starts("x + 1", "x + 3", ":3: twice: the reference has changed here");
        starts("   +0\n", "", ":6: never: no line says what is wrong");
        starts("You count", &"x".repeat(80), ":3: the line has more than 100 characters");
        assert!(read("tests/wrong/week1_day1/task_7.txt", TEXT).1[0].contains("has no task 7"));
    }
}
