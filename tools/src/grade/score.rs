//! Points: a task gives either all of its points or none.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::{Context, Result, bail, ensure};

use super::{day::DayResult, submission::Submission, verdict::Verdict};
use crate::{
    curriculum::{Curriculum, Day},
    libtest::task_of_test,
    template::parse_task,
};

/// Points for each task: 1, unless a file says otherwise.
#[derive(Debug, Default)]
pub(super) struct Points(BTreeMap<(String, usize), f64>);

impl Points {
    /// Reads a file with lines such as `"week1-day1.2" = 3`.
    ///
    /// # Errors
    /// If the file cannot be read, names a task that does not exist, or has a value that is not a
    /// number of at least 0.
    pub(super) fn load(path: &Path, curriculum: &Curriculum) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        Self::parse(&text, curriculum).with_context(|| path.display().to_string())
    }

    fn parse(text: &str, curriculum: &Curriculum) -> Result<Self> {
        let table: toml::Table =
            text.parse().context("malformed; expected lines such as \"week1-day1.2\" = 3")?;
        let mut points = BTreeMap::new();
        for (key, value) in table {
            let name = key.rsplit_once('.').and_then(|(day, task)| Some((day, task.parse().ok()?)));
            let Some((day, task)) = name else {
                bail!("found the key {key:?}; expected a task such as \"week1-day1.2\", in quotes")
            };
            curriculum.named(day, task).with_context(|| format!("the key {key:?}"))?;
            let number =
                value.as_float().or_else(|| value.as_integer().map(|integer| integer as f64));
            let number = number
                .with_context(|| format!("{key:?} is a {}; expected a number", value.type_str()))?;
            ensure!(
                number.is_finite() && number >= 0.0,
                "{key:?} is {number}; expected a number of at least 0"
            );
            points.insert((day.to_owned(), task), number);
        }
        Ok(Self(points))
    }

    fn of(&self, day: &str, task: usize) -> f64 {
        self.0.get(&(day.to_owned(), task)).copied().unwrap_or(1.0)
    }
}

/// The result of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// All of its tests passed.
    Passed,
    /// Some of its tests did not pass.
    Failed,
    /// Its functions were borrowed from the reference.
    Borrowed,
}

/// The result of one task of one submission.
#[derive(Debug, Clone)]
pub(super) struct TaskResult {
    /// The task, such as `week1-day1 task 2`.
    pub(super) id: String,
    /// Title, as in the curriculum.
    pub(super) title: String,
    pub(super) status: Status,
    /// Points given, and the maximum.
    pub(super) points: (f64, f64),
    /// How many tests passed, and why the others did not. The text is the same in every run.
    pub(super) text: String,
}

/// Returns the results of a day's tasks, in order, except tasks for other kinds of processor. The
/// tasks `borrowed` get no points.
pub(super) fn tasks(
    day: &Day,
    result: &DayResult,
    points: &Points,
    borrowed: &BTreeSet<(String, usize)>,
) -> Vec<TaskResult> {
    let of_task = |number: usize| {
        result.tests.iter().filter(move |test| task_of_test(&test.name) == Some(number))
    };
    // Tasks for another kind of processor cannot be graded on this machine, and give no points.
    day.tasks()
        .filter(|(_, task)| task.is_for_here())
        .map(|(id, task)| {
            let all = of_task(id.task).count();
            let passed = of_task(id.task).filter(|test| test.verdict == Verdict::Passed).count();
            let most = points.of(&id.feature, id.task);
            let status = if borrowed.contains(&(id.feature.clone(), id.task)) {
                Status::Borrowed
            } else if all > 0 && passed == all {
                Status::Passed
            } else {
                Status::Failed
            };
            let mut text = match status {
                Status::Borrowed => {
                    format!("borrowed: no points. {passed} of {all} tests passed.\n")
                }
                _ => format!("{passed} of {all} tests passed.\n"),
            };
            let mut reasons = BTreeSet::new();
            for test in of_task(id.task) {
                match &test.verdict {
                    Verdict::Passed => {}
                    Verdict::Failed { output, .. } => {
                        text += &format!("\n{}\n{output}\n", test.name);
                    }
                    Verdict::NotRun(reason) if !reasons.insert(reason) => {}
                    Verdict::NotRun(reason) => text += &format!("\n{}: {reason}\n", test.name),
                }
            }
            let given = if status == Status::Passed { most } else { 0.0 };
            TaskResult {
                id: id.to_string(),
                title: task.title.clone(),
                status,
                points: (given, most),
                text,
            }
        })
        .collect()
}

