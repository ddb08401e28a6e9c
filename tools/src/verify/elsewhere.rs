//! Replays the tasks that are for a kind of processor other than this machine's. With all other
//! tasks done, each task's tests must first fail with the task's own message, and must pass once
//! the task is done.

use anyhow::{Result, ensure};

use super::{context::Verification, tree::write_if_changed};
use crate::{
    curriculum::{Day, Task, TaskId},
    libtest::{Report, task_of_test},
    process::run_quietly,
    processor::{Emulation, Processor},
    stubs::{Generated, generated},
};

/// Replays every task for `processor`. Returns the number of these tasks, and the problems.
pub(super) fn replay(
    v: &Verification,
    processor: Processor,
    emulation: &Emulation,
) -> Result<(usize, Vec<String>)> {
    let files = generated(&v.root, &v.curriculum)?;
    let (mut tasks, mut problems) = (0, Vec::new());
    for day in v.curriculum.days() {
        let theirs = |task: &&Task| task.processor() == Some(processor);
        for task in day.tasks.iter().filter(theirs) {
            let open = TaskId { feature: day.feature.clone(), task: task.number };
            for solved in [false, true] {
                write(v, &files, |id| solved || *id != open)?;
                let report = tests(v, day, task, emulation)?;
                problems.extend(judge(&open, task, solved, &report));
            }
            tasks += 1;
        }
    }
    write(v, &files, |_| false)?;
    Ok((tasks, problems))
}

fn write(v: &Verification, files: &[Generated], solved: impl Fn(&TaskId) -> bool) -> Result<()> {
    for file in files {
        let text = file.template.render(&solved);
        write_if_changed(&v.tree.join(&file.path), text.as_bytes())?;
    }
    Ok(())
}

fn tests(v: &Verification, day: &Day, task: &Task, emulation: &Emulation) -> Result<Report> {
    let mut command = emulation.cargo(&v.tree, "test", "max")?;
    command.env("CARGO_TARGET_DIR", v.root.join("target/verify/arm"));
    command.args(["--no-fail-fast", "--test", &day.module(), "--features", &day.feature, "--"]);
    command.arg(format!("task_{}_", task.number));
    let finished = run_quietly(&mut command)?;
    let report = Report::parse(&finished.output);
    ensure!(
        !report.closing.is_empty(),
        "the tests of {} do not build:\n{}",
        day.feature,
        finished.tail(40)
    );
    Ok(report)
}

fn judge(id: &TaskId, task: &Task, solved: bool, report: &Report) -> Vec<String> {
    let mut problems = Vec::new();
    let mut theirs =
        report.passed.iter().filter(|(name, _)| task_of_test(name) == Some(task.number)).peekable();
    if theirs.peek().is_none() {
        problems.push(format!("{id}: no test ran"));
    }
    for (name, &passed) in theirs {
        let panic = report.first_panic(name).unwrap_or("no message");
        let is_own =
            |function: &String| panic == format!("not yet implemented: {}", id.message(function));
        if solved && !passed {
            problems.push(format!("{name} fails although its task is solved: {panic}"));
        } else if !solved && passed {
            problems.push(format!("{name} passes although its task is open"));
        } else if !solved && !task.functions.iter().any(is_own) {
            problems.push(format!("{name} fails, but not with its task's message: {panic}"));
        }
    }
    problems
}
