//! `cargo course status --json`: the same for programs.
//!
//! ```json
//! {
//!   "format": 1,
//!   "weeks": [
//!     {
//!       "week": 1,
//!       "title": "From matmul to text",
//!       "days": [
//!         {
//!           "day": "week1-day1",
//!           "title": "Attention",
//!           "chapter": "book/src/week1/day1.md",
//!           "tasks": [
//!             {
//!               "task": 1,
//!               "title": "Softmax and linear",
//!               "file": "src/week1/attention.rs",
//!               "functions": ["softmax", "linear"],
//!               "state": "not-verified",
//!               "reason": "changed since the last run",
//!               "last_run": {
//!                 "verdict": "failed",
//!                 "at": "2026-03-09T07:05:00Z",
//!                 "milliseconds": 812,
//!                 "first_failing": "task_1_softmax_normalises_each_row"
//!               },
//!               "hints": 1
//!             }
//!           ]
//!         }
//!       ]
//!     }
//!   ],
//!   "next": { "day": "week1-day1", "task": 1 }
//! }
//! ```
//!
//! - `state`: `passed`, `failed`, `does-not-compile`, `not-started`, `begun`, `borrowed` or
//!   `not-verified`; the last has a `reason`, the others `null`.
//! - `last_run`: `null` if there was none; it may have judged other code than there is now.
//!   `verdict`: `passed`, `failed` or `does-not-compile`. `at`: UTC. `first_failing`: a test's
//!   name, or `null`.
//! - `next`: `null` once every task has passed or is borrowed.
//!
//! Fields may be added; a change of those there are raises `format`.

use anyhow::{Context, Result};
use serde::Serialize;

use super::{Status, TaskStatus};
use crate::{curriculum::Curriculum, judge::Verdict};

#[derive(Serialize)]
struct Course<'a> {
    format: u32,
    weeks: Vec<Week<'a>>,
    next: Option<Next<'a>>,
}

#[derive(Serialize)]
struct Week<'a> {
    week: usize,
    title: &'a str,
    days: Vec<Day<'a>>,
}

#[derive(Serialize)]
struct Day<'a> {
    day: &'a str,
    title: &'a str,
    chapter: &'a str,
    tasks: Vec<Task<'a>>,
}

#[derive(Serialize)]
struct Task<'a> {
    task: usize,
    title: &'a str,
    file: &'a str,
    functions: &'a [String],
    state: String,
    reason: Option<&'static str>,
    last_run: Option<LastRun<'a>>,
    hints: u8,
}

#[derive(Serialize)]
struct LastRun<'a> {
    verdict: Verdict,
    at: &'a str,
    milliseconds: u64,
    first_failing: Option<&'a str>,
}

#[derive(Serialize)]
struct Next<'a> {
    day: &'a str,
    task: usize,
}

/// The status as pretty-printed JSON.
pub(super) fn text(curriculum: &Curriculum, status: &Status) -> Result<String> {
    let of_day = |feature: &str| {
        status.tasks.iter().filter(|task| task.day.feature == feature).map(task).collect()
    };
    let course = Course {
        format: 1,
        weeks: curriculum
            .weeks
            .iter()
            .map(|week| Week {
                week: week.number,
                title: &week.title,
                days: week
                    .days
                    .iter()
                    .map(|day| Day {
                        day: &day.feature,
                        title: &day.title,
                        chapter: &day.chapter,
                        tasks: of_day(&day.feature),
                    })
                    .collect(),
            })
            .collect(),
        next: status.current(None).map(|task| Next { day: &task.day.feature, task: task.id.task }),
    };
    serde_json::to_string_pretty(&course).context("the status cannot be written as JSON")
}

fn task<'a>(status: &'a TaskStatus) -> Task<'a> {
    Task {
        task: status.id.task,
        title: &status.task.title,
        file: &status.task.file,
        functions: &status.task.functions,
        state: status.mark.words().replace(' ', "-"),
        reason: status.mark.reason(),
        last_run: status.run.as_ref().map(|run| LastRun {
            verdict: run.verdict,
            at: &run.at,
            milliseconds: run.milliseconds,
            first_failing: run.first_failing.as_deref(),
        }),
        hints: status.hints,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        curriculum::TaskId,
        record::{Record, Run},
        testing::{curriculum, repository},
    };

    #[test]
    fn the_schema_is_as_documented() {
        let (root, curriculum) = (repository(), curriculum());
        crate::stubs::write(root.path(), &curriculum, false).unwrap();
        let id = TaskId { feature: "week1-day1".into(), task: 2 };
        Record::update(root.path(), |record| {
            record.ran(
                &id,
                Run::now(
                    Verdict::DoesNotCompile,
                    std::time::Duration::from_millis(5),
                    None,
                    "f".into(),
                ),
            );
            record.saw_hint(&id, 2);
        });
        let json: serde_json::Value = serde_json::from_str(
            &text(&curriculum, &Status::read(root.path(), &curriculum).unwrap()).unwrap(),
        )
        .unwrap();
        assert_eq!(json["format"], 1);
        assert_eq!(json["next"], serde_json::json!({"day": "week1-day1", "task": 1}));
        let day = &json["weeks"][0]["days"][0];
        assert_eq!(
            (&day["day"], &day["chapter"]),
            (&"week1-day1".into(), &"book/src/week1/day1.md".into())
        );
        let first = serde_json::json!({
            "task": 1, "title": "One", "file": "src/week1/a.rs", "functions": ["one"],
            "state": "not-started", "reason": null, "last_run": null, "hints": 0,
        });
        assert_eq!(day["tasks"][0], first);
        let second = &day["tasks"][1];
        assert_eq!(
            (&second["last_run"]["verdict"], &second["last_run"]["first_failing"]),
            (&"does-not-compile".into(), &serde_json::Value::Null)
        );
        assert_eq!((&second["last_run"]["milliseconds"], &second["hints"]), (&5.into(), &2.into()));
    }
}