/// Returns the tasks that lines such as `// BORROWED week1-day1 task 2` name in a submission's
/// files.
pub(super) fn borrowed(submission: &Submission) -> BTreeSet<(String, usize)> {
    let marker = |line: &str| parse_task(line.trim().strip_prefix("// BORROWED ")?);
    let lines = submission.files.values().flat_map(|text| text.lines());
    lines.filter_map(marker).map(|(id, _)| (id.feature, id.task)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{grade::verdict::Test, testing::curriculum};
    use std::time::Duration;

    fn result(tests: &[(&str, bool)]) -> DayResult {
        let verdict = |passed: bool| {
            if passed {
                Verdict::Passed
            } else {
                Verdict::Failed { message: "no".to_owned(), output: "no, not at all".to_owned() }
            }
        };
        let tests = tests
            .iter()
            .map(|(name, passed)| Test { name: (*name).to_owned(), verdict: verdict(*passed) })
            .collect();
        DayResult {
            feature: "week1-day1".to_owned(),
            reason: None,
            tests,
            duration: Duration::ZERO,
        }
    }

    #[test]
    fn a_task_gives_all_points_or_none() {
        let curriculum = curriculum();
        let day = curriculum.days().next().unwrap();
        let points = Points::parse("\"week1-day1.2\" = 2.5", &curriculum).unwrap();
        let tests = [("task_1_a", true), ("task_1_b", false), ("task_2_a", true)];
        let all = tasks(day, &result(&tests), &points, &BTreeSet::new());
        assert_eq!((all[0].points, all[0].status), ((0.0, 1.0), Status::Failed));
        assert_eq!((all[1].points, all[1].status), ((2.5, 2.5), Status::Passed));
        assert_eq!(all[0].text, "1 of 2 tests passed.\n\ntask_1_b\nno, not at all\n");
        let none = tasks(day, &result(&[]), &points, &BTreeSet::new());
        assert!(none.iter().all(|task| task.status == Status::Failed), "no test is no pass");
    }

    #[test]
    fn borrowed_tasks_give_no_points() {
        let mut submission = Submission::default();
        let text = "fn a() {\n    // BORROWED week1-day1 task 2\n    2\n    // END BORROWED\n\
                    }\n\
                    // BORROWED nothing\n";
        submission.files.insert("src/week1/a.rs".to_owned(), text.to_owned());
        let borrowed = borrowed(&submission);
        assert_eq!(borrowed, BTreeSet::from([("week1-day1".to_owned(), 2)]));
        let curriculum = curriculum();
        let tests = [("task_1_a", true), ("task_2_a", true)];
        let all = tasks(
            curriculum.days().next().unwrap(),
            &result(&tests),
            &Points::default(),
            &borrowed,
        );
        assert_eq!((all[1].points, all[1].status), ((0.0, 1.0), Status::Borrowed));
        assert!(all[1].text.starts_with("borrowed: no points"));
    }

    #[test]
    fn rejects_malformed_points() {
        for (text, message) in [
            ("\"week1-day1.7\" = 1", "week1-day1 has no task 7"),
            ("\"week1-day9.1\" = 1", "there is no day"),
            ("week1 = 1", "expected a task such as"),
            ("\"week1-day1.1\" = -1", "expected a number of at least 0"),
            ("\"week1-day1.1\" = inf", "expected a number of at least 0"),
            ("\"week1-day1.1\" = \"much\"", "expected a number"),
            ("1 1", "malformed"),
        ] {
            let error = format!("{:#}", Points::parse(text, &curriculum()).unwrap_err());
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
