//! The book's kill matrix.

use std::{fmt::Write as _, fs, path::Path};

use super::{
    Entry, Kind,
    matrix::{Matrix, Row},
};
use crate::curriculum::{Curriculum, Day, TaskId};

/// Where it stands, relative to the repository: an introduction, and beside it a folder with a page
/// for each week.
const PATH: &str = "book/src/kill-matrix.md";

/// How a page of one week begins.
const HEAD: &str = "\
# The kill matrix of week {week}

<!-- Written by `cargo course matrix`; checked by `cargo course verify`. -->

What the columns mean is [on the page before](../kill-matrix.md).
";

const INTRODUCTION: &str = "\
# The kill matrix

<!-- Written by `cargo course matrix`; checked by `cargo course verify`. -->

Tests are a promise, and this page is the proof. Each row is a mistake that people really make, as a wrong body for one task: put in place
of the reference's, it turns its task's tests red, and a message says what is in the second column. `red` counts the task's tests that fail by it,
`named` those that say why. `distance` is how many tolerances its most revealing answer lies from the right one; ∞ stands for a NaN, or for a
check that allows no deviation, and – where the answer is no tensor. Every distance is at least 20, so no tolerance hides a mistake.

What each changes is in `tests/wrong`; correct bodies of other shapes, which must all pass, are in `tests/alternate`.
";

/// The whole text as it stands in the book, weeks after the introduction; empty where there is none.
pub(super) fn read(root: &Path, curriculum: &Curriculum) -> String {
    let Ok(introduction) = fs::read_to_string(root.join(PATH)) else { return String::new() };
    let lines = introduction.lines().filter(|line| !line.starts_with("- [Week "));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let mut text = format!("{}\n", text.trim_end());
    for week in weeks(curriculum) {
        let page = fs::read_to_string(root.join(path(&week))).unwrap_or_default();
        if let Some(start) = page.find("\n## ") {
            text.push_str(&page[start..]);
        }
    }
    text
}

/// The files, each with its text, that the whole text becomes.
pub(super) fn files(text: &str, curriculum: &Curriculum) -> Vec<(String, String)> {
    let days = text.find("\n## ").unwrap_or(text.len());
    let mut introduction = format!("{}\n", text[..days].trim_end());
    let mut files = Vec::new();
    for week in weeks(curriculum) {
        let of_week = format!("Week {week}, ");
        let mut page = HEAD.replace("{week}", &week);
        let mut mistakes = 0;
        for part in text[days..].split("\n## ").filter(|part| part.starts_with(&of_week)) {
            let _ = write!(page, "\n## {}\n", part.trim_end());
            mistakes += part.matches("\n| `").count();
        }
        let link = if files.is_empty() { "\n" } else { "" };
        let _ = writeln!(
            introduction,
            "{link}- [Week {week}](kill-matrix/week{week}.md): {mistakes} mistakes"
        );
        files.push((path(&week), page));
    }
    files.push((PATH.to_owned(), introduction));
    files
}

/// Where a week's page lies.
fn path(week: &str) -> String {
    format!("{}/week{week}.md", PATH.trim_end_matches(".md"))
}

/// The numbers of the weeks that have days.
fn weeks(curriculum: &Curriculum) -> Vec<String> {
    let mut weeks: Vec<String> = curriculum
        .days()
        .filter_map(|day| Some(day.feature.strip_prefix("week")?.split_once('-')?.0.to_owned()))
        .collect();
    weeks.dedup();
    weeks
}

/// The whole text. Of the tasks that were `left_out`, because this machine cannot run them, it has
/// what the `old` one had.
pub(super) fn page(
    matrix: &Matrix,
    curriculum: &Curriculum,
    entries: &[Entry],
    left_out: &[TaskId],
    old: &str,
) -> String {
    let wrong = entries.iter().filter(|entry| matches!(entry.kind, Kind::Wrong(_))).count();
    let mut text = INTRODUCTION.to_owned();
    let _ = writeln!(
        text,
        "\n{} mistakes, all caught and named; {} correct bodies of another shape, all accepted.",
        wrong,
        entries.len() - wrong
    );
    for day in curriculum.days() {
        let number = number(day);
        let _ = writeln!(text, "\n## {number}{}", day.title);
        let of_day = old.split("\n## ").find(|part| part.starts_with(&number)).unwrap_or_default();
        for (id, task) in day.tasks() {
            if left_out.contains(&id) {
                let heading = format!("Task {}: ", task.number);
                let part = of_day.split("\n### ").find(|part| part.starts_with(&heading));
                let _ = writeln!(text, "\n### {}", part.unwrap_or(&heading).trim_end());
                continue;
            }
            let rows: Vec<&Row> = matrix.rows.iter().filter(|row| row.entry.task == id).collect();
            if rows.is_empty() {
                continue;
            }
            let _ = writeln!(
                text,
                "\n\
                 ### Task {}: {}\n\n\
                 | mistake | what the learner is told | red | named | distance |\n\
                 |---|---|---|---|---|",
                task.number, task.title
            );
            for row in rows {
                let distance = row.distance.map_or("–".to_owned(), shown);
                let told = row.wrong.says.replace('|', "\\|").replace('<', "&lt;");
                let name = row
                    .entry
                    .name
                    .split_once('_')
                    .and_then(|(_, rest)| rest.split_once('_'))
                    .map_or(row.wrong.id.as_str(), |(_, name)| name);
                let _ = writeln!(
                    text,
                    "| `{name}` | {told} | {} of {} | {} | {distance} |",
                    row.red, row.tests, row.named
                );
            }
        }
    }
    text
}

