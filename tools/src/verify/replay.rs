//! The course as a learner goes through it: before each task its tests are red by its own message,
//! after it they are green.
//!
//! Stage n of a day has the tasks before n filled in from the reference. As files it is only
//! checked by the compiler, which must not warn. The tests of all stages run in one program for
//! each day, in which a variable of the environment says how many tasks are solved: building each
//! stage took three minutes.

use std::{
    collections::BTreeMap, fs, panic::resume_unwind, path::PathBuf, process::Command, thread,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{
    context::{Outcome, Verification},
    tree::write_if_changed,
};
use crate::{
    curriculum::{Day, TaskId},
    libtest::{Report, task_of_test},
    process::{forget_cargo, run_quietly},
    stubs::{Generated, generated},
};

/// Says how many tasks of the course are solved.
const VARIABLE: &str = "COURSE_REPLAY";

/// What reads it, in the copy's `src/lib.rs`.
const REPLAY: &str = "
mod replay {
    pub(crate) fn solved() -> usize {
        static SOLVED: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        *SOLVED.get_or_init(|| std::env::var(\"COURSE_REPLAY\").unwrap().parse().unwrap())
    }
}
";

/// Every stage of every day.
pub(super) fn replay(v: &mut Verification) -> Result<Outcome> {
    let files = generated(&v.root, &v.curriculum)?;
    let library = v.tree.join("src/lib.rs");
    let text = fs::read_to_string(&library)?;
    let outcome = stages(v, &files, &text);
    for file in &files {
        write_if_changed(&v.tree.join(&file.path), file.stub.as_bytes())?;
    }
    write_if_changed(&library, text.as_bytes())?;
    outcome
}

fn stages(v: &Verification, files: &[Generated], library: &str) -> Result<Outcome> {
    let ids: Vec<TaskId> = v.curriculum.tasks().map(|(id, _)| id).collect();
    let order = |id: &TaskId| ids.iter().position(|other| other == id).unwrap_or(usize::MAX);
    for file in files {
        let text = file.template.render_staged(order);
        write_if_changed(&v.tree.join(&file.path), text.as_bytes())?;
    }
    write_if_changed(&v.tree.join("src/lib.rs"), format!("{library}{REPLAY}").as_bytes())?;
    let programs = build(v)?;
    write_if_changed(&v.tree.join("src/lib.rs"), library.as_bytes())?;

    let (mut solved, mut problems, mut tests) = (0, Vec::new(), 0);
    let mut lacking = Vec::new();
    for day in v.curriculum.days() {
        let program = programs.get(&day.module());
        let program = program.with_context(|| format!("{} has no tests", day.feature))?;
        for n in 1..=day.tasks.len() + 1 {
            let place = if n > day.tasks.len() {
                format!("{}, all filled in", day.feature)
            } else {
                format!("{} before task {n}", day.feature)
            };
            for file in files {
                let text = file.template.render(|id| order(id) < solved);
                write_if_changed(&v.tree.join(&file.path), text.as_bytes())?;
            }
            // Each alone keeps one core busy.
            let check = format!("check --quiet --lib --features {}", day.feature);
            let (report, checked) = thread::scope(|scope| {
                let report = scope.spawn(|| run(v, program, solved));
                let checked = run_quietly(&mut v.cargo(&check));
                (report.join(), checked)
            });
            let report = report.unwrap_or_else(|panic| resume_unwind(panic))?;
            let checked = checked?;
            if let Some(reason) = report.not_verified() {
                lacking.push(format!("{place}: {reason}"));
            }
            println!("{place}: {}", report.closing.join(" "));
            problems.extend(judge(day, n, &report).iter().map(|what| format!("{place}: {what}")));
            if !checked.status.success() || checked.text.contains("warning: ") {
                problems.push(format!("{place}: the compiler says:\n{}", checked.tail(40)));
            }
            if n <= day.tasks.len() {
                solved += 1;
            } else {
                tests += report.passed.len();
            }
        }
    }
    for problem in &problems {
        println!("{problem}");
    }
    let here = v.curriculum.tasks().filter(|(_, task)| task.is_for_here()).count();
    let note = format!("{here} tasks, {tests} tests");
    Ok(if problems.is_empty() && !lacking.is_empty() {
        Outcome::NotVerified(format!("{}; {note}", lacking.join("; ")))
    } else if problems.is_empty() {
        Outcome::Passed(note)
    } else {
        Outcome::Failed(format!("{} problems; {}", problems.len(), problems[0]))
    })
}

/// Builds the tests of all days and says where they are, by module.
fn build(v: &Verification) -> Result<BTreeMap<String, PathBuf>> {
    let mut command = v.cargo("test --no-run --message-format json-render-diagnostics --features");
    command.arg(v.curriculum.features().join(","));
    for day in v.curriculum.days() {
        command.args(["--test", &day.module()]);
    }
    let finished = run_quietly(&mut command)?;
    let said: Vec<&str> = finished.text.lines().filter(|line| !line.starts_with('{')).collect();
    ensure!(finished.status.success(), "the tests do not build:\n{}", said.join("\n"));
    let mut programs = BTreeMap::new();
    for line in finished.output.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let (name, program) = (message["target"]["name"].as_str(), message["executable"].as_str());
        if let (Some(name), Some(program)) = (name, program) {
            programs.insert(name.to_owned(), PathBuf::from(program));
        }
    }
    Ok(programs)
}

/// Runs a day's tests with so many tasks of the course solved.
fn run(v: &Verification, program: &PathBuf, solved: usize) -> Result<Report> {
    let mut command = Command::new(program);
    forget_cargo(&mut command);
    command.current_dir(&v.tree).env(VARIABLE, solved.to_string()).env_remove("RUST_BACKTRACE");
    let finished = run_quietly(&mut command)?;
    let report = Report::parse(&finished.output);
    ensure!(!report.closing.is_empty(), "{}:\n{}", program.display(), finished.tail(40));
    Ok(report)
}

/// What is wrong with a stage: a solved task's test that fails, an open one's that passes, or the
/// next one's that fails otherwise than by its own `todo!`.
fn judge(day: &Day, n: usize, report: &Report) -> Vec<String> {
    let mut problems = Vec::new();
    for (id, task) in day.tasks() {
        // What is for another kind of processor is replayed in that one's step.
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
                problems.push(format!("{name} fails by another message than its task's: {panic}"));
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

    /// A report of tests, each with its panic's message; an empty one passes.
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
    fn sound_stages_have_no_problems() {
        assert_eq!(judged(1, &[("task_1_a", ONE), ("task_2_a", ONE)]), Vec::<String>::new());
        assert_eq!(judged(2, &[("task_1_a", ""), ("task_2_a", TWO)]), Vec::<String>::new());
        assert_eq!(judged(3, &[("task_1_a", ""), ("task_2_a", "")]), Vec::<String>::new());
    }

    #[test]
    fn each_fault_is_named() {
        for (n, one, two, problem) in [
            (1, "", TWO, "task_1_a passes although its task is open"),
            (
                1,
                TWO,
                TWO,
                "task_1_a fails by another message than its task's: not yet implemented: \
                 week1-day1 task 2: Two::two",
            ),
            (
                1,
                "not yet implemented: week1-day1 task 1: ones",
                TWO,
                "task_1_a fails by another message than its task's: not yet implemented: \
                 week1-day1 task 1: ones",
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
