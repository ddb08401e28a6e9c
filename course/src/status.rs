//! `cargo course`: weeks, days and tasks, how far each has come, and the next step.
//!
//! The state is read off the learner's files: it says what is written, not whether it is right. The tests say that.

use std::path::Path;

use anyhow::Result;

use crate::{
    curriculum::{Curriculum, Day, Task, TaskId},
    learner::State,
    stubs::{Generated, generated},
};

/// How far a task has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Every function is still its `todo!`.
    NotStarted,
    /// Some of it is written.
    Begun,
    /// No `todo!` is left.
    Written,
    /// No `todo!` is left, and something is the reference's: `cargo course return` opens the task again.
    Borrowed,
}

/// Prints the course and the next step.
pub(crate) fn print(root: &Path, curriculum: &Curriculum) -> Result<()> {
    let files = generated(root, curriculum)?;
    for week in &curriculum.weeks {
        println!("Week {}: {}", week.number, week.title);
        for day in &week.days {
            println!("\n  {}  {}", day.feature, day.title);
            for task in &day.tasks {
                let mark = match progress(&files, task) {
                    Progress::NotStarted => "not started",
                    Progress::Begun => "begun",
                    Progress::Written => "written",
                    Progress::Borrowed => "borrowed",
                };
                println!("    {}. {:<42} {mark:<12} {}", task.number, task.title, task.file);
            }
        }
    }
    println!("\n\"written\" says that no todo! is left; whether it is right, the tests say.\n");
    print_next(&files, curriculum);
    Ok(())
}

/// Prints the first open task, with its file, chapter and command.
pub(crate) fn print_next(files: &[Generated], curriculum: &Curriculum) {
    match next(files, curriculum) {
        Some((day, id, task)) => {
            println!("Next: {id}, {}. {}", task.title, task.goal);
            println!("  write    {} in {}", task.functions.join(", "), task.file);
            println!("  read     {} (`cargo course book` shows it in a browser)", day.chapter);
            println!("  check    cargo test --features {} task_{}", day.feature, task.number);
        }
        None => {
            let features: Vec<String> = curriculum.weeks.iter().map(|week| format!("week{}", week.number)).collect();
            println!("Every task is written. Check them all: cargo test --features {}", features.join(","));
        }
    }
}

/// The first task that is neither written nor borrowed.
pub(crate) fn next<'a>(files: &[Generated], curriculum: &'a Curriculum) -> Option<(&'a Day, TaskId, &'a Task)> {
    curriculum
        .days()
        .flat_map(|day| day.tasks().map(move |(id, task)| (day, id, task)))
        .find(|(_, _, task)| !matches!(progress(files, task), Progress::Written | Progress::Borrowed))
}

fn progress(files: &[Generated], task: &Task) -> Progress {
    let file = files.iter().find(|file| file.path == task.file);
    let states: Vec<State> = task.functions.iter().map(|function| file.map_or(State::Missing, |file| file.state(function))).collect();
    if states.iter().all(|state| *state == State::Written) {
        Progress::Written
    } else if states.iter().all(|state| matches!(state, State::Written | State::Borrowed)) {
        Progress::Borrowed
    } else if states.iter().any(|state| matches!(state, State::Written | State::Begun | State::Borrowed)) {
        Progress::Begun
    } else {
        Progress::NotStarted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{A, curriculum, repository, write};

    fn of(a: &str) -> (Vec<Progress>, Option<String>) {
        let root = repository();
        crate::stubs::write(root.path(), &curriculum(), false).unwrap();
        write(root.path(), "src/week1/a.rs", a);
        let (curriculum, files) = (curriculum(), generated(root.path(), &curriculum()).unwrap());
        let progress = curriculum.tasks().map(|(_, task)| progress(&files, task)).collect();
        (progress, next(&files, &curriculum).map(|(_, id, _)| id.to_string()))
    }

    #[test]
    fn progress_is_read_off_the_files() {
        let stub = crate::template::Template::parse("reference/src/week1/a.rs", A, &curriculum()).unwrap().stub();
        let one = stub.replace("todo!(\"week1-day1 task 1: one\")", "1");
        let two = one.replace("todo!(\"week1-day1 task 2: Two::two\")", "let two = 2;\n        todo!(\"week1-day1 task 2: Two::two\")");
        use Progress::{Begun, NotStarted, Written};
        assert_eq!(of(&stub), (vec![NotStarted, NotStarted, NotStarted], Some("week1-day1 task 1".into())));
        assert_eq!(of(&one), (vec![Written, NotStarted, NotStarted], Some("week1-day1 task 2".into())));
        assert_eq!(of(&two), (vec![Written, Begun, NotStarted], Some("week1-day1 task 2".into())));
    }
}