/// Where the parts of `days` first differ between two pages, but for the distances, which depend on
/// how a machine rounds. No days are all of them.
pub(super) fn difference(old: &str, new: &str, days: &[&Day]) -> Option<String> {
    let (old, new) = (lines(old, days), lines(new, days));
    let longer = if old.len() > new.len() { &old } else { &new };
    let at = (0..longer.len()).find(|&i| old.get(i) != new.get(i))?;
    let shown = |lines: &[(String, String)]| {
        lines.get(at).map_or("nothing".to_owned(), |(_, line)| format!("`{line}`"))
    };
    Some(format!(
        "{PATH} is not what the bank gives today, {}\n  it has {}\n  today  {}",
        longer[at].0,
        shown(&old),
        shown(&new)
    ))
}

/// The lines that count, each with the headings above it.
fn lines(page: &str, days: &[&Day]) -> Vec<(String, String)> {
    let (mut day, mut task, mut found) = (String::new(), String::new(), Vec::new());
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            (day, task) = (heading.to_owned(), String::new());
        } else if let Some(heading) = line.strip_prefix("### ") {
            heading.clone_into(&mut task);
        }
        let row = line.starts_with("| `").then(|| line.rsplit_once(" | ")).flatten();
        let counts = row.map_or(line, |(left, _)| left).to_owned();
        if days.is_empty() || days.iter().any(|of| day.starts_with(&number(of))) {
            found.push((format!("{day}, {task}"), counts));
        }
    }
    found
}

/// `Week 2, day 6: `.
fn number(day: &Day) -> String {
    day.feature.replace("week", "Week ").replace("-day", ", day ") + ": "
}

/// Two digits.
pub(super) fn shown(distance: f64) -> String {
    if distance.is_infinite() {
        return "∞".to_owned();
    }
    let scale = 10f64.powf(distance.max(1.0).log10().floor() - 1.0);
    format!("{}", (distance / scale).round() * scale)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{bank, curriculum::Task, testing::curriculum};

    /// As if each mistake of the bank were red and named by one test of three.
    fn made_up(entries: &[Entry]) -> Matrix<'_> {
        let mut matrix = Matrix::default();
        for entry in entries {
            if let Kind::Wrong(wrong) = &entry.kind {
                matrix.rows.push(Row { entry, wrong, tests: 3, red: 1, named: 1, distance: None });
            }
        }
        matrix
    }

    #[test]
    fn tasks_that_are_left_out_stay_as_they_are() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let curriculum = Curriculum::load(root).unwrap();
        let entries = bank::load(root, &curriculum).unwrap();
        let whole = page(&made_up(&entries), &curriculum, &entries, &[], "");
        let is_left_out = |entry: &&Entry| {
            let task = curriculum.task(&entry.task);
            task.ok().and_then(Task::processor).is_some_and(|processor| !processor.is_here())
        };
        let left_out: Vec<TaskId> =
            entries.iter().filter(is_left_out).map(|entry| entry.task.clone()).collect();
        assert!(!left_out.is_empty());
        let mut here = made_up(&entries);
        here.rows.retain(|row| !left_out.contains(&row.entry.task));
        let again = page(&here, &curriculum, &entries, &left_out, &whole);
        for (a, b) in whole.lines().zip(again.lines()) {
            assert_eq!(a, b);
        }
        assert_eq!(again, whole);
    }

    #[test]
    fn a_difference_is_named_and_distances_do_not_count() {
        let curriculum = curriculum();
        let days: Vec<&Day> = curriculum.days().collect();
        let page = "# The matrix\n\n## Week 1, day 1: Counting\n\n### Task 1: One\n\n\
            | `a` | You … | 3 of 4 | 2 | 110 |\n";
        let of = |new: &str, days: &[&Day]| difference(page, new, days);
        assert_eq!(of(&page.replace("110", "120"), &[]), None);
        assert_eq!(of(&page.replace('\n', "\r\n"), &[]), None);
        let other = page.replace("3 of 4", "2 of 4");
        let said = of(&other, &[]).unwrap();
        assert!(said.contains("today, Week 1, day 1: Counting, Task 1: One"), "{said}");
        assert!(said.contains("it has `| `a` | You … | 3 of 4 | 2`"), "{said}");
        assert_eq!(of(&other, &days[..1]), Some(said));
        assert_eq!(of(&other, &days[1..]), None);
        assert!(of("# The matrix\n", &[]).unwrap().ends_with("today  nothing"));
    }

    #[test]
    fn a_page_for_each_week_says_the_same_as_the_whole() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let curriculum = Curriculum::load(root).unwrap();
        let entries = bank::load(root, &curriculum).unwrap();
        let whole = page(&made_up(&entries), &curriculum, &entries, &[], "");
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files(&whole, &curriculum) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let again = read(folder.path(), &curriculum);
        assert_eq!(difference(&whole, &again, &[]), None);
        let days: Vec<&Day> = curriculum.days().collect();
        assert_eq!(difference(&whole, &again, &days), None);
        // As often as one likes.
        assert_eq!(files(&again, &curriculum), files(&whole, &curriculum));
        assert_eq!(read(&folder.path().join("none"), &curriculum), "");
    }

    #[test]
    fn distances_have_two_digits() {
        assert_eq!([shown(23.46), shown(123_456.0), shown(f64::INFINITY)], ["23", "120000", "∞"]);
    }
}
