//! `cargo course status --json`: the learner's progress as JSON, for other programs.
//!
//! `book/src/runner.md`, “For programs”, lists the fields. New fields may be added. A change of
//! existing fields increases `format`.

use serde_json::{Value, json};

use crate::{
    curriculum::{Curriculum, Day, Week},
    record::Run,
    task_states::{Status, TaskStatus},
};

/// Formats the status as pretty-printed JSON.
pub(super) fn text(curriculum: &Curriculum, status: &Status) -> String {
    let weeks: Value = curriculum.weeks.iter().map(|week| of_week(week, status)).collect();
    let next = status.current();
    let status = json!({
        "format": 1,
        "weeks": weeks,
        "next": next.map(|task| json!({ "day": task.day.feature, "task": task.id.task })),
    });
    format!("{status:#}")
}

fn of_week(week: &Week, status: &Status) -> Value {
    let days: Value = week.days.iter().map(|day| of_day(day, status)).collect();
    json!({ "week": week.number, "title": week.title, "days": days })
}

fn of_day(day: &Day, status: &Status) -> Value {
    let tasks = status.tasks.iter().filter(|task| task.day.feature == day.feature);
    json!({
        "day": day.feature,
        "title": day.title,
        "chapter": day.chapter,
        "tasks": tasks.map(of_task).collect::<Value>(),
    })
}

fn of_task(status: &TaskStatus) -> Value {
    let task = status.task;
    json!({
        "task": task.number,
        "title": task.title,
        "file": task.file,
        "functions": task.functions,
        "state": status.mark.words().replace(' ', "-"),
        "reason": status.mark.reason(),
        "last_run": status.run.as_ref().map(of_run),
        "hints": status.hints,
    })
}

fn of_run(run: &Run) -> Value {
    json!({
        "verdict": run.verdict.name(),
        "at": run.at,
        "milliseconds": run.milliseconds,
        "first_failing": run.first_failing,
    })
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
        let json: Value = serde_json::from_str(&text(
            &curriculum,
            &Status::read(root.path(), &curriculum).unwrap(),
        ))
        .unwrap();
        assert_eq!(json["format"], 1);
        assert_eq!(json["next"], json!({"day": "week1-day1", "task": 1}));
        let day = &json["weeks"][0]["days"][0];
        assert_eq!(
            (&day["day"], &day["chapter"]),
            (&"week1-day1".into(), &"book/src/week1/day1.md".into())
        );
        let first = json!({
            "task": 1, "title": "One", "file": "src/week1/a.rs", "functions": ["one"],
            "state": "not-started", "reason": null, "last_run": null, "hints": 0,
        });
        assert_eq!(day["tasks"][0], first);
        let second = &day["tasks"][1];
        assert_eq!(
            (&second["last_run"]["verdict"], &second["last_run"]["first_failing"]),
            (&"does-not-compile".into(), &Value::Null)
        );
        assert_eq!((&second["last_run"]["milliseconds"], &second["hints"]), (&5.into(), &2.into()));
    }
}
