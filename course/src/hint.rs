//! `cargo course hint`: shows a task's hints, one per call.
//!
//! Each day has a file, such as `course/hints/week1-day3.toml`. Each task has three hints below its
//! number, from a nudge to almost the solution:
//!
//! ```toml
//! 1 = ["…", "…", "…"]
//! ```

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result, ensure};

use crate::{
    curriculum::{Curriculum, Day, TaskId},
    explain::counted,
    fields::Fields,
    record::{HINTS, Record},
    selection::Words,
    task_states::Status,
};

/// Folder of the hints, relative to the repository.
pub const FOLDER: &str = "course/hints";

/// Prints the task's next hint, or hint number `level`, and records that it was seen.
///
/// # Errors
/// If there is no such task, or its hints cannot be read.
pub(crate) fn print(
    root: &Path,
    curriculum: &Curriculum,
    words: &Words,
    level: Option<u8>,
) -> Result<()> {
    let status = Status::read(root, curriculum)?;
    let asked = words.task(curriculum, status.day())?;
    let current = || status.current().map(|task| (task.day, task.id.clone(), task.task));
    let Some((day, id, _)) = asked.or_else(current) else {
        println!("No task is open. To see a task's hints: cargo course hint week1-day1 1");
        return Ok(());
    };
    let (text, more) = next(root, day, &id, level)?;
    print!("{text}");
    if more {
        println!("Next hint: cargo course hint {} {}", id.feature, id.task);
    }
    Ok(())
}

/// Returns the text of hint number `level`. Without `level`, returns the first unseen hint, or the
/// last hint if all were seen. Also returns whether there are more hints. Records that the hint was
/// seen.
///
/// # Errors
/// If the hints cannot be read.
pub(crate) fn next(
    root: &Path,
    day: &Day,
    id: &TaskId,
    level: Option<u8>,
) -> Result<(String, bool)> {
    let hints = load(root, day, id)?;
    let seen = Record::load(root).entry(id).hints;
    let level = level.unwrap_or(seen + 1).clamp(1, HINTS);
    Record::update(root, |record| record.saw_hint(id, level));
    let hint = hints[usize::from(level) - 1].trim();
    let mut text = format!("{id}, hint {level} of {HINTS}\n\n{hint}\n\n");
    if level > 1 {
        let again = format!("cargo course hint {} {} --level {}", id.feature, id.task, level - 1);
        text += &format!("Previous hint: {again}\n");
    }
    if level == HINTS {
        text += &format!("That was the last hint. Chapter: {}\n", day.chapter);
    }
    Ok((text, level < HINTS))
}

/// Returns the hints of one task.
fn load(root: &Path, day: &Day, id: &TaskId) -> Result<Vec<String>> {
    let path = path_of(day);
    let problems = problems_of(root, day, Some(id.task));
    ensure!(problems.is_empty(), "{}", problems.join("; "));
    read(root, &path)?.texts(&id.task.to_string())
}

/// Returns the problems with the hints, one line each. Every task of the course must have three
/// hints, and every hint must belong to a task.
pub fn problems(root: &Path, curriculum: &Curriculum) -> Vec<String> {
    let mut problems: Vec<String> =
        curriculum.days().flat_map(|day| problems_of(root, day, None)).collect();
    let known: BTreeSet<String> =
        curriculum.days().map(|day| format!("{}.toml", day.feature)).collect();
    let found = fs::read_dir(root.join(FOLDER))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let mut superfluous: Vec<String> = found.filter(|name| !known.contains(name)).collect();
    superfluous.sort();
    problems.extend(
        superfluous
            .iter()
            .map(|name| format!("{FOLDER}/{name}: belongs to no day of the curriculum")),
    );
    problems
}

/// Returns the problems with the hints of `day`, or only with those of task number `only`.
fn problems_of(root: &Path, day: &Day, only: Option<usize>) -> Vec<String> {
    let path = path_of(day);
    let mut file = match read(root, &path) {
        Ok(file) => file,
        Err(error) => return vec![format!("{error:#}")],
    };
    let mut problems = Vec::new();
    for task in day.tasks.iter().filter(|task| only.is_none_or(|only| only == task.number)) {
        let place = format!("{path}: task {}", task.number);
        match file.texts(&task.number.to_string()) {
            Err(error) => problems.push(format!("{path}: task {error}")),
            Ok(hints) if hints.is_empty() => {
                problems.push(format!("{path}: no task {}", task.number));
            }
            Ok(hints) => {
                if hints.len() != usize::from(HINTS) {
                    let found = counted(hints.len(), "hint");
                    problems.push(format!("{place}: found {found}, expected {HINTS}"));
                }
                let empty = (1..).zip(&hints).filter(|(_, hint)| hint.trim().is_empty());
                problems.extend(empty.map(|(level, _)| format!("{place}: hint {level} is empty")));
            }
        }
    }
    let unknown = file.rest().filter(|_| only.is_none());
    problems.extend(unknown.map(|name| {
        let tasks = counted(day.tasks.len(), "task");
        format!("{path}: found task {name}, but {} has {tasks}", day.feature)
    }));
    problems
}

