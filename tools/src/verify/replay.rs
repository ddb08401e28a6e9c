//! Replays the course like a learner: before each task, its tests must fail with the task's own
//! message, and after it they must pass.
//!
//! In stage n of a day, the tasks before n are filled in from the reference.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use course::explain::counted;

use super::context::Verification;
use crate::{
    bank::matrix::each,
    curriculum::{Day, TaskId},
    libtest::{Report, task_of_test},
    process::run_quietly,
    proof::{Program, SOLVED},
};

/// A day with its first tasks solved.
struct Stage<'a> {
    day: &'a Day,
    /// Number of the next task, counted from 1. If all are solved, this is one more than the number
    /// of tasks.
    next: usize,
    /// Number of solved tasks of the course.
    solved: usize,
}

impl Stage<'_> {
    fn is_last(&self) -> bool {
        self.next > self.day.tasks.len()
    }

    fn place(&self) -> String {
        if self.is_last() {
            format!("{}, all tasks solved", self.day.feature)
        } else {
            format!("{} before task {}", self.day.feature, self.next)
        }
    }
}

/// Replays every stage of some days. With `tasks`, replays only the stages before these tasks and
/// each day's last stage. Returns a summary, and what the machine lacks for these days, if
/// anything.
pub(super) fn stages(
    v: &Verification,
    program: &Program,
    days: &[&Day],
    tasks: Option<&BTreeSet<String>>,
) -> Result<(String, Option<String>)> {
    let (mut stages, mut solved) = (Vec::new(), 0);
    for day in v.curriculum.days() {
        for next in 1..=day.tasks.len() + 1 {
            let id = TaskId { feature: day.feature.clone(), task: next };
            let named = tasks.is_none_or(|tasks| tasks.contains(&id.to_string()));
            let stage = Stage { day, next, solved };
            if days.iter().any(|other| other.feature == day.feature) && (named || stage.is_last()) {
                stages.push(stage);
            }
            solved += usize::from(next <= day.tasks.len());
        }
    }
    let reports = each(&stages, |_, stage| run(program, stage))?;
    let (mut problems, mut tests) = (Vec::new(), 0);
    for (stage, report) in stages.iter().zip(&reports) {
        let place = stage.place();
        println!("{place}: {}", report.closing.join(" "));
        let found = judge(stage.day, stage.next, report);
        problems.extend(found.iter().map(|what| format!("{place}: {what}")));
        if stage.is_last() {
            tests += report.passed.len();
        }
    }
    ensure!(problems.is_empty(), "{}\n{}", counted(problems.len(), "problem"), problems.join("\n"));
    let red = stages.iter().filter(|stage| !stage.is_last()).count();
    let lacking = reports.iter().find_map(Report::not_verified).map(str::to_owned);
    Ok((format!("{red} tasks failed with their own todo!, then {tests} tests passed"), lacking))
}

/// Runs a day's tests with the stage's tasks solved.
fn run(program: &Program, stage: &Stage) -> Result<Report> {
    let tests = program.tests(&stage.day.module(), |_| true);
    let mut command = tests.with_context(|| format!("{} has no tests", stage.day.feature))?;
    let finished = run_quietly(command.env(SOLVED, stage.solved.to_string()))?;
    let report = Report::parse(&finished.output);
    ensure!(!report.closing.is_empty(), "{}:\n{}", stage.place(), finished.tail(40));
    Ok(report)
}
/// Returns the problems of a stage, such as a failing test of a solved task, a passing test of an
/// unsolved task, or a test of the next task that fails with a message other than its own `todo!`.
fn judge(day: &Day, n: usize, report: &Report) -> Vec<String> {
    let mut problems = Vec::new();
    for (id, task) in day.tasks() {
        // Tasks for other kinds of processors are replayed in a separate step.
        if !task.is_for_here() {
            continue;
        }
        let mut tests = report
            .passed
            .iter()
            .filter(|(name, _)| task_of_test(name) == Some(task.number))
            .peekable();
        if tests.peek().is_none() {
            problems.push(format!("no test of task {} ran", task.number));
        }
        for (name, &passed) in tests {
            let panic = report.first_panic(name).unwrap_or("no message");
            if panic.starts_with("not verified: ") {
                continue;
            }
            if task.number < n && !passed {
                problems.push(format!("{name} fails although its task is solved: {panic}"));
            } else if task.number >= n && passed {
                problems.push(format!("{name} passes although its task is open"));
            } else if task.number == n
                && !task.functions.iter().any(|function| {
                    panic == format!("not yet implemented: {}", id.message(function))
                })
            {
                problems.push(format!("{name} fails, but not with its task's message: {panic}"));
            }
        }
    }
    for name in report.passed.keys().filter(|name| task_of_test(name).is_none()) {
        problems.push(format!("{name} belongs to no task: tests are named task_K_…"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curriculum;

    /// Creates a report of tests, each with its panic's message. A test with an empty message
    /// passes.
    fn report(tests: &[(&str, &str)]) -> Report {
        let mut text = String::new();
        for (name, panic) in tests {
            text +=
                &format!("test {name} ... {}\n", if panic.is_empty() { "ok" } else { "FAILED" });
        }
        text += "\nfailures:\n\n";
        for (name, panic) in tests.iter().filter(|(_, panic)| !panic.is_empty()) {
            text += &format!(
                "---- {name} stdout ----\n\nthread '{name}' panicked at src/a.rs:1:1:\n{panic}\n\n"
            );
        }
        Report::parse(&text)
    }

    const ONE: &str = "not yet implemented: week1-day1 task 1: one";
    const TWO: &str = "not yet implemented: week1-day1 task 2: Two::two";

    fn judged(n: usize, tests: &[(&str, &str)]) -> Vec<String> {
        judge(&curriculum().weeks[0].days[0], n, &report(tests))
    }

    #[test]
    fn judge_accepts_correct_stages() {
        assert_eq!(judged(1, &[("task_1_a", ONE), ("task_2_a", ONE)]), Vec::<String>::new());
        assert_eq!(judged(2, &[("task_1_a", ""), ("task_2_a", TWO)]), Vec::<String>::new());
        assert_eq!(judged(3, &[("task_1_a", ""), ("task_2_a", "")]), Vec::<String>::new());
    }

    #[test]
    fn judge_names_each_fault() {
        for (n, one, two, problem) in [
            (1, "", TWO, "task_1_a passes although its task is open"),
            (
                1,
                TWO,
                TWO,
                "task_1_a fails, but not with its task's message: not yet implemented: week1-day1 \
                 task 2: Two::two",
            ),
            (
                1,
                "not yet implemented: week1-day1 task 1: ones",
                TWO,
                "task_1_a fails, but not with its task's message: not yet implemented: week1-day1 \
                 task 1: ones",
            ),
            (1, ONE, "", "task_2_a passes although its task is open"),
            (2, "left != right", TWO, "task_1_a fails although its task is solved: left != right"),
            (3, "", "left != right", "task_2_a fails although its task is solved: left != right"),
        ] {
            assert_eq!(judged(n, &[("task_1_a", one), ("task_2_a", two)]), [problem]);
        }
        assert_eq!(judged(1, &[("task_1_a", ONE)]), ["no test of task 2 ran"]);
        assert_eq!(
            judged(3, &[("task_1_a", ""), ("task_2_a", ""), ("loads", "")]),
            ["loads belongs to no task: tests are named task_K_…"]
        );
    }
}
