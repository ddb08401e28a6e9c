//! The course as a learner goes through it: before each task its tests are red by its own message,
//! after it they are green.
//!
//! Stage n of a day has the tasks before n filled in from the reference. One build folder serves
//! all stages.

use anyhow::{Result, ensure};

use super::{
    context::{Outcome, Verification},
    tree::write_if_changed,
};
use crate::{
    consistency::task_of_test,
    curriculum::{Day, Task, TaskId},
    libtest::Report,
    process::run_quietly,
    processor::{Emulation, Processor},
    stubs::{Generated, generated},
};

/// Every stage of every day.
pub(super) fn replay(v: &mut Verification) -> Result<Outcome> {
    let files = generated(&v.root, &v.curriculum)?;
    let outcome = stages(v, &files);
    for file in &files {
        write_if_changed(&v.tree.join(&file.path), file.stub.as_bytes())?;
    }
    outcome
}

fn stages(v: &Verification, files: &[Generated]) -> Result<Outcome> {
    let mut solved: Vec<TaskId> = Vec::new();
    let (mut problems, mut tests) = (Vec::new(), 0);
    for day in v.curriculum.days() {
        for n in 1..=day.tasks.len() + 1 {
            // A task for another kind of processor changes nothing here: see the step for Arm.
            if day.tasks.get(n - 1).is_none_or(Task::is_for_here) {
                write(v, files, &solved)?;
                let report = stage(v, day, n, None, &mut problems)?;
                tests += if n > day.tasks.len() { report.passed.len() } else { 0 };
            }
            if n <= day.tasks.len() {
                solved.push(TaskId { feature: day.feature.clone(), task: n });
            }
        }
    }
    for problem in &problems {
        println!("{problem}");
    }
    let here = v.curriculum.tasks().filter(|(_, task)| task.is_for_here()).count();
    let note = format!("{here} tasks, {tests} tests");
    Ok(if problems.is_empty() {
        Outcome::Passed(note)
    } else {
        Outcome::Failed(format!("{} problems; {}", problems.len(), problems[0]))
    })
}

/// The same for the tasks of another kind of processor, which `emulation` plays: each is red by its
/// own message while all others are done, and green afterwards. Returns how many there are, and what
/// is wrong.
pub(super) fn elsewhere(
    v: &Verification,
    processor: Processor,
    emulation: &Emulation,
) -> Result<(usize, Vec<String>)> {
    let files = generated(&v.root, &v.curriculum)?;
    let (mut tasks, mut problems) = (0, Vec::new());
    for day in v.curriculum.days() {
        let theirs = |task: &&Task| task.processor() == Some(processor);
        if day.tasks.iter().filter(theirs).count() == 0 {
            continue;
        }
        let all = || v.curriculum.tasks().map(|(id, _)| id);
        for task in day.tasks.iter().filter(theirs) {
            let open = TaskId { feature: day.feature.clone(), task: task.number };
            write(v, &files, &all().filter(|id| *id != open).collect::<Vec<_>>())?;
            stage(v, day, task.number, Some((processor, emulation)), &mut problems)?;
            tasks += 1;
        }
        write(v, &files, &all().collect::<Vec<_>>())?;
        stage(v, day, day.tasks.len() + 1, Some((processor, emulation)), &mut problems)?;
    }
    write(v, &files, &[])?;
    Ok((tasks, problems))
}

/// Fills tasks in.
fn write(v: &Verification, files: &[Generated], solved: &[TaskId]) -> Result<()> {
    for file in files {
        let text = file.template.render(|id| solved.contains(id));
        write_if_changed(&v.tree.join(&file.path), text.as_bytes())?;
    }
    Ok(())
}

/// Runs the day's tests with its tasks before `n` filled in, on this processor or on another.
fn stage(
    v: &Verification,
    day: &Day,
    n: usize,
    other: Option<(Processor, &Emulation)>,
    problems: &mut Vec<String>,
) -> Result<Report> {
    let features = format!("--no-fail-fast --test {} --features {}", day.module(), day.feature);
    let mut command = match other {
        None => v.cargo(&format!("test {features}")),
        Some((_, emulation)) => {
            let mut command = emulation.cargo(&v.tree, "test", "max")?;
            command.env("CARGO_TARGET_DIR", v.root.join("target/verify/arm"));
            command.args(features.split_whitespace());
            command
        }
    };
    let finished = run_quietly(&mut command)?;
    let report = Report::parse(&finished.output);
    ensure!(
        !report.closing.is_empty(),
        "the tests of {} do not build with the tasks before {n} filled in:\n{}",
        day.feature,
        finished.tail(40)
    );
    let place = if n > day.tasks.len() {
        format!("{}, all filled in", day.feature)
    } else {
        format!("{} before task {n}", day.feature)
    };
    println!("{place}: {}", report.closing.join(" "));
    if finished.text.contains("warning: ") {
        problems.push(format!("{place}: the compiler warns:\n{}", finished.tail(40)));
    }
    problems.extend(
        judge(day, n, other, &report).into_iter().map(|problem| format!("{place}: {problem}")),
    );
    Ok(report)
}

/// What is wrong with a stage: a solved task's test that fails, an open one's that passes, or the
/// next one's that fails otherwise than by its own `todo!`.
fn judge(
    day: &Day,
    n: usize,
    other: Option<(Processor, &Emulation)>,
    report: &Report,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (id, task) in day.tasks() {
        // On another processor only what is for it: the rest was seen on this one.
        let judged = match other {
            None => task.is_for_here(),
            Some((processor, _)) => task.processor() == Some(processor),
        };
        if !judged || (other.is_some() && n <= day.tasks.len() && n != task.number) {
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
        judge(&curriculum().weeks[0].days[0], n, None, &report(tests))
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
                "task_1_a fails by another message than its task's: not yet implemented: week1-day1 task 2: Two::two",
            ),
            (
                1,
                "not yet implemented: week1-day1 task 1: ones",
                TWO,
                "task_1_a fails by another message than its task's: not yet implemented: week1-day1 task 1: ones",
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
