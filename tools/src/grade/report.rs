//! Writes the results of a run. Each submission gets Gradescope's `results.json` and a JUnit file.
//! All submissions together get a JUnit file and a table.

use std::{fmt::Write as _, time::Duration};

use anyhow::{Context, Result};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::{Deserialize, Serialize};

use super::{
    day::DayResult,
    score::{Status, TaskResult},
    verdict::Verdict,
};
use crate::libtest::task_of_test;

/// The files next to the submissions' folders. No submission may have such a name.
pub(super) const FILES: [&str; 3] = ["table.csv", "junit.xml", "results.json"];

/// The results of a submission.
#[derive(Debug, Clone)]
pub(super) struct Graded {
    /// Name of the submission in this run.
    pub(super) name: String,
    /// Remarks, one per line: the submission's form and problems, days that are not graded, and
    /// limits that this system doesn't enforce.
    pub(super) remarks: Vec<String>,
    /// Results of each day, and of its tasks.
    pub(super) days: Vec<(DayResult, Vec<TaskResult>)>,
}

/// Gradescope's format: <https://gradescope-autograders.readthedocs.io/en/latest/specs/>.
#[derive(Debug, Serialize)]
struct Gradescope<'a> {
    score: f64,
    output: String,
    output_format: &'static str,
    visibility: &'static str,
    extra_data: Row,
    tests: Vec<GradescopeTest<'a>>,
}

/// A submission's row of the table. It is also stored in `results.json`, where Gradescope keeps it
/// without showing it to students.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    #[serde(skip)]
    pub(super) submission: String,
    pub(super) points: f64,
    pub(super) most: f64,
    /// For each day, its cell in the table, such as `3/3` or `0/1 does not compile`.
    pub(super) days: Vec<(String, String)>,
}

#[derive(Debug, Serialize)]
struct GradescopeTest<'a> {
    name: String,
    score: f64,
    max_score: f64,
    status: &'static str,
    output: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<&'static str>,
    visibility: &'static str,
}

impl Graded {
    pub(super) fn row(&self) -> Row {
        let (points, most) = self.points();
        let days = self.days.iter().map(|day| (day.0.feature.clone(), cell(day)));
        Row { submission: self.name.clone(), points, most, days: days.collect() }
    }

    /// Returns the points given, and the maximum.
    fn points(&self) -> (f64, f64) {
        self.days
            .iter()
            .flat_map(|(_, tasks)| tasks)
            .fold((0.0, 0.0), |sum, task| (sum.0 + task.points.0, sum.1 + task.points.1))
    }

    /// Returns the contents of `results.json`. They are the same for the same submission in every
    /// run, on every machine.
    pub(super) fn gradescope(&self) -> Result<String> {
        let mut output = self.remarks.join("\n");
        for (day, _) in &self.days {
            if let Some(reason) = &day.reason {
                let _ = write!(output, "\n{}: {}", day.feature, reason.trim_end());
            }
        }
        let tests = self.days.iter().flat_map(|(_, tasks)| tasks).map(|task| GradescopeTest {
            name: format!("{}: {}", task.id, task.title),
            score: task.points.0,
            max_score: task.points.1,
            // The format has only these two values.
            status: if task.status == Status::Passed { "passed" } else { "failed" },
            output: &task.text,
            tags: if task.status == Status::Borrowed { vec!["borrowed"] } else { Vec::new() },
            visibility: "visible",
        });
        let results = Gradescope {
            score: self.points().0,
            output,
            // Otherwise Gradescope interprets the output as HTML.
            output_format: "text",
            visibility: "visible",
            extra_data: self.row(),
            tests: tests.collect(),
        };
        Ok(serde_json::to_string_pretty(&results).context("results.json cannot be created")? + "\n")
    }

