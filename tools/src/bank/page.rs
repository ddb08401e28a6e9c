//! The book's kill matrix.

use std::{fmt::Write as _, fs, path::Path};

use super::{
    Entry, Kind,
    matrix::{Matrix, Row},
};
use crate::curriculum::{Curriculum, TaskId};

/// Where it stands, relative to the repository.
pub(super) const PATH: &str = "book/src/kill-matrix.md";

const INTRODUCTION: &str = "\
# The kill matrix

<!-- Written by `cargo course matrix`; checked by `cargo course verify`. -->

Tests are a promise, and this page is the proof. Each row is a mistake that people really make, as a wrong body for one task: put in place
of the reference's, it turns its task's tests red, and a message says what is in the second column. `red` counts the task's tests that fail by it,
`named` those that say why. `distance` is how many tolerances its most revealing answer lies from the right one; ∞ stands for a NaN, or for a
check that allows no deviation, and – where the answer is no tensor. Every distance is at least 20, so no tolerance hides a mistake.

What each changes is in `tests/wrong`; correct bodies of other shapes, which must all pass, are in `tests/alternate`.
";

/// The page's text. Of the tasks that were `left_out`, because this machine cannot run them, it has
/// what it had.
pub(super) fn page(
    matrix: &Matrix,
    curriculum: &Curriculum,
    entries: &[Entry],
    left_out: &[TaskId],
    root: &Path,
) -> String {
    let old = fs::read_to_string(root.join(PATH)).unwrap_or_default();
    let wrong = entries.iter().filter(|entry| matches!(entry.kind, Kind::Wrong(_))).count();
    let mut text = INTRODUCTION.to_owned();
    let _ = writeln!(
        text,
        "\n{} mistakes, all caught and named; {} correct bodies of another shape, all accepted.",
        wrong,
        entries.len() - wrong
    );
    for day in curriculum.days() {
        let number = day.feature.replace("week", "Week ").replace("-day", ", day ");
        let _ = writeln!(text, "\n## {number}: {}", day.title);
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
                "\n### Task {}: {}\n\n| mistake | what the learner is told | red | named | distance |\n|---|---|---|---|---|",
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

/// Whether two pages agree but for the distances, which depend on how a machine rounds.
pub(super) fn same(a: &str, b: &str) -> bool {
    let known = |line: &str| {
        if line.starts_with("| `") {
            line.rsplit_once(" | ").map_or(String::new(), |(left, _)| left.to_owned())
        } else {
            line.to_owned()
        }
    };
    a.lines().map(known).eq(b.lines().map(known))
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
    use super::{same, shown};

    #[test]
    fn distances_do_not_count() {
        let page = "# The matrix\n| `a` | You … | 3 of 4 | 2 | 110 |\n";
        assert!(same(page, &page.replace("110", "120")) && same(page, &page.replace('\n', "\r\n")));
        assert!(!same(page, &page.replace("3 of 4", "2 of 4")) && !same(page, "# The matrix\n"));
    }

    #[test]
    fn distances_have_two_digits() {
        assert_eq!([shown(23.46), shown(123_456.0), shown(f64::INFINITY)], ["23", "120000", "∞"]);
    }
}