fn path_of(day: &Day) -> String {
    format!("{FOLDER}/{}.toml", day.feature)
}

/// Reads a file of hints. Its fields are the tasks' numbers.
fn read(root: &Path, path: &str) -> Result<Fields> {
    let text =
        fs::read_to_string(root.join(path)).with_context(|| format!("{path} cannot be read"))?;
    Fields::parse(&text).with_context(|| format!("{path} is malformed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{curriculum, repository, write};

    const DAY1: &str = "1 = ['a', '''\n\
                        b\n\
                        b''', 'c']\n\
                        2 = ['d', 'e', 'f']\n";
    const DAY2: &str = "1 = ['g', 'h', 'i']\n";

    fn hinted() -> tempfile::TempDir {
        let root = repository();
        write(root.path(), "course/hints/week1-day1.toml", DAY1);
        write(root.path(), "course/hints/week1-day2.toml", DAY2);
        root
    }

    #[test]
    fn each_call_shows_the_next_hint() {
        let (root, curriculum) = (hinted(), curriculum());
        let (day, id, _) = curriculum.named("week1-day1", 1).unwrap();
        let next = |level| next(root.path(), day, &id, level).unwrap();
        let first = "week1-day1 task 1, hint 1 of 3\n\na\n\n";
        let before = |n: u8| format!("Previous hint: cargo course hint week1-day1 1 --level {n}\n");
        let second = format!("week1-day1 task 1, hint 2 of 3\n\nb\nb\n\n{}", before(1));
        let third = format!(
            "week1-day1 task 1, hint 3 of 3\n\nc\n\n{}That was the last hint. Chapter: \
             book/src/week1/day1.md\n",
            before(2)
        );
        assert_eq!(next(None), (first.to_owned(), true));
        assert_eq!(next(None), (second, true), "the first is not repeated");
        assert_eq!(next(Some(1)), (first.to_owned(), true), "looking back");
        assert_eq!(next(None), (third.clone(), false));
        assert_eq!(next(None), (third, false), "there is no fourth");
        assert_eq!(Record::load(root.path()).entry(&id).hints, 3);
        let other = TaskId { task: 2, ..id };
        assert_eq!(Record::load(root.path()).entry(&other).hints, 0);
    }

    #[test]
    fn malformed_file_is_an_error_and_records_no_hint() {
        let (root, curriculum) = (hinted(), curriculum());
        let (day, id, _) = curriculum.named("week1-day1", 1).unwrap();
        write(root.path(), "course/hints/week1-day1.toml", "1 = ['a']\n");
        let error = next(root.path(), day, &id, None).unwrap_err().to_string();
        assert_eq!(error, "course/hints/week1-day1.toml: task 1: found 1 hint, expected 3");
        write(root.path(), "course/hints/week1-day1.toml", "[1\n");
        assert!(
            next(root.path(), day, &id, None)
                .unwrap_err()
                .to_string()
                .contains("course/hints/week1-day1.toml is malformed")
        );
        assert_eq!(Record::load(root.path()).entry(&id).hints, 0);
    }

    #[test]
    fn reports_missing_and_superfluous_hints() {
        let root = hinted();
        assert_eq!(problems(root.path(), &curriculum()), [""; 0]);
        for (from, to, problem) in [
            ("'c'", "' '", "course/hints/week1-day1.toml: task 1: hint 3 is empty"),
            (", 'f'", "", "course/hints/week1-day1.toml: task 2: found 2 hints, expected 3"),
            ("2 =", "3 =", "course/hints/week1-day1.toml: no task 2"),
            (
                "2 =",
                "3 =",
                "course/hints/week1-day1.toml: found task 3, but week1-day1 has 2 tasks",
            ),
            ("2 =", "1 =", "course/hints/week1-day1.toml is malformed"),
            ("['d', 'e', 'f']", "'d'", "course/hints/week1-day1.toml: task 2: found string"),
        ] {
            let root = hinted();
            write(root.path(), "course/hints/week1-day1.toml", &DAY1.replacen(from, to, 1));
            let problems = problems(root.path(), &curriculum());
            assert!(
                problems.iter().any(|found| found.starts_with(problem)),
                "{problems:#?}\n  does not contain\n{problem}"
            );
        }
        write(root.path(), "course/hints/week1-day9.toml", "");
        fs::remove_file(root.path().join("course/hints/week1-day2.toml")).unwrap();
        let found = problems(root.path(), &curriculum());
        assert!(found[0].starts_with("course/hints/week1-day2.toml cannot be read"), "{found:?}");
        assert_eq!(
            found[1..],
            ["course/hints/week1-day9.toml: belongs to no day of the curriculum"]
        );
    }
}
