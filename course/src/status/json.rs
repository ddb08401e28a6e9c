//! `cargo course status --json`: the learner's progress as JSON, for other programs.
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
//!               "file": "src/week1/attention/attention.rs",
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
//! - `state`: `passed`, `failed`, `does-not-compile`, `not-started`, `begun`, `borrowed`,
//!   `optional` (for another kind of processor) or `not-verified`. For `not-verified`, `reason`
//!   says why. In all other states, `reason` is `null`.
//! - `last_run`: `null` if there was no run. The run may have tested code that has changed since.
//!   `verdict`: `passed`, `failed` or `does-not-compile`. `at`: UTC. `first_failing`: a test's
//!   name, or `null`.
//! - `next`: `null` if every task has passed, is borrowed or is `optional`.
//!
//! New fields may be added. A change of existing fields increases `format`.

use crate::{
    curriculum::{Curriculum, Day, Week},
    json::Json,
    record::Run,
    task_states::{Status, TaskStatus},
};

/// Formats the status as pretty-printed JSON.
pub(super) fn text(curriculum: &Curriculum, status: &Status) -> String {
    let next = status.current().map_or(Json::Null, |task| {
        Json::object([("day", Json::text(&task.day.feature)), ("task", number(task.id.task))])
    });
    Json::object([
        ("format", Json::Number(1)),
        ("weeks", Json::List(curriculum.weeks.iter().map(|week| of_week(week, status)).collect())),
        ("next", next),
    ])
    .to_string()
}

fn of_week(week: &Week, status: &Status) -> Json {
    Json::object([
        ("week", number(week.number)),
        ("title", Json::text(&week.title)),
        ("days", Json::List(week.days.iter().map(|day| of_day(day, status)).collect())),
    ])
}

fn of_day(day: &Day, status: &Status) -> Json {
    let tasks = status.tasks.iter().filter(|task| task.day.feature == day.feature);
    Json::object([
        ("day", Json::text(&day.feature)),
        ("title", Json::text(&day.title)),
        ("chapter", Json::text(&day.chapter)),
        ("tasks", Json::List(tasks.map(of_task).collect())),
    ])
}

fn of_task(status: &TaskStatus) -> Json {
    let task = status.task;
    Json::object([
        ("task", number(task.number)),
        ("title", Json::text(&task.title)),
        ("file", Json::text(&task.file)),
        ("functions", Json::List(task.functions.iter().map(Json::text).collect())),
        ("state", Json::text(status.mark.words().replace(' ', "-"))),
        ("reason", Json::optional(status.mark.reason())),
        ("last_run", status.run.as_ref().map_or(Json::Null, of_run)),
        ("hints", Json::Number(status.hints.into())),
    ])
}

fn of_run(run: &Run) -> Json {
    Json::object([
        ("verdict", Json::text(run.verdict.name())),
        ("at", Json::text(&run.at)),
        ("milliseconds", Json::Number(run.milliseconds)),
        ("first_failing", Json::optional(run.first_failing.as_deref())),
    ])
}

fn number(number: usize) -> Json {
    Json::Number(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        curriculum::TaskId,
        record::Record,
        test_run::Verdict,
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
        let json: serde_json::Value = serde_json::from_str(&text(
            &curriculum,
            &Status::read(root.path(), &curriculum).unwrap(),
        ))
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