    fn suites(&self) -> impl Iterator<Item = TestSuite> {
        self.days.iter().map(|(day, tasks)| {
            let mut suite = TestSuite::new(format!("{} {}", self.name, day.feature));
            suite.set_time(day.duration);
            for test in &day.tests {
                let borrowed = tasks.iter().any(|task| {
                    task.status == Status::Borrowed
                        && task_of_test(&test.name)
                            .is_some_and(|n| task.id.ends_with(&format!(" {n}")))
                });
                let failure = |kind: &str, message: &str, text: &str| {
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                    let (message, text) = (for_xml(message), for_xml(text));
                    status.set_type(kind).set_message(message).set_description(text);
                    status
                };
                let status = match &test.verdict {
                    _ if borrowed => failure(
                        "borrowed",
                        "borrowed from the reference",
                        "borrowed from the reference",
                    ),
                    Verdict::Passed => TestCaseStatus::success(),
                    Verdict::Failed { message, output } => failure("failed", message, output),
                    Verdict::NotRun(reason) => {
                        failure("not run", reason, day.reason.as_deref().unwrap_or(reason))
                    }
                };
                let mut case = TestCase::new(test.name.clone(), status);
                case.set_classname(format!("{}.{}", self.name, day.feature));
                suite.add_test_case(case);
            }
            suite
        })
    }
}

/// Formats a day's number of passed tasks. If its tests could not run normally, the reason follows:
/// `0/1 does not compile`.
fn cell((result, tasks): &(DayResult, Vec<TaskResult>)) -> String {
    let count = |status| tasks.iter().filter(|task| task.status == status).count();
    let mut text = format!("{}/{}", count(Status::Passed), tasks.len());
    if count(Status::Borrowed) > 0 {
        let _ = write!(text, " ({} borrowed)", count(Status::Borrowed));
    }
    if let Some(reason) = &result.reason {
        let first = reason.lines().next().unwrap_or_default();
        let _ = write!(text, " {}", first.split([';', ':']).next().unwrap_or(first));
    }
    text
}

/// Removes the two characters that XML does not allow and `quick-junit` doesn't filter. A panic's
/// message may contain them, and a single one would make the whole class's file unreadable.
fn for_xml(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "")
}

/// Formats a JUnit report with a suite for each day and a case for each test.
///
/// # Errors
/// If the report cannot be formatted.
pub(super) fn junit(graded: &Graded) -> Result<String> {
    let mut report = Report::new("cargo course grade");
    report.add_test_suites(graded.suites());
    report.to_string().context("junit.xml cannot be created")
}

/// Combines the JUnit files of all submissions, whose contents are `texts`, into one.
///
/// # Errors
/// If a file was not written by [`junit`].
pub(super) fn all_junit(texts: &[String], total: Duration) -> Result<String> {
    let mut report = Report::new("cargo course grade");
    report.set_time(total);
    for text in texts {
        let one = Report::deserialize_from_str(text)
            .context("a submission's junit.xml cannot be read")?;
        report.add_test_suites(one.test_suites);
    }
    report.to_string().context("junit.xml cannot be created")
}

impl Row {
    /// Reads the row from the `results.json` of an earlier run.
    pub(super) fn of(submission: &str, results: &str) -> Option<Self> {
        let results: serde_json::Value = serde_json::from_str(results).ok()?;
        let row: Self = serde_json::from_value(results["extra_data"].clone()).ok()?;
        Some(Self { submission: submission.to_owned(), ..row })
    }

    /// Formats the days' results for a progress line.
    pub(super) fn cells(&self) -> String {
        let cells: Vec<String> =
            self.days.iter().map(|(day, cell)| format!("{day} {cell}")).collect();
        cells.join(", ")
    }

    /// Formats a line of `table.csv`.
    pub(super) fn csv(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut cells =
            vec![quoted(&self.submission), self.points.to_string(), self.most.to_string()];
        cells.extend(self.days.iter().map(|(_, cell)| quoted(cell)));
        cells.join(",") + "\n"
    }
}

/// Returns the first line of `table.csv`.
pub(super) fn csv_head(features: &[&str]) -> String {
    format!("submission,points,most,{}\n", features.join(","))
}

