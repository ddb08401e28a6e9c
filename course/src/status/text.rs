//! The learner's progress as text.

use std::time::SystemTime;

use crate::{
    curriculum::{Curriculum, Day},
    ink::Ink,
    record::HINTS,
    selection::Selection,
    task_states::{Mark, Reason, Status, TaskStatus},
};

/// Formats the progress as a list of weeks, days and tasks, in 80 columns.
pub(crate) fn list(curriculum: &Curriculum, status: &Status, ink: Ink, now: SystemTime) -> String {
    let mut text = String::new();
    for week in &curriculum.weeks {
        text += &format!("{}\n", ink.bold(&format!("Week {}: {}", week.number, week.title)));
        for day in &week.days {
            text += &format!("\n{}  {}\n", day.feature, day.title);
            for task in status.tasks.iter().filter(|task| task.day.feature == day.feature) {
                text += &row(task, ink, now);
            }
        }
        text += "\n";
    }
    text.truncate(text.trim_end_matches('\n').len() + 1);
    text
}

fn row(status: &TaskStatus, ink: Ink, now: SystemTime) -> String {
    let name = format!("  {}. {:<38} ", status.id.task, status.task.title);
    let words = status.mark.words();
    let hints = match status.hints {
        0 => String::new(),
        1 => "1 hint".to_owned(),
        seen => format!("{seen} hints"),
    };
    let processor = status.task.processor().filter(|processor| !processor.is_here());
    let other = processor.map(|processor| format!("for {}", processor.name));
    let reason = other.as_deref().filter(|_| status.mark == Mark::Elsewhere);
    let (reason, ago) = match (reason.or(status.mark.reason()), &status.run) {
        (Some(reason), None) => (format!(" ({reason})"), String::new()),
        (Some(reason), Some(run)) => (format!("\n{:44}({reason})", ""), run.ago(now)),
        (None, run) => (String::new(), run.as_ref().map(|run| run.ago(now)).unwrap_or_default()),
    };
    if ago.is_empty() && !reason.is_empty() {
        return format!("{name}{}{} {hints}", painted(status.mark, ink, words), ink.dim(&reason))
            .trim_end()
            .to_owned()
            + "\n";
    }
    let mark = painted(status.mark, ink, &format!("{words:<16}"));
    let row = format!("{name}{mark} {ago:<10} {hints}");
    row.trim_end().to_owned() + &ink.dim(&reason) + "\n"
}

/// Describes the next step, with its file, chapter and command.
pub(crate) fn next(status: &Status) -> String {
    step(status.current())
}

/// Describes the next step within the selection `named`: the selected task, or the first open task
/// of the selected day or week.
pub(crate) fn next_in(status: &Status, named: Option<&Selection>) -> String {
    let Some(named) = named else { return next(status) };
    match status.current_among(&named.tasks()) {
        Some(task) => brief(task),
        None => format!(
            "Every task of {0} has passed or is borrowed. Check again: cargo course test {0}\n",
            named.typed()
        ),
    }
}

/// Describes the next step for a learner who is at `day`.
pub(crate) fn next_after(status: &Status, day: &Day) -> String {
    step(status.after(day))
}

/// Describes this task, or says that no task is open.
pub(crate) fn step(task: Option<&TaskStatus>) -> String {
    task.map_or(
        "Every task has passed or is borrowed. Check a day again: cargo course test week1-day1\n"
            .to_owned(),
        brief,
    )
}

