//! Parses the entries of one day, as listed in `tests/wrong/week1_day3.txt`.
//! `tests/wrong/README.md` describes the format.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};

use super::{Entry, Kind, Regions, Wrong, change::Change};
use crate::curriculum::Day;

/// A parsed entry, before it is compared with the curriculum and the reference.
#[derive(Debug, Default)]
struct Listed<'a> {
    /// Line number, counted from 1.
    line: usize,
    task: usize,
    function: &'a str,
    name: &'a str,
    says: String,
    shows: Option<String>,
    trace: Vec<String>,
    by_luck: Vec<String>,
    code: Vec<&'a str>,
    /// Code of the entry after ` = `, if it is for another function. It counts if `code` is empty.
    same: Vec<&'a str>,
}

impl<'a> Listed<'a> {
    fn change(&self) -> &[&'a str] {
        if self.code.is_empty() { &self.same } else { &self.code }
    }
}

/// Parses `text`, the contents of the file at `path`. Returns its valid entries, and the problems
/// of the others.
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
                match entry(&place, &one, day, chapter, regions) {
                    Ok(_) if !names.insert((one.task, one.name)) => {
                        problems.push(format!("{place}: the name appears twice"));
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

/// Parses the text of a file with entries. Errors begin with the line number.
fn listed(text: &str) -> Result<Vec<Listed<'_>>> {
    let (mut all, mut group): (Vec<Listed>, Option<(usize, &str)>) = (Vec::new(), None);
    for (i, line) in text.lines().enumerate() {
        let place = || (i + 1).to_string();
        ensure!(line.chars().count() <= 100, "{}: the line has more than 100 characters", place());
        let indentation = line.len() - line.trim_start_matches(' ').len();
        match (indentation, all.last_mut()) {
            _ if line.is_empty() || line.starts_with('#') => {}
            (0, _) => match group_of(line) {
                Some(found) => group = Some(found),
                None => {
                    let (task, function) = group.with_context(|| {
                        format!("{}: no `task K, fn NAME` is above this line", place())
                    })?;
                    let one = opened(line, (task, function), &all).with_context(place)?;
                    all.push(Listed { line: i + 1, task, function, ..one });
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
                "{}: expected no indent (an entry), 2 spaces (its text) or 4 (its code); found \
                 `{line}`",
                place()
            ),
        }
    }
    Ok(all)
}

/// Parses a line such as `task 2, fn causal_mask`.
fn group_of(line: &str) -> Option<(usize, &str)> {
    let (task, function) = line.strip_prefix("task ")?.split_once(", fn ")?;
    Some((task.parse().ok()?, function.trim()))
}

/// Parses an entry's first line, such as `top_left: The diagonal of your mask …`. The diagnosis of
/// `top_right = top_left` is that of the entry `top_left` in `above`.
fn opened<'a>(line: &'a str, group: (usize, &str), above: &[Listed<'a>]) -> Result<Listed<'a>> {
    let is_name = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if let Some((name, says)) = line.split_once(": ").filter(|(name, _)| is_name(name)) {
        return Ok(Listed { name, says: says.to_owned(), ..Listed::default() });
    }
    let (name, same) = line.split_once(" = ").with_context(|| {
        format!(
            "expected `name: what the learner is told` or `name = an entry above`, found `{line}`"
        )
    })?;
    let other = above
        .iter()
        .rfind(|one| one.name == same)
        .with_context(|| format!("{name}: no entry above has the name {same}"))?;
    let same = if (other.task, other.function) == group { &[] } else { other.change() }.to_vec();
    let (says, shows) = (other.says.clone(), other.shows.clone());
    Ok(Listed { name, says, shows, same, ..Listed::default() })
}

fn entry(place: &str, one: &Listed, day: &Day, chapter: &str, regions: &Regions) -> Result<Entry> {
    let (task, listed) = day
        .tasks()
        .find(|(id, _)| id.task == one.task)
        .with_context(|| format!("{} has no task {}", day.feature, one.task))?;
    ensure!(
        listed.functions.iter().any(|known| known == one.function),
        "{task} has no function {}; it has {}",
        one.function,
        listed.functions.join(", ")
    );
    ensure!(one.says != "TODO", "the diagnosis is still TODO");
    let region = regions
        .get(&(listed.file.clone(), one.function.to_owned()))
        .with_context(|| format!("reference/{}: {} has no region", listed.file, one.function))?;
    let body = Change::parse(one.change())?.apply(region)?;

    let start = format!("## Task {}: ", one.task);
    let heading = chapter
        .lines()
        .find(|line| line.starts_with(&start))
        .with_context(|| format!("{} has no section `{start}…`", day.chapter))?;
    let of_week = day.feature.rsplit("day").next().unwrap_or_default();
    let wrong = Wrong {
        says: one.says.clone(),
        read: format!("Day {of_week}, “{}” ({})", &heading[3..], day.chapter),
        shows: one.shows.clone(),
        trace: one.trace.clone(),
        by_luck: one.by_luck.clone(),
    };
    Ok(Entry {
        path: place.to_owned(),
        name: format!("task_{}_{}", one.task, one.name),
        task,
        function: one.function.to_owned(),
        kind: Kind::Wrong(wrong),
        body,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::Region;
    use crate::testing::curriculum;

    const PATH: &str = "tests/wrong/week1_day1.txt";
    const TEXT: &str = "\
task 1, fn one
twice: You count
  twice.
    x + 1 → x + 2
twice_more = twice
    1 → 1 + 1
never: You do not count.
  shows: found 0
  trace: attention
  trace: Look at one
  by luck: task_1_two_threads
   +0
task 2, fn Two::two
twice = twice
";

    fn read(text: &str) -> (Vec<Entry>, Vec<String>) {
        let regions = ["one", "Two::two"].map(|function| {
            let region = Region::new("x +\n    1".to_owned()).unwrap();
            (("src/week1/a.rs".to_owned(), function.to_owned()), region)
        });
        let chapter = "# Day 1\n\n## Task 1: counting\n\n## Task 2: two\n";
        entries(PATH, text, &curriculum().weeks[0].days[0], chapter, &regions.into())
    }

    fn problem(from: &str, to: &str) -> String {
        assert!(TEXT.contains(from));
        let (_, problems) = read(&TEXT.replacen(from, to, 1));
        problems[0].strip_prefix(PATH).unwrap().to_owned()
    }

    #[test]
    fn parses_entries() {
        let (entries, problems) = read(TEXT);
        assert_eq!(problems, Vec::<String>::new());
        let names: Vec<_> =
            entries.iter().map(|entry| (entry.name.as_str(), entry.body.trim())).collect();
        let expected = [
            ("task_1_twice", "x + 2"),
            ("task_1_twice_more", "x +\n    1 + 1"),
            ("task_1_never", "0"),
            ("task_2_twice", "x + 2"),
        ];
        assert_eq!(names, expected);
        assert_eq!(entries[0].path, "tests/wrong/week1_day1.txt:2: twice");
        let wrong = |entry: &Entry| match &entry.kind {
            Kind::Wrong(wrong) => wrong.clone(),
            Kind::Alternate => panic!("it is wrong"),
        };
        let [twice, more, never, two] = [0, 1, 2, 3].map(|i| wrong(&entries[i]));
        assert_eq!([&twice.says, &more.says, &two.says], ["You count twice."; 3]);
        assert_eq!(twice.read, "Day 1, “Task 1: counting” (book/src/week1/day1.md)");
        assert_eq!((twice.shows, never.shows.as_deref()), (None, Some("found 0")));
        assert_eq!(never.trace, ["attention", "Look at one"]);
        assert_eq!((twice.by_luck.len(), never.by_luck), (0, vec!["task_1_two_threads".into()]));
    }

    #[test]
    fn errors_name_the_line() {
        let starts = |from: &str, to: &str, start: &str| {
            let problem = problem(from, to);
            assert!(problem.starts_with(start), "{problem}");
        };
        starts("task 1, fn one\n", "\n", ":2: no `task K, fn NAME` is above this line");
        starts("fn one", "fn two", ":2: twice: week1-day1 task 1 has no function two; it has one");
        starts("task 1", "task 7", ":2: twice: week1-day1 has no task 7");
        starts("You count\n  twice.", "TODO", ":2: twice: the diagnosis is still TODO");
        starts("twice: You", "twice You", ":2: expected `name: what the learner is told`");
        starts(
            "more = twice",
            "more = thrice",
            ":5: twice_more: no entry above has the name thrice",
        );
        starts("  twice.", " twice.", ":3: expected no indent (an entry)");
        starts("never: ", "twice: ", ":7: twice: the name appears twice");
        starts("x + 1", "x + 3", ":2: twice: the reference has changed here");
        starts("    1 → 1 + 1\n", "", ":5: twice_more: the entry changes nothing");
        starts("   +0\n", "", ":7: never: the entry changes nothing");
        starts("You count", &"x".repeat(100), ":2: the line has more than 100 characters");
    }
}