/// Formats a table with a row for each submission and a column for each day.
pub(super) fn table(all: &[Row], features: &[&str]) -> String {
    let head = std::iter::once("submission").chain(features.iter().copied()).chain(["points"]);
    let mut rows = vec![head.map(str::to_owned).collect::<Vec<_>>()];
    for row in all {
        let mut cells = vec![row.submission.clone()];
        cells.extend(row.days.iter().map(|(_, cell)| cell.clone()));
        cells.push(format!("{}/{}", row.points, row.most));
        rows.push(cells);
    }
    let columns = rows[0].len();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let line: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{}", line.join("  ").trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        grade::{
            score::{Points, tasks},
            verdict::Test,
        },
        testing::curriculum,
    };
    use std::collections::BTreeSet;

    /// Returns a submission with a verdict of every kind.
    fn graded() -> Graded {
        let curriculum = curriculum();
        let days: Vec<_> = curriculum.days().collect();
        let failed = Verdict::Failed {
            message: "1 < 2 & \u{1b}[1m\"3\"\u{ffff}".to_owned(),
            output: "thread 'x' panicked at src/a.rs:1:1:\n1 < 2".to_owned(),
        };
        let test = |name: &str, verdict| Test { name: name.to_owned(), verdict };
        let first = DayResult {
            feature: "week1-day1".to_owned(),
            reason: None,
            tests: vec![
                test("task_1_a", Verdict::Passed),
                test("task_1_b", failed),
                test("task_2_a", Verdict::Passed),
            ],
            duration: Duration::from_millis(1250),
        };
        let reason = "does not compile\nerror: expected `;`";
        let second = crate::grade::day::not_run(
            "week1-day2",
            &["task_1_c".to_owned(), "task_1_d".to_owned()],
            reason,
        );
        let borrowed = BTreeSet::from([("week1-day1".to_owned(), 2)]);
        let with_tasks = |day: usize, result: DayResult| {
            let tasks = tasks(days[day], &result, &Points::default(), &borrowed);
            (result, tasks)
        };
        Graded {
            name: "eve".to_owned(),
            remarks: vec!["read as a clone of the course (src/week1/)".to_owned()],
            days: vec![with_tasks(0, first), with_tasks(1, second)],
        }
    }

    /// Compares `found` with a file in this folder. `BLESS=1` writes the file instead.
    fn golden(name: &str, found: &str) {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/grade/golden").join(name);
        if std::env::var_os("BLESS").is_some() {
            crate::files::write_atomically(&path, found).unwrap();
        }
        assert_eq!(found, std::fs::read_to_string(&path).unwrap_or_default(), "{}", path.display());
    }

    #[test]
    fn gradescope_has_the_expected_format() {
        let text = graded().gradescope().unwrap();
        golden("results.json", &text);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["score"], 0.0);
        let tests = json["tests"].as_array().unwrap();
        assert_eq!(tests.len(), 3);
        for test in tests {
            assert!(test["score"].as_f64().unwrap() <= test["max_score"].as_f64().unwrap());
            assert!(["passed", "failed"].contains(&test["status"].as_str().unwrap()));
            assert_eq!(test["visibility"], "visible");
            assert!(test["name"].is_string() && test["output"].is_string());
        }
        assert_eq!(tests[1]["tags"][0], "borrowed");
    }

    #[test]
    fn junit_round_trips() {
        let one = junit(&graded()).unwrap();
        let text = all_junit(&[one.clone(), one.clone()], Duration::from_secs(2)).unwrap();
        assert_eq!(Report::deserialize_from_str(&text).unwrap().test_suites.len(), 4);
        let text = all_junit(&[one], Duration::from_secs(2)).unwrap();
        golden("junit.xml", &text);
        let report = Report::deserialize_from_str(&text).unwrap();
        assert_eq!((report.tests, report.failures, report.test_suites.len()), (5, 4, 2));
        assert_eq!(report.test_suites[0].name.as_str(), "eve week1-day1");
        assert_eq!(report.test_suites[0].test_cases.len(), 3);
    }

    #[test]
    fn table_shows_passed_tasks_or_the_reason() {
        assert_eq!(
            table(&[graded().row()], &["week1-day1", "week1-day2"]),
            "submission  week1-day1        week1-day2            points
eve         0/2 (1 borrowed)  0/1 does not compile  0/3
"
        );
    }

    #[test]
    fn row_round_trips_and_formats_as_csv() {
        let row = graded().row();
        assert_eq!(Row::of("eve", &graded().gradescope().unwrap()), Some(row.clone()));
        assert_eq!(row.csv(), "\"eve\",0,3,\"0/2 (1 borrowed)\",\"0/1 does not compile\"\n");
        assert_eq!(Row::of("eve", "{}"), None);
    }
}