/// Describes a task: goal, file, functions, chapter and commands.
pub(crate) fn brief(status: &TaskStatus) -> String {
    let TaskStatus { day, id, task, .. } = status;
    if let Mark::NotVerified(reason) = status.mark {
        let why = match reason {
            Reason::NeverRun => "not yet checked by cargo course",
            Reason::Changed => "your code or the tests have changed since the last run",
        };
        let test = format!("cargo course test {} {}", day.feature, id.task);
        return format!(
            "Next: {id}, {}\n  written, but {why}\n  check  cargo course watch, or {test}\n  \
             read   {}\n",
            task.title, day.chapter
        );
    }
    let hint = match status.hints {
        0 => "(the first of three)".to_owned(),
        HINTS => "(all three again)".to_owned(),
        seen => format!("(hint {} of {HINTS})", seen + 1),
    };
    format!(
        "Next: {id}, {}\n\
         {}\n  write  {} in {}\n  read   {} (cargo course book)\n  check  cargo course watch, or \
         cargo course test {} {}\n  stuck  cargo course hint {} {} {hint}\n",
        task.title,
        wrapped(&task.goal),
        task.functions.join(", "),
        task.file,
        day.chapter,
        day.feature,
        id.task,
        day.feature,
        id.task,
    )
}

/// Wraps a text to lines of at most 78 characters, each indented by two spaces.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            *line = format!("  {word}");
        } else if line.chars().count() + 1 + word.chars().count() <= 78 {
            *line += " ";
            *line += word;
        } else {
            lines.push(format!("  {word}"));
        }
    }
    lines.join("\n")
}

fn painted(mark: Mark, ink: Ink, text: &str) -> String {
    match mark {
        Mark::Passed => ink.green(text),
        Mark::Failed | Mark::DoesNotCompile => ink.red(text),
        Mark::Begun | Mark::Borrowed | Mark::NotVerified(_) => ink.yellow(text),
        Mark::NotStarted | Mark::Elsewhere => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use super::*;
    use crate::{record::Run, selection::Words, test_run::Verdict};

    #[test]
    fn next_in_stays_within_the_selection() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let curriculum = Curriculum::load(root).unwrap();
        let mut status = Status::read(root, &curriculum).unwrap();
        status.tasks.iter_mut().for_each(|task| (task.mark, task.run) = (Mark::NotStarted, None));
        let next = |status: &Status, words: &str| {
            let words = Words(words.split_whitespace().map(str::to_owned).collect());
            next_in(status, words.asked(&curriculum, None).unwrap().as_ref())
        };
        assert!(next(&status, "").starts_with("Next: week1-day1 task 1, "));
        assert!(next(&status, "week4-day2").starts_with("Next: week4-day2 task 1, "));
        assert!(next(&status, "week4-day2 2").starts_with("Next: week4-day2 task 2, "));
        assert!(next(&status, "week3").starts_with("Next: week3-day1 task 1, "));
        status.tasks.iter_mut().for_each(|task| task.mark = Mark::Passed);
        assert!(next(&status, "week3").starts_with("Every task of week3 has passed"));
    }

    #[test]
    fn the_list_fits_80_columns() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let curriculum = Curriculum::load(root).unwrap();
        let mut status = Status::read(root, &curriculum).unwrap();
        let (now, mut all) = (SystemTime::now(), String::new());
        for mark in [
            Mark::NotVerified(Reason::Changed),
            Mark::DoesNotCompile,
            Mark::NotVerified(Reason::NeverRun),
        ] {
            for task in &mut status.tasks {
                task.mark = mark;
                task.hints = 3;
                let ran = mark != Mark::NotVerified(Reason::NeverRun);
                task.run =
                    ran.then(|| Run::now(Verdict::Passed, Duration::ZERO, None, String::new()));
            }
            all += &list(&curriculum, &status, Ink::plain(), now + Duration::from_secs(3_590));
        }
        for row in [
            "  1. Softmax and linear                     not verified     59 min ago 3 \
             hints\n                                            (changed since the last run)\n",
            "  1. Softmax and linear                     does not compile 59 min ago 3 hints\n",
            "  1. Softmax and linear                     not verified (never run) 3 hints\n",
        ] {
            assert!(all.contains(row), "{all}");
        }
        status.tasks.iter().for_each(|task| all += &brief(task));
        let long: Vec<&str> = all
            .lines()
            .filter(|line| line.chars().count() > 80 && !line.starts_with("  write "))
            .collect();
        assert_eq!(long, [""; 0]);
    }
}
